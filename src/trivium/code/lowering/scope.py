"""Turns variables into single-assignment registers while a language module walks its syntax tree.

Knows branches, loops and closures; knows nothing of any language. A variable that an inner function reads is also kept
in a cell; one that an inner function *writes* (`shared`) lives only there.
"""

from collections.abc import Callable, Iterable
from typing import Any

from trivium.code.lowering import ops

Env = dict[str, int]
ANY = -1  # the register of a value nobody tracks

_DIFFERENT = -2


class Loop:
    __slots__ = ("breaks", "continues", "first_register", "head", "phis")

    def __init__(self, first_register: int) -> None:
        self.first_register = first_register
        self.head: list[list[Any]] = []
        self.phis: dict[str, list[Any]] = {}
        self.breaks: list[Env] = []
        self.continues: list[Env] = []


class Scope:
    """One function body (or a module) under construction."""

    def __init__(
        self,
        parent: "Scope | None",
        qualified_name: str,
        kind: int,
        shared: frozenset[str],
        definition: int,
        owner: int,
    ) -> None:
        self.parent = parent
        self.qualified_name = qualified_name
        self.kind = kind
        self.shared = shared
        self.definition = definition
        self.owner = owner
        self.flags = 0
        self.line = 0
        self.params: list[tuple[str, int, int]] = []
        self.registers = 0
        self.ops: list[Any] = []
        self.env: Env = {}
        self.names: set[str] = set()
        self.outer_names: dict[str, bool] = {}  # declared global (True) or nonlocal (False)
        self.ended = False
        self.loops: list[Loop] = []
        self.classes: list[tuple[int, Env]] = []
        self.has_inner = False
        self.counters: dict[str, int] = {}
        self.loaded: set[int] = set()  # registers that hold a name from outside
        self._mentioned: set[str] = set()
        self._free: dict[str, int] = {}
        self._pending: list[tuple[list[Any], int]] = []
        self._captured: set[str] = set()
        self._cell_ops: list[list[Any]] = []
        self._passed: set[int] = set()
        self._nests = False

    # registers and plain emission

    def register(self) -> int:
        self.registers += 1
        return self.registers - 1

    def emit(self, *op: Any) -> None:
        self.ops.append(op)

    def value(self, code: int, *rest: Any) -> int:
        """Emits an op whose first operand is a new register, and returns that register."""
        dst = self.registers
        self.registers = dst + 1
        self.ops.append((code, dst, *rest))
        return dst

    def union(self, registers: Iterable[int]) -> int:
        known = tuple(dict.fromkeys([r for r in registers if r >= 0]))
        if not known:
            return ANY
        return known[0] if len(known) == 1 else self.value(ops.UNION, known)

    def weaken(self) -> None:
        self._nests = True
        self.ops.append((ops.WEAK, 1))

    def strengthen(self) -> None:
        self.ops.append((ops.WEAK, -1))

    def count(self, what: str) -> int:
        self.counters[what] = self.counters.get(what, 0) + 1
        return self.counters[what]

    def mention(self, name: str, value: int, line: int) -> None:
        """A name that only refers counts, too: once for each body it stands in."""
        if value >= 0 and name not in self._mentioned:
            self._mentioned.add(name)
            self.emit(ops.REFER, value, line)

    # variables

    def read(self, name: str) -> int:
        if self.classes and name in self.classes[-1][1]:
            return self.classes[-1][1][name]
        if name in self.shared and (name in self.names or name in self.outer_names):
            return self._load(name)
        found = self.env.get(name)
        if found is None:
            return self._read_free(name)
        if self.loops and found < self.loops[-1].first_register:
            return self._carry(name, found)
        return found

    def _load(self, name: str) -> int:
        if self.kind == ops.MODULE or self.outer_names.get(name):
            return self.value(ops.LOADG, name)
        if name in self.outer_names:
            return self._unresolved([ops.LOADCELL, self.register(), name, 0])
        self._captured.add(name)
        return self.value(ops.LOADCELL, name, 0)

    def _read_free(self, name: str) -> int:
        known = self._free.get(name)
        if known is not None:
            return known
        dst = self._unresolved([ops.LOADCELL, self.register(), name, 0])
        if name not in self.shared:
            self._free[name] = dst
        self.loaded.add(dst)
        return dst

    def _unresolved(self, op: list[Any]) -> int:
        self.ops.append(op)
        self._pending.append((op, 0))
        return int(op[1])

    def _carry(self, name: str, found: int) -> int:
        for loop in self.loops:
            if found < loop.first_register:
                register = self.register()
                phi: list[Any] = [ops.UNION, register, (found,)]
                loop.head.append(phi)
                loop.phis[name] = phi
                found = register
        self.env[name] = found
        return found

    def write(self, name: str, src: int, *, declares: bool = True) -> None:
        """`declares` is False for an assignment that does not make the name ours (JavaScript's plain `x = …`)."""
        if self.classes:
            self._write_class(name, src)
            return
        if name in self.outer_names or not (declares or name in self.names or self.kind == ops.MODULE):
            self._write_outer(name, src)
            return
        self.names.add(name)
        self.env[name] = src
        if self.kind == ops.MODULE:
            self.emit(ops.SETG, name, src)
        elif self.has_inner or name in self.shared:
            self._write_cell(name, src)

    def _write_class(self, name: str, src: int) -> None:
        target, env = self.classes[-1]
        env[name] = src
        self.emit(ops.SETATTR, target, name, src)

    def _write_outer(self, name: str, src: int) -> None:
        if self.outer_names.get(name):
            self.emit(ops.SETG, name, src)
            return
        op = [ops.SETCELL, name, src, 0]
        self.ops.append(op)
        self._pending.append((op, 0))

    def _write_cell(self, name: str, src: int) -> None:
        op = [ops.SETCELL, name, src, 0]
        self.ops.append(op)
        self._cell_ops.append(op)

    def open_cells(self) -> None:
        """Called before the first inner function is made: from now on our variables may be read from inside."""
        if not self.has_inner and self.kind != ops.MODULE:
            self.has_inner = True
            for name, src in list(self.env.items()):
                self._write_cell(name, src)

    # control flow

    def branch(self, *arms: Callable[[], None] | None) -> None:
        """Runs each arm from the same start and joins what they leave behind; None is an arm that does nothing."""
        start, left = self.env, []
        for arm in arms:
            self.env = dict(start)
            self.ended = False
            if arm is not None:
                self.weaken()
                arm()
                if not self.ended:  # else what follows may never be reached, and stays weak
                    self.strengthen()
            if not self.ended:
                left.append(self.env)
        self.ended = not left
        self.env = self.join(left) if left else start

    def join(self, envs: list[Env]) -> Env:
        """What is known after any of several ways: the same register where they agree, a join where they differ."""
        joined = dict(envs[0])
        for env in envs[1:]:
            for name, register in env.items():
                if joined.setdefault(name, register) != register:
                    joined[name] = _DIFFERENT
        for name in [n for n, register in joined.items() if register == _DIFFERENT]:
            joined[name] = self.union([env[name] for env in envs if name in env])
        return joined

    def loop(self, body: Callable[[], None]) -> None:
        """A body that may run never or often; values assigned in one round are seen in the next."""
        self._nests = True
        outer_ops, before = self.ops, self.env
        loop = Loop(self.registers)
        self.loops.append(loop)
        self.ops, self.env = [], dict(before)
        body()
        ends = [*loop.continues] if self.ended else [self.env, *loop.continues]
        back = self.join(ends) if ends else {}
        for name, phi in loop.phis.items():
            again = back.get(name, phi[1])
            if again != phi[1] and again >= 0:
                phi[2] = (*(r for r in phi[2] if r >= 0), again)
        self.loops.pop()
        outer_ops.append((ops.LOOP, [*loop.head, *self.ops], len(loop.head)))
        self.ops, self.ended = outer_ops, False
        self.env = self.join([before, *([back] if back else []), *loop.breaks])

    def give_back(self, src: int) -> None:
        """A return. One that hands back a parameter is kept apart from the function's other results."""
        for index, (_, register, how) in enumerate(self.params):
            if register == src and how in (ops.POSITIONAL, ops.KEYWORD_ONLY):
                self._passed.add(index)
                return
        self.emit(ops.RETURN, src)

    def leave(self, how: str) -> None:
        """break, continue, or an exit from the function."""
        if how == "break" and self.loops:
            self.loops[-1].breaks.append(dict(self.env))
        elif how == "continue" and self.loops:
            self.loops[-1].continues.append(dict(self.env))
        self.ended = True

    # the end

    def finish(self) -> ops.Function:
        inner, self._pending = self._pending, []
        for op, hops in inner:
            self._settle(op, hops)
        for op in self._cell_ops:
            if op[1] not in self._captured:
                op[:] = [ops.UNION, 0, ()]
        body = [o for o in self.ops if not _does_nothing(o)] if self._cell_ops else self.ops
        return ops.Function(
            self.qualified_name,
            self.kind,
            self.flags,
            self.line,
            tuple(self.params),
            self.registers,
            body,
            self.definition,
            self.owner,
            bool(self._captured),
            self._nests,
            sum(how == ops.POSITIONAL for _, _, how in self.params),
            tuple(sorted(self._passed)),
        )

    def adopt(self, pending: list[tuple[list[Any], int]]) -> None:
        self._pending.extend(pending)

    def _settle(self, op: list[Any], hops: int) -> None:
        reads = op[0] == ops.LOADCELL
        name = op[2] if reads else op[1]
        if self.parent is None:
            self._settle_global(op, name, reads)
        elif name in self.names and (hops or name not in self.outer_names):
            self._captured.add(name)
            op[-1] = hops
        elif self.outer_names.get(name):
            self._module()._settle_global(op, name, reads)
        else:
            self.parent.adopt([(op, hops + 1)])

    def _module(self) -> "Scope":
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def _settle_global(self, op: list[Any], name: str, reads: bool) -> None:
        if reads:
            op[:] = [ops.LOADG, op[1], name]
        else:
            op[:] = [ops.SETG, name, op[2]]
            self.names.add(name)


def _does_nothing(op: Any) -> bool:
    return bool(op[0] == ops.UNION and not op[2])
