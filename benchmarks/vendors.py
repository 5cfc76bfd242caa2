"""The vendor graph: what a lookup costs on a large one, what extraction adds to ingestion, how names resolve.

    python benchmarks/vendors.py lookup                       # 100 000 entities, 500 000 relationships
    python benchmarks/vendors.py cost CORPUS.jsonl.gz [FILES]  # {"_id", "text"} a line
    python benchmarks/vendors.py resolution ITEMS.jsonl.gz     # endoflife_vendor
    python benchmarks/vendors.py provenance CORPUS.jsonl.gz

Each prints the limit it is held against. CPU time, not wall time.
"""

import gzip
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from trivium.app import App, open_app
from trivium.documents.vendors import VendorNotFound
from trivium.errors import TriviumError
from trivium.settings import Settings

VENDORS = [
    "Amazon Web Services",
    "Apple",
    "Google",
    "Microsoft",
    "Oracle",
    "Red Hat",
    "IBM",
    "Canonical",
    "VMware",
    "Mozilla",
    "Apache Software Foundation",
    "Linux Foundation",
    "Elastic",
    "HashiCorp",
    "Atlassian",
    "SAP",
    "Siemens",
    "Samsung",
    "Nokia",
    "Huawei",
    "Nvidia",
    "Intel",
    "Citrix",
    "Palo Alto Networks",
    "Fortinet",
    "Perforce",
    "Progress Software",
    "JetBrains",
    "GitLab",
    "Grafana Labs",
    "Cloud Native Computing Foundation",
]
APART = (
    ("Amazon", "Amazon Web Services"),
    ("Apache Software Foundation", "Linux Foundation"),
    ("Acme Corp", "Acme Ltd"),
    ("Oracle", "Oracle Cloud"),
    ("Apple", "Apple Records"),
    ("Google", "Google Ventures"),
    ("Palo Alto Networks", "Palo Alto Research Center"),
)
KINDS = ("PRODUCT", "PERSON", "ORG", "LOCATION", "EVENT")
LINKS = ("PRODUCES", "WORKS_FOR", "PARTNERS_WITH", "LOCATED_IN", "COMPETES_WITH")
FORMS = {"Microsoft": "Corporation", "Oracle": "Corporation", "Red Hat": "Inc.", "Siemens": "AG", "SAP": "SE"}


