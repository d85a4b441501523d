from __future__ import annotations

import threading

from engine.inference.statistics import SECONDS, Statistics


def test_counts_by_hand() -> None:
    statistics = Statistics()
    statistics.record_lookups(n_hits=3, n_misses=1)
    for seconds in (0.01, 0.05, 0.7, 100.0):
        statistics.record_chunk(seconds)
    counts = statistics.read()
    assert (counts.hits, counts.misses, counts.chunks) == (3, 1, 4) and abs(counts.chunk_seconds - 100.76) < 1e-9
    # 0.01 and 0.05 are within 0.05 (the end belongs to the bin); 0.7 is within 1; 100 is within none.
    assert dict(zip(SECONDS, counts.chunks_within, strict=True)) == {
        0.05: 2,
        0.1: 2,
        0.25: 2,
        0.5: 2,
        1.0: 3,
        2.0: 3,
        5.0: 3,
        10.0: 3,
        30.0: 3,
        60.0: 3,
    }


def test_threads_lose_no_count() -> None:
    statistics = Statistics()

    def work() -> None:
        for _ in range(2000):
            statistics.record_chunk(0.3)
            statistics.record_lookups(1, 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = statistics.read()
    assert (counts.chunks, counts.hits, counts.misses, counts.chunks_within[-1]) == (8000, 8000, 16000, 8000)
