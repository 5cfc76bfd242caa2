"""A fresh concepts room for every test, and a short way to fill it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from concept_rooms import Room, open_room
from trivium.concepts.room import Concepts


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = open_room(tmp_path)
    yield room
    room.close()


@pytest.fixture
def concepts(room: Room) -> Concepts:
    return room.concepts


@pytest.fixture
def make(concepts: Concepts) -> Callable[..., str]:
    def create(name: str, explanation: str = "", **more: object) -> str:
        content = {"name": name, "explanation": explanation or f"about {name}", **more}
        return concepts.change.create(content).concept_id

    return create
