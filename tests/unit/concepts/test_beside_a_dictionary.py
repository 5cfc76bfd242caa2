"""Every write tool, in any order, from two writers at once, beside a plain dictionary that says what must be true.

The suite runs a few hundred steps; TRIVIUM_TORTURE=1 runs more than 10 000.
"""

import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from concept_rooms import Room, open_room
from trivium.backends.memory.concepts import MemoryConceptProjection
from trivium.errors import Conflict, InvalidInput, NotFound
from trivium.ports.concept_catalogue import Selection

TORTURE = bool(os.environ.get("TRIVIUM_TORTURE"))
KINDS = ("prerequisite", "relates_to", "includes")
PLACES = st.sampled_from(["A", "B", None])
NAMES = st.text("abAB ß", min_size=1, max_size=6).filter(str.strip)


class Beside(RuleBasedStateMachine):
    concepts = Bundle("concepts")
    relationships = Bundle("relationships")

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="concepts-"))
        self.remote = MemoryConceptProjection()
        self.rooms: list[Room] = [open_room(self.folder, [self.remote]), open_room(self.folder, [self.remote])]
        self.known: dict[str, dict[str, Any]] = {}
        self.links: dict[str, tuple[str, str, str]] = {}
        self.events = 0

    def teardown(self) -> None:
        if not hasattr(self, "rooms"):
            return
        self.rooms[0].concepts.runner.run_once()
        verdict = self.rooms[1].concepts.check.verify()
        assert verdict.consistent, verdict.summary()
        assert verdict.position == self.events
        self.everything_agrees()
        for room in self.rooms:
            room.close()
        shutil.rmtree(self.folder)

    def change(self, writer: int) -> Any:
        return self.rooms[writer].concepts.change

    @rule(
        target=concepts,
        writer=st.integers(0, 1),
        name=NAMES,
        area=PLACES,
        topic=PLACES,
        sure=st.sampled_from([None, 5, 50]),
    )
    def create(self, writer: int, name: str, area: str | None, topic: str | None, sure: float | None) -> str:
        content = {"name": name, "explanation": f"about {name}", "area": area, "topic": topic, "certainty_score": sure}
        made = self.change(writer).create(content).concept_id
        self.remember(made, content)
        return made

    @rule(target=concepts, writer=st.integers(0, 1), names=st.lists(NAMES, min_size=1, max_size=3))
    def create_many(self, writer: int, names: list[str]) -> Any:
        contents = [{"name": name, "explanation": "one of many"} for name in names]
        made = [one.concept_id for one in self.change(writer).create_many(contents, f"key-{self.events}")]
        repeated = self.change(writer).create_many(contents, f"key-{self.events}")
        assert [one.concept_id for one in repeated] == made
        for concept_id, content in zip(made, contents, strict=True):
            self.remember(concept_id, content)
        return multiple(*made)

    def remember(self, concept_id: str, content: dict[str, Any]) -> None:
        kept = {"area": None, "topic": None, "certainty_score": None, **content}
        self.known[concept_id] = kept | {"name": content["name"].strip(), "version": 1, "deleted": False}
        self.events += 1

    @rule(
        writer=st.integers(0, 1),
        one=concepts,
        changes=st.dictionaries(st.sampled_from(["name", "area", "topic"]), NAMES, min_size=1),
        stale=st.booleans(),
    )
    def update(self, writer: int, one: str, changes: dict[str, str], stale: bool) -> None:
        known = self.known[one]
        expected = known["version"] - 1 if stale else known["version"]
        try:
            done = self.change(writer).update(one, changes, expected)
        except NotFound:
            assert known["deleted"]
            return
        except Conflict as error:
            conflict = error.details["current_version"]
        else:
            conflict = None
        assert conflict == (known["version"] if stale else None)
        if stale:
            return
        assert not known["deleted"]
        different = {k: v.strip() for k, v in changes.items() if known[k] != v.strip()}
        assert set(done.updated_fields) == set(different)
        known.update(different)
        self.bump(known, bool(different))

    @rule(writer=st.integers(0, 1), one=concepts)
    def delete(self, writer: int, one: str) -> None:
        known = self.known[one]
        self.change(writer).delete(one)
        self.bump(known, not known["deleted"])
        known["deleted"] = True

    @rule(writer=st.integers(0, 1), one=concepts)
    def restore(self, writer: int, one: str) -> None:
        known = self.known[one]
        self.change(writer).restore(one)
        self.bump(known, known["deleted"])
        known["deleted"] = False

    def bump(self, known: dict[str, Any], happened: bool) -> None:
        known["version"] += happened
        self.events += happened

    @rule(target=relationships, writer=st.integers(0, 1), source=concepts, end=concepts, kind=st.sampled_from(KINDS))
    def relate(self, writer: int, source: str, end: str, kind: str) -> Any:
        refused = self.why_not(source, end, kind)
        code: str | None
        try:
            made = self.change(writer).relate(source, end, kind).relationship_id
        except (NotFound, Conflict, InvalidInput) as error:
            made, code = "", error.code
        else:
            code = None
        assert code == refused
        if code is not None:
            return multiple()
        self.links[made] = (source, end, kind)
        self.events += 1
        return made

    def why_not(self, source: str, end: str, kind: str) -> str | None:
        if self.known[source]["deleted"] or self.known[end]["deleted"]:
            return "CONCEPT_NOT_FOUND"
        if source == end:
            return "SELF_RELATIONSHIP"
        if (source, end, kind) in self.links.values():
            return "DUPLICATE_RELATIONSHIP"
        return "PREREQUISITE_CYCLE" if kind == "prerequisite" and source in self.after(end) else None

    def after(self, start: str) -> set[str]:
        found, level = {start}, {start}
        while level:
            level = {t for s, t, kind in self.links.values() if kind == "prerequisite" and s in level} - found
            found |= level
        return found

    @rule(writer=st.integers(0, 1), one=relationships)
    def unrelate(self, writer: int, one: str) -> None:
        was_there = one in self.links
        assert self.change(writer).unrelate(one) == was_there
        self.links.pop(one, None)
        self.events += was_there

    @rule(reader=st.integers(0, 1))
    def follow(self, reader: int) -> None:
        self.rooms[reader].concepts.runner.run_once()
        assert self.rooms[reader].concepts.runner.behind() == {"memory": 0}

    @invariant()
    def nothing_is_lost_or_made_up(self) -> None:
        if not hasattr(self, "rooms"):
            return
        read = self.rooms[self.events % 2].concepts.read
        live = [one for one, known in self.known.items() if not known["deleted"]]
        assert [one.concept_id for one in read.exact(Selection(), 100)] == live[::-1][:100]
        counted = {tuple(place)[:2]: place.concept_count for place in read.hierarchy()}
        assert counted == Counter((self.known[one]["area"], self.known[one]["topic"]) for one in live)

    def everything_agrees(self) -> None:
        read = self.rooms[1].concepts.read
        for concept_id, known in self.known.items():
            history = read.history(concept_id)
            assert [event.version for event in history] == list(range(1, known["version"] + 1))
            if known["deleted"]:
                continue
            concept = read.get(concept_id)
            assert {name: getattr(concept, name) for name in known if name not in ("deleted", "explanation")} == {
                name: value for name, value in known.items() if name not in ("deleted", "explanation")
            }
            assert {(hit.concept.concept_id) for hit in read.related(concept_id, max_depth=1)} == self.neighbours(
                concept_id
            )
        for part in ("a", "ss", "B "):
            wanted = [i for i, k in self.known.items() if not k["deleted"] and part.casefold() in k["name"].casefold()]
            assert [one.concept_id for one in read.exact(Selection(name=part), 100)] == wanted[::-1][:100]

    def neighbours(self, concept_id: str) -> set[str]:
        ends = {t for s, t, _ in self.links.values() if s == concept_id}
        ends |= {s for s, t, _ in self.links.values() if t == concept_id}
        return {one for one in ends if not self.known[one]["deleted"]}


TestBeside = Beside.TestCase
TestBeside.settings = settings(
    max_examples=150 if TORTURE else 8,
    stateful_step_count=80 if TORTURE else 25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
