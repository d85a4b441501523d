"""How long something takes on the processor, whatever else the machine does."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """The seconds of this process that a call takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin
