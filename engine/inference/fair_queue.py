"""A round-robin queue over runs: a small run never waits behind all of a big one."""

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
        # The runs that have jobs, in the order of their turns.
        self._jobs_by_run: OrderedDict[str, deque[Job]] = OrderedDict()
        self._closed = False
        # How often in a row `choose` has passed over the first run.
        self._n_passed = 0

    def __len__(self) -> int:
        """The number of queued jobs."""
        with self._changed:
            return sum(map(len, self._jobs_by_run.values()))

    def put(self, run_id: str, job: Job) -> bool:
        """Append a job to its run's queue; False when the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._jobs_by_run.setdefault(run_id, deque()).append(job)
            self._changed.notify()
            return True

    def put_back(self, run_id: str, job: Job) -> bool:
        """Requeue a job that was taken, before all others; False when the queue is closed."""
        with self._changed:
            if self._closed:
                return False
            self._jobs_by_run.setdefault(run_id, deque()).appendleft(job)
            self._jobs_by_run.move_to_end(run_id, last=False)
            self._changed.notify()
            return True

    def take(self) -> Job | None:
        """The next job of the first run; blocks until there is one. None once the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._jobs_by_run)
            if self._closed:
                return None
            return self._pop(next(iter(self._jobs_by_run)))

    def try_take(self) -> Job | None:
        """As `take`, but None at once when there is no job; see `touch`."""
        return self.choose(lambda job: True, 0)

    def touch(self, run_id: str) -> None:
        """Let the other runs have their turns first, because a job of this one begins that was taken earlier."""
        with self._changed:
            if run_id in self._jobs_by_run:
                self._jobs_by_run.move_to_end(run_id)

    def choose(self, suits: Callable[[Job], bool], patience: int) -> Job | None:
        """Without blocking: the next job of the first run whose next job suits, else the next job of the first run.

        None when there is no job. The first run is passed over at most `patience` times in a row.
        """
        with self._changed:
            if self._closed or not self._jobs_by_run:
                return None
            first = next(iter(self._jobs_by_run))
            chosen = first
            if self._n_passed < patience:
                chosen = next((run_id for run_id, jobs in self._jobs_by_run.items() if suits(jobs[0])), first)
            self._n_passed = self._n_passed + 1 if chosen != first else 0
            return self._pop(chosen)

    def drop(self, run_id: str) -> list[Job]:
        """Remove all jobs of a run and return them."""
        with self._changed:
            return list(self._jobs_by_run.pop(run_id, ()))

    def close(self) -> list[Job]:
        """Close the queue: every blocked `take` returns None. Returns the jobs that were still queued."""
        with self._changed:
            self._closed = True
            remaining = [job for jobs in self._jobs_by_run.values() for job in jobs]
            self._jobs_by_run.clear()
            self._changed.notify_all()
            return remaining

    def _pop(self, run_id: str) -> Job:
        jobs = self._jobs_by_run[run_id]
        job = jobs.popleft()
        if jobs:
            self._jobs_by_run.move_to_end(run_id)
        else:
            del self._jobs_by_run[run_id]
        return job
