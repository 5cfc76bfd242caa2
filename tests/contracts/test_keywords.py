"""What every KeywordIndex promises, run on each backend."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sql_databases import postgresql_url

from trivium.backends.tantivy.keywords import TantivyKeywordIndex, analyzer
from trivium.errors import BackendUnavailable
from trivium.ports.keywords import KeywordIndex, KeywordRow

Opener = Callable[[], KeywordIndex]

TEXTS = {
    1: ("Guides", "how to rotate an API key without downtime"),
    2: ("Reference", "def getUserName(self): return self.user_name"),
    3: ("Reference", "os.path.join glues folders together"),
    4: ("Billing", "invoices are sent on the first day of a month"),
    5: ("Guides > Keys", "keys live ninety days"),
}


def on_postgresql(path: Path) -> KeywordIndex:
    from trivium.backends.postgres.database import PostgresDatabase
    from trivium.backends.postgres.keywords import PgKeywordIndex

    words = analyzer()
    database = PostgresDatabase(postgresql_url(path, bm25=True), durable=False)
    return PgKeywordIndex(database, words.terms, words.query_terms)


BACKENDS: dict[str, Callable[[Path], KeywordIndex]] = {"tantivy": TantivyKeywordIndex, "pg_textsearch": on_postgresql}


@pytest.fixture(params=BACKENDS)
def open_index(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return lambda: BACKENDS[request.param](tmp_path)


@pytest.fixture
def index(open_index: Opener) -> KeywordIndex:
    filled = open_index()
    filled.apply([KeywordRow(number, *texts) for number, texts in TEXTS.items()], [], 5)
    return filled


def found(index: KeywordIndex, query: str, **options: object) -> list[int]:
    return index.match(query, 10, **options).ids.tolist()  # type: ignore[arg-type]


def test_a_new_index_is_empty_and_stands_at_zero(open_index: Opener) -> None:
    index = open_index()
    assert index.position == 0
    assert index.ids().tolist() == []
    assert found(index, "anything") == []


def test_chunks_and_position_survive_reopening(index: KeywordIndex, open_index: Opener) -> None:
    again = open_index()
    assert again.position == 5
    assert again.ids().tolist() == [1, 2, 3, 4, 5]
    assert found(again, "invoices") == [4]


def test_adding_a_chunk_again_replaces_it(index: KeywordIndex) -> None:
    index.apply([KeywordRow(4, "Billing", "receipts only")], [], 6)
    assert found(index, "invoices") == []
    assert found(index, "receipts") == [4]
    assert index.ids().tolist() == [1, 2, 3, 4, 5]


def test_removing_takes_a_chunk_out_and_an_unknown_one_is_fine(index: KeywordIndex) -> None:
    index.apply([], [4, 4711], 6)
    assert index.ids().tolist() == [1, 2, 3, 5]
    assert index.position == 6


def test_removed_and_added_in_one_call_is_there_afterwards(index: KeywordIndex) -> None:
    index.apply([KeywordRow(4, "", "fresh words")], [4], 6)
    assert found(index, "fresh") == [4]


def test_a_failing_source_of_rows_changes_nothing(index: KeywordIndex) -> None:
    def rows() -> Iterator[KeywordRow]:
        yield KeywordRow(9, "", "half")
        raise RuntimeError("disk of the reader gone")

    with pytest.raises(RuntimeError):
        index.apply(rows(), [1], 6)
    assert index.position == 5
    assert index.ids().tolist() == [1, 2, 3, 4, 5]
    index.apply([], [], 7)
    assert index.position == 7


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("user name", 2),
        ("getUserName", 2),
        ("get_user_name", 2),
        ("get-user-name", 2),
        ("path.join", 3),
        ("FOLDER", 3),
        ("rotating", 1),
        ("the invoice's month", 4),
        ("ＡＰＩ ｋｅｙ", 1),  # full-width letters
    ],
)
def test_words_are_found_whatever_their_spelling(index: KeywordIndex, query: str, expected: int) -> None:
    assert found(index, query)[0] == expected


def test_the_header_counts_more_than_the_same_word_in_the_text(open_index: Opener) -> None:
    index = open_index()
    index.apply([KeywordRow(1, "", "zebra crossing road"), KeywordRow(2, "zebra", "crossing road")], [], 1)
    assert found(index, "zebra") == [2, 1]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("数据库连接失败", "连接"),
        ("データベース接続", "接続"),
        ("데이터베이스 연결", "연결"),
        ("การเชื่อมต่อฐานข้อมูล", "ฐานข้อมูล"),
        ("соединение с базой", "БАЗОЙ"),
        ("डेटाबेस कनेक्शन", "कनेक्शन"),
        ("une réponse naïve", "reponse"),
        ("straße", "STRASSE"),
    ],
)
def test_other_languages_are_searchable(index: KeywordIndex, text: str, query: str) -> None:
    index.apply([KeywordRow(77, "", text)], [], 6)
    assert found(index, query) == [77]


def test_a_query_of_stopwords_alone_still_searches(index: KeywordIndex) -> None:
    assert 4 in found(index, "of the")


@pytest.mark.parametrize(
    "query", ["", "   ", "!!! ???", "\x00\x07", "🙂🙃", "AND OR NOT", 'text:"x" +a -b (', "a" * 5000]
)
def test_any_text_is_a_valid_query(index: KeywordIndex, query: str) -> None:
    matches = index.match(query, 10)
    assert matches.ids.size == matches.scores.size
    assert (matches.bound == 0.0) == (not any(letter.isalnum() for letter in query))


@settings(max_examples=60, deadline=None)
@given(query=st.text(max_size=600))
def test_no_query_raises_and_no_score_passes_the_bound(query: str, shared: KeywordIndex) -> None:
    matches = shared.match(query, 3)
    assert (matches.scores <= matches.bound + 1e-3).all()
    assert (np.diff(matches.scores) <= 0).all()


@pytest.fixture(scope="module", params=BACKENDS)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KeywordIndex:
    index = BACKENDS[request.param](tmp_path_factory.mktemp("shared"))
    index.apply([KeywordRow(number, *texts) for number, texts in TEXTS.items()], [], 5)
    return index


def test_an_unknown_word_raises_the_bound_and_so_lowers_every_share(index: KeywordIndex) -> None:
    plain, strange = index.match("invoices", 1), index.match("invoices qwertyuiop", 1)
    assert strange.scores[0] == plain.scores[0]
    assert strange.bound > plain.bound


def test_ties_go_to_the_lower_id_even_at_the_cut(open_index: Opener) -> None:
    index = open_index()
    for number in (30, 10, 20, 5, 40):  # five commits, so five segments
        index.apply([KeywordRow(number, "", "same words")], [], number)
    assert index.match("words", 2).ids.tolist() == [5, 10]
    assert index.match("words", 2, np.array([20, 30, 40])).ids.tolist() == [20, 30]


@pytest.mark.parametrize("size", [0, 3, 1500, 2100, 12_000])
def test_within_gives_what_filtering_the_whole_list_gives(large: KeywordIndex, size: int) -> None:
    allowed = np.sort(np.random.default_rng(size).choice(np.arange(1, 24_001), size, replace=False))
    whole = large.match("alpha beta gamma7", 24_000)
    expected = whole.ids[np.isin(whole.ids, allowed)][:100]
    assert large.match("alpha beta gamma7", 100, allowed).ids.tolist() == expected.tolist()
    assert large.count("gamma7 delta", allowed) == np.count_nonzero(allowed % 4 >= 2)


@pytest.fixture(scope="module", params=BACKENDS)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> KeywordIndex:
    index = BACKENDS[request.param](tmp_path_factory.mktemp("large"))
    words = ("alpha", "beta", "gamma7", "delta")
    index.apply((KeywordRow(n, "", " ".join(words[: n % 4 + 1] * (n % 3 + 1))) for n in range(1, 24_001)), [], 1)
    return index


def test_another_reader_sees_a_commit_without_reopening(index: KeywordIndex, open_index: Opener) -> None:
    reader = open_index()
    assert found(reader, "receipts") == []
    index.apply([KeywordRow(6, "", "receipts")], [], 6)
    assert found(reader, "receipts") == [6]
    assert reader.position == 6


WRITER = """
import sys
from pathlib import Path
from trivium.backends.tantivy.keywords import TantivyKeywordIndex
from trivium.ports.keywords import KeywordRow
index = TantivyKeywordIndex(Path(sys.argv[1]))
for step in range(int(sys.argv[2]), int(sys.argv[3])):
    index.apply([KeywordRow(10 * step + n, "", f"step {step}") for n in range(10)], [], step)
    print(step, flush=True)
