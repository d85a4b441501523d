"""The tables that the page offers to download: those of the command, under the score and the pairs on show."""

from __future__ import annotations

import pandas as pd

from dashboard.minimal_pairs.view import View, table, tables
from engine.evaluations.minimal_pairs.files import PAIRS


def offered_tables(view: View, by: str) -> dict[str, pd.DataFrame]:
    """Summary, slopes and differences under every score that the run has, the others under the one on show.

    by: the column that the categories are grouped by. Every difference has a row of its own; the figure alone merges
    outer ones.
    """
    of_score = {name: table(view, name).assign(normalization=view.normalization)
                for name in ("ranking", "comparisons")}
    return {"pairs": PAIRS.selected(view.result.pairs), "summary": tables(view, "summary"), **of_score,
            "differences": tables(view, "each difference"), "bias": tables(view, "slopes"),
            "categories": table(view, "categories", by),
            "excluded": view.result.excluded}