def cpu_ms(work: Callable[[], object], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append((time.process_time() - start) * 1000)
    return sorted(taken)


def lookup(entities: int = 100_000, relationships: int = 500_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = open_app(Settings(data=Path(folder), model="hashing-64"))
        fill(app, entities, relationships)
        hub = app.vendors.find("Vendor 0")
        names = [f"Vendor {number}" for number in random.Random(1).sample(range(2, entities, 5), 50)]
        print(f"hub: {app.vendors.statistics(hub).relationship_count} relationships")
        for title, limit, work in (
            ("metadata", 3, lambda name: app.vendors.around(app.vendors.find(name), entities=5, relationships=0)),
            ("full", 30, lambda name: app.vendors.around(app.vendors.find(name), snippets=True)),
        ):
            usual = [ms for name in names for ms in cpu_ms(lambda name=name, work=work: work(name), 1)]
            largest = cpu_ms(lambda work=work: work("Vendor 0"), 20)
            p95 = sorted(usual)[int(len(usual) * 0.95)]
            print(
                f"{title}: median {statistics.median(usual):.2f} ms, p95 {p95:.2f} ms, hub"
                f" {statistics.median(largest):.2f} ms CPU (limit {limit} ms)"
            )
        app.close()


def fill(app: App, entities: int, relationships: int) -> None:
    """Rows as the store itself writes them, in bulk; counters are made by its own recount."""
    random_ = random.Random(0)
    with app.database.transaction() as db:
        db.execute(
            "INSERT INTO documents (document_id, source, root, source_file, title, date, content_hash, metadata,"
            " total_chunks) VALUES (1, 'documents', '', 'a.md', 'A', '2024-01-01', 'x', '{}', 1000)"
        )
        text = "Some text that names a vendor and what it makes. " * 30
        db.executemany(
            "INSERT INTO chunks (chunk_id, document_id, chunk_index, start, end, token_count, content_hash,"
            " context_header, text) VALUES (?, 1, ?, 0, 10, 300, ?, '', ?)",
            [(n, n, str(n).encode(), text) for n in range(1, 1001)],
        )
        db.execute("DROP TRIGGER relationships_added")
        rows = []
        for number in range(entities):
            kind = "ORG" if number == 0 else KINDS[number % 5]
            name = f"Vendor {number}" if kind == "ORG" else f"{kind.title()} {number}"
            rows.append((number + 1, kind, name, name.replace(" ", "").lower()))
        db.executemany("INSERT INTO entities (entity_id, entity_type, name) VALUES (?, ?, ?)", [r[:3] for r in rows])
        db.executemany(
            "INSERT INTO entity_names VALUES (?, ?, '', ?, ?, 'name')", [(r[1], r[3], r[0], r[2]) for r in rows]
        )
        db.executemany(
            "INSERT INTO mentions VALUES (?, ?, 'import', ?, '', ?, 5, 1, ?, '2024-01-01')",
            [(1 + r[0] % 1000, r[0], r[3], r[2], round(random_.random(), 4)) for r in rows],
        )
        pairs: set[tuple[int, int]] = set()
        while len(pairs) < relationships:
            # a few vendors are in a large part of everything, as in life
            one = 1 if random_.random() < 0.02 else 1 + int(entities * random_.random() ** 2)
            two = 1 + int(entities * random_.random())
            if one != two and max(one, two) <= entities:
                pairs.add((one, two))
        db.executemany(
            "INSERT INTO relationships (relationship_id, source_id, target_id, relationship_type) VALUES (?, ?, ?, ?)",
            [(n, a, b, LINKS[n % 5]) for n, (a, b) in enumerate(sorted(pairs), start=1)],
        )
        db.executemany(
            "INSERT INTO relationship_proofs VALUES (?, ?, 'import', ?, '2024-01-01', '{}')",
            [(1 + n % 1000, n, round(random_.random(), 4)) for n in range(1, relationships + 1)],
        )
    app.vendor_facts.recount()


def cost(corpus: Path, files: int = 150) -> None:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        with gzip.open(corpus, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number >= files:
                    break
                (docs / f"{number}.md").write_text(json.loads(line)["text"], encoding="utf-8")
        app = open_app(Settings(data=Path(folder) / "data", threads=1))
        app.embedding.run()
        app.embedder.embed_passages(["warm"])
        app.extraction._extractor.extract(["Warm Corp"])
        start = time.process_time()
        report = app.documents.add([docs])
        app.embedding.run()
        without = time.process_time() - start
        start = time.process_time()
        app.extraction.run()
        extra = time.process_time() - start
        found = len(app.vendors.entities(None, 1_000_000))
        print(
            f"{report.chunks_added} chunks, {found} entities: {without:.1f} s CPU without extraction,"
            f" {extra:.1f} s more: {(without + extra) / without:.2f} times (limit 1.35)"
        )
        app.close()


def provenance(corpus: Path) -> None:
    """Every document of a corpus taken in; then everything known must lead back to its chunk."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        with gzip.open(corpus, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                (docs / f"{number}.md").write_text(json.loads(line)["text"], encoding="utf-8")
        app = open_app(Settings(data=Path(folder) / "data", model="hashing-64", threads=1))
        chunks = app.documents.add([docs]).chunks_added
        app.extraction.run()
        report = app.vendors.provenance()
        print(
            f"{chunks} chunks, {report.entities} entities, {report.relationships} relationships by {report.proofs}"
            f" proofs: {len(report.unsupported)} without support (limit 0)"
        )
        print("\n".join(report.unsupported[:10]))
        app.close()


def resolution(items: Path) -> None:
    """Every vendor in its variants, one document each, among the real descriptions."""
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        with gzip.open(items, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                (docs / f"real-{number}.md").write_text(json.loads(line)["description"] or "", encoding="utf-8")
        asked: dict[str, list[str]] = {}
        for number, vendor in enumerate(VENDORS):
            asked[vendor] = variants(vendor)
            for place, spelling in enumerate(asked[vendor]):
                text = f"The contract with {spelling} was signed in Berlin by the board of Globex Inc.\n"
                (docs / f"variant-{number}-{place}.md").write_text(text, encoding="utf-8")
        for number, names in enumerate(APART):
            for place, name in enumerate(names):
                (docs / f"apart-{number}-{place}.md").write_text(
                    f"{name} opened an office in Madrid.\n", encoding="utf-8"
                )
        app = open_app(Settings(data=Path(folder) / "data", model="hashing-64"))
        app.documents.add([docs])
        app.extraction.run()
        print_resolution(app, asked)
        app.close()


def variants(vendor: str) -> list[str]:
    initials = "".join(word[0] for word in vendor.split())
    found = [
        vendor,
        vendor.upper(),
        f"{vendor}'s lawyers",
        f"{vendor} {FORMS.get(vendor, 'Inc.')}",
        f"the {vendor} team",
    ]
    return [*found, f"{vendor} ({initials})"] if len(initials) > 2 else found


def print_resolution(app: App, asked: dict[str, list[str]]) -> None:
    total = right = missed = 0
    for vendor, spellings in asked.items():
        try:
            entity = app.vendors.find(vendor)
        except TriviumError as error:
            print("not one entity:", vendor, error.message)
            total += len(spellings)
            continue
        chunks = set(app.vendors._sources.chunks(entity.entity_id))
        for spelling in spellings:
            own = {c.chunk_id for c in app.chunks.get(app.log.chunk_ids().tolist()) if f"with {spelling} was" in c.text}
            total += 1
            right += own <= chunks
            if not own <= chunks:
                missed += 1
                print("elsewhere:", spelling)
    wrong = [pair for pair in APART if same(app, *pair)]
    print(
        f"{right} of {total} variants on one entity: {100 * right / total:.1f} % (limit 95); wrong merges {wrong} (0)"
    )


def same(app: App, one: str, two: str) -> bool:
    try:
        return app.vendors.find(one).entity_id == app.vendors.find(two).entity_id
    except VendorNotFound as error:
        print("not found:", error.message[:60])
        return False


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "lookup":
        lookup()
    elif command == "cost":
        cost(Path(rest[0]), *map(int, rest[1:]))
    elif command == "provenance":
        provenance(Path(rest[0]))
    else:
        resolution(Path(rest[0]))
