"""What each format becomes: text, blocks, title, date and metadata."""

from pathlib import Path

import pytest
from document_files import docx, docx_paragraph, docx_table, pdf

from trivium.documents.read import is_supported, read_document, supported_suffixes
from trivium.model.chunk import ParsedDocument


def read(name: str, content: str | bytes) -> ParsedDocument:
    return read_document(Path(name), content if isinstance(content, bytes) else content.encode())


def shown(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_every_promised_format_has_a_reader() -> None:
    promised = {".md", ".markdown", ".mdx", ".rst", ".txt", ".log", ".html", ".htm", ".pdf", ".docx", ".csv", ".tsv"}
    assert promised | {".json", ".jsonl", ".eml", ""} <= set(supported_suffixes())
    assert is_supported(Path("NOTES.MD"))
    assert not is_supported(Path("photo.jpeg"))


def test_markdown_stays_byte_for_byte_what_it_was() -> None:
    source = "\ufeff---\ntitle: X\n---\r\n# Eins\r\n\r\nZwei  \r\ndrei\tvier\r\n"
    assert read("a.md", source).text == source.removeprefix("\ufeff")


def test_markdown_blocks_keep_lists_code_tables_and_quotations_whole() -> None:
    source = (
        "# Title\n\nProse\ngoes on.\n\n- one\n- two\n\n  ```sh\n  ls\n\n  pwd\n  ```\n\n| a | b |\n|---|---|\n| 1 |"
        " 2 |\n\n> quoted\n\n[link]: https://example.org\n"
    )
    assert shown(read("a.md", source)) == [
        ("heading", "# Title"),
        ("paragraph", "Prose\ngoes on."),
        ("list", "- one"),
        ("list", "- two"),
        ("code", "  ```sh\n  ls\n\n  pwd\n  ```"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("quote", "> quoted"),
        ("paragraph", "[link]: https://example.org"),
    ]


def test_a_hash_inside_code_is_no_heading() -> None:
    assert [kind for kind, _ in shown(read("a.md", "```\n# not a heading\n```\n"))] == ["code"]


def test_yaml_front_matter_becomes_metadata() -> None:
    document = read(
        "a.md",
        "---\ntitle: Plan\ndate: 2026-02-01\nlast_updated: 2026-03-04\ntags: [a, b]\ndraft: true\nx: {y: 1}\n---\nBody",
    )
    assert (document.title, document.date) == ("Plan", "2026-03-04")
    assert document.metadata["tags"] == ["a", "b"]
    assert document.metadata["draft"] is True
    assert "x" not in document.metadata
    assert shown(document) == [("paragraph", "Body")]


def test_toml_front_matter_becomes_metadata() -> None:
    document = read("a.md", '+++\ntitle = "Plan"\ndate = 2026-02-01T10:00:00Z\n+++\nBody')
    assert (document.title, document.date) == ("Plan", "2026-02-01T10:00:00+00:00")


@pytest.mark.parametrize("head", ["---\n: [broken\n---\n", "---\njust words\n---\n", "---\nnever closed\n"])
def test_what_only_looks_like_front_matter_stays_text(head: str) -> None:
    document = read("a.md", head + "Body")
    assert not document.metadata
    assert "Body" in document.text[document.blocks[0].start :]
    assert document.blocks[0].start == 0


def test_the_title_is_the_first_heading_or_the_file_name() -> None:
    assert read("a.md", "# The *big* [plan](x.md) {#top}\n").title == "The big plan"
    assert read("q3_road-map.md", "Words.").title == "q3 road map"


def test_plain_text_is_cut_at_blank_lines() -> None:
    assert shown(read("a.txt", "One\ntwo.\n\n\n  Three.\r\n\r\nFour.\n")) == [
        ("paragraph", "One\ntwo."),
        ("paragraph", "  Three."),
        ("paragraph", "Four."),
    ]


def test_html_keeps_structure_and_drops_furniture() -> None:
    document = read(
        "page.html",
        "<html><head><title>Atlas</title><meta property='article:modified_time' content='2026-01-02T03:04:05Z'>"
        "<style>p{}</style></head><body><nav>Home</nav><header>Logo</header><h1>Atlas</h1><p>A <b>bold</b> claim.</p>"
        "<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul><ol><li>first</li></ol><script>evil()</script>"
        "<table><tr><th>Name</th><th>City</th></tr><tr><td>Vale</td><td>Oslo | Bergen</td></tr></table>"
        "<pre><code>a = 1\n  b = 2</code></pre><blockquote>Said so.</blockquote><footer>Imprint</footer></body></html>",
    )
    assert (document.title, document.date) == ("Atlas", "2026-01-02T03:04:05+00:00")
    assert shown(document) == [
        ("heading", "# Atlas"),
        ("paragraph", "A bold claim."),
        ("list", "- one"),
        ("list", "  - inner"),
        ("list", "- two"),
        ("list", "1. first"),
        ("table", "| Name | City |\n| --- | --- |\n| Vale | Oslo \\| Bergen |"),
        ("code", "```\na = 1\n  b = 2\n```"),
        ("quote", "> Said so."),
    ]


def test_html_takes_the_main_part_where_the_page_names_one() -> None:
    source = "<body><div>Menu</div><main><header><h1>Real</h1></header><p>Text.</p></main><div>More</div></body>"
    assert [text for _, text in shown(read("a.html", source))] == ["# Real", "Text."]


def test_html_that_is_all_furniture_is_read_anyway() -> None:
    assert "Only this" in read("a.html", "<nav>Only this</nav>").text


def test_html_in_its_own_charset_is_decoded() -> None:
    source = '<html><head><meta charset="iso-8859-2"></head><body><p>Łódź żółw</p></body></html>'
    assert "Łódź żółw" in read("a.html", source.encode("iso-8859-2")).text


def test_restructured_text_keeps_structure_and_fields() -> None:
    document = read(
        "a.rst",
        "Guide\n=====\n\n:Date: 2026-04-05\n:Author: Ada Vale\n\nIntro to :class:`Thing`.\n\nUse\n---\n\n"
        ".. code-block:: sh\n\n   make all\n\n.. versionadded:: 2.0\n   Faster.\n\n"
        "* one\n* two\n\n=== ===\nA   B\n=== ===\n1   2\n=== ===\n",
    )
    assert (document.title, document.date) == ("Guide", "2026-04-05")
    assert document.metadata == {"author": "Ada Vale"}
    assert [text for kind, text in shown(document) if kind == "heading"] == ["# Guide", "## Use"]
    for expected in (
        "Intro to Thing.",
        "```\nmake all\n```",
        "Faster.",
        "- one\n- two",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ):
        assert expected in document.text


def test_restructured_text_cannot_reach_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the-secret-word")
    svg = tmp_path / "secret.svg"
    svg.write_text("<svg>the-secret-word</svg>")
    source = (
        f".. include:: {secret}\n\n.. literalinclude:: {secret}\n\n.. raw:: html\n   :file: {secret}\n\n"
        f".. csv-table::\n   :file: {secret}\n\n.. image:: {svg}\n   :loading: embed\n\n"
        f".. figure:: {svg}\n   :loading: embed\n\nEnd.\n"
    )
    path = tmp_path / "a.rst"
    path.write_text(source)
    text = read_document(path).text
    assert "the-secret-word" not in text
    assert "End." in text


def test_pdf_lines_become_paragraphs_and_larger_type_headings() -> None:
    first = [
        (50.0, 740.0, 20.0, "Annual report"),
        (50.0, 700.0, 11.0, "Sales grew in every quar-"),
        (50.0, 687.0, 11.0, "ter of the year, in all of"),
        (50.0, 674.0, 11.0, "our markets."),
        (50.0, 640.0, 11.0, "Costs stayed where they"),
    ]
    second = [(50.0, 740.0, 11.0, "were in the year before.")]
    document = read("report.pdf", pdf([first, second], {"Title": "Report", "CreationDate": "D:20260102030405Z"}))
    assert shown(document) == [
        ("heading", "# Annual report"),
        ("paragraph", "Sales grew in every quarter of the year, in all of our markets."),
        ("paragraph", "Costs stayed where they were in the year before."),
    ]
    assert (document.title, document.date) == ("Report", "2026-01-02T03:04:05+00:00")
    assert document.metadata["pages"] == 2
    assert document.metadata["page_starts"] == [0, document.text.index("were in the year")]


def test_pdf_running_heads_and_page_numbers_are_dropped_and_page_starts_kept() -> None:
    pages = [
        [
            (50.0, 780.0, 9.0, f"Vale Systems - {number}"),
            (50.0, 700.0, 11.0, f"Page content {word}."),
            (50.0, 20.0, 9.0, str(number)),
        ]
        for number, word in enumerate(["alpha", "beta", "gamma", "delta"], start=1)
    ]
    document = read("a.pdf", pdf(pages))
    assert "Vale Systems" not in document.text
    starts = document.metadata["page_starts"]
    assert isinstance(starts, list)
    assert [document.text[int(start) :].split(".")[0] for start in starts] == [
        f"Page content {word}" for word in ("alpha", "beta", "gamma", "delta")
    ]


def test_docx_keeps_headings_and_tables_and_core_properties() -> None:
    body = (
        docx_paragraph("Terms", "Heading1")
        + docx_paragraph("Paid <monthly> & late.")
        + docx_table([["A", "B"], ["1", "2"]])
    )
    document = read("contract.docx", docx(body))
    assert (document.title, document.date) == ("Supply contract", "2025-06-07T08:09:10+00:00")
    assert document.metadata == {"creator": "Ada Vale"}
    assert shown(document) == [
        ("heading", "# Terms"),
        ("paragraph", "Paid <monthly> & late."),
        ("table", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
    ]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_rows_of_a_table_stay_on_one_line_each(name: str, mark: str) -> None:
    document = read(name, f'name{mark}city\nVale{mark}Oslo\n"Two\nlines"{mark}"a{mark}b"\n')
    assert document.text.splitlines()[2:] == ["| Vale | Oslo |", f"| Two lines | {' '.join(f'a{mark}b'.split())} |"]
    assert [kind for kind, _ in shown(document)] == ["table"]


def test_json_records_are_one_readable_block_each() -> None:
    document = read("a.json", '[{"name": "Vale", "office": {"city": "Oslo"}, "tags": ["a", "b"]}, {"name": "Brook"}]')
    assert [text for _, text in shown(document)] == ["name: Vale\noffice.city: Oslo\ntags: a, b", "name: Brook"]


def test_a_json_object_is_cut_by_its_keys() -> None:
    document = read(
        "a.json", '{"title": "Vendors", "date": "2026-01-01", "vendors": [{"id": 1}, {"id": 2}], "by": {"who": "Ada"}}'
    )
    assert (document.title, document.date) == ("Vendors", "2026-01-01")
    assert [text for _, text in shown(document)][1:] == ["vendors.id: 1", "vendors.id: 2", "by.who: Ada"]


def test_a_torn_line_among_json_lines_is_kept_as_it_stands() -> None:
    assert [text for _, text in shown(read("a.jsonl", '{"a": 1}\n{"b": \n{"c": 3}\n'))] == ["a: 1", '{"b":', "c: 3"]


MAIL = (
    "From: Ada Vale <ada@vale.example>\r\nTo: bo@brook.example\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
    "Date: Mon, 02 Feb 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\n"
)


def test_mail_has_its_headers_text_and_date() -> None:
    document = read(
        "a.eml",
        MAIL + "Content-Type: text/plain; charset=iso-8859-1\r\n\r\nSch\xf6n.\r\n".encode("latin-1").decode("latin-1"),
    )
    assert (document.title, document.date) == ("Grüße", "2026-02-02T09:00:00+00:00")
    assert document.metadata["from"] == "Ada Vale <ada@vale.example>"
    assert shown(document)[0] == ("heading", "# Grüße")


def test_mail_prefers_plain_text_and_falls_back_to_html() -> None:
    parts = [("text/html", "<p>Rich <b>text</b></p>"), ("text/plain", "Plain text")]
    for chosen, expected in ((parts, "Plain text"), (parts[:1], "Rich text")):
        body = "".join(f"--x\r\nContent-Type: {kind}\r\n\r\n{text}\r\n" for kind, text in chosen) + "--x--\r\n"
        document = read("a.eml", f"{MAIL}Content-Type: multipart/alternative; boundary=x\r\n\r\n{body}")
        assert shown(document)[-1] == ("paragraph", expected)


def test_mail_attachments_are_read_where_there_is_a_reader() -> None:
    attached = "".join(
        f"--x\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename={name}\r\n\r\n{text}\r\n"
        for kind, name, text in (
            ("text/csv", "v.csv", "name,city\r\nVale,Oslo"),
            ("image/png", "p.png", "junk"),
            ("application/json", "bad.json", "{"),
        )
    )
    body = f"--x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n{attached}--x--\r\n"
    document = read("a.eml", f"{MAIL}Content-Type: multipart/mixed; boundary=x\r\n\r\n{body}")
    assert document.metadata["attachments"] == ["v.csv", "p.png", "bad.json"]
    assert "## Attachment: v.csv" in document.text
    assert "| Vale | Oslo |" in document.text
    assert "Attachment: p.png" in document.text
    assert "could not be read: not valid JSON" in document.text


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2026-02-01", "2026-02-01"),
        ("February 1, 2026", "2026-02-01"),
        ("1 Feb 2026", "2026-02-01"),
        ("01.02.2026", "2026-02-01"),
        ("2026/02/01", "2026-02-01"),
        ("2026-02-01T10:00:00+02:00", "2026-02-01T08:00:00+00:00"),
        ("Sun, 01 Feb 2026 10:00:00 +0000", "2026-02-01T10:00:00+00:00"),
        ("soon", None),
        ("31.31.2026", None),
    ],
)
def test_dates_are_normalised(written: str, iso: str | None) -> None:
    assert read("a.md", f'---\ndate: "{written}"\n---\nBody').date == iso


def test_quotation_marks_in_a_table_are_those_of_csv() -> None:
    assert '| He said "no" | x |' in read("a.csv", 'what,who\n"He said ""no""",x\n').text


def test_html_navigation_by_role_is_dropped() -> None:
    assert read("a.html", "<div role='navigation'>Menu</div><p>Text.</p>").text == "Text."
