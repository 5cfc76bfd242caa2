"""Who calls, and what they may."""

from dataclasses import dataclass
from typing import Literal

from trivium.errors import InvalidInput

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "admin")
Transport = Literal["stdio", "http", "memory"]

# A ladder: who may write may read, who may administer may do everything.
_IMPLIED: dict[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset(SCOPES),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """`subject` is what limits count by; `key` the last four characters for logs. `metered`: the transport has counted
    this call already."""

    name: str
    scopes: frozenset[str]
    transport: Transport
    subject: str
    key: str = ""
    address: str = ""
    metered: bool = False

    def may(self, scope: str) -> bool:
        return any(scope in _IMPLIED[own] for own in self.scopes)

    @property
    def subjects(self) -> tuple[str, ...]:
        """Everything conduct is recorded under: the key, and the address where there is one."""
        return (self.subject, f"address:{self.address}") if self.address else (self.subject,)


def local_owner(transport: Transport = "memory") -> Caller:
    """The person at this machine: no keys were made, so everything is theirs. A program that uses the client in its own
    process is not limited."""
    return Caller("local", frozenset(SCOPES), transport, "local", metered=transport == "memory")


def check_scopes(scopes: object) -> tuple[Scope, ...]:
    wanted = scopes if isinstance(scopes, list | tuple) else [scopes]
    for scope in wanted:
        if scope not in SCOPES:
            raise InvalidInput(f"{scope!r} is not a scope", field="scopes", allowed=SCOPES)
    return tuple(scope for scope in SCOPES if scope in wanted)
