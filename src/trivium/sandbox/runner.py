"""Runs one program: feeds it to a worker, answers what it calls, and tells what became of it."""

import difflib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from trivium.sandbox.check import CLIENTS, parse
from trivium.sandbox.failures import OutputFlood, ProgramError, ResultInvalid
from trivium.sandbox.reports import Finished, explained, summary
from trivium.sandbox.rewrite import PRELUDE, rewrite
from trivium.sandbox.values import plain
from trivium.sandbox.workers import Place, Quota, Workers

OUTPUT_CHARACTERS = 10_000
_FLOOD_CHARACTERS = 5_000_000
_SIDE_BY_SIDE = 8
_RESULT = "__result__"


class CallFailed(Exception):
    """A function refused; the program sees an exception with this code."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))


# Answers one call: the function's name, its positional and named arguments, the seconds that are left.
Answer = Callable[[str, Sequence[Any], Mapping[str, Any], float], Any]


@dataclass(frozen=True, slots=True)
class Functions:
    """What a program may call, and who answers. `client` are further functions, of the client class of old programs."""

    names: frozenset[str]
    answer: Answer
    client: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    value: Any
    output: str
    calls: tuple[Finished, ...]
    waited_s: float
    ran_s: float


class Runner:
    """One for a server. `wait_s`: how long a program may wait for a worker."""

    def __init__(self, workers: Workers, wait_s: float = 30.0) -> None:
        self.workers, self._wait_s = workers, wait_s
        self._threads = ThreadPoolExecutor(2 * _SIDE_BY_SIDE, thread_name_prefix="sandbox-call")

    def run(
        self, source: str, functions: Functions, quota: Quota, who: str = "", *, is_checked: bool = True
    ) -> Outcome:
        """The program's result, or the ProgramError that says what went wrong. Without the check it runs all the same:
        the check is there to explain, not to protect."""
        code = rewrite(parse(source, functions.names)) if is_checked else source
        with self.workers.place(who, quota, self._wait_s, prelude(source, functions)) as place:
            run = _Run(place, functions, quota, self._threads)
            try:
                value = run.finish(code, _RESULT in source)
            except BaseException as error:
                place.end(error)
                raise _in_source(run.failure(error), source) from None
            return Outcome(value, run.output, tuple(run.finished), place.waited_s, time.monotonic() - run.started)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.workers.close()


def _in_source(error: BaseException, source: str) -> BaseException:
    """Shows the line as its author wrote it."""
    line = error.details.get("line") if isinstance(error, ProgramError) else None
    if isinstance(error, ProgramError) and line is not None:
        lines = source.splitlines()
        error.details["source"] = lines[line - 1].strip()[:200] if line <= len(lines) else ""
    return error


def prelude(source: str, functions: Functions) -> str:
    """What a program finds defined. The client class only where it is used: it has a method for every function."""
    if not any(name in source for name in CLIENTS):
        return PRELUDE
    methods = "".join(
        f"    async def {name}(self, *values, **named):\n        return await {own}(*values, **named)\n"
        for name in sorted(functions.names)
        for own in [f"client_{name}" if f"client_{name}" in functions.client else name]
    )
    constructor = "    def __init__(self, *values, **named):\n        pass\n"
    return f"{PRELUDE}\nclass MCPClient:\n{constructor}{methods}\nClient = MCPClient\n"


@dataclass
class _Asked:
    name: str
    values: Sequence[Any]
    named: Mapping[str, Any]
    future: "Future[dict[str, Any]] | None" = None


@dataclass
class _Run:
    place: Place
    functions: Functions
    quota: Quota
    threads: ThreadPoolExecutor
    started: float = field(default_factory=time.monotonic)
    output: str = ""
    printed: int = 0
    made: int = 0
    asked: dict[int, _Asked] = field(default_factory=dict)
    finished: list[Finished] = field(default_factory=list)

    def finish(self, code: str, has_result: bool) -> Any:
        from pydantic_monty import MontyComplete, MontyRuntimeError

        session = self.place.session
        step = session.feed_start(code, print_callback=self._print)
        while not isinstance(step, MontyComplete):
            step = self._next(step)
        value = step.output
        if has_result:
            try:
                value = session.feed_run(_RESULT, print_callback=self._print)
            except MontyRuntimeError:
                pass  # it is only mentioned, or the branch that sets it was not taken
        return plain(value)

    def failure(self, error: BaseException) -> BaseException:
        running = [one.name for one in self.asked.values() if one.future is not None]
        details: dict[str, Any] = {"calls": summary(self.finished), "running": running, "output": self.output}
        if self.place.waited_s > 0:
            details["queue_ms"] = max(0.1, round(self.place.waited_s * 1000, 1))
        if self.printed > _FLOOD_CHARACTERS:
            return OutputFlood(
                f"stopped: the program printed more than {_FLOOD_CHARACTERS:,} characters",
                hint="return a result instead",
                details=details,
            )
        timed_out = self.place.fuse.has_blown or isinstance(error, TimeoutError)
        return explained(error, self.quota, details, timed_out=timed_out, calls=len(self.finished))

    @property
    def left_s(self) -> float:
        return max(0.0, self.started + self.quota.timeout_s - time.monotonic())

    def _print(self, _stream: str, text: str) -> None:
        self.printed += len(text)
        if len(self.output) < OUTPUT_CHARACTERS:
            self.output = (self.output + text)[:OUTPUT_CHARACTERS]
        if self.printed > _FLOOD_CHARACTERS:
            self.place.fuse.kill()

    def _next(self, step: Any) -> Any:
        from pydantic_monty import FunctionSnapshot, NameLookupSnapshot

        if isinstance(step, FunctionSnapshot):
            return step.resume_not_handled() if step.is_os_function else self._called(step)
        if isinstance(step, NameLookupSnapshot):
            known = step.object_id is None and step.variable_name in self.functions.names
            return step.resume(value=_function(step.variable_name)) if known else step.resume()
        return step.resume(self._awaited(step.pending_call_ids))

    def _called(self, step: Any) -> Any:
        name = step.function_name
        if name not in self.functions.names and name not in self.functions.client:
            return step.resume({"exception": NameError(_unknown(name, self.functions.names))})
        self.made += 1
        if self.made > self.quota.calls:
            over = CallFailed("CALL_BUDGET", f"more than {self.quota.calls} calls", "ask for more results a call")
            return step.resume({"exception": RuntimeError(str(over))})
        try:
            self.asked[step.call_id] = _Asked(name, plain(list(step.args), name), plain(step.kwargs, name))
        except ResultInvalid as error:
            return step.resume({"exception": RuntimeError(f"{error.code}: {error.message}")})
        # Not yet done: like any coroutine it runs when it is awaited, side by side with others that are.
        return step.resume({"future": ...})

    def _awaited(self, call_ids: Sequence[int]) -> dict[int, Any]:
        waiting = {number: self.asked[number] for number in call_ids if number in self.asked}
        for one in waiting.values():
            # Even a single one: this thread must be free to stop waiting when the time is up.
            if one.future is None:
                one.future = self.threads.submit(self._answered, one)
        futures = {one.future: number for number, one in waiting.items() if one.future is not None}
        done = wait(futures, timeout=self.left_s, return_when=FIRST_COMPLETED).done
        if not done:
            for future in futures:
                future.cancel()
            raise TimeoutError
        results = {futures[future]: future.result() for future in done}
        for number in results:
            del self.asked[number]
        return results

    def _answered(self, asked: _Asked) -> dict[str, Any]:
        started = time.monotonic()
        left_s = self.left_s
        if left_s <= 0:
            raise TimeoutError
        try:
            result = {"return_value": self.functions.answer(asked.name, asked.values, asked.named, left_s)}
        except CallFailed as failed:
            result = {"exception": RuntimeError(str(failed))}
        self.finished.append(Finished(asked.name, time.monotonic() - started))
        return result


def _function(name: str) -> Callable[..., None]:
    """Stands for a function in the sandbox; a call comes back to us by its name."""

    def function(*_values: Any, **_named: Any) -> None:
        raise AssertionError

    function.__name__ = function.__qualname__ = name
    return function


def _unknown(name: str, names: frozenset[str]) -> str:
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f"name {name!r} is not defined" + (f"; did you mean {' or '.join(near)}?" if near else "")
