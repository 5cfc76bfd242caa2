"""The stores' SQL, which is SQLite's, as PostgreSQL reads it.

A translation of what the stores write, not of SQL at large: keywords are in capitals, names in small letters, strings
in single quotes. The contract suites run every statement on both databases, so one that does not fit is seen there.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

_PLACEHOLDER = re.compile(r"\?|:([a-z_]+)\b")
_STRING = re.compile(r"'(?:[^']|'')*'")
_HINTS = re.compile(r" (?:INDEXED BY [a-z_]+|NOT INDEXED)\b")
_IN_LIST = re.compile(r"IN \(SELECT value FROM json_each\((\?|:[a-z_]+)\)\)")
_FROM_LIST = re.compile(r"json_each\((\?|:[a-z_]+)\)")
_INSERT = re.compile(r"^\s*INSERT (OR IGNORE |OR REPLACE )?INTO \"?([a-z_]+)\"?(?: \(([^)]*)\))?")
_ON_CONFLICT = re.compile(r"ON CONFLICT DO UPDATE SET")
_COUNTED_UP = re.compile(r"SET ([a-z_]+) = \1 \+")
_RESERVED = re.compile(r"(?<![\"\w])end\b(?!\")")
_IS_OTHER = re.compile(r"\bIS NOT (NEW|OLD)\.")
_TWO_SIDED = re.compile(r"\b(MAX|MIN)\(")
_LARGER = {"MAX": "GREATEST", "MIN": "LEAST"}

LIST = "\0list"  # marks a placeholder whose value is a list


class Tables(Protocol):
    """What a translation must know about a table."""

    def columns(self, table: str) -> Sequence[str]: ...
    def unique(self, table: str) -> Sequence[Sequence[str]]: ...
    def identity(self, table: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Statement:
    """`names`: the named values in the order of their numbers; empty where values come by place. `lists`: the numbers
    of those that are lists. `gives_id`: the only column it answers is the id of the new row."""

    text: str
    names: tuple[str, ...] = ()
    lists: frozenset[int] = frozenset()
    gives_id: bool = False


def translate(sql: str, tables: Tables, *, wants_id: bool = False) -> Statement:
    """One statement that reads or writes rows; with `wants_id` an INSERT answers the id of the new row."""
    strings: list[str] = []
    text = expression(_STRING.sub(lambda found: _masked(found, strings), sql))
    text, gives_id = _insertion(text, tables, wants_id)
    text = _IN_LIST.sub(lambda found: f"= ANY({found[1]}{LIST})", text)
    text = _FROM_LIST.sub(lambda found: f"unnest({found[1]}{LIST}::bigint[]) AS json_each(value)", text)
    text, names, lists = _numbered(text)
    return Statement(_unmasked(text, strings), names, lists, gives_id)


def expression(text: str) -> str:
    """What is written differently wherever it stands."""
    text = _HINTS.sub("", text).replace("CROSS JOIN", "JOIN").replace("char(", "chr(")
    text = _RESERVED.sub('"end"', text)
    text = _IS_OTHER.sub(r"IS DISTINCT FROM \1.", text)
    return _two_sided(text)


def upsert(text: str, tables: Tables) -> str:
    """Conflicts of an INSERT, spelled out: which key is meant, and whose column."""
    found = _INSERT.match(text)
    if found is None:
        return text
    kind, table, listed = (found[1] or "").strip(), found[2], found[3]
    columns = [name.strip().strip('"') for name in listed.split(",")] if listed else list(tables.columns(table))
    text = text.replace(f"INSERT {kind} INTO", "INSERT INTO", 1) if kind else text
    if kind == "OR IGNORE":
        return f"{text} ON CONFLICT DO NOTHING"
    if kind == "OR REPLACE":
        return text + _replacing(columns, _key(table, columns, tables))
    if _ON_CONFLICT.search(text):
        key = ", ".join(_key(table, columns, tables))
        text = _ON_CONFLICT.sub(f"ON CONFLICT ({key}) DO UPDATE SET", text)
    return _COUNTED_UP.sub(rf"SET \1 = {table}.\1 +", text)


def _insertion(text: str, tables: Tables, wants_id: bool) -> tuple[str, bool]:
    found = _INSERT.match(text)
    if found is None:
        return text, False
    identity = tables.identity(found[2]) if wants_id else None
    text = upsert(text, tables)
    if identity is None or " RETURNING " in text:
        return text, False
    return f"{text} RETURNING {identity}", True


def _replacing(columns: Sequence[str], key: Sequence[str]) -> str:
    rest = [f'"{name}" = excluded."{name}"' for name in columns if name not in key]
    done = f"DO UPDATE SET {', '.join(rest)}" if rest else "DO NOTHING"
    return f" ON CONFLICT ({', '.join(key)}) {done}"


def _key(table: str, columns: Sequence[str], tables: Tables) -> Sequence[str]:
    """The first key of the table that the new row fills in."""
    return next(key for key in tables.unique(table) if set(key) <= set(columns))


def _numbered(text: str) -> tuple[str, tuple[str, ...], frozenset[int]]:
    """`?` and `:name` become `$1`, `$2` …; a name that comes twice keeps its number."""
    names: list[str] = []
    lists: set[int] = set()
    parts: list[str] = []
    end = number = 0
    for found in _PLACEHOLDER.finditer(text):
        if found.start() and text[found.start() - 1] == ":":  # the second colon of a cast
            continue
        if found[1] is None:
            number += 1
            mine = number
        else:
            if found[1] not in names:
                names.append(found[1])
            mine = names.index(found[1]) + 1
        is_list = text.startswith(LIST, found.end())
        if is_list:
            lists.add(mine)
        parts += [text[end : found.start()], f"${mine}"]
        end = found.end() + len(LIST) * is_list
    return "".join([*parts, text[end:]]), tuple(names), frozenset(lists)


def _two_sided(text: str) -> str:
    """MAX and MIN of two values are functions of their own."""
    for found in reversed(list(_TWO_SIDED.finditer(text))):
        if "," in _top_level(text, found.end()):
            text = text[: found.start()] + _LARGER[found[1]] + text[found.end() - 1 :]
    return text


def _top_level(text: str, start: int) -> str:
    """What stands between the bracket before `start` and its partner, inner brackets left out."""
    depth, shown = 1, ""
    for letter in text[start:]:
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            break
        shown += letter if depth == 1 else ""
    return shown


def _masked(found: "re.Match[str]", strings: list[str]) -> str:
    strings.append(found[0])
    return f"'{len(strings) - 1}'"


def _unmasked(text: str, strings: list[str]) -> str:
    return re.sub(r"'(\d+)'", lambda found: strings[int(found[1])], text) if strings else text


def masking(sql: str, change: Callable[[str], str]) -> str:
    """Changes everything but the strings."""
    strings: list[str] = []
    return _unmasked(change(_STRING.sub(lambda found: _masked(found, strings), sql)), strings)
