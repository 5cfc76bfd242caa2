"""The one place where the driver's errors become ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from trivium.errors import BackendUnavailable, Conflict, TriviumError

_BUSY = (errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure)


@contextmanager
def border(place: str) -> Iterator[None]:
    """`place` names the server without its password."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise Conflict(f"the store refused the change: {error}") from error
    except psycopg.Error as error:
        raise ours(error, place) from error


def ours(error: psycopg.Error, place: str) -> TriviumError:
    """What a driver's error means to a caller; never the text of a statement or a value."""
    said = (error.diag.message_primary or str(error).partition("\n")[0]).strip()
    match error:
        case psycopg.IntegrityError():
            return Conflict(f"the store refused the change: {said}")
        case errors.QueryCanceled():
            return BackendUnavailable(
                f"PostgreSQL at {place} did not finish in time", hint="try again; TRIVIUM_STORE_TIMEOUT_S is the limit"
            )
        case errors.DiskFull():
            return BackendUnavailable(
                f"the disk of PostgreSQL at {place} is full; nothing of this step was written",
                hint="free some space on the server",
            )
        case errors.InsufficientPrivilege():
            return BackendUnavailable(
                f"PostgreSQL at {place} does not let this role do that: {said}",
                hint="run `trivium migrate` as the owner of the tables; --grant-read NAME lets a role read them",
            )
        case _ if isinstance(error, _BUSY):
            return BackendUnavailable(f"PostgreSQL at {place} is busy: {said}", hint="try again", retry_after_s=1.0)
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return BackendUnavailable(
                f"PostgreSQL at {place} does not answer: {said}", hint="is it running? TRIVIUM_STORE names it"
            )
        case _:
            return BackendUnavailable(f"PostgreSQL at {place} refused: {said}", hint="run: trivium doctor")


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection went, and with it nothing but the connection."""
    return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) and not isinstance(
        error, (errors.QueryCanceled, errors.DiskFull, *_BUSY)
    )
