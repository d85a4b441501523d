"""`python -m tests.benchmarks.load`: many visitors at once, each with their own file, over real websockets.

Every visitor opens a page, uploads a unique file, evaluates it with the built-in models and waits for the result on the
page. Afterwards each result is compared with the visitor's file. Prints one table.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.runs.open import open_engine
from tests.benchmarks.streamlit_client import Visitor
from tests.browser.server import Server, serving

PAGES = ("clusters", "minimal_pairs")
KIND = {"clusters": "clusters", "minimal_pairs": "minimal-pairs"}
UPLOADER = {"clusters": "clusters-file", "minimal_pairs": "minimal-pairs-files"}
ROWS = 24
WAIT_SECONDS = 900
ARRIVAL_SECONDS = 5.0  # all come within so long
WORDS = ("猫", "犬", "庭", "町", "雨", "本", "山", "川", "窓", "駅", "橋", "森", "海", "店", "空", "花")


@dataclass(frozen=True)
class Visit:
    """One visit: seconds to the first page, from the press of the button to the result, and the run."""

    page: str
    texts: tuple[str, ...]
    open_seconds: float
    result_seconds: float
    run_id: str
    error: str = ""


def main() -> int:
    """Let them come; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.load")
    parser.add_argument("--visitors", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with serving(data_dir) as server:
            visits, peak = asyncio.run(_all_at_once(server, options.visitors))
        mixed = _mixed_up(data_dir, visits)
    failed = [visit for visit in visits if visit.error]
    print(_table(visits, peak, len(failed), mixed))
    for visit in failed:
        print(f"{visit.page}: {visit.error}")
    return 1 if failed or mixed else 0


async def _all_at_once(server: Server, n: int) -> tuple[list[Visit], int]:
    watcher = _MemoryWatcher(server.process.pid)
    host = server.url.removeprefix("http://")
    try:
        visits = await asyncio.gather(*(_visit(host, number) for number in range(n)))
    finally:
        peak = watcher.stop()
    return list(visits), peak


async def _visit(host: str, number: int) -> Visit:
    draw = random.Random(number)
    page = PAGES[number % len(PAGES)]
    texts, content = _file(page, number, draw)
    visitor = Visitor(host, page)
    open_seconds = result_seconds = 0.0
    await asyncio.sleep(draw.uniform(0, ARRIVAL_SECONDS))
    try:
        start = time.monotonic()
        await visitor.connect()
        open_seconds = time.monotonic() - start
        kind = KIND[page]
        await visitor.choose(f"{kind}-source", "My file")
        # The same name for all: files are told apart by what is in them.
        await visitor.upload(UPLOADER[page], "sentences.csv", content)
        start = time.monotonic()
        await visitor.press(f"{kind}-submit")
        await visitor.watch(lambda visitor: "download-signature" in visitor.seen_keys, WAIT_SECONDS)
        result_seconds = time.monotonic() - start
        return Visit(page, texts, open_seconds, result_seconds, visitor.run_id)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"[:300]
        return Visit(page, texts, open_seconds, result_seconds, visitor.run_id, message)
    finally:
        await visitor.close()


def _file(page: str, number: int, draw: random.Random) -> tuple[tuple[str, ...], bytes]:
    """Sentences that name their visitor, and the file that holds them."""
    made = [f"{number}番の人の{i}つめの文には{draw.choice(WORDS)}と{draw.choice(WORDS)}がある。" for i in range(ROWS)]
    if page == "clusters":
        lines = [f"{text},{'ab'[i % 2]}" for i, text in enumerate(made)]
        return tuple(made), ("text,label\n" + "\n".join(lines)).encode()
    lines = [f"{text},{text.replace('がある', 'をある')}" for text in made]
    return tuple(made), ("acceptable,unacceptable\n" + "\n".join(lines)).encode()


def _mixed_up(data_dir: Path, visits: list[Visit]) -> int:
    """How many visitors got a result that is not of their own file."""
    with open_engine(data_dir, resume=False) as engine:
        n_wrong = 0
        for visit in visits:
            if visit.error:
                continue
            result = engine.runs.result(visit.run_id)
            table, column = (result.points, "text") if visit.page == "clusters" else (result.pairs, "acceptable")
            n_wrong += set(table[column]) != set(visit.texts)
        return n_wrong


class _MemoryWatcher:
    """The largest resident memory of the web process, read twice a second."""

    def __init__(self, pid: int) -> None:
        self._process, self._peak, self._ended = psutil.Process(pid), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._peak

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            self._peak = max(self._peak, self._process.memory_info().rss)


def _table(visits: list[Visit], peak: int, n_failed: int, n_mixed: int) -> str:
    good = [visit for visit in visits if not visit.error]
    open_seconds = sorted(visit.open_seconds for visit in good) or [float("nan")]
    result_seconds = sorted(visit.result_seconds for visit in good) or [float("nan")]
    return "\n".join([
        f"| Visitors at once | {len(visits)} |", "|---|---|", f"| Failed | {n_failed} |", f"| Mixed up | {n_mixed} |",
        f"| First page, median and slowest | {statistics.median(open_seconds):.1f} s, {open_seconds[-1]:.1f} s |",
        f"| Result, median and slowest | {statistics.median(result_seconds):.1f} s, {result_seconds[-1]:.1f} s |",
        f"| Largest memory of the web process | {peak / 1e9:.2f} GB |",
    ])


if __name__ == "__main__":
    raise SystemExit(main())
