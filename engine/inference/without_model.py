"""Operations of a worker that need no model, such as counting words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engine.inference.backend import Piece, Request
from engine.inference.run_client import RunClient

# The part of a longer task that a call is: progress of the task before and after the call, and its total.
ProgressSpan = tuple[int, int, int]


def computed(
    client: RunClient,
    operation: str,
    items: Sequence[Any],
    settings: dict[str, Any],
    label: str,
    within: ProgressSpan | None = None,
) -> Iterator[tuple[int, Piece]]:
    """The number of each item and its piece as they come, each a request of its own; progress is reported."""
    requests: list[Request] = [{"model": "", "revision": None, "items": [item], "settings": settings} for item in items]
    before, after, total = within or (0, len(items), len(items))
    client.report(before, total, label)
    for done, (index, pieces) in enumerate(client.as_completed(operation, requests), start=1):
        yield index, pieces[0]
        client.report(before + (after - before) * done // len(items), total, label)


def in_order(pieces: Iterable[tuple[int, Piece]]) -> list[Piece]:
    """The pieces by their numbers."""
    by_number = dict(pieces)
    return [by_number[number] for number in range(len(by_number))]
