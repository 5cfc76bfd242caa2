"""Answers to questions about the graph, kept for as long as the graph is the same."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

MOST_ENTRIES = 20_000  # of all answers together: about 10 MB

Answer = dict[str, Any]


class Answered:
    """Thread-safe. `state` is whatever the graph calls its present state; with another one everything is forgotten, so
    no answer is older than the graph. The least recently asked goes first when there are too many."""

    def __init__(self, most_entries: int = MOST_ENTRIES) -> None:
        self._most = most_entries
        self._lock = Lock()
        self._state: object = None
        self._kept: OrderedDict[Hashable, tuple[Answer, int]] = OrderedDict()
        self._entries = 0

    def ask(
        self, state: object, question: Hashable, size: Callable[[Answer], int], make: Callable[[], Answer]
    ) -> tuple[Answer, bool]:
        """The answer, and whether it was there already. It is shared: whoever changes it copies it first."""
        with self._lock:
            if state is not self._state:
                self._state, self._entries = state, 0
                self._kept.clear()
            known = self._kept.get(question)
            if known is not None:
                self._kept.move_to_end(question)
                return known[0], True
        made = make()
        with self._lock:
            if state is self._state and question not in self._kept:
                self._kept[question] = made, size(made) + 1
                self._entries += size(made) + 1
                while self._entries > self._most and self._kept:
                    self._entries -= self._kept.popitem(last=False)[1][1]
        return made, False
