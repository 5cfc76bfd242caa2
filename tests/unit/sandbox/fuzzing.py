# ruff: noqa: E501 -- a program a line reads better than one broken up
"""Programs nobody wrote: put together from pieces of the language, of the tools and of nonsense, by a seeded dice."""

import random

ATOMS = (
    "0", "1", "-1", "3.5", "''", "'abc'", "b'x'", "None", "True", "[]", "{}", "()", "x", "y", "found", "found.results",
    "10 ** 30", "'x' * 1000", "range(5)", "{1, 2}", "[1, 2, 3]", "{'a': 1}", "float('nan')", "float('inf')", "lambda v: v",
    "search", "json", "math.pi", "ToolError", "__result__", "...", "1j", "'\\ud800'", "'ä€😀'", "print", "int", "type(x)",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**", "==", "<", "and", "or", "in", "is", "|", "&", "<<", "if x else")
METHODS = (
    "append(1)", "upper()", "get('a')", "items()", "keys()", "pop()", "sort()", "split()", "format(1)", "join(['a'])",
    "encode()", "copy()", "update({})", "index(1)", "title", "results", "__class__", "real", "code", "args", "a.b.c",
)  # fmt: skip
CALLS = (
    "len", "str", "int", "list", "dict", "set", "sorted", "sum", "max", "print", "repr", "abs", "round", "isinstance",
    "enumerate", "zip", "json.dumps", "json.loads", "math.sqrt", "re.findall", "await search", "await write", "hash", "iter",
)  # fmt: skip
NOISE = (
    "(",
    ")",
    "[",
    "}",
    ":",
    "\\",
    "'",
    '"""',
    "\t",
    "@",
    "$",
    "!",
    "\0",
    "\u2028",
    "import os",
    "yield",
    "del x",
    "return",
)


class Dice:
    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def program(self) -> str:
        start = "x = 1\ny = [1, 2]\nfound = await search('q')\n" if self._dice.random() < 0.8 else ""
        text = start + "\n".join(self._statement(0) for _ in range(self._dice.randint(1, 8)))
        if self._dice.random() < 0.15:
            at = self._dice.randint(0, len(text))
            text = text[:at] + self._dice.choice(NOISE) + text[at:]
        return text

    def _expression(self, depth: int) -> str:
        pick = self._dice.random()
        if depth > 3 or pick < 0.35:
            return self._dice.choice(ATOMS)
        inner = self._expression(depth + 1)
        if pick < 0.55:
            return f"({inner} {self._dice.choice(BINARY)} {self._expression(depth + 1)})"
        if pick < 0.7:
            return f"({inner}).{self._dice.choice(METHODS)}"
        if pick < 0.85:
            return f"{self._dice.choice(CALLS)}({inner})"
        if pick < 0.92:
            return f"({inner})[{self._expression(depth + 1)}]"
        if pick < 0.96:
            return f"[{inner} for v in {self._expression(depth + 1)}]"
        return f"f'{{{self._dice.choice(('x', 'found', '1'))}}}'"

    def _statement(self, depth: int) -> str:
        pad = "    " * depth
        pick = self._dice.random()
        if depth > 2 or pick < 0.35:
            return f"{pad}{self._dice.choice(('x', 'y', 'found', '__result__', 'x.y', 'x[0]'))} = {self._expression(0)}"
        if pick < 0.55:
            return pad + self._expression(0)
        body = self._statement(depth + 1)
        if pick < 0.62:
            return f"{pad}if {self._expression(1)}:\n{body}"
        if pick < 0.7:
            return f"{pad}for v in {self._expression(1)}:\n{body}"
        if pick < 0.76:
            return f"{pad}try:\n{body}\n{pad}except Exception as x:\n{pad}    y = x"
        if pick < 0.82:
            return f"{pad}def f(v):\n{body}\n{pad}    return v\n{pad}x = f({self._expression(1)})"
        if pick < 0.87:
            return f"{pad}async def g(v):\n{body}\n{pad}    return await search(v)\n{pad}x = await g({self._expression(1)})"
        if pick < 0.91:
            return f"{pad}x = await asyncio.gather(*[search(v) for v in {self._expression(1)}])"
        if pick < 0.94:
            return f"{pad}class A:\n{pad}    z = 1\n{pad}    def m(self):\n{pad}        return self\n{pad}x = A().m()"
        if pick < 0.97:
            return f"{pad}x = 0\n{pad}while x < 3:\n{body}\n{pad}    x = x + 1"
        return f"{pad}return {self._expression(0)}"
