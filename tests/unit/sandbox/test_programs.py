"""What a program can do, and what it is told when it cannot."""

import threading
from typing import Any

import pytest
from arena import Run

from trivium.sandbox.failures import (
    OutputFlood,
    ProgramError,
    ProgramFailed,
    ProgramInvalid,
    ProgramTimeout,
    ResultInvalid,
)
from trivium.sandbox.runner import OUTPUT_CHARACTERS


@pytest.mark.parametrize(
    "code",
    ["6 * 7", "x = 6\nx * 7", "return 42", "__result__ = 42", "__result__ = 42\n'another'", "if 1:\n    return 42\n7"],
)
def test_the_result_is_the_last_expression_a_return_or_what_was_assigned(run: Run, code: str) -> None:
    assert run(code).value == 42


def test_a_program_without_a_result_gives_none(run: Run) -> None:
    assert run("x = 1").value is None
    assert run("if False:\n    __result__ = 1").value is None


def test_calls_are_awaited_and_answers_have_attributes(run: Run) -> None:
    assert run("found = await search('x', top=3)\n[found.name, found.values, found.named.top]").value == [
        "search",
        ["x"],
        3,
    ]
    assert run("found = await search('x')\n[r.title for r in found.results]").value == ["one", "two"]
    assert run("found = await search('x')\nfound['results'][0].title + found.results[1]['title']").value == "onetwo"
    assert run("(await search('x')).results[0].title").value == "one"
    assert run("r = await search('x')\nf'{r.name}: {r.results[0].title!r:>6}'").value == "search:  'one'"


def test_answers_stay_plain_dictionaries(run: Run) -> None:
    code = "r = await search('x')\n[isinstance(r, dict), sorted(r.keys()), r.get('nothing'), len(r), 'name' in r]"
    assert run(code).value == [True, ["name", "named", "results", "values"], None, 4, True]


def test_attributes_of_other_things_are_left_alone(run: Run) -> None:
    code = """
import math, datetime
class Point:
    def __init__(self, x):
        self.x = x
p = Point(3)
p.x = p.x + 1
p.x += 1
[p.x, math.floor(math.pi), datetime.date(2024, 5, 6).year, 'a'.upper()]
"""
    assert run(code).value == [5, 3, 2024, "A"]


def test_calls_that_are_gathered_run_side_by_side(run: Run) -> None:
    meeting = threading.Barrier(3, timeout=60)

    def together(_name: str, values: Any, _named: Any, _left_s: float) -> Any:
        meeting.wait()  # passes only when three are here at once
        return {"value": values[0]}

    code = "import asyncio\n[r.value for r in await asyncio.gather(search(1), search(2), read(3))]"
    assert run(code, together).value == [1, 2, 3]


def test_calls_inside_functions_that_are_gathered_run_side_by_side(run: Run) -> None:
    meeting = threading.Barrier(2, timeout=60)

    def together(_name: str, values: Any, _named: Any, _left_s: float) -> Any:
        meeting.wait()
        return {"value": values[0]}

    code = """
async def both(first):
    one = await search(first)
    two = await read(one.value + 10)
    return two.value
await asyncio.gather(both(1), both(2))
"""
    assert run(code, together).value == [11, 12]


def test_a_call_that_is_not_awaited_is_not_made(run: Run) -> None:
    assert run("search('x')\nsearch('y')\n1").calls == ()


def test_main_functions_run(run: Run) -> None:
    code = "import asyncio\nasync def main():\n    return (await search('x')).name\nasyncio.run(main())"
    assert run(code).value == "search"


def test_a_function_can_be_passed_on(run: Run) -> None:
    assert run("for f in (search, read):\n    last = await f('x')\nlast.name").value == "read"


def test_a_tool_s_error_is_an_exception_with_its_code(run: Run) -> None:
    code = "try:\n    await search('missing')\nexcept ToolError as e:\n    __result__ = [e.code, e.message]"
    assert run(code).value == ["NOT_FOUND", "there is no such thing (try another)"]


def test_an_error_that_nobody_catches_names_line_and_code(run: Run) -> None:
    with pytest.raises(ProgramFailed) as failed:
        run("x = 1\n\nawait search('missing')")
    assert failed.value.details["line"] == 3
    assert failed.value.details["tool_code"] == "NOT_FOUND"
    assert failed.value.details["source"] == "await search('missing')"


def test_one_failure_in_a_gather_can_be_caught_where_it_happens(run: Run) -> None:
    code = """
async def tried(word):
    try:
        return (await search(word)).name
    except ToolError as error:
        return error.code
await asyncio.gather(tried('a'), tried('missing'))
"""
    assert run(code).value == ["search", "NOT_FOUND"]


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        ("x = 1\ny = (2,\nz = 3", 3, "syntax error"),
        ("if True\n    pass", 1, "syntax error"),
        ("x = 1\n1 / 0", 2, "ZeroDivisionError"),
        ("def f():\n    return {}['a']\n\nf()", 2, "KeyError"),
        ("r = await search('x')\n\nr.nothing", 3, "no field 'nothing'; there are: name, values, named, results"),
        ("r = search('x')\nr['results']", 2, "write await"),
        ("x = 1\nserch('x')", 2, "did you mean search"),
        ("raise ValueError('mine')", 1, "mine"),
    ],
)
def test_errors_name_the_line_and_teach(run: Run, code: str, line: int, said: str) -> None:
    with pytest.raises(ProgramError) as failed:
        run(code)
    assert failed.value.details["line"] == line
    assert said in f"{failed.value.message} {failed.value.hint}"


