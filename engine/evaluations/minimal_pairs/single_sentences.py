"""Scores of single sentences against judgements, acceptable or not: AUC, a held-out threshold, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import FIELD
from engine.evaluations.minimal_pairs.records import CATEGORY, PAIR_ROW, Result
from engine.evaluations.minimal_pairs.views import (
    DEFAULT_ALPHA,
    NORMALIZATION,
    available,
    by_model,
    categories_of,
    of_model,
    scores,
)
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.minimal_pairs.judged_sentences import (
    FOLDS,
    PARTITIONS,
    HeldOut,
    brier_score,
    calibration_error,
    held_out,
    matthews_correlation,
    partition_spread,
    reliability,
)
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.ranked_area import area_with_interval
from engine.messages.message import Message

VERSION = "0.3.0"
# The numbers that depend on the partition into parts.
_IN_PARTS = ("mcc", "accuracy", "threshold", "brier", "ece")
# The values of a column that says of each sentence whether a phenomenon is in it.
TRUE, FALSE = "true", "false"
_N = Column("n", "integer", "sentences with a finite score and a judgement", "sentences")
_N_ACCEPTABLE = Column("n_acceptable", "integer", "of them, those judged acceptable", "sentences")

JUDGEMENTS = Table(
    "judgements",
    Message(
        "A row for all single sentences, and for those of each category, of each "
        "model under each normalisation: how its scores agree with judgements, "
        "acceptable or not."
    ),
    (
        MODEL,
        NORMALIZATION,
        Column("field", "text", 'the column of the category; "" for all sentences'),
        Column("value", "text", 'its value there; "" for all sentences'),
        _N,
        _N_ACCEPTABLE,
        measured("judgement_auc", "auc"),
        *interval(Message("DeLong's, on the log-odds")),
        measured("judgement_mcc", "mcc", "of the verdicts of a threshold that was chosen on the other parts"),
        *interval(Message("of the bootstrap over sentences"), "mcc"),
        measured("judgement_accuracy", "accuracy", "of the same verdicts"),
        *interval(Message("Wilson's"), "accuracy"),
        Column("majority", "number", "accuracy of always saying what is more frequent in this row", digits=3),
        Column("threshold", "number", "mean of the thresholds over the parts, in the unit of the score"),
        measured("brier_score", "brier", "of probabilities from a logistic curve that was fitted to the other parts"),
        measured("calibration_error", "ece", "of the same probabilities"),
        WHY_UNDEFINED,
        *(
            Column(
                f"{name}_deviation",
                "number",
                Message(
                    "standard deviation of {name} over {PARTITIONS} partitions into parts, that is over seeds",
                    name=name,
                    PARTITIONS=PARTITIONS,
                ),
                better="lower",
                digits=3,
            )
            for name in _IN_PARTS
        ),
    ),
    only_with_rows=True,
    since=VERSION,
)
RELIABILITY = Table(
    "reliability",
    Message(
        "A row for each bin of the probability of being acceptable, of each model "
        "under each normalisation: the reliability curve."
    ),
    (
        MODEL,
        NORMALIZATION,
        Column("bin_low", "number", "lower end of the bin"),
        Column("bin_high", "number", "upper end of the bin"),
        replace(_N, meaning="sentences in the bin"),
        _N_ACCEPTABLE,
        Column("probability", "number", "mean probability in the bin; NaN in an empty one", digits=3),
        Column("share", "number", "share of acceptable sentences; NaN in an empty bin", digits=3),
        *interval(Message("Wilson's")),
    ),
    only_with_rows=True,
    since=VERSION,
)
SENTENCES = Table(
    "sentences",
    Message("A row for each single sentence under a model and a normalisation."),
    (
        PAIR_ROW,
        Column("sentence", "text", "the sentence"),
        Column("label", "integer", "1 acceptable, 0 not"),
        Column("score", "number", "the score", better="higher"),
        Column("probability", "number", "of being acceptable, by the other parts", digits=3),
        Column("part", "integer", "the part it is in, from 0; -1 where nothing was fitted"),
        Column("predicted", "integer or none", "the verdict of the threshold of the other parts, 1 acceptable, 0 not"),
    ),
)


@returns(JUDGEMENTS)
def judgements(
    result: Result,
    normalizations: Sequence[str] | None = None,
    alpha: float = DEFAULT_ALPHA,
    *,
    folds: int = FOLDS,
    by: str = CATEGORY,
) -> pd.DataFrame:
    """AUC, MCC, accuracy and calibration over all judged sentences and in each category; no row for pairs.

    Threshold and probabilities of a category are those of all sentences. Categories are the values of the column `by`
    (as in `views.categories_of`, save that "source" is the file's own column where it has one), and every column of the
    file that says True or False of each sentence, such as the phenomena of JCoLA, for its True. normalizations: None =
    every one that is `available`. The parts are drawn by `result.settings.seed`. Raises InputError for a column that
    the dataset does not have.

    The standard deviations are over the seeds from that of the settings on, `PARTITIONS` of them.
    """
    rows, seed = [], result.settings.seed
    for model, pairs in by_model(result):
        for normalization in available(pairs) if normalizations is None else normalizations:
            values, labels, fit, kept = _fitted(result, pairs, normalization, alpha, folds)
            if not values.size:
                continue
            fits = [fit, *(held_out(values, labels, folds, seed=other) for other in range(seed + 1, seed + PARTITIONS))]
            for field, value, chosen in _categories(result, pairs, by):
                inside = chosen[kept]
                rows.append(
                    {
                        "model": model,
                        "normalization": normalization,
                        "field": field,
                        "value": value,
                        **_agreement(values[inside], labels[inside], fit, inside, seed),
                        **{
                            f"{name}_deviation": deviation
                            for name, deviation in asdict(partition_spread(fits, labels, inside)).items()
                        },
                    }
                )
    return JUDGEMENTS.frame_of_records(rows)


@returns(RELIABILITY)
def reliability_curves(
    result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA, *, folds: int = FOLDS
) -> pd.DataFrame:
    """Of the sentences of about one probability, how many are acceptable? The bins behind `ece`; no row for pairs."""
    parts = [RELIABILITY.frame()]
    for model, pairs in by_model(result):
        for normalization in available(pairs) if normalizations is None else normalizations:
            _, labels, fit, _ = _fitted(result, pairs, normalization, alpha, folds)
            if fit.reason or not labels.size:
                continue
            bins = reliability(fit.probability, labels)
            low, high = wilson_interval(bins.n_acceptable, bins.n)
            parts.append(
                pd.DataFrame(
                    {
                        "model": model,
                        "normalization": normalization,
                        "bin_low": bins.low,
                        "bin_high": bins.high,
                        "n": bins.n,
                        "n_acceptable": bins.n_acceptable,
                        "probability": bins.probability,
                        "share": bins.share,
                        "ci_low": low,
                        "ci_high": high,
                    }
                ).astype({"model": "str", "normalization": "str"})
            )
    return pd.concat(parts, ignore_index=True)


@returns(SENTENCES)
def judged_sentences(
    result: Result, model: str, normalization: str, alpha: float = DEFAULT_ALPHA, *, folds: int = FOLDS
) -> pd.DataFrame:
    """Each judged sentence of a model with its score, what the other parts say of it, and its judgement."""
    pairs = of_model(result, model)
    values, labels, fit, kept = _fitted(result, pairs, normalization, alpha, folds)
    chosen = pairs[kept]
    predicted = pd.array(fit.predicted.astype(np.int64), dtype="Int64")
    predicted[fit.part < 0] = pd.NA
    return pd.DataFrame(
        {
            "row": chosen["row"].to_numpy(),
            "sentence": chosen["acceptable"].array,
            "label": labels.astype(np.int64),
            "score": values,
            "probability": fit.probability,
            "part": fit.part,
            "predicted": predicted,
        }
    )


def _fitted(
    result: Result, pairs: pd.DataFrame, normalization: str, alpha: float, folds: int
) -> tuple[np.ndarray, np.ndarray, HeldOut, np.ndarray]:
    """Scores and judgements (n,) of the sentences that have both, what is held out, and which of `pairs` they are."""
    labels = (
        result.items["label"].take(pairs["item"].to_numpy())
        if "label" in result.items.columns
        else pd.Series(pd.NA, index=pairs.index, dtype="Int64")
    )
    values = scores(pairs, normalization, alpha)[0]
    kept = labels.notna().to_numpy() & np.isfinite(values)
    flags = labels.to_numpy(dtype=np.float64, na_value=np.nan)[kept] == 1
    return values[kept], flags, held_out(values[kept], flags, folds, seed=result.settings.seed), kept


def _categories(result: Result, pairs: pd.DataFrame, by: str) -> Iterator[tuple[str, str, np.ndarray]]:
    """Column, value and which of the pairs have it, bool (n_pairs,): all of them first."""
    yield "", "", np.ones(len(pairs), dtype=bool)
    phenomena = [
        name
        for name, values in result.items.items()
        if str(name).startswith(FIELD)
        and TRUE in (found := {str(value).casefold() for value in values})
        and found <= {TRUE, FALSE, ""}
    ]
    items = pairs["item"].to_numpy()
    for name in phenomena:
        holds = (result.items[name].str.casefold() == TRUE).take(items).to_numpy()
        yield str(name).removeprefix(FIELD), "True", holds
    if f"{FIELD}{by}" not in phenomena:
        # Where the file has a column "source", it is the publication; elsewhere it is the file.
        values = (
            result.items[f"{FIELD}{by}"].take(items)
            if f"{FIELD}{by}" in result.items.columns
            else categories_of(result, pairs, by)
        )
        for value in dict.fromkeys(value for value in values if value):
            yield by, str(value), (values == value).to_numpy()


def _agreement(
    values: np.ndarray, labels: np.ndarray, fit: HeldOut, inside: np.ndarray, seed: int
) -> dict[str, object]:
    """The numbers of one row of JUDGEMENTS."""
    n, n_acceptable = labels.size, int(labels.sum())
    area = area_with_interval(values, labels)
    row: dict[str, object] = {
        "n": n,
        "n_acceptable": n_acceptable,
        "auc": area.value,
        "ci_low": area.ci_low,
        "ci_high": area.ci_high,
        "reason": area.reason or fit.reason,
        "majority": max(n_acceptable, n - n_acceptable) / n if n else np.nan,
    }
    if fit.reason or not n:
        return row | dict.fromkeys(
            ("mcc", "mcc_low", "mcc_high", "accuracy", "accuracy_low", "accuracy_high", "threshold", "brier", "ece"),
            np.nan,
        )
    predicted, probability = fit.predicted[inside], fit.probability[inside]
    n_right = int((predicted == labels).sum())
    low, high = wilson_interval(n_right, n)
    # With one judgement only, no verdict goes together with it, whatever the threshold.
    mcc = matthews_correlation(predicted, labels, seed=seed) if 0 < n_acceptable < n else (np.nan,) * 3
    return row | {
        **dict(zip(("mcc", "mcc_low", "mcc_high"), mcc, strict=True)),
        "accuracy": n_right / n,
        "accuracy_low": low,
        "accuracy_high": high,
        "threshold": float(np.mean(fit.threshold)),
        "brier": brier_score(probability, labels),
        "ece": calibration_error(reliability(probability, labels)),
    }
