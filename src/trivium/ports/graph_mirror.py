"""Graphs of ours that are copied to a graph server as a whole: code and vendors. Concepts follow their log instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

Property = str | int | float | None


class MirroredNode(NamedTuple):
    """`label` says what it is, beside the label all nodes of its graph have."""

    node_id: str
    label: str
    properties: Mapping[str, Property]


class MirroredLink(NamedTuple):
    """There is one of a kind between two nodes."""

    source: str
    target: str
    kind: str  # UPPER_SNAKE
    properties: Mapping[str, Property]


@dataclass(frozen=True, slots=True)
class GraphCopy:
    """A graph at one moment. Links only join nodes that are there."""

    state: str
    nodes: Sequence[MirroredNode] = field(default_factory=tuple)
    links: Sequence[MirroredLink] = field(default_factory=tuple)


class GraphSource(Protocol):
    @property
    def name(self) -> str: ...

    def state(self) -> str:
        """Changes whenever the graph does; cheap."""

    def copy(self) -> GraphCopy: ...


class GraphMirror(Protocol):
    def state(self, name: str) -> str:
        """The state of the copy; empty where there is none, or while it is being written."""

    def write(self, name: str, copy: GraphCopy) -> int:
        """Makes the copy what is given; answers how many nodes and links that took."""
