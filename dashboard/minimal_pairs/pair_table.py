"""The pairs of a minimal-pairs run as a table: scores, outcome, stratum; filtered and sorted. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import (
    DEFAULT_ALPHA,
    decided,
    has_token_counts,
    of_model,
    scores,
    token_counts,
)
from engine.measures.minimal_pairs.length_bias import strata
from engine.messages.languages import mark, tr

OUTCOMES = ("wrong", "tie", "right")
# How a pair is cut into tokens: shared words, those of them that are cut differently, and of each sentence tokens that
# are a part of a character and tokens that the tokenizer does not know.
CUTS = (
    "cut_words",
    "shared_words",
    "acceptable_parts",
    "unacceptable_parts",
    "acceptable_unknown",
    "unacceptable_unknown",
)
ORDERS = IN_FILE, MOST_WRONG, CLOSEST, MOST_RIGHT = (
    "as in the file",  # untranslated
    "most wrong first",  # untranslated
    "closest first",  # untranslated
    "most right first",  # untranslated
)
ORDER_NAMES = {
    IN_FILE: mark("As in the file"),
    MOST_WRONG: mark("Lowest margin first"),
    CLOSEST: mark("Closest first"),
    MOST_RIGHT: mark("Highest margin first"),
}


def pair_table(result: Result, model: str, normalization: str, alpha: float) -> pd.DataFrame:
    """The pairs of one model under a normalisation, in the order of the file.

    Columns: row, category, acceptable, unacceptable, outcome ("right", "tie", "wrong"), stratum, difference (|A| - |U|,
    tokens; both without a value where numbers of tokens are not known), margin (acceptable score minus unacceptable),
    then score and number of tokens of each sentence, item, and scored_in and how the pair is cut (CUTS) where the result
    has them.
    """
    pairs = of_model(result, model)
    acceptable, unacceptable = scores(pairs, normalization, alpha)
    outcome = np.array(OUTCOMES, dtype=object)[decided(pairs, normalization, alpha).astype(int) + 1]
    columns = ["row", "category", "acceptable", "unacceptable", "acceptable_tokens", "unacceptable_tokens"]
    columns += [name for name in ("item", "scored_in", *CUTS) if name in pairs.columns]
    return (
        pairs[columns]
        .reset_index(drop=True)
        .assign(
            outcome=pd.Categorical(outcome, categories=OUTCOMES),
            **_lengths(pairs),
            margin=acceptable - unacceptable,
            acceptable_score=acceptable,
            unacceptable_score=unacceptable,
        )
    )


def _lengths(pairs: pd.DataFrame) -> dict[str, Any]:
    """Stratum and difference of each pair; "" and none where the numbers of tokens are not known."""
    if not has_token_counts(pairs):
        return {"stratum": "", "difference": pd.array([pd.NA] * len(pairs), dtype="Int64")}
    return {"stratum": strata(*token_counts(pairs)), "difference": np.subtract(*token_counts(pairs))}


def first_sentences(result: Result) -> pd.DataFrame:
    """What the page shows of the first single sentences while the others are computed, with their log-likelihoods."""
    table = pair_table(result, result.settings.models[0], "LP", DEFAULT_ALPHA)
    table = table.rename(columns={"acceptable": "sentence", "acceptable_score": "log_likelihood"})
    return table[["row", "sentence", "log_likelihood"]].round(3)


def first_pairs(result: Result) -> pd.DataFrame:
    """What the page shows of the first pairs while the others are computed, with their log-likelihoods."""
    table = pair_table(result, result.settings.models[0], "LP", DEFAULT_ALPHA)
    names = {f"{side}_score": f"{side}_log_likelihood" for side in ("acceptable", "unacceptable")}
    return table.rename(columns=names)[["row", "acceptable", "unacceptable", *names.values()]].round(3)


def difference_label(difference: int, *, beyond: bool = False) -> str:
    """A token difference as text; beyond: it stands for those farther from 0, too.

    >>> difference_label(2, beyond=True), difference_label(-1), difference_label(0)
    ('|A| − |U| = +2 or more', '|A| − |U| = −1', '|A| − |U| = 0')
    """
    signed = f"{difference:+d}".replace("+0", "0").replace("-", "−")
    if not beyond:
        return f"|A| − |U| = {signed}"
    return (
        tr("|A| − |U| = {difference} or more", difference=signed)
        if difference > 0
        else tr("|A| − |U| = {difference} or less", difference=signed)
    )


def ordered(table: pd.DataFrame, order: str) -> pd.DataFrame:
    """The pairs in one of ORDERS; undefined margins last."""
    if order == IN_FILE:
        return table
    key, ascending = (table["margin"].abs(), True) if order == CLOSEST else (table["margin"], order == MOST_WRONG)
    return table.loc[key.sort_values(ascending=ascending, kind="stable").index]


def filtered(
    table: pd.DataFrame,
    *,
    outcomes: Collection[str] = (),
    strata: Collection[str] = (),
    categories: Collection[str] = (),
) -> pd.DataFrame:
    """The pairs with one of the outcomes, strata and categories; an empty choice does not filter."""
    mask = np.ones(len(table), dtype=bool)
    for column, values in (("outcome", outcomes), ("stratum", strata), ("category", categories)):
        if values:
            mask &= table[column].isin(list(values)).to_numpy()
    return table[mask]
