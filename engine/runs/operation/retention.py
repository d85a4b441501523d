"""Forgetting runs that ended long ago, with their uploads and results."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from engine.errors import EngineError
from engine.runs.queue import RunQueue
from engine.runs.storage.store import Store

HOUR = 3600.0

logger = logging.getLogger(__name__)


def expired(store: Store, days: float) -> list[str]:
    """The ids of the runs that ended more than `days` ago, shared ones among them."""
    return store.ended_before(datetime.now(UTC) - timedelta(days=days))


def forget_expired(store: Store, queue: RunQueue, days: float) -> int:
    """Delete the runs that ended more than `days` ago; returns how many they were."""
    ids = expired(store, days)
    for run_id in ids:
        queue.delete(run_id)
    return len(ids)


class Housekeeper:
    """Forgets expired runs when it starts and every hour, in a thread of its own; without `days` it does nothing."""

    def __init__(self, store: Store, queue: RunQueue, days: float | None, *, every_seconds: float = HOUR) -> None:
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        if days is not None:
            self._thread = threading.Thread(target=self._keep, args=(store, queue, days, every_seconds), daemon=True,
                                            name="housekeeper")
            self._thread.start()

    def close(self) -> None:
        """Stop; a second call does nothing."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _keep(self, store: Store, queue: RunQueue, days: float, every_seconds: float) -> None:
        while True:
            try:
                if n := forget_expired(store, queue, days):
                    logger.info("%d runs that ended more than %g days ago were forgotten.", n, days)
            except EngineError:  # such as a database that is away: the next time will do
                logger.exception("Old runs cannot be forgotten at the moment.")
            if self._closing.wait(every_seconds):
                return
