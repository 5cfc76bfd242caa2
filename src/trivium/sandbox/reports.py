"""What went wrong in a program, in words that help to write the next one: the line, the reason, the way out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trivium.sandbox.failures import (
    ProgramError,
    ProgramFailed,
    ProgramInvalid,
    ProgramTimeout,
    ProgramTooLarge,
    ResultInvalid,
)

if TYPE_CHECKING:
    from trivium.sandbox.workers import Quota

_PROGRAM = "<python-input-1>"  # the first feed of a session is ours
_UNSUPPORTED = re.compile(r"^NotImplementedError: The monty syntax parser does not yet support (.+)$", re.S)
_TOOL_CODE = re.compile(r"^RuntimeError: ([A-Z][A-Z_]+): ")
_LONGEST = 2000

_HINTS = (
    ("'coroutine' object", "the tools are async: write await before the call"),
    ("can't be awaited", "only calls of tools and async functions are awaited"),
    ("RecursionError", "use a loop"),
    ("has no attribute", "results are dictionaries: print(list(result)) shows their fields"),
    ("KeyError", "print(list(result)) shows the fields that are there; result.get(name) gives None where one is not"),
    ("is not defined", "search_tools finds functions; the tools are there without an import"),
    ("unexpected keyword argument 'default'", "convert values to text first: json.dumps has no default here"),
    ("integer string conversion", "send large integers as floats"),
)


@dataclass(frozen=True, slots=True)
class Finished:
    name: str
    seconds: float


def summary(calls: Sequence[Finished]) -> list[str]:
    """Each function once, with how often and how long."""
    times: dict[str, list[float]] = {}
    for call in calls:
        times.setdefault(call.name, []).append(call.seconds)
    return [f"{name} ×{len(took)}, {sum(took) * 1000:.0f} ms" for name, took in times.items()]


def explained(
    error: BaseException, quota: "Quota", details: Mapping[str, Any], *, timed_out: bool, calls: int
) -> BaseException:
    """The ProgramError for whatever ended a run; anything that is none of the program's doing stays as it is."""
    from pydantic_monty import MontyCrashedError, MontyError, MontyRuntimeError, MontySyntaxError

    if timed_out or (isinstance(error, MontyCrashedError) and error.timed_out):
        return _timeout(quota, details, calls)
    if isinstance(error, MontySyntaxError):
        return _placed(ProgramInvalid, f"syntax error: {error.display('msg')}", "correct the line", error, {})
    if isinstance(error, MontyRuntimeError):
        return _raised(error, quota, details, calls)
    if isinstance(error, MontyCrashedError):
        return ProgramFailed("the interpreter gave up on this program", hint="do it in smaller steps", details=details)
    if isinstance(error, MontyError | ValueError | OverflowError | TypeError | RecursionError):
        # Values that the interpreter has and Python has not: integers beyond its limit, keys it cannot hash.
        return ResultInvalid("the result cannot be sent", hint="return text, numbers, lists, dictionaries")
    if isinstance(error, ProgramError):
        error.details = {**{name: value for name, value in details.items() if value}, **error.details}
    return error


def _raised(error: Any, quota: "Quota", details: Mapping[str, Any], calls: int) -> ProgramError:
    text = error.display("type-msg")[:_LONGEST]
    if unsupported := _UNSUPPORTED.match(text):
        return _placed(ProgramInvalid, f"{unsupported[1]} is not supported", "write it another way", error, {})
    if text.startswith("TimeoutError: feed time limit exceeded"):
        return _timeout(quota, details, calls)
    if text.startswith("MemoryError"):
        most = quota.memory_bytes // 2**20
        return _placed(
            ProgramTooLarge,
            f"the program needed more than {most} MB",
            "work on fewer results at a time",
            error,
            details,
        )
    hint = next((advice for sign, advice in _HINTS if sign in text), None)
    code = _TOOL_CODE.match(text)
    extra = {"tool_code": code[1]} if code else {}
    return _placed(ProgramFailed, text, hint, error, {**details, **extra})


def _timeout(quota: "Quota", details: Mapping[str, Any], calls: int) -> ProgramTimeout:
    done = f"{calls or 'no'} call{'s' * (calls > 1)} had finished"
    running = f", {', '.join(details['running'])} had not" if details.get("running") else ""
    return ProgramTimeout(
        f"stopped after {quota.timeout_s:g} s; {done}{running}",
        hint="ask for less, run calls side by side with asyncio.gather, or raise timeout_s",
        details=details,
    )


def _placed(
    kind: type[ProgramError], text: str, hint: str | None, error: Any, details: Mapping[str, Any]
) -> ProgramError:
    """The error with the innermost line of the program itself."""
    frames = [frame for frame in error.traceback() if frame.filename == _PROGRAM]
    if not frames:
        return kind(text, hint=hint, details=details)
    line = frames[-1].line
    return kind(f"line {line}: {text}", hint=hint, details={"line": line, **details})
