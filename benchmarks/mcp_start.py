"""How long a stdio client waits for its list of tools, beside importing fastmcp alone.

    python benchmarks/mcp_start.py [--rounds 5]

Bar: at most 1.5 x. Wall and CPU time of fresh processes, alternating; the least of each is compared.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def import_alone() -> tuple[float, float]:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", "from fastmcp import FastMCP"], check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def until_listed(data: str) -> tuple[float, float]:
    start = time.perf_counter()
    command = [sys.executable, "-m", "trivium", "--data", data, "serve", "--toolsets", "knowledge"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in (HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, _listing()):
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
        server.stdout.readline()
        assert b'"tools"' in server.stdout.readline()
        wall = time.perf_counter() - start
        with open(f"/proc/{server.pid}/stat", encoding="ascii") as stat:
            ticks = stat.read().rsplit(")", 1)[1].split()[11:13]
        server.stdin.close()
    return wall, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _listing() -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    alone, ours = [], []
    with tempfile.TemporaryDirectory() as data:
        for _ in range(rounds):
            alone.append(import_alone())
            ours.append(until_listed(data))
    for name, index in (("wall", 0), ("CPU", 1)):
        one, other = min(row[index] for row in alone), min(row[index] for row in ours)
        print(f"{name:4}  import fastmcp {one:.2f} s   tools/list {other:.2f} s   {other / one:.2f} x (bar 1.5)")


if __name__ == "__main__":
    main()
