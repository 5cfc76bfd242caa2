"""Cursors: where the next page of one query begins, in the index as it was.

A cursor carries everything itself, so any process can serve the next page and none keeps state. It is Base64 of JSON,
short because every page pays for it. `query_hash` is a keyed hash over the query with all its filters, the offset and
the generation, followed by the generation: nothing in a cursor can be changed, and that of another query does not fit.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Sequence

from trivium.errors import CursorExpired, InvalidInput

_MARK = 12  # characters: 9 bytes of the hash
_AGAIN = "leave the cursor out to start with the first page"


class Cursors:
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def make(self, query: Sequence[object], offset: int, generation: int) -> str:
        mark = self._mark(query, offset, generation)
        text = json.dumps({"query_hash": f"{mark}{generation}", "offset": offset}, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(text).decode().rstrip("=")

    def open(self, cursor: str, query: Sequence[object], generation: int) -> int:
        """The offset. InvalidInput for anything this query's answers did not hand out, CursorExpired where they did,
        but the index has changed since."""
        mark, offset, made_on = _parse(cursor)
        if not hmac.compare_digest(mark, self._mark(query, offset, made_on)):
            raise InvalidInput("cursor does not belong to this query", field="cursor", hint=_AGAIN)
        if made_on != generation:
            raise CursorExpired("the index has changed since this cursor was made", hint=_AGAIN)
        return offset

    def _mark(self, query: Sequence[object], offset: int, generation: int) -> str:
        message = json.dumps([*query, offset, generation], ensure_ascii=True, separators=(",", ":"), default=str)
        digest = hmac.digest(self._secret, message.encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(digest[:9]).decode()


def _parse(cursor: str) -> tuple[str, int, int]:
    try:
        text = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        fields = json.loads(text)
        mark, generation = fields["query_hash"][:_MARK], int(fields["query_hash"][_MARK:])
        offset = fields["offset"]
        if isinstance(mark, str) and mark.isascii() and type(offset) is int and offset > 0:
            return mark, offset, generation
    except (ValueError, KeyError, TypeError, UnicodeError, binascii.Error, RecursionError):
        pass
    raise InvalidInput("cursor is malformed", field="cursor", hint=_AGAIN)
