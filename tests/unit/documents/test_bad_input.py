"""A file that cannot be read is refused by name, whatever is wrong with it; nothing else escapes."""

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from document_files import docx, docx_paragraph, encrypted_pdf, pdf
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.documents.read import read_document, supported_suffixes
from trivium.errors import UnreadableFile
from trivium.model.chunk import ParsedDocument


def read(name: str, content: bytes) -> ParsedDocument:
    return read_document(Path(name), content)


def refusal(name: str, content: bytes) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(name, content)
    assert caught.value.message.startswith(f"{name}: ")
    return caught.value.message


def read_or_refused(name: str, content: bytes) -> ParsedDocument:
    """Anything but UnreadableFile goes through and fails the test."""
    try:
        return read(name, content)
    except UnreadableFile:
        return ParsedDocument("", ())


@pytest.mark.parametrize("suffix", supported_suffixes())
def test_an_empty_file_is_a_document_without_blocks(suffix: str) -> None:
    assert read(f"empty{suffix}", b"").blocks == ()


@pytest.mark.parametrize("suffix", [".md", ".txt", ".html", ".csv", ".json", ".rst", "", ".jsonl"])
def test_binary_content_under_a_text_name_is_refused(suffix: str) -> None:
    assert "binary" in refusal(f"data{suffix}", bytes(range(256)) * 20)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(supported_suffixes()), st.binary(max_size=400))
def test_any_bytes_are_either_read_or_refused(suffix: str, content: bytes) -> None:
    document = read_or_refused(f"any{suffix}", content)
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.text)
        end = block.end


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(supported_suffixes()), st.text(max_size=300))
def test_any_text_is_either_read_or_refused(suffix: str, content: str) -> None:
    read_or_refused(f"any{suffix}", content.encode("utf-8", "surrogatepass"))


def test_a_file_above_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)  # takes no room on disk
    with pytest.raises(UnreadableFile, match=r"huge\.txt: 100\.0 MB is above the limit of 50\.0 MB") as caught:
        read_document(path)
    assert "TRIVIUM_MAX_FILE_MB" in (caught.value.hint or "")


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("12345")
    assert read_document(path, max_bytes=5).text == "12345"
    with pytest.raises(UnreadableFile):
        read_document(path, max_bytes=4)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Grüße aus Köln, schöne Straße und süße Äpfel für alle Gäste.", "cp1252"),
        ("Le café est fermé à midi, déjà vu à l'hôtel près de la forêt.", "latin-1"),
        ("Съешь же ещё этих мягких французских булок, да выпей чаю. Привет всем читателям.", "cp1251"),
        ("Zażółć gęślą jaźń", "utf-16"),
        ("Zażółć gęślą jaźń", "utf-8-sig"),
        ("Plain words in two bytes each.", "utf-16-le"),
        ("Plain words in two bytes each.", "utf-16-be"),
        ("Zażółć gęślą jaźń", "utf-32"),
    ],
)
def test_other_encodings_are_recognised(text: str, encoding: str) -> None:
    assert read("a.txt", text.encode(encoding)).text == text


def test_one_broken_byte_does_not_garble_the_rest() -> None:
    text = read("a.txt", ("Grüße aus Köln. " * 10).encode() + b"\xff" + "Schöne Straße.".encode()).text
    assert text.count("Grüße") == 10
    assert text.endswith("Schöne Straße.")


def test_an_announced_encoding_that_does_not_hold_is_refused() -> None:
    assert "utf-16" in refusal("a.txt", b"\xff\xfea\x00b")


def test_an_encrypted_pdf_says_so() -> None:
    assert refusal("locked.pdf", encrypted_pdf("word")) == "locked.pdf: encrypted; remove its password first"


@pytest.mark.parametrize("content", [b"not a pdf", b"%PDF-1.7\nnothing", pdf([[(50, 700, 12, "Words")]])[:80]])
def test_a_broken_pdf_is_refused(content: bytes) -> None:
    assert "damaged" in refusal("a.pdf", content)


