"""Deletion of runs that ended long ago or were long in the bin, with their datasets and results, and of old uploads."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from engine.errors import EngineError
from engine.runs.queue import RunQueue
from engine.runs.storage.store import Store
from engine.runs.storage.usage import corpora_in_use

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


def long_in_bin(store: Store, days: float) -> list[str]:
    """The ids of the runs that were moved to the bin more than `days` ago."""
    return store.deleted_before(datetime.now(UTC) - timedelta(days=days))


def empty_bin(store: Store, queue: RunQueue, days: float) -> int:
    """Delete for good the runs that were moved to the bin more than `days` ago; returns their number."""
    moment = datetime.now(UTC) - timedelta(days=days)
    return sum(
        store.get(run_id) is not None and queue.delete(run_id, moment)  # another process may have been quicker
        for run_id in store.deleted_before(moment)
    )


class RetentionThread:
    """A thread that deletes expired runs and uploads of corpora, and empties the bin, when it starts and every hour.

    days: after how many days an ended run expires, None: never. bin_days: how many days a run stays in the bin, None:
    for ever. Without either the thread is not started.
    """

    def __init__(
        self,
        store: Store,
        queue: RunQueue,
        days: float | None,
        *,
        bin_days: float | None = None,
        every_seconds: float = HOUR,
    ) -> None:
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        if days is not None or bin_days is not None:
            self._thread = threading.Thread(
                target=self._run, args=(store, queue, days, bin_days, every_seconds), daemon=True, name="retention"
            )
            self._thread.start()

    def close(self) -> None:
        """Stop; a second call does nothing."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()

    def _run(
        self, store: Store, queue: RunQueue, days: float | None, bin_days: float | None, every_seconds: float
    ) -> None:
        while True:
            try:
                if bin_days is not None and (n := empty_bin(store, queue, bin_days)):
                    logger.info("%d runs that were in the bin for more than %g days were deleted.", n, bin_days)
                if days is not None and (n := delete_expired(store, queue, days)):
                    logger.info("%d runs that ended more than %g days ago were deleted.", n, days)
                if n := queue.artifacts.corpora.expire(corpora_in_use(store, queue.artifacts)):
                    logger.info("%d corpora were deleted, whose time was over.", n)
            except (EngineError, OSError):  # such as an unreachable database: retried next time
                logger.exception("Expired runs and corpora cannot be deleted at the moment.")
            if self._closing.wait(every_seconds):
                return