def test_the_line_shown_is_the_one_that_was_written(run: Run) -> None:
    with pytest.raises(ProgramFailed) as failed:
        run("r = await search('x')\nr.results[9].title")
    assert failed.value.details["source"] == "r.results[9].title"


def test_what_was_printed_comes_back(run: Run) -> None:
    outcome = run("print('one', 2, sep='-')\nprint('end', end='')\n3")
    assert outcome.output == "one-2\nend"
    assert outcome.value == 3


def test_output_is_capped_and_the_program_goes_on(run: Run) -> None:
    outcome = run("for i in range(5000):\n    print('x' * 10)\n'done'")
    assert len(outcome.output) == OUTPUT_CHARACTERS
    assert outcome.value == "done"


def test_output_without_end_is_stopped(run: Run) -> None:
    with pytest.raises(OutputFlood):
        run("while True:\n    print('x' * 10000)")


def test_a_timeout_says_what_had_finished_and_what_had_not(run: Run) -> None:
    def slow(name: str, _values: Any, _named: Any, _left_s: float) -> Any:
        if name == "read":
            raise TimeoutError  # as if it had taken until the end
        return {}

    with pytest.raises(ProgramTimeout) as failed:
        run("await search(1)\nprint('half way')\nawait read(2)", slow)
    assert "1 call had finished, read had not" in failed.value.message
    assert failed.value.details["calls"][0].startswith("search ×1")
    assert failed.value.details["output"] == "half way\n"


def test_a_function_that_never_answers_does_not_keep_the_program(run: Run) -> None:
    release = threading.Event()
    with pytest.raises(ProgramTimeout, match="read had not"):
        run("await read(1)", lambda *_: release.wait(60), timeout_s=0.2)
    release.set()


def test_more_calls_than_the_budget_are_refused(run: Run) -> None:
    code = (
        "for i in range(10):\n    try:\n        await search(i)\n    except ToolError as e:\n        return [i, e.code]"
    )
    assert run(code, calls=4).value == [4, "CALL_BUDGET"]


def test_results_of_every_kind_become_plain_values(run: Run) -> None:
    code = """
import datetime
class Point:
    def __init__(self):
        self.x = 1
return {
    'set': {2, 1}, 'tuple': (1, 2), 'date': datetime.date(2024, 5, 6), 'bytes': b'ab', 1: None,
    'instance': Point(), 'float': 1.5, 'span': datetime.timedelta(hours=1), 'big': 2 ** 600,
}
"""
    value = run(code).value
    assert value["big"] == str(2**600)
    del value["big"]
    assert value == {
        "set": [1, 2],
        "tuple": [1, 2],
        "date": "2024-05-06",
        "bytes": "ab",
        "1": None,
        "instance": {"x": 1},
        "float": 1.5,
        "span": 3600.0,
    }


@pytest.mark.parametrize("code", ["10 ** 5000", "x = []\nfor _ in range(100):\n    x = [x]\nx", "'x' * 9_000_000"])
def test_results_that_cannot_be_sent_are_refused(run: Run, code: str) -> None:
    with pytest.raises(ResultInvalid):
        run(code)


def test_nothing_is_left_for_the_next_program(run: Run) -> None:
    for _ in range(4):  # more than there are workers
        run("secret = 'mine'\njson = None\nToolError = None")
    for _ in range(4):
        with pytest.raises(ProgramFailed, match="'secret' is not defined"):
            run("secret")
        assert run("json.dumps([1])").value == "[1]"


def test_the_client_class_of_old_programs_is_there(run: Run) -> None:
    code = """
from src.mcp_server.client import MCPClient

client = MCPClient()
one = await client.search('x')
two = await client.read('y')
[one.name, two.name]
"""
    assert run(code).value == ["client_search", "read"]


def test_an_import_over_several_lines_keeps_the_lines(run: Run) -> None:
    with pytest.raises(ProgramFailed) as failed:
        run("from src.client import (\n    MCPClient,\n)\n\n1 / 0")
    assert failed.value.details["line"] == 5


def test_names_of_json_are_understood(run: Run) -> None:
    assert run("[true, false, null]").value == [True, False, None]


def test_an_invalid_program_is_refused_before_anything_runs(run: Run) -> None:
    made: list[str] = []

    def noted(name: str, _values: Any, _named: Any, _left_s: float) -> Any:
        made.append(name)
        return {}

    with pytest.raises(ProgramInvalid):
        run("await search('x')\nimport os", noted)
    with pytest.raises(ProgramInvalid):
        run("await search('x')\nx = (", noted)
    assert made == []