def test_a_pdf_without_text_asks_for_text_recognition() -> None:
    assert "OCR" in refusal("scan.pdf", pdf([[]]))


@pytest.mark.parametrize("content", [b"not a zip", docx(docx_paragraph("Words"))[:200], b"PK\x03\x04"])
def test_a_broken_docx_is_refused(content: bytes) -> None:
    assert "damaged" in refusal("a.docx", content)


def test_a_zip_that_is_no_docx_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "damaged" in refusal("a.docx", out.getvalue())


def test_an_encrypted_or_old_word_file_says_so() -> None:
    assert "encrypted" in refusal("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_a_docx_that_unpacks_to_too_much_is_refused() -> None:
    bomb = docx(docx_paragraph("Words"), {"word/media/0.xml": bytes(130 * 1024 * 1024)})
    assert len(bomb) < 2**20
    assert "unpacks to more than" in refusal("bomb.docx", bomb)


def test_entities_in_a_docx_are_refused() -> None:
    lol = "".join(f'<!ENTITY l{i + 1} "{f"&l{i};" * 10}">' for i in range(9))
    document = (
        f'<!DOCTYPE d [<!ENTITY l0 "lol">{lol}]><w:document xmlns:w="x"><w:body><w:p><w:r><w:t>&l9;</w:t></w:r></w:p>'
        "</w:body></w:document>"
    )
    assert "document type" in refusal("laughs.docx", docx("", {"word/document.xml": document}))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<div>" * 50_000 + b"deep"),
        ("a.html", b"<ul><li>" * 20_000 + b"deep"),
        ("a.html", b"<table><tr><td>" * 20_000 + b"deep"),
        ("a.json", b"[" * 100_000),
        ("a.json", b"[" * 50_000 + b"]" * 50_000),
        ("a.json", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        ("a.jsonl", b"[" * 50_000 + b"]" * 50_000),
        ("a.md", b">" * 50_000 + b" deep"),
        ("a.md", b"- " * 50_000 + b"deep"),
        ("a.md", b"---\n" + b"[" * 10_000 + b"\n---\nbody"),
        ("a.md", b"*" * 50_000),
        ("a.md", b"[" * 50_000),
        ("a.rst", b"\n\n".join(b" " * i + b"x" for i in range(200))),
        ("a.docx", docx("<w:sdt>" * 5_000 + "</w:sdt>" * 5_000)),
    ],
)
def test_deep_nesting_ends_in_a_document_or_a_refusal(name: str, content: bytes) -> None:
    read_or_refused(name, content)


def test_moderately_deep_html_is_read() -> None:
    assert read("a.html", b"<div>" * 1000 + b"<p>deep</p>").text == "deep"


@pytest.mark.parametrize("name", ["line.txt", "line.md", "line.html"])
def test_one_line_of_many_megabytes_is_read(name: str) -> None:
    content = b"some words and more. " * 400_000  # 8 MB: time that grows with the square would not end
    assert len(read(name, content).text) >= 8_000_000


def test_yaml_aliases_do_not_multiply() -> None:
    levels = "\n".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(12))
    document = read("a.md", f"---\na0: &a0 [x]\n{levels}\n---\nBody".encode())
    assert len(json.dumps(dict(document.metadata))) < 10_000


def test_invalid_json_names_the_place() -> None:
    assert "line 2, column 7" in refusal("a.json", b'{"a": 1,\n "b": oops}')


def test_a_name_without_a_reader_is_refused() -> None:
    assert "no reader for .xyz" in refusal("a.xyz", b"text")


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.md", tmp_path):
        with pytest.raises(UnreadableFile, match=path.name):
            read_document(path)


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(UnreadableFile, match="not a regular file"):
        read_document(tmp_path / "pipe.txt")
