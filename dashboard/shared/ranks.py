"""Ranks of models and intervals as tables show them."""

from __future__ import annotations

import pandas as pd

from dashboard.shared.wording import JOINER
from engine.measures.statistics.rank_groups import shared_ranks
from engine.messages.languages import tr

UNBROKEN = f"{JOINER}–{JOINER}"  # an interval stays on one line


def rank_labels(ranked: pd.DataFrame) -> list[str]:
    """The rank of each model of `Result.models`, in the order given; members of a group share theirs.

    >>> rank_labels(pd.DataFrame({"rank": [1, 2, 3, None], "rank_group": [1, 1, 2, None]}))
    ['1–2 tied', '1–2 tied', '3', '–']
    """
    ranks, groups = (pd.to_numeric(ranked[name]).astype(float).tolist() for name in ("rank", "rank_group"))
    return [
        "–" if places is None else str(places[0]) if places[0] == places[1] else _tied(*places)
        for places in shared_ranks(ranks, groups)
    ]


def _tied(first: int, last: int) -> str:
    return tr("{first}–{last} tied", first=first, last=last)
