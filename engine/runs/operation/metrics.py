"""Metrics of an instance in Prometheus format, without user data."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from engine.inference.statistics import SECONDS
from engine.runs.open import Engine

STATES = ("queued", "running", "done", "failed", "cancelled")


def exposition(engine: Engine) -> bytes:
    """The metrics in Prometheus' text format. Raises RunError when the database cannot be read."""
    registry = CollectorRegistry()
    registry.register(_EngineCollector(engine))
    return generate_latest(registry)


class _EngineCollector(Collector):
    """Collects the metrics from the engine on each request."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe(self) -> list[Metric]:
        """Empty, so that registering does not collect."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The current value of every metric."""
        engine = self._engine
        n_by_state = engine.store.n_by_state()
        runs = GaugeMetricFamily("hakari_runs", "Runs by state", labels=["state"])
        for state in STATES:
            runs.add_metric([state], n_by_state.get(state, 0))
        yield runs
        yield GaugeMetricFamily("hakari_queue_length", "Runs that wait for their turn", n_by_state.get("queued", 0))
        yield GaugeMetricFamily(
            "hakari_unlisted_results",
            "Results on the disk that are not in the list of runs",
            len(engine.unlisted.current().results),
        )
        counts = engine.backend.statistics.read()
        buckets = [
            *((str(end), float(n)) for end, n in zip(SECONDS, counts.chunks_within, strict=True)),
            ("+Inf", float(counts.chunks)),
        ]
        yield HistogramMetricFamily(
            "hakari_chunk_seconds", "What a chunk took its worker", buckets=buckets, sum_value=counts.chunk_seconds
        )
        yield CounterMetricFamily("hakari_cache_hits", "Pieces that were found in the cache", counts.hits)
        yield CounterMetricFamily("hakari_cache_misses", "Pieces that had to be computed", counts.misses)
        yield GaugeMetricFamily("hakari_cache_bytes", "Size of the cache", engine.cache.used_bytes())
        memory = GaugeMetricFamily("hakari_memory_bytes", "Resident memory", labels=["process"])
        memory.add_metric(["web"], _resident_bytes(psutil.Process().pid))
        processes = engine.run_processes
        memory.add_metric(["runs"], sum(map(_resident_bytes, processes.pids())) if processes else 0.0)
        memory.add_metric(["workers"], sum(map(_resident_bytes, engine.backend.pids())))
        yield memory
        yield GaugeMetricFamily(
            "hakari_workers", "Workers that live, on this machine or elsewhere", len(engine.backend.workers())
        )


def _resident_bytes(pid: int) -> float:
    try:
        return float(psutil.Process(pid).memory_info().rss)
    except psutil.Error:  # the process has just ended
        return 0.0
