"""`trivium vendors list|show|import|merge|split|extract|check`, and `trivium eval extraction`."""

from dataclasses import asdict
from pathlib import Path

import typer

from trivium.doors.cli.context import chosen, opened
from trivium.doors.cli.output import bar, emit, say


def register(root: typer.Typer) -> None:
    group = typer.Typer(help="The vendor graph: what the documents say about whom.", no_args_is_help=True)
    group.command("list", epilog="Example: trivium vendors list --type PRODUCT")(list_vendors)
    group.command(epilog="Example: trivium vendors show 'Acme Corp'")(show)
    group.command("import", epilog="Example: trivium vendors import partners.csv")(import_facts)
    group.command(epilog="Example: trivium vendors merge 'Acme Corp' 'Acme Holdings'")(merge)
    group.command(epilog="Example: trivium vendors split 'Acme Corp' 'Acme Records'")(split)
    group.command(epilog="Example: trivium vendors extract")(extract)
    group.command(epilog="Example: trivium vendors check")(check)
    root.add_typer(group, name="vendors")


def list_vendors(
    entity_type: str = typer.Option("ORG", "--type", help="ORG, PRODUCT, PERSON, LOCATION, EVENT, or all."),
    limit: int = typer.Option(50, min=1, max=10_000),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Vendors, those most often mentioned first."""
    from rich.markup import escape

    from trivium.model.vendor import entity_type as checked

    kind = None if entity_type.casefold() == "all" else checked(entity_type)
    with opened() as app:
        found = app.vendors.entities(kind, limit)
    if as_json:
        emit([asdict(entity) for entity in found])
        return
    for entity in found:
        say(f"{escape(entity.name)}  [dim]{entity.entity_type}, {entity.mention_count} mentions[/]")
    if not found:
        say("nothing yet: take documents in with trivium add, or facts with trivium vendors import")


def show(
    vendor: str = typer.Argument(..., help="Name of the vendor, in any case."),
    limit: int = typer.Option(20, min=1, max=500, help="Entities and relationships to show."),
    as_json: bool = typer.Option(False, "--json", help="For machines, with the chunks everything comes from."),
) -> None:
    """One vendor: what is one step away from it, how sure that is, and where it was read."""
    from rich.markup import escape

    with opened() as app:
        near = app.vendors.around(app.vendors.find(vendor), entities=limit, relationships=limit, snippets=True)
        proofs = app.vendors.proofs(near)
    if as_json:
        emit(
            {
                "vendor": asdict(near.vendor),
                "statistics": asdict(near.statistics),
                "entities": [asdict(e) | {"snippet": near.snippets.get(e.entity_id)} for e in near.entities],
                "relationships": [asdict(link) for link in near.relationships],
                "proofs": {key: [asdict(proof) for proof in rows] for key, rows in proofs.items()},
            }
        )
        return
    names = {e.entity_id: e.name for e in (near.vendor, *near.entities)}
    total = near.statistics.relationship_count
    say(f"[bold]{escape(near.vendor.name)}[/]: {near.total} entities, {total} relationships")
    for link in near.relationships:
        ends = [escape(names.get(number, f"e_{number}")) for number in (link.source_id, link.target_id)]
        say(f"  {ends[0]} [cyan]{link.relationship_type}[/] {ends[1]}  [dim]{link.confidence:.2f}[/]")


def import_facts(
    file: Path = typer.Argument(..., exists=True, dir_okay=False, help="CSV with a header line, or JSON lines."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Take facts in: source, source_type, relationship_type, target, target_type, confidence. Again is fine.

    The file becomes a document, so `trivium remove "vendors import/FILE"` takes the facts out again.
    """
    with opened() as app:
        recorded, duplicates = app.vendors.import_file(file)
        app.follower.catch_up()
    added = recorded.mentions_added + recorded.links_added
    if as_json:
        emit({"entities": len(recorded.entity_ids), "relationships": len(recorded.relationship_ids), "added": added})
    else:
        say(f"{len(recorded.entity_ids)} entities, {len(recorded.relationship_ids)} relationships; {duplicates} twice")


def merge(
    kept: str = typer.Argument(..., help="The name that stays."),
    other: str = typer.Argument(..., help="The name that is the same."),
    entity_type: str = typer.Option("ORG", "--type"),
) -> None:
    """Say that two names are one; it holds for documents that come later, too."""
    from rich.markup import escape

    from trivium.model.vendor import entity_type as checked

    with opened() as app:
        entity = app.vendors.merge(kept, other, checked(entity_type))
    say(f"{escape(entity.name)}: {entity.mention_count} mentions")


def split(
    vendor: str = typer.Argument(..., help="The entity that has a name too many."),
    name: str = typer.Argument(..., help="The name that is somebody else's."),
    entity_type: str = typer.Option("ORG", "--type"),
) -> None:
    """Say that a name is not this vendor's; it stands alone from now on."""
    from rich.markup import escape

    from trivium.model.vendor import entity_type as checked

    with opened() as app:
        entity = app.vendors.split(vendor, name, checked(entity_type))
    say(f"{escape(entity.name)} stands alone: {entity.mention_count} mentions")


def extract(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """Read whatever waits for it. `trivium add` does so by itself."""
    with opened() as app, bar("entities", "chunks", quiet=as_json) as progress:
        done = app.extraction.run(progress)
    if as_json:
        emit({"extracted": done})
    else:
        say(f"{done} chunks read")


def check(as_json: bool = typer.Option(False, "--json", help="For machines.")) -> None:
    """See that every entity and relationship leads back to a chunk that contains it; exit code 1 where one does not."""
    from rich.markup import escape

    with opened() as app:
        report = app.vendors.provenance()
    if as_json:
        emit(asdict(report))
    else:
        for line in report.unsupported[:20]:
            say(escape(line))
        say(
            f"{report.entities} entities and {report.relationships} relationships by {report.proofs} proofs:"
            f" {len(report.unsupported)} without support"
        )
    if report.unsupported:
        raise typer.Exit(1)


def evaluate_extraction(
    file: Path = typer.Argument(..., exists=True, dir_okay=False, help="One JSON object a line, plain or .gz."),
    as_json: bool = typer.Option(False, "--json", help="For machines."),
) -> None:
    """Precision, recall and F1 of entities (exact span and type) and relationships, on labelled text."""
    from trivium.app import open_extractor
    from trivium.documents.extract.evaluate import evaluate_extraction as evaluate

    report = evaluate(file, open_extractor(chosen.settings()))
    if as_json:
        emit(report)
        return
    for part, rows in report.items():
        for name, figures in rows.items():
            say(f"{part:22} {name:16} P {figures['precision']:.3f}  R {figures['recall']:.3f}  F1 {figures['f1']:.3f}")
