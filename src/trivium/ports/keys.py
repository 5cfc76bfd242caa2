"""Keeps API keys, as hashes only, and the secrets this installation signs with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredKey:
    """Times are seconds since 1970. `digest` is the hash of the secret part; the key itself is nowhere."""

    key_id: str
    name: str
    scopes: tuple[str, ...]
    digest: bytes
    last_four: str
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None

    def is_active(self, now: float) -> bool:
        ends = [at for at in (self.revoked_at, self.expires_at) if at is not None]
        return all(now < at for at in ends)


class KeyStore(Protocol):
    def add(self, key: StoredKey) -> None: ...

    def get(self, key_id: str) -> StoredKey | None: ...

    def all(self) -> Sequence[StoredKey]:
        """Every key that ever was, oldest first; revoked and expired ones included."""

    def revoke(self, key_id: str, at: float) -> bool:
        """From `at` on the key is refused. False where there is no such key, or it ends earlier already."""

    def secret(self, purpose: str) -> bytes:
        """32 random bytes, made once for each purpose and the same in every process from then on."""
