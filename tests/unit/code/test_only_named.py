"""Whoever merely names a class or a function depends on it: "0 impacted" would be false."""

import pytest

from trivium.backends.memory.code_graph import MemoryCodeGraph
from trivium.code.analyse import analyse
from trivium.code.dependents import get_dependents

CLASS = "class Config:\n    pass\n"
ERROR = "class Broken(Exception):\n    pass\n"
MODULE = "module m\n"
CRATE = '[package]\nname = "m"\n'
NAMED: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a parameter's type in Python": (
        {"a.py": CLASS, "b.py": "from a import Config\n\n\ndef run(config: Config):\n    pass\n"},
        "class",
        "Config",
        "b.py::run",
    ),
    "a type inside another": (
        {"a.py": CLASS, "b.py": "from a import Config\n\n\ndef run(configs: list[Config]):\n    pass\n"},
        "class",
        "Config",
        "b.py::run",
    ),
    "a quoted type": (
        {
            "a.py": CLASS,
            "b.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from a import Config\n\n\n"
            "def run() -> 'Config | None':\n    pass\n",
        },
        "class",
        "Config",
        "b.py::run",
    ),
    "an exception that is caught": (
        {
            "a.py": ERROR,
            "b.py": "from a import Broken\n\n\ndef run(f):\n    try:\n        f()\n    except Broken:\n        pass\n",
        },
        "class",
        "Broken",
        "b.py::run",
    ),
    "a constant of a class": (
        {"a.py": "class Color:\n    RED = 1\n", "b.py": "import a\n\n\ndef run():\n    return a.Color.RED\n"},
        "class",
        "Color",
        "b.py::run",
    ),
    "an interface in TypeScript": (
        {
            "a.ts": "export interface Config { x: number }\n",
            "b.ts": "import { Config } from './a';\nexport function run(c: Config) { return c.x; }\n",
        },
        "class",
        "Config",
        "b.ts::run",
    ),
    "an enum in TypeScript": (
        {
            "a.ts": "export enum Color { Red }\n",
            "b.ts": "import { Color } from './a';\nexport function run() { return Color.Red; }\n",
        },
        "class",
        "Color",
        "b.ts::run",
    ),
    "instanceof in JavaScript": (
        {
            "a.js": "export class Config {}\n",
            "b.js": "import { Config } from './a.js';\nexport function run(x) { return x instanceof Config; }\n",
        },
        "class",
        "Config",
        "b.js::run",
    ),
    "a field in Java": (
        {"A.java": "package p;\npublic class A {}\n", "B.java": "package p;\npublic class B { A a; }\n"},
        "class",
        "A",
        "B.java::B",
    ),
    "a type argument in Java": (
        {
            "A.java": "package p;\npublic class A {}\n",
            "B.java": "package p;\nclass B { java.util.List<A> all() { return null; } }\n",
        },
        "class",
        "A",
        "B.java::B.all",
    ),
    "an annotation in Java": (
        {"A.java": "package p;\npublic @interface A {}\n", "B.java": "package p;\nclass B { @A void run() {} }\n"},
        "class",
        "A",
        "B.java::B.run",
    ),
    "a parameter in Go": (
        {
            "go.mod": MODULE,
            "a/a.go": "package a\ntype T struct{}\n",
            "b/b.go": 'package b\nimport "m/a"\nfunc Run(t a.T) {}\n',
        },
        "class",
        "T",
        "b/b.go::Run",
    ),
    "a function as a value in Go": (
        {
            "go.mod": MODULE,
            "a/a.go": "package a\nfunc F() {}\n",
            "b/b.go": 'package b\nimport "m/a"\nfunc Run() func() { return a.F }\n',
        },
        "function",
        "F",
        "b/b.go::Run",
    ),
    "a parameter in Rust": (
        {"Cargo.toml": CRATE, "src/lib.rs": "mod a;\nuse a::T;\nfn run(t: T) {}\n", "src/a.rs": "pub struct T {}\n"},
        "class",
        "T",
        "src/lib.rs::run",
    ),
    "a function pointer in C": (
        {
            "a.c": "int go(int x) { return x; }\n",
            "b.c": "int go(int);\nint run(void) { int (*p)(int) = go; return p(1); }\n",
        },
        "function",
        "go",
        "b.c::run",
    ),
    "an attribute in C#": (
        {
            "A.cs": "namespace P { public class AuditAttribute : System.Attribute {} }\n",
            "B.cs": "using P;\nnamespace Q { class B { [Audit] void Run() {} } }\n",
        },
        "class",
        "AuditAttribute",
        "B.cs::B.Run",
    ),
    "a symbol in Ruby": (
        {"a.rb": "class A\n  before_action :check\n\n  def check\n  end\nend\n"},
        "function",
        "A.check",
        "a.rb::A",
    ),
    "a callable in PHP": (
        {"a.php": "<?php\nclass A { function go() {} function run() { array_map([$this, 'go'], []); } }\n"},
        "function",
        "A.go",
        "a.php::A.run",
    ),
    "a type in PHP": (
        {
            "a.php": "<?php\nnamespace P;\nclass A {}\n",
            "b.php": "<?php\nnamespace Q;\nuse P\\A;\nfunction run(A $a) {}\n",
        },
        "class",
        "A",
        "b.php::run",
    ),
}
GO = "def go():\n    pass\n"
NAMED |= {
    "an import that nothing is seen to use": (
        {"a.py": GO, "b.py": "from a import go\n\n\ndef run():\n    pass\n"},
        "function",
        "go",
        "b.py",
    ),
    "a name that is only passed on": (
        {"p/__init__.py": "from p.a import go\n", "p/a.py": GO},
        "function",
        "go",
        "p/__init__.py",
    ),
    "a value in a table of a module": (
        {"p/__init__.py": "", "p/a.py": GO, "p/b.py": "from . import a\n\nTABLE = {'x': a.go}\n"},
        "function",
        "go",
        "p/b.py",
    ),
    "a function that is given back": (
        {"a.py": GO, "b.py": "import a\n\n\ndef run():\n    return a.go\n"},
        "function",
        "go",
        "b.py::run",
    ),
    "a handler in JSX": (
        {
            "a.tsx": "export function onX() {}\n",
            "b.tsx": "import { onX } from './a';\nexport const C = () => <a onClick={onX}/>;\n",
        },
        "function",
        "onX",
        "b.tsx",
    ),
    "an import in Java": (
        {"A.java": "package p;\npublic class A {}\n", "B.java": "package q;\nimport p.A;\nclass B { void run() {} }\n"},
        "class",
        "A",
        "B.java",
    ),
}
HIDDEN = {
    "getattr with a name made up": {"b.py": "def run(thing, name):\n    return getattr(thing, 'fr' + name)()\n"},
    "a receiver nobody knows": {"b.py": "def run(thing):\n    return thing.frob()\n"},
    "an import by name": {"b.py": "import importlib\n\n\ndef run(name):\n    importlib.import_module(name).frob()\n"},
}


