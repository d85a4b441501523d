"""How the server's threads share the interpreter: garbage collection at intervals, and short turns.

Garbage: Streamlit would run a full collection after each drawing of a page. With all modules loaded that takes a third
of a second, in which no other page is drawn, and a page that watches a run is drawn every 0.7 s. So it is off
(`runner.postScriptGC`); what is known to live on is left out of the collections between.

Turns: a thread that releases the lock, as numpy and pyarrow do in almost every operation, gets it back from a
busy one after the interpreter's switch interval, 5 ms by default. A table of a result makes a thousand such
operations: 0.02 s of work took 3 s beside one busy thread, 20 s of a page in a server that thirty use.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable

import pyarrow as pa

SECONDS = 60.0
DROP_SECONDS = 2.0
SWITCH_SECONDS = 0.0002


def take_short_turns() -> None:
    """Have busy threads release the interpreter lock soon."""
    sys.setswitchinterval(SWITCH_SECONDS)


async def collect_at_intervals(seconds: float = SECONDS, before: Callable[[], None] | None = None) -> None:
    """Collect garbage again and again, for as long as the server is up. before: called first, in the event loop."""
    while True:
        await asyncio.sleep(seconds)
        if before is not None:
            before()
        await asyncio.to_thread(collect)


async def drop_at_intervals(drop: Callable[[], object], seconds: float = DROP_SECONDS) -> None:
    """Give back what no tab shows, again and again, for as long as the server is up. drop: called in the event loop."""
    while True:
        await asyncio.sleep(seconds)
        drop()


def collect() -> None:
    """Collect all garbage, and leave what is alive now out of the collections until the next call.

    Arrow keeps the memory of tables that are gone, a third of what a large run took; it is given back, too.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    pa.default_memory_pool().release_unused()
