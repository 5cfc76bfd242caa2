"""Compares call graphs with labelled ones (the pure part of `trivium eval callgraph`)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trivium.code.callgraph import call_graph


@dataclass(frozen=True, slots=True)
class CallGraphScore:
    """`complete` cases have no false edge, `sound` ones miss none; both count internal edges only."""

    precision: float
    recall: float
    cases: int
    complete: int
    sound: int

    def as_dict(self) -> dict[str, Any]:
        return {
            "internal": {"precision": self.precision, "recall": self.recall},
            "cases": self.cases,
            "complete": self.complete,
            "sound": self.sound,
        }


def evaluate_callgraphs(cases: Iterable[Mapping[str, Any]]) -> CallGraphScore:
    """Each case holds `files` (path -> text) and `callgraph` (caller -> callees)."""
    right = found_total = labelled_total = count = complete = sound = 0
    for case in cases:
        found, labelled = internal_edges(case)
        count += 1
        right += len(found & labelled)
        found_total += len(found)
        labelled_total += len(labelled)
        complete += found <= labelled
        sound += labelled <= found
    precision = right / found_total if found_total else 1.0
    recall = right / labelled_total if labelled_total else 1.0
    return CallGraphScore(precision, recall, count, complete, sound)


def internal_edges(case: Mapping[str, Any]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Our edges and the labelled ones whose callee is defined in the case's own files."""
    files = {path: text.encode() for path, text in case["files"].items()}
    edges, modules = call_graph(files)
    labelled = {(a, b) for a, callees in case["callgraph"].items() for b in callees if _is_inside(b, modules)}
    return {(a, b) for a, b in edges if _is_inside(b, modules)}, labelled


def _is_inside(name: str, modules: frozenset[str]) -> bool:
    head = name
    while head:
        if head in modules:
            return True
        head = head.rpartition(".")[0]
    return False
