"""What the tools of one server share: how tokens are counted, cached rankings and lookups, cursors."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trivium.doors.guard.guard import Guard
from trivium.doors.mcp.cursors import Cursors
from trivium.ports.results import ResultCache
from trivium.ports.tokens import TokenCounter
from trivium.settings import Settings

if TYPE_CHECKING:
    from trivium.documents.vendors import Neighbourhood
    from trivium.doors.mcp.rankings import Block

CACHE_EPOCH = "cache_epoch"


@dataclass(frozen=True, slots=True)
class Services:
    tokens: TokenCounter
    rankings: "ResultCache[Block]"
    vendors: "ResultCache[Neighbourhood]"
    cursors: Cursors
    guard: Guard

    def cache_epoch(self) -> int:
        """Grows whenever someone clears the caches, in whatever process; part of every cache key."""
        return int(self.guard.counters.value(CACHE_EPOCH))

    def clear_caches(self) -> int:
        """Makes everything cached unreachable, in this process and in all others."""
        self.guard.counters.add({CACHE_EPOCH: 1})
        return self.vendors.clear() + self.rankings.clear()


def build_services(settings: Settings, guard: Guard, tokens: TokenCounter) -> Services:
    from trivium.doors.mcp.rankings import BLOCKS
    from trivium.doors.mcp.vendors_kept import SURROUNDINGS
    from trivium.guard_stores import open_results

    return Services(
        tokens=tokens,
        rankings=open_results(settings, guard.stores, BLOCKS, settings.cache_search_ttl_s),
        vendors=open_results(settings, guard.stores, SURROUNDINGS, settings.cache_vendor_ttl_s),
        cursors=Cursors(guard.stores.keys.secret("cursors")),
        guard=guard,
    )
