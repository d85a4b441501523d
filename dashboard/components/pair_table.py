"""The pairs of a minimal-pairs run as a table: scores, outcome, stratum; filtered by what the reader asks for. Pure."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs import Result, decided, scores
from engine.measures.length_bias import strata

OUTCOMES = ("wrong", "tie", "right")


def pair_table(result: Result, model: str, normalization: str, alpha: float) -> pd.DataFrame:
    """The pairs of one model under a normalisation, in the order of the file.

    Columns: row, category, acceptable, unacceptable, outcome ("right", "tie", "wrong"), stratum, margin
    (acceptable score minus unacceptable), then score and number of tokens of each sentence.
    """
    pairs = result.pairs[result.pairs["model"] == model]
    acceptable, unacceptable = scores(pairs, normalization, alpha)
    outcome = np.array(OUTCOMES, dtype=object)[decided(pairs, normalization, alpha).astype(int) + 1]
    given = ["row", "category", "acceptable", "unacceptable", "acceptable_tokens", "unacceptable_tokens"]
    return pairs[given].reset_index(drop=True).assign(
        outcome=pd.Categorical(outcome, categories=OUTCOMES),
        stratum=strata(pairs["acceptable_tokens"], pairs["unacceptable_tokens"]),
        margin=acceptable - unacceptable, acceptable_score=acceptable, unacceptable_score=unacceptable,
    )


def filtered(table: pd.DataFrame, *, outcomes: Collection[str] = (), strata: Collection[str] = (),
             categories: Collection[str] = ()) -> pd.DataFrame:
    """The pairs that are of one of the outcomes, strata and categories; an empty choice lets all pass."""
    kept = np.ones(len(table), dtype=bool)
    for column, wanted in (("outcome", outcomes), ("stratum", strata), ("category", categories)):
        if wanted:
            kept &= table[column].isin(list(wanted)).to_numpy()
    return table[kept]
