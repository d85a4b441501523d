"""Counters of the inference layer since it was opened, for the operator of the server."""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import dataclass

# Upper bounds of the histogram bins, in seconds; a chunk is meant to take about one.
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True)
class Counts:
    """A snapshot of the counters; chunks_within[i] is the number of chunks that took at most SECONDS[i] seconds."""

    hits: int
    misses: int
    chunks: int
    chunk_seconds: float
    chunks_within: tuple[int, ...]


class Statistics:
    """Thread-safe counters."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hits = self._misses = self._chunks = 0
        self._seconds = 0.0
        self._by_bin = [0] * (len(SECONDS) + 1)

    def record_lookups(self, n_hits: int, n_misses: int) -> None:
        """Count cache hits and misses, in pieces."""
        with self._lock:
            self._hits += n_hits
            self._misses += n_misses

    def record_chunk(self, seconds: float) -> None:
        """Count a computed chunk and its duration."""
        with self._lock:
            self._chunks += 1
            self._seconds += seconds
            self._by_bin[bisect_left(SECONDS, seconds)] += 1

    def read(self) -> Counts:
        """The current counts."""
        with self._lock:
            within, total = [], 0
            for n in self._by_bin[:-1]:
                total += n
                within.append(total)
            return Counts(self._hits, self._misses, self._chunks, self._seconds, tuple(within))
