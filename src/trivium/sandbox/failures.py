"""How a run can fail. `details` are for the caller's next attempt: the line, the calls that had finished, the output.

ProgramError
├─ ProgramInvalid     it cannot run as it is written; nothing ran
├─ ProgramFailed      it raised
├─ ProgramTimeout     its time was up; says what had finished
├─ ProgramTooLarge    its memory was up
├─ OutputFlood        it printed without end
├─ ResultInvalid      its result cannot be sent
├─ SandboxBusy        no worker became free
└─ SandboxUnavailable no worker can be started here
"""

from collections.abc import Mapping
from typing import Any

from trivium.errors import Refused


class ProgramError(Refused):
    code = "CODE_FAILED"

    def __init__(self, message: str, *, hint: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.details = {name: value for name, value in (details or {}).items() if value not in (None, "", [])}


class ProgramInvalid(ProgramError):
    code = "INVALID_CODE"


class ProgramFailed(ProgramError):
    pass


class ProgramTimeout(ProgramError):
    code = "EXECUTION_TIMEOUT"


class ProgramTooLarge(ProgramError):
    code = "MEMORY_LIMIT"


class OutputFlood(ProgramError):
    code = "OUTPUT_LIMIT"


class ResultInvalid(ProgramError):
    code = "INVALID_RESULT"


class SandboxBusy(ProgramError):
    code = "SANDBOX_BUSY"


class SandboxUnavailable(ProgramError):
    code = "SANDBOX_UNAVAILABLE"
