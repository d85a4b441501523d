"""A queue shared by runs in turns: a small run never waits behind all of a big one."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from typing import Generic, TypeVar

Job = TypeVar("Job")


class FairQueue(Generic[Job]):
    """First in, first out within a run; round-robin between runs. Safe across threads."""

    def __init__(self) -> None:
        """An empty, open queue."""
        self._changed = threading.Condition()
        # Runs that have jobs, the one whose turn it is first.
        self._jobs_by_run: OrderedDict[str, deque[Job]] = OrderedDict()
        self._closed = False

    def put(self, run_id: str, job: Job) -> bool:
        """Add a job at the end of its run's own line; False when the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._jobs_by_run.setdefault(run_id, deque()).append(job)
            self._changed.notify()
            return True

    def take(self) -> Job | None:
        """The next job of the run whose turn it is; waits for one. None once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._jobs_by_run)
            if self._closed:
                return None
            run_id, jobs = next(iter(self._jobs_by_run.items()))
            job = jobs.popleft()
            if jobs:
                self._jobs_by_run.move_to_end(run_id)
            else:
                del self._jobs_by_run[run_id]
            return job

    def drop(self, run_id: str) -> list[Job]:
        """Take out all jobs of a run and return them."""
        with self._changed:
            return list(self._jobs_by_run.pop(run_id, ()))

    def close(self) -> list[Job]:
        """Let every waiting `take` return None; returns the jobs nobody will take."""
        with self._changed:
            self._closed = True
            left = [job for jobs in self._jobs_by_run.values() for job in jobs]
            self._jobs_by_run.clear()
            self._changed.notify_all()
            return left
