"""Abstract objects and the cells that hold sets of them.

Objects are small integers, values are frozensets of them: cheap to join, and iterated in the same order in every run.
A cell that would hold more than MAX_VALUES holds only UNKNOWN from then on: so many possibilities are noise that
spreads, and whoever calls it is told that the callee is not known.
"""

from typing import Any

MAX_VALUES = 16
MAX_CONSTANTS = 6
MAX_REGISTER = 48  # registers join several cells and may hold more
EMPTY: frozenset[int] = frozenset()

(
    NOTHING,
    FUNC,  # (function number, Env)
    BOUND,  # (function object, receiver)
    CLASS,  # ClassRecord
    INSTANCE,  # class object
    MODULE,  # unit number
    ARRAY,  # length if known, else -1
    TABLE,  # language flag
    CONSTANT,  # str | int
    EXTERNAL,  # dotted name
    STATICMETHOD,  # values
    CLASSMETHOD,  # values
    PROPERTY,  # [getter values, setter values]
    SETTER,  # property object: called with a function gives the completed property
    SUPER,  # (class object, receiver)
    PARTIAL,  # (callee values, args, keywords)
    IDENTITY,  # a decorator that gives back what it gets
    PROMISE,  # cell of the value it settles to
) = range(18)

UNKNOWN = 0
ANY_KEY = "*"
NOBODY_KNOWS: frozenset[int] = frozenset((UNKNOWN,))


class Cell:
    __slots__ = ("full", "readers", "values")

    def __init__(self, values: frozenset[int] = EMPTY) -> None:
        self.values = values
        self.full = False
        self.readers: dict[Any, int] = {}


class Env:
    """The variables of one activation that inner functions can see."""

    __slots__ = ("cells", "number", "parent")

    def __init__(self, parent: "Env | None", number: int) -> None:
        self.cells: dict[str, Cell] = {}
        self.parent = parent
        self.number = number


class ClassRecord:
    __slots__ = ("bases", "javascript", "key", "name", "prototype")

    def __init__(self, key: tuple[int, int], name: str, javascript: bool) -> None:
        self.key = key
        self.name = name
        self.bases: list[frozenset[int]] = []
        self.javascript = javascript
        self.prototype = UNKNOWN


class Heap:
    def __init__(self) -> None:
        self.kind: list[int] = [NOTHING]
        self.data: list[Any] = [None]
        self.fields: list[dict[Any, Cell]] = [{}]
        self.single: list[bool] = [False]
        self.only: list[frozenset[int]] = [
            NOBODY_KNOWS
        ]  # the set of just this object: an empty frozenset weighs 200 bytes
        self.plain: set[int] = set()  # constants and externals: nothing of ours can be called through them
        self._bound: dict[int, int] = {}
        self._known: dict[Any, int] = {}
        self._linear: dict[int, tuple[int, ...]] = {}

    def make(self, kind: int, data: Any, key: Any, single: bool = False) -> int:
        """The object for this key: the same one whenever it is asked for again."""
        found = self._known.get(key)
        if found is not None:
            if not single:
                self.single[found] = False
            return found
        number = len(self.kind)
        self.kind.append(kind)
        self.data.append(data)
        self.fields.append({})
        self.single.append(single)
        self.only.append(frozenset((number,)))
        self._known[key] = number
        if kind in (CONSTANT, EXTERNAL):
            self.plain.add(number)
        return number

    def known(self, key: Any) -> int | None:
        return self._known.get(key)

    def constant(self, value: str | int) -> int:
        return self.make(CONSTANT, value, ("c", type(value), value))

    def external(self, name: str) -> int:
        return self.make(EXTERNAL, name, ("x", name))

    def bound(self, function: int, receiver: int) -> int:
        key = function << 32 | receiver
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = self.make(BOUND, (function, receiver), ("b", key))
        return found

    def instance(self, cls: int) -> int:
        """The instance that stands for all instances of a class."""
        return self.make(INSTANCE, cls, ("i", cls))

    def cell(self, owner: int, name: Any) -> Cell:
        fields = self.fields[owner]
        found = fields.get(name)
        if found is None:
            found = fields[name] = Cell()
        return found

    def grow(self, cell: Cell, values: frozenset[int]) -> bool:
        """Adds to a cell; says whether that changed it."""
        if cell.full or values <= cell.values:
            return False
        grown = cell.values | values
        if len(grown) > MAX_CONSTANTS:
            grown = self._without_constants(grown)
        if len(grown) > MAX_VALUES:
            cell.full = True
            grown = NOBODY_KNOWS
        changed = grown != cell.values
        cell.values = grown
        return changed

    def _without_constants(self, values: frozenset[int]) -> frozenset[int]:
        kind = self.kind
        constants = [v for v in values if kind[v] == CONSTANT]
        return values.difference(constants) | NOBODY_KNOWS if len(constants) > MAX_CONSTANTS else values

    # classes

    def mro(self, cls: int) -> tuple[int, ...]:
        """C3 linearisation; where bases contradict one another, depth first without repeats."""
        known = self._linear.get(cls)
        if known is None:
            self._linear[cls] = (cls,)  # what a class that inherits from itself sees
            known = self._linear[cls] = self._linearise(cls)
        return known

    def forget_mro(self, cls: int) -> None:
        """A class has gained a base: whoever inherits from it is ordered anew."""
        for known in [c for c, order in self._linear.items() if cls in order]:
            del self._linear[known]

    def _linearise(self, cls: int) -> tuple[int, ...]:
        if self.kind[cls] != CLASS:
            return (cls,)
        bases = [b for values in self.data[cls].bases for b in self._candidates(values)]
        lists = [list(self.mro(b)) for b in bases] + [bases]
        merged = _merge(lists) if len(bases) > 1 else lists[0] if bases else []
        if merged is None:
            merged = list(dict.fromkeys(x for found in lists for x in found))
        return (cls, *(x for x in merged if x != cls))

    def _candidates(self, values: frozenset[int]) -> list[int]:
        """A base that could be many classes is as good as unknown."""
        found = sorted(b for b in values if self.kind[b] in (CLASS, EXTERNAL, FUNC))
        return found if len(found) <= 3 else found[:1]


def _merge(lists: list[list[int]]) -> list[int] | None:
    merged: list[int] = []
    lists = [x for x in lists if x]
    while lists:
        head = next((x[0] for x in lists if not any(x[0] in y[1:] for y in lists)), None)
        if head is None:
            return None
        merged.append(head)
        lists = [[y for y in x if y != head] for x in lists]
        lists = [x for x in lists if x]
    return merged
