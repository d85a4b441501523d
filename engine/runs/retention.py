"""Forgetting runs that ended long ago, with their uploads and results."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.runs.queue import RunQueue
from engine.runs.store import Store


def expired(store: Store, days: float) -> list[str]:
    """The ids of the runs that ended more than `days` ago, shared ones among them."""
    return store.ended_before(datetime.now(UTC) - timedelta(days=days))


def forget_expired(store: Store, queue: RunQueue, days: float) -> int:
    """Delete the runs that ended more than `days` ago; returns how many they were."""
    ids = expired(store, days)
    for run_id in ids:
        queue.delete(run_id)
    return len(ids)
