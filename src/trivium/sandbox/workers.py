"""The worker processes: started ahead, bounded in number, one program at a time in each, replaced when they die."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from trivium.sandbox.failures import SandboxUnavailable
from trivium.sandbox.isolation import Isolation, Layer, isolate
from trivium.sandbox.turns import Turns
from trivium.sandbox.watchdog import Fuse, Watchdog

if TYPE_CHECKING:
    from pydantic_monty import Monty, MontySession

_GRACE_S = 0.1  # between the interpreter's own stop and the kill; big integers only heed the latter
_DEATH_S = 0.05  # it no longer computes; to free its memory, a busy system may take longer than the caller should wait
_LAST_ASKED = 10_000  # a killed process answers no more than a few times
_KEPT_BYTES = 96 * 2**20  # a worker that holds more after its program is replaced: its memory does not come back
_PROGRAMS_A_WORKER = 200  # then it is replaced, whatever it may have picked up

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Quota:
    """What one program may use."""

    timeout_s: float
    memory_bytes: int
    calls: int


@dataclass(frozen=True, slots=True)
class Place:
    """A worker for one program."""

    session: "MontySession"
    fuse: Fuse
    waited_s: float

    def end(self, error: BaseException) -> None:
        """Kills the worker unless its program ended by itself: nobody may inherit what it was in the middle of."""
        from pydantic_monty import MontyRuntimeError, MontySyntaxError

        by_itself = isinstance(error, MontySyntaxError) or (
            isinstance(error, MontyRuntimeError) and not isinstance(error.exception(), MemoryError | TimeoutError)
        )
        if not by_itself or self.fuse.has_blown:
            self.retire()

    def retire(self) -> None:
        """Has the worker replaced."""
        self.fuse.kill()
        self.fuse.wait(_DEATH_S)
        self._bury()

    def _bury(self) -> None:
        """Waits until the pool has noticed, or it would lend the dead worker to the next program."""
        from pydantic_monty import MontyError

        try:
            for _ in range(_LAST_ASKED):
                self.session.feed_run("None")
        except (MontyError, RuntimeError):
            return  # gone, or in the middle of a program, in which case the pool does not keep it


class Workers:
    """`most`: how many at once; 0: one a core, two at least, eight at most."""

    def __init__(self, memory_bytes: int, most: int = 0, layer: Layer | Literal["auto"] = "auto") -> None:
        self.most = most or min(8, max(2, os.cpu_count() or 2))
        self._memory_bytes, self._wanted = memory_bytes, layer
        self._turns = Turns(self.most)
        self._watchdog = Watchdog()
        self._lock = threading.Lock()
        self._pool: Monty | None = None
        self._isolation: Isolation | None = None

    @property
    def layer(self) -> str:
        """What surrounds a worker: "bwrap", "confined", "limits", "none"; "" before the first has started."""
        return self._isolation.layer if self._isolation else ""

    @property
    def waiting(self) -> int:
        return self._turns.waiting

    @contextmanager
    def place(self, who: str, quota: Quota, wait_s: float, prelude: str = "None") -> Iterator[Place]:
        """A worker to itself, in which `prelude` has run. It is killed `quota.timeout_s` after the block is entered."""
        with self._turns.take(who, wait_s) as waited_s, self._session(quota, prelude) as session:
            pid = session.worker_pid
            if pid is None:
                raise SandboxUnavailable("the worker has gone", hint="try again")
            pids = process_chain(pid)
            with self._watchdog.watching(pids, quota.timeout_s) as fuse:
                place = Place(session, fuse, waited_s)
                yield place
                if fuse.has_blown or resident_bytes(pids[-1]) > _KEPT_BYTES:
                    place.retire()

    def start(self) -> "Monty":
        """The pool, with its first worker running."""
        with self._lock:
            if self._pool is None:
                self._pool = self._open()
            return self._pool

    def close(self) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.__exit__(None, None, None)
            if self._isolation is not None:
                self._isolation.remove()
            self._pool = self._isolation = None

    def _open(self) -> "Monty":
        try:
            from pydantic_monty import Monty

            self._isolation = isolate(self._memory_bytes, self._wanted)
            pool = Monty(
                binary_path=self._isolation.start,
                min_processes=1,
                max_processes=self.most,
                max_checkouts_per_worker=_PROGRAMS_A_WORKER,
                feed_duration_limit_grace=_GRACE_S,
                turn_duration_limit_grace=_GRACE_S,
            )
            return pool.__enter__()
        except (ImportError, OSError, RuntimeError) as error:
            logger.error("no worker can be started: %s", error)
            raise SandboxUnavailable(
                "programs cannot be run on this server: no worker starts", hint="call the tools one by one"
            ) from error

    @contextmanager
    def _session(self, quota: Quota, prelude: str) -> "Iterator[MontySession]":
        session = self._living(quota, prelude)
        try:
            yield session
        finally:
            session.__exit__(None, None, None)

    def _living(self, quota: Quota, prelude: str) -> "MontySession":
        """The pool may hand out a worker that died unnoticed, killed by the system or a moment ago by us. What runs
        first is ours, so it can simply be tried on another."""
        from pydantic_monty import MontyCrashedError

        for _ in range(self.most + 1):
            try:
                session = self._checked_out(quota)
            except MontyCrashedError:
                continue
            try:
                session.feed_run(prelude)
                return session
            except MontyCrashedError:
                session.__exit__(None, None, None)
            except BaseException:
                session.__exit__(None, None, None)
                raise
        raise SandboxUnavailable("workers die as soon as they start", hint="call the tools one by one")

    def _checked_out(self, quota: Quota) -> "MontySession":
        from pydantic_monty import MontyCrashedError, MontyError

        checkout = self.start().checkout(
            script_name="program.py",
            limits={
                "max_memory": quota.memory_bytes,
                "max_feed_duration_secs": quota.timeout_s,
                # Two a call and some for names; beyond it the pool itself ends the program.
                "max_suspensions": 4 * quota.calls + 200,
            },
            os_policy={"sleep": "zero"},
        )
        try:
            if self._isolation is not None:
                self._isolation.keep()
            return checkout.__enter__()
        except MontyCrashedError:
            raise
        except (MontyError, OSError, RuntimeError, TimeoutError) as error:
            logger.error("a worker did not start: %s", error)
            raise SandboxUnavailable("a worker did not start", hint="try again") from error


def process_chain(pid: int) -> list[int]:
    """The process and those inside it, the interpreter last: bubblewrap waits around it as its parent."""
    chain = [pid]
    try:
        while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(children[0])
            chain.append(pid)
    except (OSError, ValueError):
        pass  # not Linux
    return chain


def resident_bytes(pid: int) -> int:
    """Memory of a process; 0 where that cannot be told."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
