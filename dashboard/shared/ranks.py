"""Ranks of models and intervals as tables show them."""

from __future__ import annotations

import pandas as pd

from dashboard.shared.wording import JOINER
from engine.messages.languages import tr

UNBROKEN = f"{JOINER}–{JOINER}"  # an interval stays on one line


def rank_labels(ranked: pd.DataFrame) -> list[str]:
    """The rank of each model of `Result.models`, in the order given; members of a group share theirs.

    >>> rank_labels(pd.DataFrame({"rank": [1, 2, 3, None], "rank_group": [1, 1, 2, None]}))
    ['1–2 tied', '1–2 tied', '3', '–']
    """
    labels = []
    for rank, group in zip(ranked["rank"], ranked["rank_group"], strict=True):
        if pd.isna(rank):
            labels.append("–")
            continue
        ranks = ranked.loc[ranked["rank_group"] == group, "rank"].dropna()
        last = int(ranks.min()) + len(ranks) - 1  # equal scores have equal ranks, and leave the next ones out
        labels.append(
            tr("{first}–{last} tied", first=int(ranks.min()), last=last) if len(ranks) > 1 else str(int(rank))
        )
    return labels
