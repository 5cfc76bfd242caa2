"""The guard of one installation, put together from its stores and the settings."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trivium.doors.guard.addresses import Addresses
from trivium.doors.guard.audit import Audit
from trivium.doors.guard.breaker import Breaker
from trivium.doors.guard.conduct import ConductNumbers, Watch
from trivium.doors.guard.keys import Keys
from trivium.doors.guard.limits import LimitNumbers, Limits
from trivium.doors.guard.metrics import Metrics
from trivium.ports.counters import Counters
from trivium.settings import Settings

if TYPE_CHECKING:
    from trivium.guard_stores import GuardStores


@dataclass(frozen=True, slots=True)
class Guard:
    keys: Keys
    limits: Limits
    watch: Watch
    audit: Audit
    metrics: Metrics
    breaker: Breaker
    addresses: Addresses
    counters: Counters
    stores: "GuardStores"

    def close(self) -> None:
        self.metrics.flush()
        self.stores.close()


def build_guard(settings: Settings, stores: "GuardStores") -> Guard:
    return Guard(
        keys=Keys(stores.keys),
        limits=Limits(stores.limits, _limit_numbers(settings)),
        watch=Watch(
            stores.conduct,
            ConductNumbers(settings.harvest_results_hour, settings.harvest_failures_hour, settings.harvest_delay_s),
        ),
        audit=Audit(stores.audit, settings.audit_days),
        metrics=Metrics(stores.counters),
        breaker=Breaker(settings.breaker_failures, settings.breaker_reset_s),
        addresses=Addresses(settings.allow_addresses, settings.deny_addresses, settings.trusted_proxies),
        counters=stores.counters,
        stores=stores,
    )


def _limit_numbers(settings: Settings) -> LimitNumbers:
    return LimitNumbers(
        stdio=(settings.rate_limit_minute, settings.rate_limit_hour),
        http_read=(settings.rate_limit_http_read_minute, settings.rate_limit_http_read_hour),
        http_write=(settings.rate_limit_http_write_minute, settings.rate_limit_http_write_hour),
        day=settings.rate_limit_day,
        address_minute=settings.rate_limit_address_minute,
        auth_minute=settings.rate_limit_auth_minute,
        admin_bypass=settings.rate_limit_admin_bypass,
    )
