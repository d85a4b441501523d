"""Deletion of runs that ended long ago, with their datasets and results."""

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
    """The ids of the runs that ended more than `days` ago, shared ones included."""
    return store.ended_before(datetime.now(UTC) - timedelta(days=days))


def delete_expired(store: Store, queue: RunQueue, days: float) -> int:
    """Delete the runs that ended more than `days` ago; returns their number."""
    ids = expired(store, days)
    for run_id in ids:
        queue.delete(run_id)
    return len(ids)


class RetentionThread:
    """A thread that deletes expired runs when it starts and every hour; not started without `days`."""

    def __init__(self, store: Store, queue: RunQueue, days: float | None, *, every_seconds: float = HOUR) -> None:
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        if days is not None:
            self._thread = threading.Thread(target=self._run, args=(store, queue, days, every_seconds), daemon=True,
                                            name="retention")
            self._thread.start()

    def close(self) -> None:
        """Stop; a second call does nothing."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, store: Store, queue: RunQueue, days: float, every_seconds: float) -> None:
        while True:
            try:
                if n := delete_expired(store, queue, days):
                    logger.info("%d runs that ended more than %g days ago were deleted.", n, days)
            except EngineError:  # such as an unreachable database: retried next time
                logger.exception("Expired runs cannot be deleted at the moment.")
            if self._closing.wait(every_seconds):
                return
