"""A queue shared by runs in turns: a small run never waits behind all of a big one."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
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
        # How often in a row `choose` has passed over the run whose turn it is.
        self._n_passed = 0

    def __len__(self) -> int:
        """How many jobs wait."""
        with self._changed:
            return sum(map(len, self._jobs_by_run.values()))

    def put(self, run_id: str, job: Job) -> bool:
        """Add a job at the end of its run's own line; False when the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._jobs_by_run.setdefault(run_id, deque()).append(job)
            self._changed.notify()
            return True

    def put_back(self, run_id: str, job: Job) -> bool:
        """Return a job that was taken: it and its run come first; False when the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._jobs_by_run.setdefault(run_id, deque()).appendleft(job)
            self._jobs_by_run.move_to_end(run_id, last=False)
            self._changed.notify()
            return True

    def take(self) -> Job | None:
        """The next job of the run whose turn it is; waits for one. None once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._jobs_by_run)
            if self._closed:
                return None
            return self._taken(next(iter(self._jobs_by_run)))

    def choose(self, suits: Callable[[Job], bool], patience: int) -> Job | None:
        """Without waiting: the next job of the first run in turn whose next job suits, else the one whose turn it is.

        None when there is no job. The run whose turn it is is passed over at most `patience` times in a row.
        """
        with self._changed:
            if self._closed or not self._jobs_by_run:
                return None
            first = next(iter(self._jobs_by_run))
            chosen = first
            if self._n_passed < patience:
                chosen = next((run_id for run_id, jobs in self._jobs_by_run.items() if suits(jobs[0])), first)
            self._n_passed = self._n_passed + 1 if chosen != first else 0
            return self._taken(chosen)

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

    def _taken(self, run_id: str) -> Job:
        jobs = self._jobs_by_run[run_id]
        job = jobs.popleft()
        if jobs:
            self._jobs_by_run.move_to_end(run_id)
        else:
            del self._jobs_by_run[run_id]
        return job
