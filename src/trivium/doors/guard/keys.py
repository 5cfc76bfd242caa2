"""API keys: made, shown once, kept as hashes, compared in constant time.

A key reads `trv_<id>_<secret>`. The id finds the row; the secret (256 random bits) is compared by its SHA-256. A slow
password hash would add nothing: nobody guesses 256 bits, and every request would pay for it.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Sequence

from trivium.doors.guard.caller import SCOPES, Caller, Transport, check_scopes, local_owner
from trivium.errors import AuthInvalid, AuthRequired, InvalidInput, NotFound
from trivium.ports.keys import KeyStore, StoredKey

PREFIX = "trv"
NO_KEY = "Authentication required. API key must be provided."
WRONG_KEY = "Invalid API key. Please check your credentials."
NO_VARIABLE = "BMCIS_API_KEY environment variable not set"
_HOW = "set TRIVIUM_API_KEY (or BMCIS_API_KEY) to a key made with: trivium keys create"
_ASK = "check it against: trivium keys list; the administrator makes new ones with: trivium keys create"
_NOBODY = StoredKey("", "", (), bytes(32), "", 0.0)


class Keys:
    def __init__(self, store: KeyStore, clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock

    def create(
        self, name: str, scopes: Sequence[str] = ("read",), expires_in_s: float | None = None
    ) -> tuple[str, StoredKey]:
        """The key as text, this once, and what is kept of it."""
        name = name.strip()
        if not 1 <= len(name) <= 100:
            raise InvalidInput("a key's name has 1 to 100 characters", field="name")
        if expires_in_s is not None and expires_in_s <= 0:
            raise InvalidInput("a key expires in the future", field="expires", allowed=["30d", "12h"])
        now = self._clock()
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        stored = StoredKey(
            key_id,
            name,
            check_scopes(list(scopes)),
            _digest(secret),
            secret[-4:],
            now,
            None if expires_in_s is None else now + expires_in_s,
        )
        self._store.add(stored)
        return f"{PREFIX}_{key_id}_{secret}", stored

    def listed(self) -> Sequence[StoredKey]:
        return self._store.all()

    def exist(self) -> bool:
        now = self._clock()
        return any(key.is_active(now) for key in self._store.all())

    def revoke(self, which: str) -> StoredKey:
        key = self._named(which)
        self._store.revoke(key.key_id, self._clock())
        return key

    def rotate(self, which: str, grace_s: float = 0.0) -> tuple[str, StoredKey]:
        """A new key with the name, scopes and remaining life of the old one, which ends after `grace_s`."""
        old = self._named(which)
        now = self._clock()
        life = None if old.expires_at is None else old.expires_at - now
        made = self.create(old.name, old.scopes, life)
        self._store.revoke(old.key_id, now + grace_s)
        return made

    def identify(self, text: str | None, transport: Transport, address: str = "") -> Caller:
        """The caller a key stands for; AuthRequired without one, AuthInvalid for a wrong, revoked or expired one."""
        if not text:
            raise AuthRequired(NO_KEY, hint=_HOW)
        key_id, secret = _parts(text)
        stored = (self._store.get(key_id) if key_id else None) or _NOBODY
        # Compared even where no such key exists, so that the time taken tells nothing.
        matches = hmac.compare_digest(stored.digest, _digest(secret))
        if not matches or stored is _NOBODY or not stored.is_active(self._clock()):
            raise AuthInvalid(WRONG_KEY, hint=_ASK)
        return Caller(
            stored.name, frozenset(stored.scopes), transport, f"key:{stored.key_id}", stored.last_four, address
        )

    def local(self, given: str, *, required: bool = False) -> Caller:
        """The caller over stdio. While no key exists the local user owns everything; afterwards the key in the
        environment must be one of them."""
        if self.exist():
            return self.identify(given or None, "stdio")
        if required and not given:
            raise AuthRequired(NO_VARIABLE, hint=_HOW)
        return local_owner("stdio")

    def _named(self, which: str) -> StoredKey:
        now = self._clock()
        active = [key for key in self._store.all() if key.is_active(now)]
        found = [key for key in active if which in (key.key_id, key.name)]
        names = [f"{key.key_id} ({key.name})" for key in active]
        if not found:
            raise NotFound(f"no active key is called {which!r}", nearest=names, hint="trivium keys list")
        if len(found) > 1:
            raise InvalidInput(f"several keys are called {which!r}: use the id", field="key", allowed=names)
        return found[0]


def owner_key(given: str, expected: str, address: str) -> Caller | None:
    """The key from the server's own environment, which has every scope."""
    if expected and given and hmac.compare_digest(_digest(given), _digest(expected)):
        return Caller("environment", frozenset(SCOPES), "http", "key:environment", expected[-4:], address)
    return None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _parts(text: str) -> tuple[str, str]:
    head, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    return (key_id, secret) if head == PREFIX else ("", text)
