"""Sixty tabs of one member that are drawn again and again, and the page that another member opens meanwhile."""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from tests.benchmarks.measuring import Budget, ProcessorTime
from tests.benchmarks.streamlit_client import Visitor
from tests.benchmarks.team.by_socket import KIND, PAGE, SCORES
from tests.benchmarks.team.cases import address, evaluate_samples
from tests.browser.provider import environment, provider
from tests.browser.server import free_port, serving

N_TABS, N_OPENED, N_ALONE = 60, 20, 5
PAGE_SECONDS = 1.0


def budgets(folder: Path) -> list[Budget]:
    """The 95th percentile of the openings of a page with the sample's result, and beside it how long it takes alone."""
    port, data_dir = free_port(), folder / "tabs"
    members = [address(number) for number in range(2)]
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        issuer = stack.enter_context(provider({name: name for name in members}))
        evaluate_samples(data_dir)
        server = stack.enter_context(serving(data_dir, port, environment(folder, issuer, url, ",".join(members))))
        processors = ProcessorTime(server.process.pid)
        alone, beside, n_drawn = asyncio.run(_measured(url.removeprefix("http://"), members))
        why = processors.words("the server")
    alone_seconds = float(np.median(alone))
    return [
        Budget(
            f"Another member's page while {N_TABS} tabs of one are drawn again and again, "
            f"95th percentile of {len(beside)}",
            float(np.quantile(beside, 0.95)),
            PAGE_SECONDS,
            why=f"{n_drawn} pages were drawn for the tabs meanwhile; the page takes {alone_seconds:.2g} s alone. {why}",
        )
    ]


async def _measured(host: str, members: list[str]) -> tuple[list[float], list[float], int]:
    """Seconds of the page alone, seconds of it beside the tabs, and how many pages the tabs were drawn meanwhile."""
    first, second = [await _signed_in(host, member) for member in members]
    alone = [await _seconds_to_open(host, second) for _ in range(N_ALONE)]
    tabs = [Visitor(host, PAGE, cookies=first.cookies) for _ in range(N_TABS)]
    for tab in tabs:
        await tab.connect()
    stopped = asyncio.Event()
    drawing = [asyncio.create_task(_drawn_again(tab, number, stopped)) for number, tab in enumerate(tabs)]
    beside = [await _seconds_to_open(host, second) for _ in range(N_OPENED)]
    stopped.set()
    n_drawn = sum(await asyncio.gather(*drawing))
    for tab in tabs:
        await tab.close()
    return alone, beside, n_drawn


async def _signed_in(host: str, member: str) -> Visitor:
    visitor = Visitor(host, "")
    await visitor.connect()
    await visitor.sign_in(member)
    return visitor


async def _drawn_again(tab: Visitor, number: int, stopped: asyncio.Event) -> int:
    """Choose one score after the other, without a pause; returns how often."""
    [key] = [key for key in tab.ids if key.startswith(f"{KIND}-normalization-")]
    n_drawn = 0
    while not stopped.is_set():
        await tab.choose(key, SCORES[(number + n_drawn) % len(SCORES)])
        n_drawn += 1
    return n_drawn


async def _seconds_to_open(host: str, member: Visitor) -> float:
    visitor = Visitor(host, PAGE, cookies=member.cookies)
    start = time.perf_counter()
    await visitor.connect()
    seconds = time.perf_counter() - start
    await visitor.close()
    if f"{KIND}-source" not in visitor.seen_keys:
        raise RuntimeError("The page did not show its form.")
    return seconds
