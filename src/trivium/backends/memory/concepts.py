"""A ConceptProjection in memory: what a remote one is, without the way to it. For tests, and for views that only live
as long as the process."""

from collections.abc import Iterator, Sequence

from trivium.model.concept import Concept, Item, fingerprint, item_id


class MemoryConceptProjection:
    def __init__(self, name: str = "memory") -> None:
        self._name = name
        self._items: dict[str, Item] = {}

    @property
    def name(self) -> str:
        return self._name

    def apply(self, put: Sequence[Item], drop: Sequence[str]) -> None:
        for item in sorted(put, key=lambda one: not isinstance(one, Concept)):
            self._items[item_id(item)] = item
        for one in drop:
            self._items.pop(one, None)

    def contents(self) -> Iterator[tuple[str, str]]:
        return ((one, fingerprint(item)) for one, item in list(self._items.items()))

    def expected(self, item: Item) -> str | None:
        return fingerprint(item)
