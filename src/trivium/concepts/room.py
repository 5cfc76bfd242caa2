"""The concepts room as the app hands it to the doors: one field a kind of work."""

from collections.abc import Callable
from dataclasses import dataclass

from trivium.concepts.change import ChangeConcepts
from trivium.concepts.check import CheckConcepts
from trivium.concepts.find import FindConcepts
from trivium.concepts.follow import ProjectionRunner
from trivium.concepts.read import ReadConcepts
from trivium.concepts.transfer import TransferConcepts
from trivium.concepts.upkeep import ConceptStats, Upkeep
from trivium.ports.concept_ledger import ProjectionLedger
from trivium.ports.events import EventLog


@dataclass(frozen=True, slots=True)
class Concepts:
    change: ChangeConcepts
    read: ReadConcepts
    find: FindConcepts
    check: CheckConcepts
    runner: ProjectionRunner
    transfer: TransferConcepts
    upkeep: Upkeep  # `start` it where the process lives long, `stop` it before the store closes
    log: EventLog
    ledger: ProjectionLedger
    stats: Callable[[], ConceptStats]
