"""Programs nobody wrote: each has a result or an error that we know, and the next one runs."""

import json

from arena import CODES, Arena
from fuzzing import Dice
from hostile import Hostile

PROGRAMS = 300


def test_every_program_ends_with_a_result_or_an_error_we_know(hostile_arena: Arena) -> None:
    ends = []
    for seed in range(PROGRAMS):
        code, said = hostile_arena.run(Hostile("fuzz", str(seed), Dice(seed).program()))
        assert code in CODES | {"ok"}, (seed, code)
        assert hostile_arena.escapes(said) == []
        json.dumps(said)
        ends.append(code)
    assert hostile_arena.still_works()
    assert {"ok", "INVALID_CODE", "CODE_FAILED"} <= set(ends)  # the dice reach all of them
