"""Programs that mean harm: nothing gets out, every end is reported, and the next program runs as if nothing had been.

The whole list, with its endless programs and at the real limits, is run by benchmarks/torture_sandbox.py.
"""

import pytest
from arena import CODES, Arena
from hostile import PROGRAMS, Hostile

HEAVY = {"memory"}
ENDS_BY_A_LIMIT = (
    "endless-loop",
    "integer-squaring",
    "output-flood",
    "memory-growing",
    "memory-shared",
)
LIGHT = [one for one in PROGRAMS if not one.endless and one.category not in HEAVY]
CHECKED = [one for one in LIGHT if one.category in {"file", "network", "process", "import", "frame", "unicode"}]
LIMITED = [one for one in PROGRAMS if one.id in ENDS_BY_A_LIMIT]


def test_there_are_enough_of_every_kind() -> None:
    kinds = {one.category for one in PROGRAMS}
    assert len(PROGRAMS) >= 120
    assert kinds >= {"file", "network", "process", "import", "dunder", "format", "frame", "memory", "integer", "string"}
    assert kinds >= {"regex", "recursion", "generator", "output", "callback", "tools", "async", "unicode", "endless"}


@pytest.mark.parametrize("program", LIGHT, ids=lambda one: one.id)
def test_nothing_gets_out_even_without_the_check(hostile_arena: Arena, program: Hostile) -> None:
    code, said = hostile_arena.run(program, is_checked=False)
    assert code in CODES | {"ok"}
    assert hostile_arena.escapes(said) == []


@pytest.mark.parametrize("program", CHECKED, ids=lambda one: one.id)
def test_nothing_gets_past_the_check_either(hostile_arena: Arena, program: Hostile) -> None:
    code, said = hostile_arena.run(program)
    assert code in CODES | {"ok"}
    assert hostile_arena.escapes(said) == []


@pytest.mark.parametrize("program", LIMITED, ids=lambda one: one.id)
def test_a_limit_ends_what_would_not_end_and_the_next_program_runs(hostile_arena: Arena, program: Hostile) -> None:
    code, said = hostile_arena.run(program, is_checked=False)
    assert code in CODES
    assert hostile_arena.escapes(said) == []
    assert hostile_arena.still_works()
