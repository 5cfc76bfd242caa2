"""Which addresses may connect, and which address a request comes from."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from trivium.errors import InvalidInput

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


def networks(texts: Sequence[str], field: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(text, strict=False) for text in texts)
    except ValueError as error:
        raise InvalidInput(
            f"{field}: {error}", field=field, allowed=["192.0.2.7", "192.0.2.0/24", "2001:db8::/32"]
        ) from error


class Addresses:
    """Deny wins over allow; an empty allow list means everyone."""

    def __init__(self, allow: Sequence[str] = (), deny: Sequence[str] = (), proxies: Sequence[str] = ()) -> None:
        self._allow = networks(allow, "allow_addresses")
        self._deny = networks(deny, "deny_addresses")
        self._proxies = networks(proxies, "trusted_proxies")

    def may_connect(self, address: str) -> bool:
        parsed = _parse(address)
        if parsed is None:  # a socket without an address (a Unix socket): there is nothing to compare
            return not self._allow
        if _within(parsed, self._deny):
            return False
        return not self._allow or _within(parsed, self._allow)

    def origin(self, peer: str, forwarded_for: str) -> str:
        """The client behind trusted proxies: the last hop in X-Forwarded-For that is none of them."""
        hops = [hop.strip() for hop in forwarded_for.split(",") if hop.strip()]
        address = peer
        while hops and (parsed := _parse(address)) is not None and _within(parsed, self._proxies):
            address = hops.pop()
        return address

    @staticmethod
    def subject(address: str) -> str:
        """What limits count by: a single IPv6 user owns a whole /64."""
        parsed = _parse(address)
        if isinstance(parsed, IPv6Address):
            return str(ip_network((parsed, 64), strict=False))
        return str(parsed) if parsed is not None else "unknown"


def _parse(address: str) -> Address | None:
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return parsed.ipv4_mapped or parsed if isinstance(parsed, IPv6Address) else parsed


def _within(address: Address, allowed: Sequence[Network]) -> bool:
    return any(address in network for network in allowed if network.version == address.version)
