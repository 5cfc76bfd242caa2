"""Every error Trivium raises on purpose.

TriviumError(code, message, hint)
├─ InvalidInput        the caller's fault; names the field and what is allowed
├─ NotFound            with the nearest names
├─ Conflict            the state moved on, or the thing is there already
│  └─ CursorExpired    the index changed since the page before
├─ Refused             authentication, limits, sandbox rules
│  ├─ AuthRequired, AuthInvalid, Forbidden
│  ├─ RateLimited      says what is left and when more will be
│  ├─ DeadlineExceeded
│  └─ TokenLimitExceeded
└─ BackendUnavailable  retryable; raised by backends only
   ├─ ModelUnavailable, VectorsUnavailable   search goes on with keywords alone
   ├─ GraphUnavailable                       questions are answered from the store
   └─ IndexDamaged     an index's files are not what it wrote; it has to be built again

Doors translate these once each (MCP error result, HTTP status, exit code). Anything else that escapes is a bug and
its text is never shown to a client.
"""

from collections.abc import Mapping, Sequence


class TriviumError(Exception):
    """A failure with a stable code, a sentence for people and, where there is one, the way out."""

    code = "ERROR"

    def __init__(self, message: str, *, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code


class InvalidInput(TriviumError):
    """The caller sent something we do not take; `field` names it, `allowed` lists what would do."""

    code = "INVALID_PARAMS"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        allowed: Sequence[str] | None = None,
        hint: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.field = field
        self.allowed = list(allowed) if allowed is not None else None


class NotFound(TriviumError):
    """Nothing goes by that name; `nearest` are the names that come closest."""

    code = "NOT_FOUND"

    def __init__(
        self, message: str, *, nearest: Sequence[str] = (), hint: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.nearest = list(nearest)


class Conflict(TriviumError):
    """`details` say what stands in the way: the current version, the existing id, the cycle."""

    code = "CONFLICT"

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, object] | None = None,
        hint: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.details = dict(details or {})


class ModelMismatch(Conflict):
    """The index was built by another embedding model than the one that is configured."""

    code = "MODEL_MISMATCH"


class CursorExpired(Conflict):
    """The cursor is genuine, but the index has changed since it was made."""

    code = "CURSOR_EXPIRED"


class Refused(TriviumError):
    code = "REFUSED"


class AuthRequired(Refused):
    code = "AUTH_REQUIRED"


class AuthInvalid(Refused):
    code = "AUTH_INVALID"


class Forbidden(Refused):
    """The key is good, but not for this."""

    code = "FORBIDDEN"


class RateLimited(Refused):
    code = "RATE_LIMIT"

    def __init__(self, remaining: Mapping[str, int], reset_in_seconds: int) -> None:
        super().__init__("Rate limit exceeded", hint=f"try again in {reset_in_seconds} s")
        self.remaining = dict(remaining)
        self.reset_in_seconds = reset_in_seconds


class DeadlineExceeded(Refused):
    code = "DEADLINE_EXCEEDED"


class TokenLimitExceeded(Refused):
    """Even the smallest form of the answer is larger than the caller can take."""

    code = "TOKEN_LIMIT_EXCEEDED"

    def __init__(self, message: str, *, tokens: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.tokens = tokens


class BackendUnavailable(TriviumError):
    """A part we depend on does not answer; trying again later may help."""

    code = "DB_CONNECTION"

    def __init__(self, message: str, *, retry_after_s: float = 5.0, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ModelUnavailable(BackendUnavailable):
    """No embedding weights are to be had; search goes on with keywords alone."""

    code = "MODEL_UNAVAILABLE"


class VectorsUnavailable(BackendUnavailable):
    """The vector server does not answer; search goes on with keywords alone, and the index catches up later."""

    code = "VECTORS_UNAVAILABLE"


class GraphUnavailable(BackendUnavailable):
    """The graph server does not answer: questions are answered from the store, and its copies catch up later."""

    code = "GRAPH_UNAVAILABLE"


class IndexDamaged(BackendUnavailable):
    """An index's files are broken or foreign. The store is the truth, so nothing is lost: `trivium reindex`."""

    code = "INDEX_DAMAGED"


class UnreadableFile(TriviumError):
    """One file could not be read; the run goes on without it."""

    code = "UNREADABLE_FILE"
