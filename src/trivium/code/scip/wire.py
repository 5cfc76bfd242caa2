"""The messages of scip.proto, as far as they matter here, built without generated code.

Enums are plain numbers on the wire and here. Fields that are not listed are kept by protobuf and ignored by us.
Built from a table, because generated code ties its reader to one release of protobuf; see docs/decisions/scip.md.
"""

from typing import Any, NamedTuple

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

# message -> (field, number, type); a star behind the type: repeated
_MESSAGES: dict[str, tuple[tuple[str, int, str], ...]] = {
    "Index": (("metadata", 1, "Metadata"), ("documents", 2, "Document*"), ("external_symbols", 3, "Information*")),
    "Metadata": (
        ("version", 1, "int"),
        ("tool_info", 2, "ToolInfo"),
        ("project_root", 3, "str"),
        ("text_document_encoding", 4, "int"),
    ),
    "ToolInfo": (("name", 1, "str"), ("version", 2, "str"), ("arguments", 3, "str*")),
    "Document": (
        ("relative_path", 1, "str"),
        ("occurrences", 2, "Occurrence*"),
        ("symbols", 3, "Information*"),
        ("language", 4, "str"),
        ("text", 5, "str"),
        ("position_encoding", 6, "int"),
    ),
    "Information": (
        ("symbol", 1, "str"),
        ("documentation", 3, "str*"),
        ("relationships", 4, "Relationship*"),
        ("kind", 5, "int"),
        ("display_name", 6, "str"),
        ("signature_documentation", 7, "Document"),
        ("enclosing_symbol", 8, "str"),
    ),
    "Relationship": (
        ("symbol", 1, "str"),
        ("is_reference", 2, "bool"),
        ("is_implementation", 3, "bool"),
        ("is_type_definition", 4, "bool"),
        ("is_definition", 5, "bool"),
    ),
    "Occurrence": (
        ("range", 1, "int*"),
        ("symbol", 2, "str"),
        ("symbol_roles", 3, "int"),
        ("syntax_kind", 5, "int"),
        ("enclosing_range", 7, "int*"),
    ),
}
_SCALARS = {
    "int": FieldDescriptorProto.TYPE_INT32,
    "str": FieldDescriptorProto.TYPE_STRING,
    "bool": FieldDescriptorProto.TYPE_BOOL,
}

DEFINITION, IMPORT = 1, 2  # roles, bits of `symbol_roles`
UTF8, UTF16, UTF32 = 1, 2, 3  # position encodings
CALLED, NAMED = 15, 6  # syntax kinds IdentifierFunction and Identifier: our own way to tell calls from other references
LOCAL = "local "

Unreadable = DecodeError
Message = Any  # protobuf makes the classes at run time: no checker knows their fields


class Kind(NamedTuple):
    """The numbers of SymbolInformation.Kind that have a counterpart among our symbols."""

    classes: frozenset[int] = frozenset({7, 49, 54, 59, 75, 85, 33})  # class, struct, type, union, …, mixin, object
    interfaces: frozenset[int] = frozenset({21, 42, 53, 56})  # interface, protocol, trait, type class
    enums: frozenset[int] = frozenset({11})
    functions: frozenset[int] = frozenset({9, 17, 18, 26, 45, 66, 67, 68, 69, 70, 71, 72, 74, 76, 80})


KINDS = Kind()
KIND_NUMBERS = {"file": 16, "class": 7, "interface": 21, "enum": 11, "function": 17, "method": 26, "package": 35}


def _classes() -> dict[str, Any]:
    file = FileDescriptorProto(name="scip.proto", package="scip", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, written in fields:
            kind = written.removesuffix("*")
            made = message.field.add(name=field, number=number, json_name=field)
            made.label = made.LABEL_REPEATED if written.endswith("*") else made.LABEL_OPTIONAL
            made.type = _SCALARS.get(kind, FieldDescriptorProto.TYPE_MESSAGE)
            if kind not in _SCALARS:
                made.type_name = f".scip.{kind}"
    pool = DescriptorPool()  # our own: another library in the process may have read the real scip.proto
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"scip.{name}")) for name in _MESSAGES}


_BUILT = _classes()
Index: Any = _BUILT["Index"]
Document: Any = _BUILT["Document"]
