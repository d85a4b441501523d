"""A server while one run is large: 67,000 minimal pairs, all in the cache, are scored, put together and stored."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import httpx
import numpy as np
import psutil

from engine.datasets import sample_data
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.clusters import records as clusters
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.runs.open import open_engine
from engine.runs.storage.run_record import RunRecord
from tests.benchmarks.base_models import SHARE
from tests.benchmarks.measuring import Budget, ProcessorTime
from tests.benchmarks.streamlit_client import Visitor
from tests.browser.server import Server, serving
from tests.support import tiny_models

N_PAIRS = max(200, int(67_000 * SHARE))
RUN_SECONDS, STATIC_SECONDS, PAGE_SECONDS = 10.0, 0.1, 2.0
WEB_MIB, RUN_MIB = 500e6 / 2**20, 1536.0
WAIT_SECONDS = 1800.0  # for the run that fills the cache
STATIC_EVERY, PAGE_EVERY, STATE_EVERY = 0.05, 1.0, 0.2
BERT = "builtin/bert-mini-ja"


class Watched:
    """What visitors waited for and how much memory the processes took, until `stop`."""

    def __init__(self, server: Server, small_run: str) -> None:
        self._server, self._small_run = server, small_run
        self._host = server.url.removeprefix("http://")
        self._workers = {worker.pid for worker in server.workers()}
        self._stopped = asyncio.Event()
        self.static_seconds: list[float] = []
        self.page_seconds: list[float] = []
        self.web_bytes: list[int] = []
        self.run_bytes: list[int] = []

    def stop(self) -> None:
        """End all watching after what is under way."""
        self._stopped.set()

    async def static_page(self) -> None:
        """Fetch the page that the browser is given first, again and again."""
        async with httpx.AsyncClient(timeout=WAIT_SECONDS) as client:
            while not self._stopped.is_set():
                start = time.perf_counter()
                (await client.get(self._server.url)).raise_for_status()
                self.static_seconds.append(time.perf_counter() - start)
                self._read_memory()
                await asyncio.sleep(STATIC_EVERY)

    async def other_page(self) -> None:
        """Open the page of another, finished run, again and again, each time as a new visitor."""
        while not self._stopped.is_set():
            visitor = Visitor(self._host, "clusters", run_id=self._small_run)
            start = time.perf_counter()
            await visitor.connect()
            self.page_seconds.append(time.perf_counter() - start)
            await visitor.close()
            if "download-signature" not in visitor.seen_keys:
                raise RuntimeError("The page did not show its run.")
            await asyncio.sleep(PAGE_EVERY)

    def _read_memory(self) -> None:
        web = psutil.Process(self._server.process.pid)
        self.web_bytes.append(web.memory_info().rss)
        for child in web.children(recursive=True):
            try:
                if child.pid not in self._workers:
                    self.run_bytes.append(child.memory_info().rss)
            except psutil.Error:  # it has just ended
                continue


def budgets(folder: Path) -> list[Budget]:
    """Two runs of the same made-up pairs under a tiny model: the first fills the cache, the second is measured."""
    data_dir = folder / "served"
    model = str(tiny_models.gpt2_byte_level(folder / "tiny-gpt2", max_tokens=128))
    pairs = _pairs()
    with serving(data_dir) as server:
        small = _submit(
            data_dir, "clusters", clusters.Settings((BERT,), projection="pca"), sample_data.labelled_sentences()
        )
        for run_id in (small, _submit(data_dir, "minimal-pairs", minimal_pairs.Settings((model,), seed=1), pairs)):
            asyncio.run(_ended(data_dir, run_id))
        processors = ProcessorTime(server.process.pid)
        run_id = _submit(data_dir, "minimal-pairs", minimal_pairs.Settings((model,), seed=2), pairs)
        watched, run = asyncio.run(_watched(server, data_dir, run_id, small))
        why = processors.words("the server, the run's process included,")
    if run.started is None or run.finished is None:
        raise RuntimeError(f"the run has no times: {run}")
    what = f"while {N_PAIRS:,} made-up pairs are scored from the cache"
    return [
        Budget(
            f"{N_PAIRS:,} minimal pairs, from cached pieces to a stored result",
            (run.finished - run.started).total_seconds(),
            RUN_SECONDS,
            why=why,
        ),
        Budget(
            f"The static page {what}, 95th percentile of {len(watched.static_seconds)}",
            float(np.quantile(watched.static_seconds, 0.95)),
            STATIC_SECONDS,
            why=why,
        ),
        Budget(
            f"The page of another run {what}, slowest of {len(watched.page_seconds)}",
            max(watched.page_seconds),
            PAGE_SECONDS,
            why=why,
        ),
        Budget(f"Memory of the web process {what}, at most", max(watched.web_bytes) / 2**20, WEB_MIB, "MiB"),
        Budget("Memory of the run's process, at most", max(watched.run_bytes) / 2**20, RUN_MIB, "MiB"),
    ]


async def _watched(server: Server, data_dir: Path, run_id: str, small_run: str) -> tuple[Watched, RunRecord]:
    watched = Watched(server, small_run)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(watched.static_page())
        tasks.create_task(watched.other_page())
        try:
            run = await _ended(data_dir, run_id)
        finally:
            watched.stop()
    return watched, run


async def _ended(data_dir: Path, run_id: str) -> RunRecord:
    with open_engine(data_dir, resume=False) as engine:
        async with asyncio.timeout(WAIT_SECONDS):
            while (run := engine.runs.get(run_id)) is not None and run.state in ("queued", "running"):
                await asyncio.sleep(STATE_EVERY)
    if run is None:
        raise RuntimeError(f"the run {run_id} is gone")
    if run.state != "done":
        raise RuntimeError(f"the run {run.state}: {run.message}")
    return run


def _submit(data_dir: Path, kind: str, settings: object, dataset: object) -> str:
    with open_engine(data_dir, resume=False) as engine:
        return engine.runs.submit(kind, settings, dataset, reuse=False).run_id


def _pairs() -> MinimalPairs:
    """English sentences of a few words and a number, and the same with one word exchanged; none occurs twice."""
    draw = random.Random(1)
    words = sorted({word for sentence in tiny_models.ENGLISH for word in sentence.strip(".").split()})
    rows = tuple(range(1, N_PAIRS + 1))
    sentences = [[*draw.choices(words, k=draw.randint(4, 9)), f"{row}."] for row in rows]
    exchanged = [[sentence[0], "never", *sentence[2:]] for sentence in sentences]
    return MinimalPairs(
        "made up",
        tuple(map(" ".join, sentences)),
        tuple(map(" ".join, exchanged)),
        tuple(f"c{row % 67}" for row in rows),
        rows,
    )
