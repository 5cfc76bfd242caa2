"""Which Host and Origin headers are ours: the guard against pages that rebind a name to this machine."""

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

_LOCAL_NAMES = frozenset({"localhost"})


class Hosts:
    """A name is known when it is local, the one we listen on, or configured. A bare IP address is always known: a page
    cannot make a browser send one that is not the machine it talks to."""

    def __init__(self, bound: str, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> None:
        self._names = _LOCAL_NAMES | {bound.lower()} | {_name(host) for host in hosts}
        self._origins = {origin.lower().rstrip("/") for origin in origins}

    def knows(self, host: str) -> bool:
        name = _name(host)
        return bool(name) and (name in self._names or _is_address(name))

    def trusts(self, origin: str, host: str) -> bool:
        """Configured, a page on this machine, or a page of this very server."""
        if origin.lower().rstrip("/") in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            name = (parts.hostname or "").lower()
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not name:
            return False
        return name in _LOCAL_NAMES or _is_loopback(name) or parts.netloc.lower() == host.lower()


def _name(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return _is_address(name) and ip_address(name).is_loopback
