"""One connection, spoken to in the SQL of the stores."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import RawCursor
from psycopg.pq import Format
from psycopg.types.bool import BoolBinaryLoader
from psycopg.types.numeric import Int8BinaryDumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper, StrDumperUnknown

from trivium.backends.postgres.border import is_lost
from trivium.backends.postgres.catalogue import Catalogue
from trivium.backends.postgres.dialect import Statement, translate
from trivium.backends.postgres.pool import Connection

_KEPT = 2_000  # translated statements; hardly any vary
_PRAGMAS = {"defer_foreign_keys": "SET CONSTRAINTS ALL DEFERRED"}  # the others tune SQLite


class Rows(RawCursor[Any]):
    """A cursor that knows the id of the row it put in."""

    lastrowid: int | None = None

    def fetchone(self) -> Any:
        return super().fetchone()


class Translations:
    """Shared by all connections of a database; remembers what it translated."""

    def __init__(self) -> None:
        self.catalogue = Catalogue()
        self._known: dict[tuple[str, bool], Statement] = {}

    def of(self, sql: str, connection: Connection, *, wants_id: bool) -> Statement:
        known = self._known.get((sql, wants_id))
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[sql, wants_id] = translate(sql, self.catalogue.on(connection), wants_id=wants_id)
        return known

    def forget(self) -> None:
        self.catalogue.forget()
        self._known.clear()


class Session:
    """`replace` gives another connection where the first statement finds this one cut: only for reads, which may be
    asked again."""

    def __init__(
        self,
        connection: Connection,
        translations: Translations,
        replace: Callable[[Connection], Connection] | None = None,
    ) -> None:
        self.connection = connection
        self._translations, self._replace = translations, replace

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        if sql.startswith("PRAGMA"):
            return self._pragma(sql)
        replace, self._replace = self._replace, None
        try:
            return self._run(sql, parameters)
        except psycopg.Error as error:
            if replace is None or not is_lost(error):
                raise
            self.connection = replace(self.connection)
            return self._run(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Rows:
        rows, values = Rows(self.connection), list(parameters)
        if values:
            statement = self._translations.of(sql, self.connection, wants_id=False)
            with _rules_as_sqlite_names_them():
                rows.executemany(statement.text, [_values(statement, one) for one in values])
        return rows

    def _run(self, sql: str, parameters: Any) -> Rows:
        statement = self._translations.of(sql, self.connection, wants_id=True)
        rows = Rows(self.connection)
        rows.format = Format.BINARY
        with _rules_as_sqlite_names_them():
            rows.execute(statement.text, _values(statement, parameters))
        if statement.gives_id:
            row = rows.fetchone()
            rows.lastrowid = row[0] if row else None
        return rows

    def _pragma(self, sql: str) -> Rows:
        for name, statement in _PRAGMAS.items():
            if name in sql:
                self.connection.execute(statement)
        return Rows(self.connection)


def _values(statement: Statement, parameters: Any) -> Sequence[Any]:
    values = [parameters[name] for name in statement.names] if statement.names else list(parameters)
    for number in statement.lists:
        values[number - 1] = json.loads(values[number - 1])
    return values


@contextmanager
def _rules_as_sqlite_names_them() -> Iterator[None]:
    try:
        yield
    except psycopg.IntegrityError as error:
        raise sqlite3.IntegrityError(error.diag.message_primary or "a rule of the tables") from error


class Written(str):
    """A value in the written form of a type that the statement names: PostgreSQL reads it once, not once a row."""

    __slots__ = ()


class _Text(StrBinaryDumper):
    """PostgreSQL's text has no NUL."""

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _Number(NumericBinaryLoader):
    """Sums of whole numbers come as numeric; the stores expect what SQLite gives."""

    def load(self, data: Any) -> Any:
        value = super().load(data)
        return int(value) if value == value.to_integral_value() else float(value)


class _Truth(BoolBinaryLoader):
    def load(self, data: Any) -> Any:
        return int(super().load(data))


def adapt(connection: Connection) -> None:
    """Makes values come and go as they do with SQLite."""
    connection.adapters.register_dumper(str, _Text)
    connection.adapters.register_dumper(Written, StrDumperUnknown)
    connection.adapters.register_dumper(int, Int8BinaryDumper)  # one type, so one plan a statement
    connection.adapters.register_dumper(bool, Int8BinaryDumper)
    connection.adapters.register_loader("numeric", _Number)
    connection.adapters.register_loader("bool", _Truth)
