"""The instruction set that every dynamic language is lowered to, and the per-file facts that are cached.

Registers are assigned once (the lowering renames variables, branches join in `UNION`), so a function body is a flat
list of tuples `(opcode, …)`; only loops nest. Everything here consists of tuples, lists, strings and integers: facts
are cached with `marshal`, keyed by the hash of the file's bytes.
"""

from typing import Any, NamedTuple

VERSION = 3  # raise it whenever lowering changes: cached facts of another version are not read

(
    CONST,  # dst, value
    UNION,  # dst, registers
    BUILTIN,  # dst, name
    LOADG,  # dst, name: a name of this module
    SETG,  # name, src
    LOADCELL,  # dst, name, hops: a variable of an enclosing function; 0 hops is our own
    SETCELL,  # name, src, hops
    ATTR,  # dst, object, name, line
    SETATTR,  # object, name, src
    ITEM,  # dst, object, key
    SETITEM,  # object, key, src
    CALL,  # dst, callee, args, keywords, spreads, line
    CALLM,  # dst, object, name, args, keywords, spreads, line
    NEW,  # dst, callee, args, keywords, spreads, line: JavaScript's `new`
    FUNC,  # dst, function index, defaults ((parameter, register), …), declared types (likewise; RESULT, NAMED), class
    CLASS,  # dst, class index, bases, line, interfaces
    ARRAY,  # dst, kind, items, spreads, site
    TABLE,  # dst, ((key register | name, value), …), spreads, site
    RETURN,  # src
    YIELD,  # dst, src, delegate
    ITER,  # dst, src, line
    UNPACK,  # src, destinations, star position
    SLICE,  # dst, src, start, stop, site
    ENTER,  # dst, src, line: a context manager's value
    AWAIT,  # dst, src
    OPERATOR,  # dst, left, right, method name, line
    RAISE,  # src, line
    IMPORT,  # dst, import index
    FROM,  # dst, import index, name
    STAR,  # import index
    LOOP,  # body (run twice so that values come round), how many of its first ops join the rounds
    SUPER,  # dst, class register or -1, self register or -1
    THIS,  # dst
    EXPORT,  # name, src
    REFER,  # src, line
    INSTANCE,  # dst, src: a value declared by type
    WEAK,  # +1 | -1: from here on (no longer) code that may be skipped, so writes add instead of replacing
) = range(37)

MODULE, FUNCTION, METHOD, LAMBDA = range(4)
RESULT, NAMED = -1, -2  # in the place of a parameter: the type of what is given back; a type that is named, no more
GENERATOR, ASYNC, ARROW, JAVASCRIPT = 1, 2, 4, 8
POSITIONAL, VARARGS, KEYWORDS, KEYWORD_ONLY = range(4)


class Import(NamedTuple):
    """One import as written. `level` counts leading dots (Python); `conditional` ones may never run."""

    module: str
    level: int
    line: int
    names: tuple[str, ...]
    kind: str  # import | from | star | require | dynamic | type | include | use
    alias: str = ""


class Definition(NamedTuple):
    """A symbol as it stands in its file; `parent` is an index into the same list, -1 for the file."""

    kind: str
    qualified_name: str
    name: str
    line: int
    end_line: int
    start: int
    end: int
    signature: str
    docstring: str
    parent: int


class Function(NamedTuple):
    """A body to run. `qualified_name` follows the call-graph convention of its language (`<lambda1>`, `<arrow1>`)."""

    qualified_name: str
    kind: int
    flags: int
    line: int
    params: tuple[tuple[str, int, int], ...]  # name, register, how it takes arguments
    registers: int
    ops: Any
    definition: int  # index of its Definition, -1 for one without a symbol of its own
    owner: int  # the definition that edges are drawn from where it has none itself
    has_cells: bool
    nests: bool  # has loops or branches: summaries open them out
    positional: int  # how many parameters take arguments by position
    passes: tuple[int, ...]  # parameters it returns as they came: callers get back their own values, nobody else's


class ClassBody(NamedTuple):
    qualified_name: str
    line: int
    definition: int
    fields: tuple[str, ...] = ()  # Python: names its body declares with a type, in order


class FileFacts(NamedTuple):
    """What one file says, independent of every other file."""

    version: int
    language: str
    path: str
    lines: int
    definitions: list[Definition]
    imports: list[Import]
    functions: list[Function]  # the first is the module itself
    classes: list[ClassBody]
    calls: list[Any]  # statically typed languages: see lowering/typed.py
    notes: list[tuple[str, int, str]]  # blind spots: reason, line, name
    names: list[str]  # module variables that some code here assigns
