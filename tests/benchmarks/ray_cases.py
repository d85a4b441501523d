"""Two replicas of a Ray cluster beside one, with one thread each, on the same chunks; and two processes beside one.

The latter is what the machine itself gives for a second process: cores that share a cache or their heat give less
than twice as much.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil

from engine.inference.backend import Backend
from engine.inference.gateway import Gateway
from engine.inference.local.workers import LocalWorkers
from engine.inference.ray.cluster import RayWorkers
from engine.inference.ray.settings import RaySettings
from tests.benchmarks import base_models
from tests.benchmarks.measuring import CLOCK, ROUNDS, Ratio, wall_seconds
from tests.support.loopback_ray import ENVIRONMENT, LoopbackCluster

TARGET = 1.7
HALF = 0.5  # of a node's one processor, so that all three replicas have a place; they never compute at once


def scaling(folder: Path) -> list[Ratio]:
    """CLS vectors of the sentences of JSTS by BERT-base: seconds of two and of one, on Ray and without it.

    By the CPU clock, the seconds that the busiest of the workers computed: on a machine that others use, chunks go to
    whoever comes to work, and the ratio is rather too low than too high.
    """
    job = base_models.alignment(folder / "scaled")
    texts = list(dict.fromkeys(side for pair in job.texts for side in pair))
    os.environ.update({**ENVIRONMENT, "HAKARI_THREADS": "1"})
    cluster = LoopbackCluster()
    backends: list[Backend] = []
    try:
        cluster.start_head()
        cluster.start_node()
        backends += [RayWorkers(RaySettings(cluster.address, n, n, cpus=HALF)) for n in (1, 2)]
        backends += [LocalWorkers(["cpu"] * n) for n in (1, 2)]
        calls = [_call(backend, str(job.folder), texts) for backend in backends]
        first_vectors, *other_vectors = [call() for call in calls]
        if not all(np.array_equal(first_vectors, vectors) for vectors in other_vectors):
            raise RuntimeError("The number of workers changed the numbers.")
        seconds = zip(
            *([_seconds(*case) for case in zip(backends, calls, strict=True)] for _ in range(ROUNDS)), strict=True
        )
        ray_one, ray_two, local_one, local_two = map(statistics.median, seconds)
    finally:
        for backend in backends:
            backend.close()
        cluster.close()
    work = f"CLS vectors of {len(texts)} sentences, BERT-base"
    return [
        Ratio(f"{work}: two replicas on Ray", "one replica", ray_two, ray_one),
        Ratio(f"{work}: two processes without Ray", "one process", local_two, local_one),
    ]


def _seconds(backend: Backend, call: Callable[[], object]) -> float:
    if CLOCK != "cpu":
        return wall_seconds(call)
    workers = [psutil.Process(worker.pid) for worker in backend.workers()]
    before = [process.cpu_times() for process in workers]
    call()
    return max(
        later.user + later.system - earlier.user - earlier.system
        for earlier, later in zip(before, (process.cpu_times() for process in workers), strict=True)
    )


def _call(backend: Backend, model: str, texts: list[str]) -> Callable[[], np.ndarray]:
    def call() -> np.ndarray:
        pieces = Gateway(backend, None).session("bench").sentence_vectors(model, texts)
        return np.stack([piece["vectors"] for piece in pieces])

    return call
