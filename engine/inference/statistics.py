"""What the inference layer counts of its own work since it was opened, for whoever runs the server."""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import dataclass

# Upper ends, in seconds: a chunk is meant to take about one.
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True)
class Counts:
    """A reading. chunks_within[i] chunks took a worker at most SECONDS[i] seconds."""

    hits: int
    misses: int
    chunks: int
    chunk_seconds: float
    chunks_within: tuple[int, ...]


class Statistics:
    """Counters, safe across threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hits = self._misses = self._chunks = 0
        self._seconds = 0.0
        self._by_bin = [0] * (len(SECONDS) + 1)

    def looked_up(self, found: int, missing: int) -> None:
        """So many pieces were in the cache, and so many were not."""
        with self._lock:
            self._hits += found
            self._misses += missing

    def computed(self, seconds: float) -> None:
        """A chunk came back after so many seconds."""
        with self._lock:
            self._chunks += 1
            self._seconds += seconds
            self._by_bin[bisect_left(SECONDS, seconds)] += 1

    def read(self) -> Counts:
        """The counts as they are now."""
        with self._lock:
            within, total = [], 0
            for n in self._by_bin[:-1]:
                total += n
                within.append(total)
            return Counts(self._hits, self._misses, self._chunks, self._seconds, tuple(within))
