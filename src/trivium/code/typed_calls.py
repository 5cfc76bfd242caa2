"""Edges of the statically typed languages: inheritance, and calls through declared types and the class hierarchy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trivium.code.lowering import ops
from trivium.code.lowering.mentions import parts
from trivium.code.lowering.typed import Description, FunctionFacts, TypeFacts
from trivium.code.modules.typed import FunctionId, TypedNames, TypeId
from trivium.model.code import Relationship, Resolution

MAX_DEPTH = 12
MAX_OVERRIDES = 40
_CONSTRUCTORS = {"php": "__construct", "ruby": "initialize"}


class FoundEdge(NamedTuple):
    """From a definition (unit, index; -1 is the file) to another."""

    source: tuple[int, int]
    target: tuple[int, int]
    relationship: Relationship
    line: int
    resolution: Resolution


class Receiver(NamedTuple):
    type_id: TypeId
    is_exact: bool  # no subtype can be meant
    is_certain: bool


class TypedProgram:
    def __init__(self, units: Sequence[ops.FileFacts], configs: Mapping[str, bytes]) -> None:
        self.units = units
        self.names = TypedNames(units, configs)
        self.bases: dict[TypeId, list[tuple[TypeId, str, int, bool]]] = {}
        self.children: dict[TypeId, list[TypeId]] = {}
        self.methods: dict[TypeId, dict[str, list[FunctionId]]] = {}
        self.unresolved: list[tuple[int, int, str]] = []
        self.imported: list[tuple[int, int, tuple[int, int]]] = []  # unit, line, definition that an import names
        self.impl_lines: dict[tuple[TypeId, TypeId], int] = {}
        self._link_types()
        self._link_methods()
        self._link_go_interfaces()

    # structure

    def _each_type(self) -> Iterator[tuple[TypeId, TypeFacts]]:
        for unit, facts in enumerate(self.names.facts):
            for number, type_ in enumerate(facts.types):
                yield (unit, number), type_

    def _link_types(self) -> None:
        for key, type_ in self._each_type():
            own = key if type_.definition >= 0 else self._known(key[0], "", type_.name)
            if own is None:
                continue
            scope = type_.name.rpartition(".")[0]
            for written, word, line in type_.bases:
                found = self.names.type_named(key[0], scope, written)
                if found is not None and found[0] != own:
                    relation = self._relation(own, found[0], word)
                    self.bases.setdefault(own, []).append((found[0], relation, line if key == own else 0, found[1]))
                    self.children.setdefault(found[0], []).append(own)
                    if key != own:
                        self.impl_lines[own, found[0]] = line

    def _known(self, unit: int, scope: str, written: str) -> TypeId | None:
        found = self.names.type_named(unit, scope, written)
        return found[0] if found is not None else None

    def _relation(self, own: TypeId, base: TypeId, word: str) -> str:
        if word != "either":
            return word
        return "implements" if self._kind(base) == "interface" and self._kind(own) != "interface" else "extends"

    def _kind(self, key: TypeId) -> str:
        return self.units[key[0]].definitions[self.type_facts(key).definition].kind

    def type_facts(self, key: TypeId) -> TypeFacts:
        return self.names.facts[key[0]].types[key[1]]

    def function_facts(self, key: FunctionId) -> FunctionFacts:
        return self.names.facts[key[0]].functions[key[1]]

    def _link_methods(self) -> None:
        for unit, facts in enumerate(self.names.facts):
            for number, function in enumerate(facts.functions):
                if function.owner and function.name and function.definition >= 0:
                    owner = self._known(unit, "", function.owner)
                    if owner is not None:
                        self.methods.setdefault(owner, {}).setdefault(function.name, []).append((unit, number))

    def _link_go_interfaces(self) -> None:
        """Go's types implement an interface by having its methods, without saying so."""
        mine = [key for key, t in self._each_type() if self.names.family[key[0]] == "go" and t.definition >= 0]
        wanted = {key: self._all_methods(key) for key in mine if self._kind(key) == "interface"}
        for key in mine:
            if self._kind(key) == "interface":
                continue
            own = self._all_methods(key)
            for interface, names in wanted.items():
                if names and names <= own:
                    line = self.units[key[0]].definitions[self.type_facts(key).definition].line
                    self.bases.setdefault(key, []).append((interface, "implements", line, True))
                    self.children.setdefault(interface, []).append(key)

    def _all_methods(self, key: TypeId) -> set[str]:
        return {name for ancestor in self.ancestors(key) for name in self.methods.get(ancestor, ())}

    # hierarchy

    def ancestors(self, key: TypeId) -> list[TypeId]:
        order: list[TypeId] = []
        todo = [key]
        while todo and len(order) < 60:
            current = todo.pop(0)
            if current not in order:
                order.append(current)
                todo.extend(b for b, _, _, _ in self.bases.get(current, ()))
        return order

    def descendants(self, key: TypeId) -> list[TypeId]:
        order: list[TypeId] = []
        todo = list(self.children.get(key, ()))
        while todo and len(order) < MAX_OVERRIDES:
            current = todo.pop(0)
            if current not in order:
                order.append(current)
                todo.extend(self.children.get(current, ()))
        return order

    def method(self, key: TypeId, name: str) -> list[FunctionId]:
        for ancestor in self.ancestors(key):
            found = self.methods.get(ancestor, {}).get(name)
            if found:
                return found
        return []

    # types of descriptions

    def receiver(self, unit: int, function: FunctionFacts, description: Description, depth: int = 0) -> Receiver | None:
        if not description or depth > MAX_DEPTH:
            return None
        kind = description[0]
        if kind == "v":
            return self._variable(unit, function, description[1], depth)
        if kind in ("t", "n"):
            found = self.names.type_named(unit, function.owner, description[1])
            return Receiver(found[0], kind == "n", found[1]) if found is not None else None
        if kind in ("this", "super"):
            return self._self(unit, function, kind)
        if kind == "f":
            return self._field(unit, function, description, depth)
        return self._result(unit, function, description, depth)

    def _self(self, unit: int, function: FunctionFacts, kind: str) -> Receiver | None:
        own = self._known(unit, "", function.owner) if function.owner else None
        if own is None or kind == "this":
            return Receiver(own, False, True) if own is not None else None
        parents = self.bases.get(own, ())
        return Receiver(parents[0][0], True, True) if parents else None

    def _variable(self, unit: int, function: FunctionFacts, name: str, depth: int) -> Receiver | None:
        described = function.variables.get(name)
        if described is not None:
            return self.receiver(unit, function, described, depth + 1) if described != ("v", name) else None
        own = self._known(unit, "", function.owner) if function.owner else None
        found = self._member(own, name, depth) if own is not None else None
        if found is not None:
            return found
        globals_ = self.names.facts[unit].functions[0].variables
        if name in globals_ and globals_[name] != ("v", name):
            return self.receiver(unit, self.names.facts[unit].functions[0], globals_[name], depth + 1)
        type_ = self.names.type_named(unit, function.owner, name)
        return Receiver(type_[0], True, type_[1]) if type_ is not None and type_[1] else None

    def _member(self, key: TypeId, name: str, depth: int) -> Receiver | None:
        for ancestor in self.ancestors(key):
            facts = self.type_facts(ancestor)
            described = facts.fields.get(name) or facts.fields.get(name.lstrip("@$"))
            if described:
                inside = FunctionFacts(-1, facts.name, "", (), {}, [], 0)
                return self.receiver(ancestor[0], inside, described, depth + 1)
        return None

    def _field(self, unit: int, function: FunctionFacts, description: Description, depth: int) -> Receiver | None:
        owner = self.receiver(unit, function, description[1], depth + 1)
        if owner is not None:
            return self._member(owner.type_id, description[2], depth)
        qualified = _spelled(description)
        found = self.names.type_named(unit, function.owner, qualified) if qualified else None
        return Receiver(found[0], True, found[1]) if found is not None and found[1] else None

    def _result(self, unit: int, function: FunctionFacts, description: Description, depth: int) -> Receiver | None:
        for callee, _ in self.callees(unit, function, description[1], description[2], depth + 1)[:1]:
            facts = self.function_facts(callee)
            if facts.result == ("this",) and description[1]:
                return self.receiver(unit, function, description[1], depth + 1)
            return self.receiver(callee[0], facts, facts.result, depth + 1)
        return None

    # calls

    def callees(
        self, unit: int, function: FunctionFacts, receiver: Description | None, name: str, depth: int = 0
    ) -> list[tuple[FunctionId, Resolution]]:
        """Certain ones first."""
        if depth > MAX_DEPTH:
            return []
        if receiver is None:
            return self._bare_call(unit, function, name)
        found = self.receiver(unit, function, receiver, depth)
        if found is not None:
            return self._through(found, name)
        qualified = _spelled(receiver)
        if qualified:
            plain = self.names.functions_named(unit, self._scope(unit, function), self._joined(unit, qualified, name))
            if plain:
                return [(f, "exact") for f in plain]
        if receiver[:1] == ("v",) and receiver[1] not in function.variables and self._is_import(unit, str(receiver[1])):
            return []  # it belongs to a package outside
        if self._is_foreign(unit, function, receiver, depth):
            return []
        return self._unique_method(unit, name)

    def _is_foreign(self, unit: int, function: FunctionFacts, description: Description, depth: int) -> bool:
        """Whether the receiver's type is known and simply not ours."""
        if not description or depth > MAX_DEPTH:
            return False
        kind = description[0]
        if kind in ("t", "n"):
            return True
        if kind == "v":
            name = str(description[1])
            described = function.variables.get(name, self._own_field(unit, function, name))
            if described is None:
                return name[:1].isupper()  # a class of somebody else
            return described != description and self._is_foreign(unit, function, described, depth + 1)
        if kind in ("f", "c") and description[1]:
            return self._is_foreign(unit, function, description[1], depth + 1)
        return False

    def _own_field(self, unit: int, function: FunctionFacts, name: str) -> Description | None:
        own = self._known(unit, "", function.owner) if function.owner else None
        for ancestor in self.ancestors(own) if own is not None else ():
            if name in self.type_facts(ancestor).fields:
                return self.type_facts(ancestor).fields[name]
        return None

    def _joined(self, unit: int, qualified: str, name: str) -> str:
        return (
            f"{qualified}::{name}" if self.names.family[unit] == "rust" and "::" in qualified else f"{qualified}.{name}"
        )

    def _is_import(self, unit: int, name: str) -> bool:
        return name.partition(".")[0].partition("::")[0] in self.names._aliases[unit]

    def _scope(self, unit: int, function: FunctionFacts) -> str:
        if function.definition < 0:
            return ""
        return self.units[unit].definitions[function.definition].qualified_name.rpartition(".")[0]

    def _bare_call(self, unit: int, function: FunctionFacts, name: str) -> list[tuple[FunctionId, Resolution]]:
        own = self._known(unit, "", function.owner) if function.owner else None
        if own is not None and self.names.family[unit] not in ("go", "rust", "php"):
            found = self._through(Receiver(own, False, True), name)
            if found:
                return found
        plain = self.names.functions_named(unit, self._scope(unit, function), name)
        if plain:
            return [(f, "exact") for f in plain]
        static = self.names._aliases[unit].get(name)
        if static is not None:
            owner = self._known(unit, "", static[0].rpartition(".")[0])
            return [(f, "exact") for f in self.method(owner, name)] if owner is not None else []
        candidates = [
            f for f in self.names.by_name.get((self.names.family[unit], name), ()) if not self.function_facts(f).owner
        ]
        return [(candidates[0], "name_match")] if len(candidates) == 1 else []

    def _through(self, receiver: Receiver, name: str) -> list[tuple[FunctionId, Resolution]]:
        declared = self.method(receiver.type_id, name)
        certain: Resolution = "exact" if receiver.is_certain else "name_match"
        found: dict[FunctionId, Resolution] = dict.fromkeys(declared, certain)
        if not receiver.is_exact:
            for below in self.descendants(receiver.type_id):
                for override in self.methods.get(below, {}).get(name, ()):
                    found.setdefault(override, "inferred" if receiver.is_certain else "name_match")
        return list(found.items())

    def _unique_method(self, unit: int, name: str) -> list[tuple[FunctionId, Resolution]]:
        """Nothing is known of the receiver: if only one method goes by that name, it may well be meant."""
        candidates = [
            f for f in self.names.by_name.get((self.names.family[unit], name), ()) if self.function_facts(f).owner
        ]
        return [(candidates[0], "name_match")] if len(candidates) == 1 else []

    # edges

    def edges(self) -> Iterator[FoundEdge]:
        for own, bases in self.bases.items():
            source = (own[0], self.type_facts(own).definition)
            for base, relation, line, certain in bases:
                where = line or self.impl_lines.get((own, base), 1)
                target = (base[0], self.type_facts(base).definition)
                word: Relationship = "implements" if relation == "implements" else "extends"
                yield FoundEdge(source, target, word, where, "exact" if certain else "name_match")
        for unit, facts in enumerate(self.names.facts):
            for function in facts.functions:
                yield from self._function_edges(unit, function)
        for unit in range(len(self.units)):
            yield from self._references(unit)

    def _function_edges(self, unit: int, function: FunctionFacts) -> Iterator[FoundEdge]:
        source = (unit, function.definition)
        for line, kind, receiver, name in function.calls:
            if kind == "new":
                yield from self._creation(unit, function, source, line, name)
                continue
            found = self.callees(unit, function, receiver, name)
            if not found:
                self.unresolved.append((unit, line, name))
            for callee, resolution in found:
                target = (callee[0], self.function_facts(callee).definition)
                yield FoundEdge(source, target, "calls", line, resolution)

    def _creation(
        self, unit: int, function: FunctionFacts, source: tuple[int, int], line: int, name: str
    ) -> Iterator[FoundEdge]:
        found = self.names.type_named(unit, function.owner, name)
        if found is None:
            return
        (where, number), certain = found
        resolution: Resolution = "exact" if certain else "name_match"
        facts = self.type_facts((where, number))
        if source != (where, facts.definition):
            yield FoundEdge(source, (where, facts.definition), "calls", line, resolution)
        inherited = _CONSTRUCTORS.get(self.names.family[unit])
        own = self.methods.get((where, number), {}).get(facts.name.rpartition(".")[2], [])
        for callee in self.method((where, number), inherited) if inherited else own:
            target = (callee[0], self.function_facts(callee).definition)
            if target != source:
                yield FoundEdge(source, target, "calls", line, resolution)

    def _references(self, unit: int) -> Iterator[FoundEdge]:
        """Types and functions that are named without being called. What is called, too, has its edge already."""
        imported = {written.line for written in self.units[unit].imports}
        own = self.units[unit].definitions
        local = {function.definition: function.variables for function in self.names.facts[unit].functions}
        for definition, chain, line in self.names.facts[unit].mentions:
            if line in imported:
                self.imported += [(unit, line, found) for found in self._mentioned(unit, "", chain) if found[0] != unit]
                continue
            if chain in local.get(definition, ()):
                continue
            scope = own[definition].qualified_name if definition >= 0 else ""
            for target in self._mentioned(unit, scope, chain):
                if target != (unit, definition):
                    yield FoundEdge((unit, definition), target, "references", line, "exact")

    def _mentioned(self, unit: int, scope: str, chain: str) -> Iterator[tuple[int, int]]:
        """The definitions a chain of names leads through: a type, a member of it, a function."""
        family, names = self.names.family[unit], self.names
        if chain.startswith(":"):
            owner = self._known(unit, "", scope) or self._known(unit, "", scope.rpartition(".")[0])
            for method in self.method(owner, chain[1:]) if owner is not None else ():
                yield method[0], self.function_facts(method).definition
            return
        words = parts(chain)
        separator = "::" if family == "rust" else "."
        for end in range(len(words), 0, -1):
            found = self._type_mentioned(unit, scope, separator.join(words[:end]), words[end - 1])
            if found is not None:
                yield found[0], self.type_facts(found).definition
                for method in self.method(found, words[end]) if end < len(words) else ():
                    yield method[0], self.function_facts(method).definition
                return
        if (family, words[-1]) in names.by_name:
            for function in names.functions_named(unit, scope, separator.join(words)):
                yield function[0], self.function_facts(function).definition

    def _type_mentioned(self, unit: int, scope: str, written: str, last: str) -> TypeId | None:
        """Only where it is certain. In C#, an attribute may leave out the end of its class's name."""
        family = self.names.family[unit]
        for suffix in ("", "Attribute") if family == "csharp" else ("",):
            if (family, last + suffix) in self.names.simple:
                found = self.names.type_named(unit, scope, written + suffix)
                if found is not None and found[1]:
                    return found[0]
        return None


def _spelled(description: Description) -> str:
    """`a.b.c` for a chain of plain names."""
    if description[:1] == ("v",):
        return str(description[1])
    if description[:1] == ("f",) and description[1]:
        head = _spelled(description[1])
        return f"{head}.{description[2]}" if head else ""
    return ""
