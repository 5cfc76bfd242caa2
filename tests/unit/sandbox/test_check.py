"""What is said about a program before it runs."""

import pytest

from trivium.sandbox.check import parse
from trivium.sandbox.failures import ProgramInvalid
from trivium.sandbox.rewrite import rewrite

TOOLS = frozenset({"semantic_search"})


def problems(code: str) -> list[dict[str, object]]:
    with pytest.raises(ProgramInvalid) as refused:
        parse(code, TOOLS)
    found: list[dict[str, object]] = refused.value.details["problems"]
    return found


@pytest.mark.parametrize(
    ("code", "what", "instead"),
    [
        ("import os", "import of os", "nothing of the machine"),
        ("from collections import Counter", "import of collections", "counts.get(key, 0) + 1"),
        ("import numpy as np", "import of numpy", "lists and math"),
        ("import xyz", "import of xyz", "one of: json, datetime, re, math, typing, asyncio"),
        ("from os import *", "import of os", "nothing of the machine"),
        ("from json import *", "import *", "name what you import"),
        ("from . import x", "import of .", "one of"),
        ("class A(B):\n    pass", "class inheritance", "without bases"),
        ("class A:\n    @property\n    def x(self):\n        return 1", "decorators on methods", "ordinary method"),
        ("def f():\n    yield 1", "yield", "build a list"),
        ("del x[0]", "del statement", "pop(key)"),
        ("try:\n    pass\nexcept* ValueError:\n    pass", "except*", "except"),
        ("type X = int", "type aliases", "leave the line out"),
        ("async def f():\n    async for x in y:\n        pass", "async for", "ordinary for"),
        ("async def f():\n    async with y:\n        pass", "async with", "await"),
        ("from __future__ import annotations", "__future__", "leave the line out"),
        ("open('x')", "open is not available", "semantic_search"),
        ("eval('1')", "eval is not available", "json.loads"),
        ("x = 1\nexit()", "exit is not available", "top-level return"),
        ("asyncio.create_task(f())", "asyncio.create_task", "asyncio.gather"),
        ("await asyncio.gather(f(), return_exceptions=True)", "return_exceptions", "try and except"),
        ("sorted(names, key=str.lower)", "str.lower cannot be passed on", "lambda value: value.lower()"),
    ],
)
def test_what_cannot_work_is_named_with_what_to_write_instead(code: str, what: str, instead: str) -> None:
    found = problems(code)
    assert any(what in str(one["problem"]) and instead in str(one["instead"]) for one in found), found


def test_every_line_that_cannot_work_is_named() -> None:
    assert [one["line"] for one in problems("import os\nx = 1\ndel x\n\nopen('y')")] == [1, 3, 5]


def test_a_name_that_the_program_defines_is_its_own() -> None:
    parse("def open(x):\n    return x\nopen(1)\nexit = print\nexit(2)", TOOLS)


@pytest.mark.parametrize(
    "code",
    [
        "import json, re, math, datetime, typing, asyncio",
        "from datetime import datetime, timedelta",
        "from typing import Any\nx: Any = 1",
        "from anywhere.at_all import MCPClient, semantic_search",
        "re.compile('x')",
        "x = [1]\nx.sort()\nsorted(x, key=lambda v: -v)",
        "@decorated\ndef f():\n    pass",
        "sum(x for x in [1])",
    ],
)
def test_what_works_is_let_through(code: str) -> None:
    parse(code, TOOLS)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a.b", '__at(a, "b")'),
        ("a.b.c", '__at(__at(a, "b"), "c")'),
        ("a.b()", "a.b()"),
        ("a.b.c()", '__at(a, "b").c()'),
        ("a.b = c.d", 'a.b = __at(c, "d")'),
        ("a.b += 1", "a.b += 1"),
        ("a.b, c.d = 1, 2", "a.b, c.d = 1, 2"),
        ("a.b[0] = 1", '__at(a, "b")[0] = 1'),
        ("for a.b in c.d: pass", 'for a.b in __at(c, "d"): pass'),
        ("with c.d as a.b: pass", 'with __at(c, "d") as a.b: pass'),
        ("self.x", "self.x"),
        ("math.pi", "math.pi"),
        ("x.__class__", "x.__class__"),
        ("f'{a.b!r:>{c.d}}'", 'f\'{__at(a, "b")!r:>{__at(c, "d")}}\''),
        ("'a.b'", "'a.b'"),
        ("# a.b", "# a.b"),
        ("(a\n .b)", '(__at(a, "b"\n))'),
        ("ä.ö", '__at(ä, "ö")'),
    ],
)
def test_reads_of_attributes_become_reads_of_fields(code: str, expected: str) -> None:
    assert rewrite(parse(code, TOOLS)) == expected


def test_a_program_with_a_syntax_error_is_left_as_it_is() -> None:
    assert rewrite(parse("x = (a.b", TOOLS)) == "x = (a.b"