def graph(files: dict[str, str]) -> MemoryCodeGraph:
    return MemoryCodeGraph([analyse("x", {path: text.encode() for path, text in files.items()})])


@pytest.mark.parametrize("case", NAMED)
def test_naming_is_depending(case: str) -> None:
    files, kind, path, expected = NAMED[case]
    answer = get_dependents(graph(files), kind, path, "x")
    assert expected in {row["path"] for row in answer["dependents"]}
    assert answer["impact_analysis"]["lower_bound"] >= 1
    assert answer["impact_analysis"]["impact_score"] > 0


@pytest.mark.parametrize("case", HIDDEN)
def test_where_a_dependency_may_hide_the_answer_says_so(case: str) -> None:
    files = {"a.py": "class A:\n    def frob(self):\n        pass\n\n\nclass B:\n    def frob(self):\n        pass\n"}
    impact = get_dependents(graph(files | HIDDEN[case]), "function", "A.frob", "x")["impact_analysis"]
    assert impact["blind_spot_count"] >= 1
    assert impact["blind_spots"][0]["path"] == "b.py"


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        (
            "B.java",
            'class B { void run(Object o) throws Exception { o.getClass().getMethod("go").invoke(o); } }',
            "getMethod",
        ),
        ("b.rb", "def run(thing)\n  thing.send(:go)\nend\n", "send"),
        ("b.php", "<?php\nfunction run($f) { call_user_func($f); }\n", "call_user_func"),
        ("b.go", 'package b\nfunc Run(v any) { reflect.ValueOf(v).MethodByName("Go") }\n', "MethodByName"),
    ],
)
def test_reflection_is_a_blind_spot_in_every_language(path: str, text: str, name: str) -> None:
    spots = analyse("x", {path: text.encode()}).blind_spots
    assert ("reflection", name) in {(spot.reason, spot.name) for spot in spots}


def test_comments_strings_and_local_variables_are_no_references() -> None:
    files = {
        "a.go": "package a\ntype Config struct{}\nfunc list() {}\n",
        "b.go": 'package a\n// Config\nfunc Run() any {\n\tlist := "Config"\n\t_ = list\n\treturn "Config list()"\n}\n',
    }
    assert not [
        e for e in analyse("x", {p: t.encode() for p, t in files.items()}).edges if e.relationship == "references"
    ]


def test_who_calls_an_overridden_method_may_call_the_one_that_overrides_it() -> None:
    text = (
        "class Base:\n    def run(self):\n        self.hook()\n\n    def hook(self):\n        pass\n\n\n"
        "class Plugin(Base):\n    def hook(self):\n        pass\n"
    )
    impact = get_dependents(graph({"a.py": text}), "function", "Plugin.hook", "x")["impact_analysis"]
    assert impact["overrides"] == ["a.py::Base.hook"]
    assert (impact["lower_bound"], impact["upper_bound"]) == (0, 1)
