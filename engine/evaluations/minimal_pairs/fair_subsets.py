"""Pairs among which length cannot decide, and what the accuracies and ranks are there (the paper's section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.minimal_pairs.clustered.intervals import CLUSTERED_BY
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.records import (
    ALL,
    CATEGORY,
    CUT_ALIKE,
    CUT_DIFFERENTLY,
    EQUAL,
    EQUAL_FOR_ALL,
    MATCHED,
    PAIR_ROW,
    SUBSETS,
    TOKENS,
    Result,
)
from engine.evaluations.minimal_pairs.views import (
    COUNTED,
    DEFAULT_ALPHA,
    accuracies,
    by_model,
    categories_of,
    decided,
    has_token_counts,
    token_counts,
    without_token_counts,
)
from engine.evaluations.shared.common_columns import MODEL
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.evaluations.shared.stored_table import in_memory
from engine.measures.minimal_pairs.matched_sample import matched_sample, matched_spread
from engine.messages.message import Message, list_of

# Counts, accuracy and interval, of all pairs and of the fair subset.
_COLUMNS = [column.name for column in COUNTED]
_KEYS = ["overall", "category", "model", "subset", "normalization"]

RANK = Column(
    "rank", "integer or none", "1 is the highest accuracy in the category, equal ones share a rank", better="lower"
)
FAIR_SUBSETS = Table(
    "fair_subsets",
    Message("A row for each pair of each subset of each model."),
    (
        Column(
            "subset",
            "text",
            Message(
                "the subset: {EQUAL}, {EQUAL_FOR_ALL}, {MATCHED}, {CUT_ALIKE} or {CUT_DIFFERENTLY}",
                EQUAL=EQUAL,
                EQUAL_FOR_ALL=EQUAL_FOR_ALL,
                MATCHED=MATCHED,
                CUT_ALIKE=CUT_ALIKE,
                CUT_DIFFERENTLY=CUT_DIFFERENTLY,
            ),
            words=lambda subset: SUBSETS[subset].label if subset in SUBSETS else subset,
        ),
        MODEL,
        PAIR_ROW,
    ),
)
BESIDE = Table(
    "fair_summary",
    Message("A row for each category, and for all, of each model: all pairs beside a subset."),
    (
        Column("overall", "boolean", 'whether it is of all categories; its category is ""'),
        Column("category", "text", "the category, or the value of the column chosen"),
        MODEL,
        *COUNTED,
        RANK,
        *(
            replace(
                column, name=f"fair_{column.name}", meaning=Message("{meaning}; of the subset", meaning=column.meaning)
            )
            for column in (*COUNTED, RANK)
        ),
        Column("change", "number", "fair_accuracy less accuracy"),
        Column("rank_change", "integer or none", "rank less fair_rank: above 0 the model climbs"),
        Column(
            "fair_mean",
            "number",
            Message(
                "of {MATCHED}: mean of fair_accuracy over all samples that could be drawn; "
                "NaN of the other subsets, which are not drawn",
                MATCHED=MATCHED,
            ),
            since="0.3.0",
            digits=3,
        ),
        Column(
            "fair_deviation",
            "number",
            "standard deviation of fair_accuracy over these samples, that is over seeds",
            since="0.3.0",
            digits=3,
        ),
        CLUSTERED_BY,
    ),
)


def fair_rows(result: Result, subset: str, seed: int = 0) -> dict[str, np.ndarray]:
    """The row numbers of a subset (a key of SUBSETS) by model, ascending as in the file.

    `seed` draws the matched sample. A model whose numbers of tokens are not known has no pair in a subset by these.
    Raises InputError for a subset that there is not.
    """
    if subset not in SUBSETS:
        raise InputError(
            Message("A subset is one of {SUBSETS}; got {subset!r}.", SUBSETS=list_of(SUBSETS), subset=subset)
        )
    rows_by_model = {}
    uncounted = without_token_counts(result) if subset in (EQUAL, EQUAL_FOR_ALL, MATCHED) else []
    for model, pairs in by_model(result):
        rows = pairs["row"].to_numpy()
        if model in uncounted:
            rows_by_model[model] = rows[:0]
            continue
        a, u = token_counts(pairs) if has_token_counts(pairs) else (rows, rows)
        if subset == MATCHED:
            rows_by_model[model] = rows[matched_sample(a, u, seed)]
        elif subset in (CUT_ALIKE, CUT_DIFFERENTLY):
            rows_by_model[model] = rows[_is_cut(pairs, subset)]
        else:
            rows_by_model[model] = rows if subset == ALL else rows[a == u]
    if subset == EQUAL_FOR_ALL:
        counted = [rows for model, rows in rows_by_model.items() if model not in uncounted]
        common = reduce(np.intersect1d, counted) if counted else np.zeros(0, dtype=np.int64)
        return {model: rows[np.isin(rows, common)] for model, rows in rows_by_model.items()}
    return rows_by_model


def of_subset(result: Result, subset: str) -> Result:
    """The result of a subset of the pairs (a key of SUBSETS), drawn with the run's own seed.

    Raises InputError for a subset that there is not, and where a model has no pair in it.
    """
    if subset == ALL:
        return result
    rows_by_model = fair_rows(result, subset, result.settings.seed)
    empty = [model for model, rows in rows_by_model.items() if not len(rows)]
    if empty:
        uncounted = set(empty) & set(without_token_counts(result))
        raise InputError(
            Message(
                "The subset {subset!r} has no pair under {empty}, whose numbers of tokens are not known. Choose {ALL!r}, or "
                "name the tokenizer (--tokenizer).",
                subset=subset,
                empty=list_of(model for model in empty if model in uncounted),
                ALL=ALL,
            )
            if uncounted
            else Message(
                "The subset {subset!r} has no pair under {empty}. Choose another subset, or {ALL!r}.",
                subset=subset,
                empty=list_of(empty),
                ALL=ALL,
            )
        )
    return restricted(result, rows_by_model)


def restricted(result: Result, rows_by_model: Mapping[str, np.ndarray]) -> Result:
    """The result of these pairs alone; `items` stay whole, and so do the unigrams that SLOR has."""

    def of(table: pd.DataFrame) -> pd.DataFrame:
        kept = np.zeros(len(table), dtype=bool)
        rows = table["row"].to_numpy()
        for model, wanted in rows_by_model.items():
            kept |= (table["model"] == model).to_numpy() & np.isin(rows, wanted)
        return table[kept].reset_index(drop=True)

    return replace(
        result,
        pairs=of(result.pairs),
        tokens=of(in_memory(result.tokens)),
        shared=of(result.shared) if len(result.shared) else result.shared,
    )


def _is_cut(pairs: pd.DataFrame, subset: str) -> np.ndarray:
    """Which pairs belong to CUT_ALIKE or CUT_DIFFERENTLY: bool (n_pairs,); none in results that do not say it."""
    counts = ("cut_words", *(f"{side}_{name}" for side in SIDES for name in ("parts", "unknown")))
    if not set(counts) <= set(pairs.columns):
        return np.zeros(len(pairs), dtype=bool)
    known = pairs[list(counts)].notna().all(axis=1).to_numpy()
    different = np.any(pairs[list(counts)].to_numpy(dtype=float, na_value=np.nan) > 0, axis=1)
    return np.asarray(known & (different if subset == CUT_DIFFERENTLY else ~different))


@returns(BESIDE)
def beside(
    result: Result,
    subset: str,
    normalization: str,
    alpha: float = DEFAULT_ALPHA,
    *,
    field: str = CATEGORY,
    seed: int = 0,
    clustered_by: str = "",
) -> pd.DataFrame:
    """Accuracies of all pairs beside those of a fair subset, over all and by category (the paper's table 3).

    A category that the subset does not hold has fair_n 0 and NaN. clustered_by: as in `views.summary`.
    """
    return besides(result, (subset,), (normalization,), alpha, field=field, seed=seed, clustered_by=clustered_by)[
        list(BESIDE.headers)
    ]


def besides(
    result: Result,
    subsets: Sequence[str],
    normalizations: Sequence[str],
    alpha: float = DEFAULT_ALPHA,
    *,
    field: str = CATEGORY,
    seed: int = 0,
    clustered_by: str = "",
) -> pd.DataFrame:
    """`beside` of each normalisation and, within it, of each subset, one below the other, with columns that name both.

    The subsets are drawn, and the accuracies of all pairs computed, once for all.
    """
    result = replace(result, tokens=TOKENS.frame())  # millions, which no accuracy needs
    fair_by_subset = {subset: restricted(result, fair_rows(result, subset, seed)) for subset in subsets}
    wholes, fairs, spreads = [], [], []
    for normalization in normalizations:
        whole = accuracies(result, normalization, alpha, field, clustered_by)
        if MATCHED in subsets:
            of_samples = _spreads(result, normalization, alpha, field)
            spreads.append(of_samples.assign(subset=MATCHED, normalization=normalization))
        for subset, fair in fair_by_subset.items():
            of_fair = accuracies(fair, normalization, alpha, field, clustered_by)
            wholes.append(whole.assign(subset=subset, normalization=normalization))
            fairs.append(of_fair.assign(subset=subset, normalization=normalization))
    fair_names = {name: f"fair_{name}" for name in (*_COLUMNS, RANK.name)}
    both = _ranked(wholes).merge(_ranked(fairs).rename(columns=fair_names), on=_KEYS, how="left")
    counts = [fair_names[name] for name in _COLUMNS[:3]]
    both[counts] = both[counts].fillna(0).astype(np.int64)
    both = both.assign(
        change=both["fair_accuracy"] - both["accuracy"],
        rank_change=both["rank"] - both["fair_rank"],
        clustered_by=pd.Series(clustered_by, index=both.index, dtype="str"),
    )
    if not spreads:
        return both.assign(fair_mean=np.nan, fair_deviation=np.nan)
    return both.merge(pd.concat(spreads), on=_KEYS, how="left")


def _ranked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables of `accuracies`, one below the other, with the rank of each model."""
    table = pd.concat(parts, ignore_index=True)[[*_KEYS, *_COLUMNS]]
    of_models = table.groupby([name for name in _KEYS if name != MODEL.name])["accuracy"]
    return table.assign(rank=of_models.rank(ascending=False, method="min").astype("Int64"))


def _spreads(result: Result, normalization: str, alpha: float, field: str) -> pd.DataFrame:
    """Mean and deviation of the accuracy over all matched samples, of each model, over all and by category."""
    rows = []
    for model, pairs in by_model(result):
        if not has_token_counts(pairs):
            continue
        (a, u), right = token_counts(pairs), decided(pairs, normalization, alpha) == 1
        categories = categories_of(result, pairs, field).to_numpy()
        rows.append((True, "", model, *matched_spread(a, u, right)))
        rows += [
            (False, category, model, *matched_spread(a, u, right, categories == category))
            for category in dict.fromkeys(categories)
        ]
    return pd.DataFrame(rows, columns=["overall", "category", "model", "fair_mean", "fair_deviation"])
