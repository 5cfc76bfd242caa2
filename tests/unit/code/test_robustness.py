"""Code that is broken, huge, deep or no code at all: the run ends, quickly, and says what it could not see."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.code.analyse import analyse, pack, read_facts, unpack
from trivium.code.chunks import split_code
from trivium.code.languages import extensions
from trivium.model.code import CodeGraph


def words(texts: list[str]) -> list[int]:
    return [len(t.split()) for t in texts]


def reasons(graph: CodeGraph) -> set[str]:
    return {b.reason for b in graph.blind_spots}


@pytest.mark.parametrize("extension", extensions())
@given(source=st.binary(max_size=300))
@settings(max_examples=15, deadline=None)
def test_no_bytes_break_any_language(extension: str, source: bytes) -> None:
    analyse("r", {f"a{extension}": source})


@pytest.mark.parametrize("extension", extensions())
def test_an_empty_file_is_a_symbol_without_edges(extension: str) -> None:
    graph = analyse("r", {f"a{extension}": b""})
    assert [s.kind for s in graph.symbols] == ["file"]
    assert graph.edges == ()


def test_a_syntax_error_hides_only_itself() -> None:
    graph = analyse("r", {"a.py": b"def f(): ...\ndef broken(:\n\ndef g():\n    f()\n"})
    assert "syntax_error" in reasons(graph)
    assert {"f", "g"} <= {s.name for s in graph.symbols}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("deep.py", b"x = " + b"(" * 3000 + b"1" + b")" * 3000),
        ("blocks.py", b"".join(b" " * i + b"if x:\n" for i in range(400)) + b" " * 400 + b"f()\n"),
        ("sum.py", b"x = " + b" + ".join([b"f()"] * 5000)),
        ("chain.py", b"x = a" + b".b()" * 3000),
        ("deep.js", b"x = " + b"[" * 3000 + b"]" * 3000),
        ("elses.js", b"if (a) {}" + b" else if (a) { f(); }" * 2000),
        ("Deep.java", b"class A { int f() { return " + b"(" * 2000 + b"1" + b")" * 2000 + b"; } }"),
        ("deep.rs", b"fn f() { " + b"{" * 2000 + b"}" * 2000 + b" }"),
        ("deep.c", b"int f() { return " + b"-" * 1000 + b"(" * 2000 + b"1" + b")" * 2000 + b"; }"),
    ],
)
def test_deep_nesting_ends(path: str, source: bytes) -> None:
    graph = analyse("r", {path: source})
    assert any(s.kind == "file" for s in graph.symbols)


def test_a_minified_megabyte_is_a_file_and_no_more() -> None:
    source = b"var a=function(b){return b+1};" * 40_000
    graph = analyse("r", {"bundle.min.js": source})
    assert [s.kind for s in graph.symbols] == ["file"]
    assert "minified" in reasons(graph)


def test_binary_files_are_not_read() -> None:
    assert read_facts("a.py", b"\x7fELF\0\0\0") is None
    assert analyse("r", {"a.py": b"\x7fELF\0\0\0"}).symbols == ()


def test_cyclic_imports_and_bases_end() -> None:
    files = {
        "a.py": b"from b import *\nfrom b import B\nclass A(B): ...\n",
        "b.py": b"from a import *\nfrom a import A\nclass B(A): ...\nA()\n",
    }
    graph = analyse("r", files)
    pairs = {(e.source, e.target) for e in graph.edges if e.relationship == "imports"}
    assert pairs == {("symbol:r:a.py", "symbol:r:b.py"), ("symbol:r:b.py", "symbol:r:a.py")}


def test_two_runs_agree_whatever_the_order_of_the_files() -> None:
    files = {
        f"m{i}.py": f"from m{(i * 7) % 20} import *\ndef f{i}(g): return g(f{i})\nf{i}(f{i})\n".encode()
        for i in range(20)
    }
    once = analyse("r", files)
    again = analyse("r", dict(reversed(list(files.items()))))
    assert repr(once) == repr(again)


def test_facts_survive_the_cache() -> None:
    source = b"from x import *\nclass A:\n    def f(self, *a, **k):\n        return [g(y) for y in a]\n"
    facts = read_facts("a.py", source)
    assert facts is not None
    assert repr(unpack(pack(facts))) == repr(facts)
    cache: dict[str, bytes] = {}
    first = analyse("r", {"a.py": source}, cache)
    assert len(cache) == 1
    assert analyse("r", {"a.py": source}, cache) == first


SOURCES = st.lists(
    st.sampled_from(
        ["import os\n", "def f(a):\n    return a\n\n", "class A:\n    x = 1\n\n    def m(self):\n        pass\n\n",
         "# größe\n", "\n", "x = 'ä' * 3\n", "def long():\n" + "    f(1, 2)\n" * 80, "y = [" + "1, " * 900 + "]\n"]
    ),
    max_size=12,
)  # fmt: skip


@given(SOURCES)
@settings(max_examples=60, deadline=None)
def test_pieces_cover_the_file_in_order_within_the_limit(parts: list[str]) -> None:
    text = "".join(parts)
    source = text.encode()
    facts = read_facts("pkg/a.py", source)
    assert facts is not None
    pieces = split_code("r", facts, source, words, limit=100)
    position = 0
    for piece in pieces:
        assert text[piece.start : piece.end] == piece.text
        assert not text[position : piece.start].strip()
        assert piece.start >= position
        assert piece.token_count <= 100
        assert piece.line == text.count("\n", 0, piece.start) + 1
        position = piece.end
    assert not text[position:].strip()


def test_a_method_is_a_piece_under_its_class_with_the_comment_before_it() -> None:
    body = "        x = 1\n" * 40
    source = f"import os\n\n\nclass Big:\n    # why\n    def one(self):\n{body}\n    def two(self):\n{body}".encode()
    facts = read_facts("src/big.py", source)
    assert facts is not None
    pieces = split_code("r", facts, source, words, limit=130)
    assert [p.context_header for p in pieces] == [
        "src/big.py",
        "src/big.py > Big",
        "src/big.py > Big > one",
        "src/big.py > Big > two",
    ]
    assert pieces[2].text.lstrip("\n").startswith("    # why\n    def one")
    assert pieces[3].symbol_id == "symbol:r:src/big.py::Big.two"
