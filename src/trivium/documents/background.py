"""Does in a thread what may follow later: vectors for what was added, here or by another process."""

import logging
import threading
from collections.abc import Callable, Sequence

from trivium.errors import TriviumError

POLL_S = 2.0

Job = Callable[[threading.Event], object]  # works until nothing is left or the event is set

logger = logging.getLogger(__name__)


class Background:
    """Runs its jobs, one after the other, whenever `generation` has moved. A job that fails is tried again then."""

    def __init__(self, generation: Callable[[], int], jobs: Sequence[Job]) -> None:
        self._generation, self._jobs = generation, jobs
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="background", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, wait_s: float = 10.0) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(wait_s)

    def _work(self) -> None:
        seen = -1
        while not self._stop.is_set():
            now = self._generation()
            if now != seen:
                for job in self._jobs:
                    self._try(job)
                seen = now
            self._stop.wait(POLL_S)

    def _try(self, job: Job) -> None:
        try:
            job(self._stop)
        except TriviumError as error:
            logger.warning("background work waits: %s", error.message)
        except Exception:
            logger.exception("background work failed")
