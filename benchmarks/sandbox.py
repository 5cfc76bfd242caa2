"""What a program costs over the calls it makes, and what happens when many are sent at once.

    uv run python benchmarks/sandbox.py

CPU of the server and of its workers together, so that nothing hides in another process. Every figure is a difference
or a count within one run.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from trivium.app import open_app
from trivium.backends.memory.embedder import HashingEmbedder
from trivium.doors.guard.caller import Caller
from trivium.doors.mcp.gate import Gate
from trivium.doors.mcp.server import open_gate
from trivium.settings import Settings

ROUNDS = 400
INNER = 400
AT_ONCE = 32
TICK = os.sysconf("SC_CLK_TCK")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        gate = served(Path(folder))
        try:
            overhead(gate)
            inner(gate)
            crowd(gate)
        finally:
            gate.close()


def served(folder: Path) -> Gate:
    settings = Settings(
        data=folder / "data", rate_limit_minute=0, rate_limit_hour=0, rate_limit_day=0, sandbox_calls=1000
    )
    (folder / "docs").mkdir()
    for number in range(50):
        (folder / "docs" / f"{number}.md").write_text(
            f"# Page {number}\n\n" + f"Sentence {number} about storage. " * 40
        )
    app = open_app(settings, lambda _name: HashingEmbedder())
    app.documents.add([folder / "docs"])
    app.embedding.run()
    app.close()
    return open_gate(settings, lambda: open_app(settings, lambda _name: HashingEmbedder()))


def call(gate: Gate, tool: str, who: str = "bench", **arguments: Any) -> dict[str, Any]:
    caller = Caller(who, frozenset({"read"}), "memory", who, metered=True)
    return gate.run(gate.ticket(tool, arguments), lambda: caller).body


def cpu_s() -> float:
    """Of this process and everything below it."""
    return time.process_time() + sum(map(ticks, below(os.getpid()))) / TICK


def below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = [int(one) for one in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *below(child)]
    return found


def ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def each_ms(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    for _ in range(20):
        work()
    started = cpu_s()
    for _ in range(rounds):
        work()
    return (cpu_s() - started) / rounds * 1000


def overhead(gate: Gate) -> None:
    bare = each_ms(lambda: call(gate, "ping"))
    program = each_ms(lambda: call(gate, "execute_code", code="1 + 1"))
    print(f"a bare call {bare:.2f} ms CPU; a trivial program {program:.2f}: {program - bare:.2f} ms more (bar: 5)")


def inner(gate: Gate) -> None:
    app = gate.opening.get(60)
    direct = each_ms(lambda: app.chunks.get([1]))
    code = f"for i in range({INNER}):\n    await get_chunk(1)"
    one = each_ms(lambda: call(gate, "execute_code", code=code), rounds=3) / INNER
    bare = each_ms(lambda: call(gate, "get_chunk", chunk_id=1))
    print(
        f"app {direct:.3f} ms CPU; the tool {bare:.3f}; called by a program {one:.3f}:"
        f" {one - direct:.3f} over app (bar: 1)"
    )


def crowd(gate: Gate) -> None:
    """Two callers: one sends 28 programs at once, the other 4 behind them."""
    order: list[str] = []
    waits: list[float] = []
    most = 0
    lock = threading.Lock()
    code = "n = 0\nfor i in range(60000):\n    n += i\nawait get_chunk(1)\nn"

    def send(who: str) -> None:
        nonlocal most
        body = call(gate, "execute_code", who, code=code)
        with lock:
            order.append(who)
            waits.append(body["execution_context"].get("queue_ms", 0.0))
            most = max(most, len([pid for pid in below(os.getpid()) if not below(pid)]))

    threads = [threading.Thread(target=send, args=(who,)) for who in ["many"] * 28 + ["few"] * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    places = [number for number, who in enumerate(order, 1) if who == "few"]
    print(
        f"{AT_ONCE} programs at once: {len(order)} answered, at most {most} worker processes,"
        f" {sum(wait > 0 for wait in waits)} told how long they waited (longest {max(waits):.0f} ms);"
        f" the caller with 4 among 28 of another was served as number {places}"
    )


if __name__ == "__main__":
    main()
