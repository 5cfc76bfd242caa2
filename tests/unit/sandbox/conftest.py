"""Real workers for the tests of this folder."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from arena import MEMORY, Arena, Run, arena

from trivium.sandbox.runner import CallFailed, Functions, Outcome, Runner
from trivium.sandbox.workers import Quota, Workers


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    made = Runner(Workers(MEMORY, 2), 60)
    yield made
    made.close()


def answer(name: str, values: Sequence[Any], named: Mapping[str, Any], _left_s: float) -> Any:
    if "missing" in values:
        raise CallFailed("NOT_FOUND", "there is no such thing", "try another")
    return {"name": name, "values": list(values), "named": dict(named), "results": [{"title": "one"}, {"title": "two"}]}


@pytest.fixture
def run(runner: Runner) -> Run:
    """Runs a program with the functions `search` and `read`, unless others are given."""

    def go(code: str, answers: Any = answer, calls: int = 50, timeout_s: float = 60.0) -> Outcome:
        functions = Functions(frozenset({"search", "read"}), answers, frozenset({"client_search"}))
        return runner.run(code, functions, Quota(timeout_s, MEMORY, calls), "test")

    return go


@pytest.fixture(scope="module")
def hostile_arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena(tmp_path_factory.mktemp("arena"), Quota(0.3, 2**25, 20)) as made:
        yield made
