"""How much of a minimal-pairs result is length: slopes, and scores against the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.clustered.intervals import NO_SPREAD, OVER
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.judgements import labels_of
from engine.evaluations.minimal_pairs.records import PAIR_ROW, Result
from engine.evaluations.minimal_pairs.views import (
    DEFAULT_ALPHA,
    NORMALIZATION,
    UNCOUNTED,
    available,
    by_model,
    clusters_of,
    decided,
    has_token_counts,
    of_model,
    scores,
    token_counts,
)
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.few_clusters import FEW, note_of
from engine.measures.minimal_pairs.firth_slope import firth_slope
from engine.measures.minimal_pairs.length_slope import SEPARATION, length_slope
from engine.measures.statistics.correlations.correlation import pearson, spearman
from engine.messages.message import Message, named

NO_PENALISED_INTERVAL = Message("a penalised slope has no interval over clusters")
MOST_POINTS = 4000  # more cannot be told apart on a screen

SLOPES = Table(
    "bias",
    Message("A row for each model and normalisation: the length bias as one number."),
    (
        MODEL,
        NORMALIZATION,
        measured("length_slope", "slope", "log-odds of being right per token that the acceptable sentence is longer"),
        Column(
            "standard_error",
            "number",
            "standard error of the slope, over clusters where a column of them is named",
            "log-odds per token",
        ),
        *interval(Message("NaN for too few clusters"), of="slope"),
        Column("intercept", "number", "log-odds of being right where both have as many tokens", "log-odds"),
        Column("n", "integer", "pairs", "pairs"),
        Column("n_tied", "integer", "pairs left out as ties", "pairs"),
        WHY_UNDEFINED,
        Column(
            "firth_slope",
            "number",
            "Firth's penalised estimate of the slope, where one difference parts right from "
            "wrong and the slope is infinite",
            "log-odds per token",
        ),
        *interval(Message("from the profile of the penalised likelihood; NaN over clusters"), names="firth"),
        *OVER,
    ),
)
POINTS = Table(
    "points",
    Message("A row for each sentence to be drawn."),
    (
        PAIR_ROW,
        Column("side", "text", "acceptable or unacceptable", words=named),
        Column("tokens", "integer", "scored tokens, |S|", "tokens"),
        Column("score", "number", "the score", better="higher"),
    ),
)
CORRELATIONS = Table(
    "correlations",
    Message("A row for each model and normalisation: scores against |S| of all sentences."),
    (
        MODEL,
        NORMALIZATION,
        Column("n", "integer", "sentences", "sentences"),
        replace(measured("pearson"), better="neither"),
        *interval(names="pearson"),
        replace(measured("spearman"), better="neither"),
        *interval(names="spearman"),
        WHY_UNDEFINED,
    ),
)


@returns(SLOPES)
def slopes(
    result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA, clustered_by: str = ""
) -> pd.DataFrame:
    """The length bias as one number for each model and normalisation (None = every one that is `available`).

    clustered_by: the column whose values are the clusters of pairs, as in `views.clusters_of`.
    """
    return SLOPES.frame_of_records(
        [
            {
                "model": model,
                "normalization": normalization,
                "clustered_by": clustered_by,
                **_slope(decided(pairs, normalization, alpha), pairs, clusters),
                **({} if has_token_counts(pairs) else {"reason": UNCOUNTED}),
            }
            for model, pairs in by_model(result)
            for clusters in [clusters_of(result, pairs, clustered_by)]
            for normalization in (available(pairs) if normalizations is None else normalizations)
        ]
    )


@returns(CORRELATIONS)
def length_correlations(
    result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA
) -> pd.DataFrame:
    """Do scores fall or rise with |S|? Over all sentences of the pairs, acceptable or not.

    A normalisation that sets length aside is near 0.
    """
    rows = []
    n_sides = result.data_kind.n_sentences  # a single sentence stands on both
    for model, pairs in by_model(result):
        is_counted = has_token_counts(pairs)
        counts = token_counts(pairs) if is_counted else (np.full(len(pairs), np.nan),) * 2
        lengths = np.concatenate(counts[:n_sides])
        for normalization in available(pairs) if normalizations is None else normalizations:
            values = np.concatenate(scores(pairs, normalization, alpha)[:n_sides])
            finite = np.where(np.isfinite(values), values, np.nan)
            linear, by_rank = (
                measure(lengths, finite, names=("|S|", Message("the score"))) for measure in (pearson, spearman)
            )
            rows.append(
                {
                    "model": model,
                    "normalization": normalization,
                    "n": linear.n,
                    "pearson": linear.value,
                    "pearson_low": linear.ci_low,
                    "pearson_high": linear.ci_high,
                    "spearman": by_rank.value,
                    "spearman_low": by_rank.ci_low,
                    "spearman_high": by_rank.ci_high,
                    "reason": linear.reason if is_counted else UNCOUNTED,
                }
            )
    return CORRELATIONS.frame_of_records(rows)


def number_of_sentences(result: Result, model: str) -> int:
    """How many sentences a model scored: two of a pair; a single sentence stands on both sides and counts once."""
    return len(of_model(result, model)) * result.data_kind.n_sentences


@returns(POINTS)
def length_points(
    result: Result,
    model: str,
    normalization: str,
    alpha: float = DEFAULT_ALPHA,
    *,
    most: int = MOST_POINTS,
    seed: int = 0,
) -> pd.DataFrame:
    """Sentences to be drawn, score against |S|; at most `most`, drawn by `seed`.

    The side of a single judged sentence is its judgement.
    """
    pairs = of_model(result, model)
    if not has_token_counts(pairs):
        return POINTS.frame()
    n = len(pairs)
    n_sentences = number_of_sentences(result, model)
    kept = np.arange(n_sentences)
    if n_sentences > most:
        kept = np.sort(np.random.default_rng(seed).choice(n_sentences, most, replace=False))
    side = kept // n if n else kept
    if (labels := labels_of(pairs, result.items)) is not None:
        side = (labels[kept] != 1).astype(np.int64)
    return pd.DataFrame(
        {
            "row": np.tile(pairs["row"].to_numpy(), 2)[kept],
            "side": np.array(SIDES)[side],
            "tokens": np.concatenate(token_counts(pairs))[kept],
            "score": np.concatenate(scores(pairs, normalization, alpha))[kept],
        }
    )


def misleads(summary: pd.DataFrame) -> bool:
    """Whether length has a large effect under this model: A>U is right less often than A<U, beyond both intervals.

    `summary` has the strata of one model and one normalisation, as `views.summary` returns them. Where the numbers of
    tokens are not known, it is not known either.
    """
    by_stratum = summary.set_index("stratum")
    if "A>U" not in by_stratum.index:
        return False
    longer, shorter = by_stratum.loc["A>U"], by_stratum.loc["A<U"]
    return bool(longer["ci_high"] < shorter["ci_low"])


def decides(summary: pd.DataFrame) -> bool:
    """Whether length has a large effect in either direction: as `misleads`, or A>U is right more often than A<U.

    A normalisation that divides by the number of tokens can overdo it, so that the longer sentence is preferred.
    """
    by_stratum = summary.set_index("stratum")
    if "A>U" not in by_stratum.index:
        return False
    longer, shorter = by_stratum.loc["A>U"], by_stratum.loc["A<U"]
    return misleads(summary) or bool(shorter["ci_high"] < longer["ci_low"])


def _slope(decisions: np.ndarray, pairs: pd.DataFrame, clusters: np.ndarray | None) -> dict[str, Any]:
    """The slope and, under separation, the penalised estimate that takes its place in figures."""
    if not has_token_counts(pairs):
        return _no_slope(decisions, clusters)
    differences = _differences(pairs)
    fit = length_slope(decisions, differences, clusters=clusters)
    note = "" if clusters is None else note_of(fit.n_clusters)
    if note in ("", FEW) and np.isnan(fit.standard_error) and not fit.reason and clusters is not None:
        note = NO_SPREAD
    firth = {"firth_slope": np.nan, "firth_low": np.nan, "firth_high": np.nan}
    if fit.reason == SEPARATION:
        penalised = firth_slope(decisions, differences)
        firth["firth_slope"] = penalised.slope
        if clusters is None:
            firth |= {"firth_low": penalised.ci_low, "firth_high": penalised.ci_high}
        else:
            note = NO_PENALISED_INTERVAL
    return {**vars(fit), **firth, "note": note}


def _no_slope(decisions: np.ndarray, clusters: np.ndarray | None) -> dict[str, Any]:
    """The slope of a model whose numbers of tokens are not known: undefined."""
    fit = length_slope([], [], clusters=None if clusters is None else [])
    undefined = dict.fromkeys(("firth_slope", "firth_low", "firth_high"), np.nan)
    n_tied = int((decisions == 0).sum())
    return {**vars(fit), **undefined, "n": len(decisions) - n_tied, "n_tied": n_tied, "note": ""}


def _differences(pairs: pd.DataFrame) -> np.ndarray:
    acceptable, unacceptable = token_counts(pairs)
    return np.asarray(acceptable.astype(np.int64) - unacceptable)
