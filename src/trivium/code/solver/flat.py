"""A function body with its loops opened out, and who uses which register: what summaries need to look again cheaply."""

from collections.abc import Callable, Iterator
from typing import Any

from trivium.code.lowering import ops


class FlatBody:
    """`uses()[r]` is the mask of the ops that read register r; half the functions never need it, so it is made late."""

    __slots__ = ("_phis", "_uses", "function", "ops", "this")

    def __init__(self, function: ops.Function) -> None:
        self.function = function
        self.ops: list[Any] = []
        self.this = 0
        self._phis: list[int] = []
        self._uses: list[int] | None = None
        if function.nests:
            self._open(function.ops)
        else:
            self.ops = function.ops

    def uses(self) -> list[int]:
        if self._uses is None:
            self._uses = self._collect()
        return self._uses

    def _collect(self) -> list[int]:
        uses, bit = [0] * (self.function.registers + 1), 1
        for op in self.ops:
            code = op[0]
            for position in _SINGLE[code]:
                uses[op[position]] |= bit
            for position in _MANY[code]:
                for register in op[position]:
                    uses[register] |= bit
            if code in _ODD:
                for register in _ODD[code](op):
                    uses[register] |= bit
            if code in (ops.THIS, ops.SUPER):
                self.this |= bit
            bit <<= 1
        return uses

    def _open(self, body: Any) -> None:
        opened = self.ops
        for op in body:
            code = op[0]
            if code == ops.LOOP:
                start = len(opened)
                self._open(op[1])
                self._phis.extend(range(start, start + op[2]))
            elif code != ops.WEAK:
                opened.append(op)

    def rounds(self, regs: list[frozenset[int]]) -> int:
        """After a first run: the joins at loop heads that have more to see the second time round."""
        dirty = 0
        for position in self._phis:
            _, dst, sources = self.ops[position]
            if any(not regs[r] <= regs[dst] for r in sources):
                dirty |= 1 << position
        return dirty


def _pairs(position: int) -> Callable[[Any], Iterator[int]]:
    return lambda op: (register for _, register in op[position])


def _table(op: Any) -> Iterator[int]:
    for key, value in op[2]:
        if not isinstance(key, str):
            yield key
        yield value


def _function(op: Any) -> Iterator[int]:
    yield from (register for _, register in op[3])
    yield from (register for _, register in op[4])


_SINGLE: list[tuple[int, ...]] = [()] * 40
_MANY: list[tuple[int, ...]] = [()] * 40
_ODD: dict[int, Callable[[Any], Iterator[int]]] = {
    ops.CALL: _pairs(4),
    ops.NEW: _pairs(4),
    ops.CALLM: _pairs(5),
    ops.TABLE: _table,
    ops.FUNC: _function,
}
for _code, _positions in {
    ops.SETG: (2,), ops.SETCELL: (2,), ops.ATTR: (2,), ops.SETATTR: (1, 3), ops.ITEM: (2, 3), ops.SETITEM: (1, 2, 3),
    ops.CALL: (2,), ops.CALLM: (2,), ops.NEW: (2,), ops.FUNC: (5,), ops.RETURN: (1,), ops.YIELD: (2,), ops.ITER: (2,),
    ops.UNPACK: (1,), ops.SLICE: (2,), ops.ENTER: (2,), ops.AWAIT: (2,), ops.OPERATOR: (2, 3), ops.RAISE: (1,),
    ops.SUPER: (2, 3), ops.EXPORT: (2,), ops.REFER: (1,), ops.INSTANCE: (2,),
}.items():  # fmt: skip
    _SINGLE[_code] = _positions
for _code, _positions in {
    ops.UNION: (2,), ops.CALL: (3, 5), ops.NEW: (3, 5), ops.CALLM: (4, 6), ops.CLASS: (3, 5), ops.ARRAY: (3, 4),
    ops.TABLE: (3,),
}.items():  # fmt: skip
    _MANY[_code] = _positions
# Ops whose first operand is the register they write.
MAKES = frozenset(
    (
        ops.CONST, ops.UNION, ops.BUILTIN, ops.LOADG, ops.LOADCELL, ops.ATTR, ops.ITEM, ops.CALL, ops.CALLM,
        ops.NEW, ops.FUNC,
        ops.CLASS, ops.ARRAY, ops.TABLE, ops.YIELD, ops.ITER, ops.SLICE, ops.ENTER, ops.AWAIT, ops.OPERATOR, ops.IMPORT,
        ops.FROM, ops.SUPER, ops.THIS, ops.INSTANCE,
    )
)  # fmt: skip
