"""The tables that the page offers to download: those of the command, under the score and the pairs on show."""

from __future__ import annotations

import pandas as pd

from dashboard.minimal_pairs.view import View, table, tables
from engine.evaluations.minimal_pairs.files import PAIRS
from engine.evaluations.minimal_pairs.records import CATEGORY


def offered_tables(view: View) -> dict[str, pd.DataFrame]:
    """Summary and slopes under every score that the run has, the others under the one on show."""
    of_score = {name: table(view, name).assign(normalization=view.normalization)
                for name in ("differences", "ranking", "comparisons")}
    return {"pairs": PAIRS.selected(view.result.pairs), "summary": tables(view, "summary"), **of_score,
            "bias": tables(view, "slopes"), "categories": table(view, "categories", CATEGORY),
            "excluded": view.result.excluded}
