"""Where hostile programs run: real workers, things they must not reach, and functions they may call."""

import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hostile import Hostile

from trivium.sandbox.failures import ProgramError
from trivium.sandbox.runner import CallFailed, Functions, Outcome, Runner
from trivium.sandbox.workers import Quota, Workers

CANARY = "canary-4e1f9c"
MEMORY = 2**26
Run = Callable[..., Outcome]
CODES = {
    "INVALID_CODE",
    "CODE_FAILED",
    "EXECUTION_TIMEOUT",
    "MEMORY_LIMIT",
    "OUTPUT_LIMIT",
    "INVALID_RESULT",
}


class Arena:
    def __init__(self, folder: Path, runner: Runner, quota: Quota, port: socket.socket) -> None:
        self.runner, self.quota, self._port = runner, quota, port
        self.secret, self.target = folder / "secret.txt", folder / "target"
        self.secret.write_text(CANARY)
        self.functions = Functions(frozenset({"search", "write"}), self._answer)

    def run(self, program: Hostile, *, is_checked: bool = True, quota: Quota | None = None) -> tuple[str, str]:
        """What came back: "ok" or the error's code, and everything in it as text. Any other exception is our bug."""
        try:
            outcome = self.runner.run(
                self._filled(program.code), self.functions, quota or self.quota, "hostile", is_checked=is_checked
            )
        except ProgramError as error:
            return error.code, f"{error.message} {error.hint} {error.details}"
        return "ok", f"{outcome.value} {outcome.output}"

    def still_works(self) -> bool:
        return self.runner.run("6 * 7", self.functions, Quota(60, 2**26, 10), "normal").value == 42

    def escapes(self, said: str) -> list[str]:
        """What a program got at that it must not; empty when all is well."""
        found = []
        if CANARY in said:
            found.append("it read the secret")
        if self.target.exists():
            found.append("it wrote a file")
        if self.secret.read_text() != CANARY:
            found.append("it changed a file")
        try:
            self._port.accept()
            found.append("it opened a connection")
        except BlockingIOError:
            pass
        return found

    def _filled(self, code: str) -> str:
        port = str(self._port.getsockname()[1])
        return code.replace("SECRET", str(self.secret)).replace("TARGET", str(self.target)).replace("PORT", port)

    def _answer(self, name: str, values: Sequence[Any], named: Mapping[str, Any], left_s: float) -> Any:
        if named.get("fail"):
            raise CallFailed("NOT_FOUND", "nothing")
        if name == "write":
            raise CallFailed("WRITES_NOT_ALLOWED", "no")
        if named.get("hang"):
            time.sleep(min(left_s, 60) + 0.05)
        return {"results": [{"id": number} for number in range(3)]}


@contextmanager
def arena(folder: Path, quota: Quota, workers: int = 2, layer: Any = "auto") -> Iterator[Arena]:
    os.environ["TRIVIUM_CANARY"] = CANARY
    runner = Runner(Workers(quota.memory_bytes, workers, layer), 60)
    with socket.create_server(("127.0.0.1", 0)) as port:
        port.setblocking(False)
        try:
            yield Arena(folder, runner, quota, port)
        finally:
            runner.close()
            del os.environ["TRIVIUM_CANARY"]