"""


def writer(path: Path, first: int, end: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(end)], stdout=subprocess.PIPE, text=True
    )


def test_two_processes_take_turns_at_writing(tmp_path: Path) -> None:
    one, two = writer(tmp_path, 1, 6), writer(tmp_path, 6, 11)
    one.communicate()
    two.communicate()
    assert (one.returncode, two.returncode) == (0, 0)
    assert TantivyKeywordIndex(tmp_path).ids().tolist() == list(range(10, 110))


@pytest.mark.parametrize("seed", range(3))
def test_a_kill_leaves_whole_steps_and_the_position_that_names_them(tmp_path: Path, seed: int) -> None:
    process = writer(tmp_path, 1, 10_000)
    assert process.stdout is not None
    acknowledged = [int(process.stdout.readline()) for _ in range(2 + seed)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    index = TantivyKeywordIndex(tmp_path)
    assert index.position >= acknowledged[-1]
    assert index.ids().tolist() == list(range(10, 10 * index.position + 10))
    index.apply([KeywordRow(5, "", "goes on")], [], index.position + 1)
    assert found(index, "goes") == [5]


def test_waiting_for_another_writer_ends_with_a_clear_error(tmp_path: Path) -> None:
    index = TantivyKeywordIndex(tmp_path)

    def rows() -> Iterator[KeywordRow]:
        with pytest.raises(BackendUnavailable, match="another process"):
            TantivyKeywordIndex(tmp_path, lock_timeout_s=0.05)
        yield KeywordRow(1, "", "held")

    index.apply(rows(), [], 1)
    assert index.position == 1


def test_a_damaged_index_is_a_clear_error(tmp_path: Path) -> None:
    TantivyKeywordIndex(tmp_path).apply([KeywordRow(1, "", "words")], [], 1)
    for meta in tmp_path.rglob("meta.json"):
        meta.write_text("{")
    with pytest.raises(BackendUnavailable, match="keyword index"):
        TantivyKeywordIndex(tmp_path)
