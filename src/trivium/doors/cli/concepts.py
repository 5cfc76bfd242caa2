"""`trivium concepts …`: concepts in, out, linked, looked at, checked."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from trivium.doors.cli.context import opened
from trivium.doors.cli.output import emit, note, say
from trivium.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from trivium.concepts.room import Concepts
    from trivium.concepts.transfer import Draft
    from trivium.model.concept import Concept


app = typer.Typer(help="Concepts with their relationships and their history.", no_args_is_help=True)

_WHICH = typer.Argument(..., help="The concept's id, or its exact name where only one has it.")
_JSON = typer.Option(False, "--json", help="Print JSON for machines.")


def register(root: typer.Typer) -> None:
    root.add_typer(app, name="concepts")


@app.command(epilog='Example: trivium concepts add "For loop" "Repeats a block for every item." --area Programming')
def add(
    name: str = typer.Argument(..., help="1-200 characters."),
    explanation: str = typer.Argument(..., help="What it is, in words."),
    area: str | None = typer.Option(None, help="First level of the taxonomy."),
    topic: str | None = typer.Option(None, help="Second level."),
    subtopic: str | None = typer.Option(None, help="Third level."),
    certainty: float | None = typer.Option(None, help="How sure you are, 0-100."),
    examples: str | None = typer.Option(None, help="Examples, in words."),
    prerequisites: str | None = typer.Option(None, help="What to know first, in words; `link` connects concepts."),
    as_json: bool = _JSON,
) -> None:
    """Store a concept; says so when one much like it exists."""
    content = {
        "name": name,
        "explanation": explanation,
        "area": area,
        "topic": topic,
        "subtopic": subtopic,
        "certainty_score": certainty,
        "examples": examples,
        "prerequisites": prerequisites,
    }
    with opened() as trivium:
        alike = trivium.concepts.find.duplicates(name, explanation)
        concept = trivium.concepts.change.create(content)
    for hit in alike:
        note(f"[yellow]much like[/] {hit.concept.concept_id} ({_plain(hit.concept.name)})")
    if as_json:
        emit({"concept_id": concept.concept_id, "similar": [hit.concept.concept_id for hit in alike]})
    else:
        say(concept.concept_id)


@app.command(epilog='Example: trivium concepts show "For loop" --as-of 2026-03-01')
def show(
    which: str = _WHICH,
    as_of: str | None = typer.Option(None, "--as-of", help="A version or a date: the concept as it was then."),
    as_json: bool = _JSON,
) -> None:
    """Print a concept with its relationships."""
    with opened() as trivium:
        concepts: Concepts = trivium.concepts
        concept = concepts.read.get(_id(concepts, which), as_of)
        links = [] if as_of else concepts.read.relationships(concept.concept_id)
        ends = {i for link in links for i in (link.source_concept_id, link.target_concept_id)}
        names = {i: concepts.read.get(i).name for i in ends}
    if as_json:
        emit(_fields(concept) | {"relationships": [link._asdict() for link in links]})
        return
    for name, value in _fields(concept).items():
        say(f"[dim]{name}:[/] {_plain(str(value))}")
    for link in links:
        ways = (names[link.source_concept_id], link.relationship_type, names[link.target_concept_id])
        say(f"[dim]{link.relationship_id}:[/] {_plain(' → '.join(ways))}")


@app.command(epilog='Example: trivium concepts edit "For loop" --certainty 95 --expected-version 3')
def edit(
    which: str = _WHICH,
    name: str | None = typer.Option(None),
    explanation: str | None = typer.Option(None),
    area: str | None = typer.Option(None, help='"" empties it, as in the other optional texts.'),
    topic: str | None = typer.Option(None),
    subtopic: str | None = typer.Option(None),
    certainty: float | None = typer.Option(None, help="0-100."),
    examples: str | None = typer.Option(None),
    prerequisites: str | None = typer.Option(None),
    expected_version: int | None = typer.Option(None, help="Refuse unless this is the current version."),
    delete: bool = typer.Option(False, "--delete", help="Delete it; history and relationships stay for a restore."),
    restore: bool = typer.Option(False, "--restore", help="Undo a delete (by id)."),
    as_json: bool = _JSON,
) -> None:
    """Change a concept, delete it, or bring it back."""
    changes = {
        "name": name,
        "explanation": explanation,
        "area": area,
        "topic": topic,
        "subtopic": subtopic,
        "certainty_score": certainty,
        "examples": examples,
        "prerequisites": prerequisites,
    }
    with opened() as trivium:
        concepts: Concepts = trivium.concepts
        if restore:
            done: dict[str, Any] = {"restored": concepts.change.restore(which, expected_version).version}
        elif delete:
            done = {"deleted": concepts.change.delete(_id(concepts, which), expected_version).version}
        else:
            updated = concepts.change.update(_id(concepts, which), changes, expected_version)
            done = {"version": updated.concept.version, "updated_fields": list(updated.updated_fields)}
    if as_json:
        emit(done)
    else:
        say(", ".join(f"{word}: {value}" for word, value in done.items()))


@app.command(epilog='Example: trivium concepts link "Variables" "For loop" prerequisite')
def link(
    source: str = typer.Argument(..., help="Id or name; of a prerequisite, what is learned first."),
    target: str = typer.Argument(..., help="Id or name."),
    kind: str = typer.Argument(..., help="prerequisite, relates_to or includes."),
    strength: float = typer.Option(1.0, help="0-1."),
    description: str | None = typer.Option(None),
    delete: bool = typer.Option(False, "--delete", help="Remove the link instead."),
    as_json: bool = _JSON,
) -> None:
    """Connect two concepts, or take the connection away."""
    with opened() as trivium:
        concepts: Concepts = trivium.concepts
        ends = _id(concepts, source), _id(concepts, target)
        if delete:
            done = _unlink(concepts, ends, kind)
        else:
            done = concepts.change.relate(*ends, kind, strength, description).relationship_id
    if as_json:
        emit({"relationship_id": done})
    else:
        say(done)


@app.command("import", epilog="Example: trivium concepts import vault/")
def bring_in(
    path: Path = typer.Argument(..., help="A folder of Markdown notes, or a .csv or .jsonl file."),
    as_json: bool = _JSON,
) -> None:
    """Take concepts in from an Obsidian vault or another folder of notes, CSV or JSON lines; all or nothing.

    Running it again changes nothing. [[Wikilinks]] become relationships.
    """
    drafts = _read(path)
    with opened() as trivium:
        result = trivium.concepts.transfer.bring_in(drafts)
    if as_json:
        emit({name: getattr(result, name) for name in result.__dataclass_fields__})
        return
    for name, target in result.unresolved:
        note(f"[dim]no such concept:[/] {_plain(target)}, linked from {_plain(name)}")
    say(
        f"{result.created} created, {result.updated} updated, {result.unchanged} unchanged,"
        f" {result.relationships} relationships"
    )


@app.command("export", epilog="Example: trivium concepts export notes/")
def hand_out(
    path: Path = typer.Argument(..., help="A folder for Markdown notes, or a .csv or .jsonl file."),
    as_json: bool = _JSON,
) -> None:
    """Write all concepts out: notes with front matter and JSON lines keep everything that is not history."""
    from trivium.concepts import markdown, tables

    with opened() as trivium:
        drafts = list(trivium.concepts.transfer.hand_out())
    suffix = path.suffix.lower()
    if suffix == ".csv":
        count = tables.write_csv(path, drafts)
    elif suffix in (".jsonl", ".ndjson"):
        count = tables.write_jsonl(path, drafts)
    else:
        _expect_empty(path)
        count = markdown.write_folder(path, drafts)
    if as_json:
        emit({"concepts": count, "path": str(path)})
    else:
        say(f"{count} concepts written to {_plain(str(path))}")


@app.command(epilog='Example: trivium concepts history "For loop"')
def history(which: str = _WHICH, as_json: bool = _JSON) -> None:
    """Print every event of a concept, a deleted one too (by id)."""
    from trivium.model.concept import body_of

    with opened() as trivium:
        concepts: Concepts = trivium.concepts
        events = concepts.read.history(_id(concepts, which))
    rows = [{"version": e.version, "type": type(e.event).__name__, "at": e.at, **body_of(e.event)} for e in events]
    if as_json:
        emit(rows)
        return
    for event in events:
        say(f"{event.version:>4} [dim]{event.at}[/] {type(event.event).__name__} {_plain(str(body_of(event.event)))}")


@app.command(epilog="Example: trivium concepts replay graph")
def replay(
    projection: str | None = typer.Argument(None, help="Which view to write anew; default: all."),
    until: int | None = typer.Option(None, help="Write nothing; print the state as of this position."),
    as_json: bool = _JSON,
) -> None:
    """Rebuild views of the concepts from the log, or print the whole state as it was."""
    from trivium.concepts.replay import replay as replayed

    with opened() as trivium:
        concepts: Concepts = trivium.concepts
        state = concepts.check.rebuild(projection) if until is None else replayed(concepts.log, until)
    if until is not None:
        emit([item._asdict() for item in state.items.values()])
    elif as_json:
        emit({"position": state.position, "concepts": len(state.concepts), "relationships": len(state.relationships)})
    else:
        say(f"{state.position} events: {len(state.concepts)} concepts, {len(state.relationships)} relationships")


@app.command(epilog="Example: trivium concepts verify --repair")
def verify(
    repair: bool = typer.Option(False, "--repair", help="Put right what differs."), as_json: bool = _JSON
) -> None:
    """Compare every view of the concepts with the log; exit code 1 where they differ."""
    with opened() as trivium:
        verdict = trivium.concepts.check.verify(repair)
    if as_json:
        emit(verdict.summary())
    else:
        for row in verdict.summary()["projections"]:
            say(_plain(", ".join(f"{name} {value}" for name, value in row.items())))
    if not verdict.consistent:
        raise Conflict("views differ from the log", hint="trivium concepts verify --repair")


@app.command(epilog="Example: trivium concepts retry")
def retry(projection: str | None = typer.Argument(None, help="Default: all."), as_json: bool = _JSON) -> None:
    """Try events again that a view could not take; exit code 1 where some still fail."""
    with opened() as trivium:
        left = trivium.concepts.runner.retry(projection)
    if as_json:
        emit([entry._asdict() for entry in left])
    for entry in () if as_json else left:
        say(_plain(f"{entry.projection}: event {entry.position} ({entry.stream}): {entry.error}"))
    if left:
        raise Conflict(f"{len(left)} events still fail", hint="see the errors; the view may be down")
    if not as_json:
        say("nothing left to retry")


def _id(concepts: "Concepts", which: str) -> str:
    """An id as it is; a name becomes the id of the one concept that bears it."""
    from trivium.ports.concept_catalogue import Selection

    named = [c for c in concepts.read.exact(Selection(name=which), 100) if c.name.casefold() == which.casefold()]
    if len(named) > 1:
        ids = [f"{concept.concept_id} ({concept.area or '-'})" for concept in named]
        raise InvalidInput(f"{len(named)} concepts are called {which!r}; use an id", field="which", allowed=ids)
    return named[0].concept_id if named else which


def _unlink(concepts: "Concepts", ends: tuple[str, str], kind: str) -> str:
    for relationship in concepts.read.relationships(ends[0], "outgoing"):
        if relationship.target_concept_id == ends[1] and relationship.relationship_type == kind:
            concepts.change.unrelate(relationship.relationship_id)
            return relationship.relationship_id
    raise NotFound(f"no {kind} leads from {ends[0]} to {ends[1]}", code="RELATIONSHIP_NOT_FOUND")


def _read(path: Path) -> "list[Draft]":
    from trivium.concepts import markdown, tables

    suffix = path.suffix.lower()
    if path.is_dir():
        return markdown.read_folder(path)
    if not path.is_file():
        raise NotFound(f"{path} does not exist")
    if suffix == ".md":
        return [markdown.read_note(path, path.name)]
    if suffix == ".csv":
        return tables.read_csv(path)
    if suffix in (".jsonl", ".ndjson"):
        return tables.read_jsonl(path)
    raise InvalidInput(f"{path.name}: unknown format", field="path", allowed=["a folder", ".md", ".csv", ".jsonl"])


def _expect_empty(folder: Path) -> None:
    if folder.is_dir() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} is not empty", field="path", hint="name a new folder; notes would mix otherwise")


def _fields(concept: "Concept") -> dict[str, Any]:
    values = concept._asdict()
    return {name: value for name, value in values.items() if value is not None and name not in ("key", "changed")}


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
