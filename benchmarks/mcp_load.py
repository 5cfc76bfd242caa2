"""Many HTTP clients on several server processes: errors, memory, and whether limits are exact across processes.

    python benchmarks/mcp_load.py [--seconds 120] [--clients 32] [--processes 4]

Bars: nothing but 200 and 429; memory does not grow; with a limit of N exactly N calls pass, whichever process counts.
"""

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx2

from corpora import write_corpus
from trivium.app import open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.guard.guard import build_guard
from trivium.guard_stores import open_guard
from trivium.settings import Settings

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
TOPICS = ("pod", "volume", "secret", "ingress", "node", "quota", "probe", "taint", "etcd", "proxy")


def body(number: int) -> dict[str, object]:
    arguments = {"query": f"{TOPICS[number % 10]} {TOPICS[number // 10 % 10]}", "response_mode": "metadata"}
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "semantic_search", "arguments": arguments},
    }


async def hammer(url: str, key: str, until: float, seen: Counter[int], start: int) -> None:
    number = start
    async with httpx2.AsyncClient(timeout=60, headers=HEADERS | {"Authorization": f"Bearer {key}"}) as client:
        while time.monotonic() < until:
            response = await client.post(url, json=body(number))
            number += 1
            code = response.status_code
            seen[code if code != 200 or "result" in response.json() else -1] += 1


def memory_mb(parent: int) -> dict[int, float]:
    """Resident memory of the server's processes."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        if int(fields["PPid"]) == parent or int(folder.name) == parent:
            found[int(folder.name)] = int(fields.get("VmRSS", "0 kB").split()[0]) / 1024
    return found


async def exactness(url: str, key: str, limit: int) -> Counter[int]:
    """More simultaneous calls than the limit lets through."""
    async with httpx2.AsyncClient(timeout=60, headers=HEADERS | {"Authorization": f"Bearer {key}"}) as client:
        answers = await asyncio.gather(*(client.post(url, json=body(number)) for number in range(limit + 60)))
    return Counter(answer.status_code for answer in answers)


async def drive(url: str, keys: list[str], limited: str, options: argparse.Namespace, parent: int) -> None:
    seen: Counter[int] = Counter()
    half = options.seconds / 2
    memory = []
    for _ in range(2):
        until = time.monotonic() + half
        clients = [hammer(url, keys[n % len(keys)], until, seen, n * 1000) for n in range(options.clients)]
        await asyncio.gather(*clients)
        memory.append(memory_mb(parent))
    print(f"{options.clients} clients, {options.processes} processes, {options.seconds:.0f} s")
    print(f"{sum(seen.values())} answers")
    print(f"by status: {dict(seen)}")
    for process, size in memory[1].items():
        print(f"process {process}: {memory[0].get(process, 0):.0f} MB after half, {size:.0f} MB at the end")
    codes = await exactness(url, limited, options.limit)
    print(f"limit {options.limit}: {codes[200]} passed, {codes[429]} refused")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--limit", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        settings = Settings(data=Path(folder) / "data", model="hashing-64")
        write_corpus("corpus_kubernetes_docs", Path(folder) / "docs", 100)
        app = open_app(settings, lambda _: HashingEmbedder())
        app.documents.add([Path(folder) / "docs"])
        app.embedding.run()
        app.close()
        guard = build_guard(settings, open_guard(settings))
        keys = [guard.keys.create(f"load{number}", ["admin"])[0] for number in range(options.clients)]
        limited = guard.keys.create("limited", ["read"])[0]
        guard.close()
        environment = {
            "TRIVIUM_MODEL": "hashing-64",
            "TRIVIUM_RATE_LIMIT_HTTP_READ_MINUTE": str(options.limit),
            "TRIVIUM_RATE_LIMIT_ADDRESS_MINUTE": "0",
            "TRIVIUM_RATE_LIMIT_ADMIN_BYPASS": "true",
            "TRIVIUM_HARVEST_RESULTS_HOUR": "0",
            "TRIVIUM_LOG_LEVEL": "ERROR",
        }
        command = [sys.executable, "-m", "trivium", "--data", str(settings.data), "serve", "--http"]
        command += ["--port", str(port), "--processes", str(options.processes)]
        server = subprocess.Popen(command, env=os.environ | environment)
        try:
            _ready(f"http://127.0.0.1:{port}/health/ready")
            asyncio.run(drive(f"http://127.0.0.1:{port}/mcp", keys, limited, options, server.pid))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def _ready(url: str) -> None:
    patience = time.monotonic() + 120
    while time.monotonic() < patience:
        try:
            if httpx2.get(url).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.3)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
