"""Redis, Chroma and Neo4j killed, restarted and flushed under a server that writes and answers all the time.

    uv run python benchmarks/torture_servers.py [--seconds 90] [--threads 3] [--away 4]

Bars: no call fails, no acknowledged write is lost, no answer lacks what was written before it, and when everything is
back every index and every copy agrees with the store.
"""

import argparse
import importlib
import itertools
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from trivium.app import App, open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.client import Client
from trivium.settings import Settings

NAMES = ("redis", "chroma", "neo4j")


class Load:
    """One thread: writes a text and a concept, then asks for both, again and again."""

    def __init__(self, client: Client, app: App, name: str, counts: Counter[str]) -> None:
        self._client, self._app, self._name, self._counts = client, app, name, counts
        self.texts: list[str] = []
        self.concepts: list[str] = []
        self.wrong: list[str] = []

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                self._once("".join(secrets.choice("bcdfghjklmnpqrstvwz") for _ in range(12)))
            except Exception as error:
                self.wrong.append(f"{type(error).__name__}: {error}")

    def _once(self, word: str) -> None:
        self._app.documents.add_texts(
            self._name, [(word, word, f"{word} {word}: entry {len(self.texts)} of a ledger.")]
        )
        self.texts.append(word)
        found = self._client.call("semantic_search", query=word, page_size=50, response_mode="full")
        self._counts["searches"] += 1
        self._counts.update(warning["code"] for warning in found["warnings"])
        if not any(word in result["chunk_text"] for result in found["results"]):
            self.wrong.append(f"{word} was written and not found")
        self._relate(word)

    def _relate(self, word: str) -> None:
        made = self._client.call("create_concept", name=word, explanation=f"About {word}.", area="torture")
        self.concepts.append(made["concept_id"])
        self._counts["concepts"] += 1
        if len(self.concepts) < 2:
            return
        before, now = self.concepts[-2:]
        link = {"source_concept_id": before, "target_concept_id": now, "relationship_type": "prerequisite"}
        self._client.call("create_relationship", **link)
        needed = self._client.call("get_prerequisites", concept_id=now, max_depth=1)
        if before not in str(needed):
            self.wrong.append(f"{now} does not need {before}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--away", type=float, default=4, help="seconds a killed server stays away")
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contracts"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        servers = {}
        for one in NAMES:
            (folder / one).mkdir()
            servers[one] = importlib.import_module(f"servers.{one}").start(folder / one)
        try:
            torture(folder / "data", servers, options)
        finally:
            for server in servers.values():
                server.kill()


def torture(data: Path, servers: dict[str, Any], options: argparse.Namespace) -> None:
    urls = {"cache": servers["redis"].url, "vectors": servers["chroma"].url, "graph": servers["neo4j"].url}
    settings = Settings(data=data, rate_limit_minute=0, rate_limit_hour=0, rate_limit_day=0, **urls)
    import trivium.app as composition

    composition.embedder_opener = lambda _settings: lambda _name: HashingEmbedder()  # type: ignore[assignment]
    app = open_app(settings)
    app.start_background()
    counts: Counter[str] = Counter()
    client, stop = Client(settings=settings), threading.Event()
    loads = [Load(client, app, f"load{number}", counts) for number in range(options.threads)]
    threads = [threading.Thread(target=load.run, args=(stop,)) for load in loads]
    for thread in threads:
        thread.start()
    faults = break_things(servers, options)
    stop.set()
    for thread in threads:
        thread.join()
    report(app, loads, counts, faults)
    app.close()


def break_things(servers: dict[str, Any], options: argparse.Namespace) -> Counter[str]:
    faults: Counter[str] = Counter()
    ends = time.monotonic() + options.seconds
    for name in itertools.cycle(("chroma", "flush", "redis", "neo4j")):
        if time.monotonic() > ends:
            break
        time.sleep(2)
        faults[name] += 1
        if name == "flush":
            import redis

            with redis.Redis.from_url(servers["redis"].url) as connection:
                connection.flushall()
            continue
        servers[name].kill()
        time.sleep(options.away)
        servers[name].start()
    return faults


def report(app: App, loads: list[Load], counts: Counter[str], faults: Counter[str]) -> None:
    time.sleep(6)  # longer than a server that was away is left alone
    app.embedding.run()
    states = app.check()
    assert app.graph_server is not None
    app.graph_server.catch_up(app.concepts)
    parts, verdict = app.graph_server.parts(app.concepts), app.concepts.check.verify()
    stored = {text for load in loads for text in load.texts}
    held = {chunk.source_file for chunk in app.chunks.get(app.log.chunk_ids().tolist())}
    lost = [word for word in stored if not any(word in name for name in held)]
    wrong = [one for load in loads for one in load.wrong]
    print(f"faults: {dict(faults)}; under load: {dict(counts)}")
    print(f"failed or wrong calls: {len(wrong)} {wrong[:3]}; acknowledged texts lost: {len(lost)} of {len(stored)}")
    print("indexes agree with the store:", {state.name: state.agrees for state in states})
    print(
        "copies are current:",
        {part.name: part.is_current for part in parts},
        "concepts consistent:",
        verdict.consistent,
    )


if __name__ == "__main__":
    main()
