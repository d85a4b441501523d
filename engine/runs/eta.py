"""How long a run will still take, from the pace at which its items get done."""

from __future__ import annotations

from collections import deque

WINDOW_SECONDS = 60.0
SETTLING_SECONDS = 1.0  # a run that is taken up again begins with a leap over all that the cache holds


class Pace:
    """Watches `done` grow, and looks at the last minute of it: models and steps differ in speed."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._seen: deque[tuple[float, int]] = deque()

    def remaining(self, now: float, done: int, total: int) -> float | None:
        """Seconds until `done` reaches `total`, seen at `now` (seconds of a steady clock); None while unknown.

        A `done` that shrinks begins a new count (the next model, the next step).
        """
        if self._began is None or (self._seen and done < self._seen[-1][1]):
            self._began = now
            self._seen.clear()
        if now - self._began < SETTLING_SECONDS:
            self._seen.clear()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW_SECONDS:
            self._seen.popleft()
        first, before = self._seen[0]
        if done >= total:
            return 0.0
        if now - first < SETTLING_SECONDS or done <= before:
            return None
        return (total - done) * (now - first) / (done - before)
