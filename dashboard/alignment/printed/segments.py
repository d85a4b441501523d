"""Long pairs on paper: both sentences cut into segments that fit the width, so that few links lead from one to another.

Pure: numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEGMENT_COST = 2.0  # a further segment is worth it where it keeps more than two links together
BAND = 24  # how many tokens a cut of the candidate may be away from the same share of the reference
SHORTEST_SHARE = 0.4  # of what fits into a line, where a segment may end


@dataclass(frozen=True)
class Segment:
    """Tokens [start, end) of the reference above tokens [start, end) of the candidate."""

    reference: tuple[int, int]
    candidate: tuple[int, int]


def segments(
    widths: tuple[Sequence[float], Sequence[float]],
    links: Sequence[tuple[int, int]],
    room: float,
    inside: tuple[Sequence[bool], Sequence[bool]] = ((), ()),
) -> list[Segment]:
    """Cut both sentences into segments whose lines are at most `room` wide; one segment where both fit.

    widths: of the tokens of the reference and of the candidate, with the gap beside each. links: pairs of indices
    (reference, candidate). The number of segments times SEGMENT_COST plus the number of links between different
    segments is least among the cuts in a BAND about the diagonal. A token wider than `room` has a line of its own.
    inside: whether a token goes on with the word of the one before it; no line begins there, unless a word is wider than
    `room`. Empty: every token is a word.
    """
    n, m = len(widths[0]), len(widths[1])
    ends = [_ends(side, room, within or [False] * len(side)) for side, within in zip(widths, inside, strict=True)]
    together = np.zeros((n + 1, m + 1), dtype=np.int64)  # links among the first i and the first j tokens
    for reference, candidate in links:
        together[reference + 1, candidate + 1] += 1
    together = together.cumsum(axis=0).cumsum(axis=1)
    best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]] = {(0, 0): (0.0, None)}
    for i in range(n + 1):
        for j in range(m + 1):
            if (i, j) not in best or (i, j) == (n, m):
                continue
            cost = best[i, j][0] + SEGMENT_COST
            for k in ends[0][i]:
                for last in ends[1][j]:
                    if (k, last) == (i, j) or (abs(last - m * k / max(n, 1)) > BAND and (k, last) != (n, m)):
                        continue
                    kept = together[k, last] - together[i, last] - together[k, j] + together[i, j]
                    total = cost - float(kept)
                    if (k, last) not in best or total < best[k, last][0]:
                        best[k, last] = (total, (i, j))
    return _path(best, (n, m)) if (n, m) in best else _without_links(ends, (n, m))


def _ends(widths: Sequence[float], room: float, inside: Sequence[bool]) -> list[list[int]]:
    """For each start the ends that a line may have: none further, and from SHORTEST_SHARE of a full line to all of it.

    Those within a word are left out; where there are no others, the last end of a word before them stands for them.
    """
    sums: NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(widths)])
    ends = []
    for start in range(len(widths) + 1):
        full = int(np.searchsorted(sums, sums[start] + room + 1e-9, side="right")) - 1
        full = min(len(widths), max(full, start + 1))
        shortest = start + max(1, int(np.ceil(SHORTEST_SHARE * (full - start))))
        whole = [end for end in range(start + 1, full + 1) if end == len(widths) or not inside[end]]
        wanted = [end for end in whole if end >= shortest] or whole[-1:] or list(range(shortest, full + 1))
        ends.append(sorted({start, *wanted}))
    return ends


def _path(best: dict[tuple[int, int], tuple[float, tuple[int, int] | None]], end: tuple[int, int]) -> list[Segment]:
    cuts: list[Segment] = []
    while (start := best[end][1]) is not None:
        cuts.append(Segment((start[0], end[0]), (start[1], end[1])))
        end = start
    return cuts[::-1]


def _without_links(ends: Sequence[Sequence[Sequence[int]]], last: tuple[int, int]) -> list[Segment]:
    """Full lines of both sentences one below the other, where no cut lies within the band."""
    cuts, start = [], (0, 0)
    while start != last:
        end = ends[0][start[0]][-1], ends[1][start[1]][-1]
        cuts.append(Segment((start[0], end[0]), (start[1], end[1])))
        start = end
    return cuts
