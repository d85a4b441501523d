"""How soon a visitor has an answer: home's pair, a typed pair, 200 pairs; each a new one, on the embedded model.

A visitor without a browser (`streamlit_client`) presses and waits until the page has its result: what a browser takes
to draw it is left to `page_cases`. What is measured is the wall clock; the reason of a missed budget says what the
machine computed beside.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections import defaultdict
from pathlib import Path

from engine.runs.open import Engine, open_engine
from tests.benchmarks.measuring import Budget, ProcessorTime
from tests.benchmarks.streamlit_client import Visitor
from tests.browser.server import Server, serving

HOME_SECONDS, PAIR_SECONDS, FILE_SECONDS, LEFT_SECONDS, SHOWN_SECONDS = 1.0, 1.0, 6.0, 2.0, 1.0
ROUNDS, N_PAIRS = 5, 200
WAIT_SECONDS = 600.0
WORDS = ("猫", "犬", "山田", "田中", "東京", "大阪", "電車", "学校", "雨", "本", "友達", "先生", "朝", "夜", "川", "海")
LEFT = " left"  # at the end of the progress, once the time left is known


def budgets(folder: Path) -> list[Budget]:
    """All answers, measured one after the other on one server; the first of each kind warms up."""
    with serving(folder / "answers") as server, open_engine(folder / "answers", resume=False) as engine:
        return asyncio.run(_measured(server, engine))


async def _measured(server: Server, engine: Engine) -> list[Budget]:
    host, draw = server.url.removeprefix("http://"), random.Random(1)
    seconds, why = defaultdict[str, list[float]](list), dict[str, str]()
    for measure in (_home, _typed, _file):
        visitor = Visitor(host, {"_home": ""}.get(measure.__name__, "alignment"))
        await visitor.connect()
        await measure(visitor, draw, engine)
        processors = ProcessorTime(server.process.pid)
        for _ in range(ROUNDS):
            for name, value in (await measure(visitor, draw, engine)).items():
                seconds[name].append(value)
                why[name] = processors.words(f"{ROUNDS} times over the server")
        await visitor.close()
    limits = {
        "The pair of the home page, from press to score": HOME_SECONDS,
        "A typed pair, from press to score": PAIR_SECONDS,
        f"{N_PAIRS} pairs of a file, from press to result": FILE_SECONDS,
        f"The result of {N_PAIRS} pairs on the page, from the end of the run": SHOWN_SECONDS,
        f"Speed and time left of {N_PAIRS} pairs, from the start of the run": LEFT_SECONDS,
    }
    return [
        Budget(name, statistics.median(seconds[name]), limit, why=why[name])
        for name, limit in limits.items()
        if name in seconds
    ]


async def _home(visitor: Visitor, draw: random.Random, _engine: Engine) -> dict[str, float]:
    # The language of the sample is the end of the names
    (end,) = (name.removeprefix("home-reference") for name in visitor.ids if name.startswith("home-reference"))
    visitor.type(f"home-reference{end}", _sentence(draw))
    visitor.type(f"home-candidate{end}", _sentence(draw))
    start = time.perf_counter()
    await visitor.press("home-align")
    return {"The pair of the home page, from press to score": time.perf_counter() - start}


async def _typed(visitor: Visitor, draw: random.Random, engine: Engine) -> dict[str, float]:
    place = visitor.run_id or "new"
    visitor.type(f"alignment-reference-{place}", _sentence(draw))
    visitor.type(f"alignment-candidate-{place}", _sentence(draw))
    return {"A typed pair, from press to score": (await _submitted(visitor, engine))[0]}


async def _file(visitor: Visitor, draw: random.Random, engine: Engine) -> dict[str, float]:
    if "alignment-file" not in visitor.ids:
        await visitor.choose("alignment-extent", "Many pairs")
        await visitor.choose("alignment-source", "My file")
    rows = [f"{_sentence(draw)},{_sentence(draw)}" for _ in range(N_PAIRS)]
    visitor.states.pop("alignment-file", None)
    await visitor.upload("alignment-file", "pairs.csv", "\n".join(["reference,candidate", *rows]).encode())
    whole, first_left, shown = await _submitted(visitor, engine)
    measured = {
        f"{N_PAIRS} pairs of a file, from press to result": whole,
        f"The result of {N_PAIRS} pairs on the page, from the end of the run": shown,
    }
    # A run that was over before its progress was drawn has no time left to tell.
    return measured | (
        {} if first_left is None else {f"Speed and time left of {N_PAIRS} pairs, from the start of the run": first_left}
    )


async def _submitted(visitor: Visitor, engine: Engine) -> tuple[float, float | None, float]:
    """Seconds from the press to the result, from the run's start to the first time left, from its end to the result."""
    visitor.seen_keys.clear()
    visitor.progress.clear()
    start = time.time()
    await visitor.press("alignment-submit")
    await visitor.watch(lambda visitor: "download-signature" in visitor.seen_keys, WAIT_SECONDS)
    end = time.time()
    run = engine.runs.get(visitor.run_id)
    if run is None or run.started is None or run.finished is None:
        raise RuntimeError(f"the run has no times: {run}")
    left = next((at for at, text in visitor.progress if text.endswith(LEFT)), None)
    return end - start, None if left is None else left - run.started.timestamp(), end - run.finished.timestamp()


def _sentence(draw: random.Random) -> str:
    """A sentence that was most likely never said."""
    first, second, third = draw.sample(WORDS, 3)
    return f"{first}と{second}は{draw.randrange(10**6)}回目の{third}を見た。"
