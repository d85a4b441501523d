"""Garbage collection at intervals instead of after every drawing of a page.

Streamlit would run a full collection after each of them. With all modules loaded that takes a third of a second, in
which no other page is drawn, and a page that watches a run is drawn every 0.7 s. So it is off (`runner.postScriptGC`);
what is known to live on is left out of the collections between.
"""

from __future__ import annotations

import asyncio
import gc

SECONDS = 60.0


async def collect_at_intervals(seconds: float = SECONDS) -> None:
    """Collect garbage again and again, for as long as the server is up."""
    while True:
        await asyncio.sleep(seconds)
        await asyncio.to_thread(collect)


def collect() -> None:
    """Collect all garbage, and leave what is alive now out of the collections until the next call."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
