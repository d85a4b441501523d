"""Speed and estimated remaining time of a run, from the rate at which its items are completed."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 60.0
SETTLING_SECONDS = 0.3  # a resumed run starts with a jump over all cached items
LEAST_SECONDS = 0.5  # that an estimate is made from


class EtaEstimator:
    """Estimates from the progress of the last minute, as models and steps differ in speed.

    per_second: the speed at the last call of `remaining`; None while unknown.
    """

    def __init__(self) -> None:
        self.per_second: float | None = None
        self._start: float | None = None
        self._samples: deque[tuple[float, int]] = deque()

    def remaining(self, now: float, done: int, total: int) -> float | None:
        """Seconds until `done` reaches `total`, at `now` (seconds of a monotonic clock); None while unknown.

        A decreasing `done` restarts the estimate (the next model, the next step).
        """
        if self._start is None or (self._samples and done < self._samples[-1][1]):
            self._start = now
            self._samples.clear()
        if now - self._start < SETTLING_SECONDS:
            self._samples.clear()
        self._samples.append((now, done))
        while len(self._samples) > 2 and now - self._samples[1][0] >= WINDOW_SECONDS:
            self._samples.popleft()
        first_time, first_done = self._samples[0]
        is_known = now - first_time >= LEAST_SECONDS and done > first_done
        self.per_second = (done - first_done) / (now - first_time) if is_known else None
        if done >= total:
            return 0.0
        return None if self.per_second is None else (total - done) / self.per_second
