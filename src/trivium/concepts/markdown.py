"""Concepts as Markdown notes with front matter: an Obsidian vault in, one out that reads back the same.

A note's name is its file name, its place in the taxonomy its folders, its explanation its body; `[[wikilinks]]` become
relates_to. Front matter says otherwise where it has the field. A note we wrote carries `relationships`, and then the
links in its body are text only. Other front matter is left aside.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from trivium.concepts.rules import MAX_CHARACTERS, RELATIONSHIP_TYPES
from trivium.concepts.transfer import Draft, Link
from trivium.errors import InvalidInput, UnreadableFile
from trivium.model.concept import CONTENT_FIELDS

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:^---[ \t]*(?:\r?\n|\Z))", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1|(`+)(?!`).+?\2", re.DOTALL | re.MULTILINE)
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]+)(?:[#^][^\[\]\n|]*)?(?:\|[^\[\]\n]*)?\]\]")
_MEDIA = re.compile(
    r"\.(?:avif|base|bmp|canvas|flac|gif|jpe?g|m4a|mkv|mov|mp[34]|ogg|pdf|png|svg|wav|webm|webp)$", re.I
)
_UNSAFE = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')
_PLACES = ("area", "topic", "subtopic")
_MAX_NAME_BYTES = 180


def read_folder(folder: Path) -> list[Draft]:
    """Every note below a folder, in order of its path; hidden folders (.obsidian, .git) are passed over."""
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not a folder", field="path")
    files = sorted(path for path in folder.rglob("*.md") if not _hidden(path.relative_to(folder)))
    return [read_note(path, path.relative_to(folder).as_posix()) for path in files]


def read_note(path: Path, relative: str) -> Draft:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read as UTF-8 text: {error}") from error
    return parse_note(text, relative)


def parse_note(text: str, relative: str) -> Draft:
    """`relative` is the note's path below the folder that is imported."""
    front, body = _split(text)
    path = relative.removesuffix(".md")
    *folders, stem = path.split("/")
    content: dict[str, Any] = {name: front[name] for name in CONTENT_FIELDS if front.get(name) is not None}
    content = {name: value if name == "certainty_score" else str(value) for name, value in content.items()}
    content.setdefault("name", str(front.get("title") or stem)[: MAX_CHARACTERS["name"]])
    content["explanation"] = body.strip() or str(front.get("description") or content["name"])
    if "concept_id" not in front:
        for place, folder in zip(_PLACES, folders, strict=False):
            content.setdefault(place, folder[: MAX_CHARACTERS[place]])
    links = _own_links(front) if "relationships" in front else [*_typed_links(front), *_body_links(body)]
    concept_id = front.get("concept_id")
    return Draft(content, str(concept_id) if concept_id else None, path, tuple(links))


def write_folder(folder: Path, drafts: Iterable[Draft]) -> int:
    """One note a concept, in folders by area, topic and subtopic; answers how many."""
    taken: set[str] = set()
    drafts = list(drafts)
    names = {draft.concept_id: str(draft.content["name"]) for draft in drafts}
    for draft in drafts:
        path = folder / _free_path(draft, taken)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(format_note(draft, names).encode())
    return len(drafts)


class _Dumper(yaml.SafeDumper):
    """Quotes text with line breaks that only Unicode knows: written plainly they would be read back as spaces."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if any(mark in text for mark in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def format_note(draft: Draft, names: Mapping[str | None, str]) -> str:
    front: dict[str, Any] = {"concept_id": draft.concept_id}
    front |= {name: draft.content[name] for name in CONTENT_FIELDS if name in draft.content and name != "explanation"}
    front["relationships"] = [_written(link, names) for link in draft.links]
    header = yaml.dump(front, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{header}---\n\n{draft.content['explanation']}\n"


def _split(text: str) -> tuple[Mapping[str, Any], str]:
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text.removeprefix("\ufeff")
    try:
        front = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError):
        return {}, text
    if front is None:
        return {}, text[match.end() :]
    return (front, text[match.end() :]) if isinstance(front, dict) else ({}, text)


def _own_links(front: Mapping[str, Any]) -> Iterator[Link]:
    for row in front["relationships"] or ():
        if not isinstance(row, dict) or "target" not in row:
            raise InvalidInput("relationships must be a list of entries with type and target", field="relationships")
        yield Link(
            str(row.get("type", "relates_to")),
            str(row["target"]),
            row.get("strength", 1.0),
            row.get("description"),
            row.get("relationship_id"),
        )


def _typed_links(front: Mapping[str, Any]) -> Iterator[Link]:
    """`prerequisite: ["[[Basics]]"]` and the like, for notes written by hand: the note is the source."""
    for kind in RELATIONSHIP_TYPES:
        given = front.get(kind)
        for target in given if isinstance(given, list) else [given] if given else ():
            found = _WIKILINK.search(str(target))
            yield Link(kind, found[1].strip() if found else str(target))


def _body_links(body: str) -> Iterator[Link]:
    targets = (_target(match[1]) for match in _WIKILINK.finditer(_CODE.sub("", body)))
    yield from (Link("relates_to", target) for target in dict.fromkeys(targets) if target and not _MEDIA.search(target))


def _target(text: str) -> str:
    return text.strip().rstrip("\\").removesuffix(".md")


def _written(link: Link, names: Mapping[str | None, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"type": link.relationship_type, "target": link.target, "name": names.get(link.target)}
    if link.strength != 1.0:
        row["strength"] = link.strength
    if link.description:
        row["description"] = link.description
    return row | {"relationship_id": link.relationship_id}


def _free_path(draft: Draft, taken: set[str]) -> str:
    places = [str(draft.content[place]) for place in _PLACES if place in draft.content]
    base = "/".join(_safe(part) for part in (*places, str(draft.content["name"])))
    number, path = 1, base
    while path.casefold() in taken:
        number += 1
        path = f"{base} {number}"
    taken.add(path.casefold())
    return f"{path}.md"


def _safe(part: str) -> str:
    """A name every file system takes; the front matter has the real one."""
    plain = _UNSAFE.sub(" ", part).strip(" .")
    return plain.encode()[:_MAX_NAME_BYTES].decode(errors="ignore").strip(" .") or "_"


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
