"""What the log says: states rebuilt from events, of everything or of one concept, at any moment."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time

from trivium.errors import InvalidInput
from trivium.model.concept import Concept, Item, Recorded, Relationship, evolved
from trivium.ports.events import EventLog

BATCH = 10_000


class Replayed:
    """Every concept and relationship after the events that were fed in. Deleted concepts are kept, marked."""

    def __init__(self) -> None:
        self.position = 0
        self.items: dict[str, Item] = {}

    def feed(self, events: list[Recorded]) -> None:
        items = self.items
        for recorded in events:
            item = evolved(items.get(recorded.stream), recorded)
            if item is None:
                del items[recorded.stream]
            else:
                items[recorded.stream] = item
        if events:
            self.position = events[-1].position

    @property
    def concepts(self) -> list[Concept]:
        return [item for item in self.items.values() if isinstance(item, Concept)]

    @property
    def relationships(self) -> list[Relationship]:
        return [item for item in self.items.values() if isinstance(item, Relationship)]


def replay(log: EventLog, until: int | None = None) -> Replayed:
    """The whole state as of a position; of the end where none is given."""
    state = Replayed()
    with uncollected():
        for events in batches(log, 0, until):
            state.feed(events)
    return state


@contextmanager
def uncollected() -> Iterator[None]:
    """Millions of values that refer to nothing but text are built here: looking for cycles among them, again and again,
    costs a quarter of the time and finds none."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def batches(log: EventLog, after: int, until: int | None = None) -> Iterator[list[Recorded]]:
    while until is None or after < until:
        events = log.read(after, BATCH if until is None else min(BATCH, until - after))
        if not events:
            return
        yield events
        after = events[-1].position


def concept_as_of(events: list[Recorded], as_of: str | int) -> Concept | None:
    """One concept at a version or a moment; None where it did not exist then."""
    version, moment = parse_as_of(as_of)
    item: Item | None = None
    for recorded in events:
        if (version is not None and recorded.version > version) or (moment is not None and recorded.at > moment):
            break
        item = evolved(item, recorded)
    return item if isinstance(item, Concept) else None


def parse_as_of(as_of: str | int) -> tuple[int | None, str | None]:
    """A version (3, "3"), or a moment (ISO 8601; a date alone means the end of that day, UTC)."""
    text = str(as_of).strip()
    if text.isascii() and text.isdigit() and int(text) > 0 and len(text) < 8:
        return int(text), None
    try:
        moment = (
            datetime.combine(date.fromisoformat(text), time.max) if len(text) == 10 else datetime.fromisoformat(text)
        )
    except ValueError:
        raise InvalidInput(
            f"as_of {text!r} is neither a version nor a date",
            field="as_of",
            allowed=["3", "2026-03-01", "2026-03-01T12:00:00Z"],
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None, aware.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
