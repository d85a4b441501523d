"""The numbers by which a card describes a model under each evaluation, from the result of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment.records import Result as Alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.classification.records import Result as Classification
from engine.evaluations.clusters.records import Result as Clusters
from engine.evaluations.comparison.records import PairView, SideView
from engine.evaluations.fill_mask.records import ALL
from engine.evaluations.fill_mask.records import Result as FillMask
from engine.evaluations.metric_study.grid import best_place
from engine.evaluations.metric_study.records import Result as MetricStudy
from engine.evaluations.minimal_pairs.designs.predictions import predictions, suite_scores
from engine.evaluations.minimal_pairs.judgements import is_design, is_judged
from engine.evaluations.minimal_pairs.records import Result as MinimalPairs
from engine.evaluations.minimal_pairs.single_sentences import judgements
from engine.evaluations.minimal_pairs.views import of_model, summary, token_counts
from engine.measures.cards.card import Better
from engine.measures.cards.catalog import CARDS
from engine.measures.minimal_pairs.length_bias import strata
from engine.messages.message import Message, named

NORMALIZATIONS = ("LP", "PenLP")
PAIR_STRATA = {"all": named("all pairs"), "A=U": named("pairs with A = U")}
NO_HUMANS = Message("no correlation with human scores is defined")
A_DESCRIPTION = Message("a mean similarity describes the pairs; it does not rank models")


@dataclass(frozen=True)
class Headline:
    """One number; `shown` is how the two sides of a comparison under it are shown.

    better: which end is. is_compared: whether it is held against other models item by item. rows: those of the data
    that it is over, where the evaluation knows them; models are ranked over the same items only. is_ranked: whether the
    run itself ranks the model.
    """

    measure: str
    value: float
    n: int
    items: str
    ci_low: float = np.nan
    ci_high: float = np.nan
    setting: str = ""
    better: Better = "neither"
    reason: str = ""
    is_compared: bool = True
    shown: SideView | None = None
    rows: frozenset[int] = frozenset()
    is_ranked: bool = True

    def is_over_the_items_of(self, other: Headline) -> bool:
        """Whether both numbers are over the same items, as far as the evaluation tells."""
        return self.n == other.n and self.rows == other.rows


def headlines(kind: str, result: Any, model: str) -> list[Headline]:
    """The numbers of a model in the result of a run of `kind` (a key of OF_KIND).

    As many and in the same order for every model; one that the run has no value of is NaN, and says why.
    """
    return OF_KIND[kind](result, model)


def of_minimal_pairs(result: MinimalPairs, model: str) -> list[Headline]:
    """Accuracy by plain and by length-penalised log-likelihood, over all pairs and those of equal length.

    Of single judged sentences AUC, of sentences in conditions how often the predictions hold; neither is compared item
    by item.
    """
    if is_judged(result):
        areas = judgements(result, NORMALIZATIONS)
        return [
            Headline(
                "judgement_auc",
                row["auc"],
                row["n"],
                "sentences",
                row["ci_low"],
                row["ci_high"],
                row["normalization"],
                CARDS["judgement_auc"].better,
                row["reason"],
                is_compared=False,
            )
            for row in _records(areas[(areas["model"] == model) & (areas["field"] == "")])
        ]
    if is_design(result):
        table = predictions(result)
        scores = suite_scores(table[table["model"] == model])
        return [
            Headline(
                "prediction_accuracy",
                row["accuracy"],
                row["n"],
                "items",
                row["ci_low"],
                row["ci_high"],
                row["prediction"],
                CARDS["prediction_accuracy"].better,
                row["reason"] if not row["n"] else "",
                is_compared=False,
            )
            for row in _records(scores)
        ]
    table = summary(result, NORMALIZATIONS)
    table = table[table["model"] == model]
    rows = [
        (row, items)
        for name in NORMALIZATIONS
        for stratum, items in PAIR_STRATA.items()
        for row in _records(table[(table["normalization"] == name) & (table["stratum"] == stratum)])
    ]
    return [
        Headline(
            "accuracy",
            row["accuracy"],
            row["n"],
            items,
            row["ci_low"],
            row["ci_high"],
            row["normalization"],
            CARDS["accuracy"].better,
            "" if row["n"] else Message("no such pair"),
            is_compared=row["stratum"] == "all",
            shown=PairView(row["normalization"]),
            rows=_rows_of(result, model, row["stratum"]),
        )
        for row, items in rows
    ]


def of_fill_mask(result: FillMask, model: str) -> list[Headline]:
    """The mean probability of the masked word over all sentences that the model could fill."""
    table = result.models[(result.models["model"] == model) & (result.models["domain"] == ALL)]
    return [
        Headline(
            "mask_probability",
            row["mean_probability"],
            row["n"],
            "sentences",
            row["ci_low"],
            row["ci_high"],
            better=CARDS["mask_probability"].better,
        )
        for row in _records(table)
    ]


def of_clusters(result: Clusters, model: str) -> list[Headline]:
    """The dispersion score, with its interval by resampling."""
    ranges = result.intervals[
        (result.intervals["model"] == model) & (result.intervals["measure"] == "dispersion_score")
    ]
    low, high = ranges[["ci_low", "ci_high"]].iloc[0] if len(ranges) else (np.nan, np.nan)
    rows = frozenset(result.points.loc[(result.points["model"] == model).to_numpy(), "row"].tolist())
    return [
        Headline(
            "dispersion_score",
            row["score"],
            row["n_sentences"],
            "sentences",
            float(low),
            float(high),
            better=CARDS["dispersion_score"].better,
            reason=CARDS["dispersion_score"].undefined if np.isnan(row["score"]) else "",
            rows=rows,
            is_ranked=not pd.isna(row["rank"]),
        )
        for row in _records(result.models[result.models["model"] == model])
    ]


def of_classification(result: Classification, model: str) -> list[Headline]:
    """The mean accuracy of the runs, with Wilson's interval at the test sentences."""
    return [
        Headline(
            "classification_accuracy",
            row["accuracy_mean"],
            row["n_test"],
            Message("test sentences"),
            row["ci_low"],
            row["ci_high"],
            better=CARDS["classification_accuracy"].better,
        )
        for row in _records(result.models[result.models["model"] == model])
    ]


def of_metric_study(result: MetricStudy, model: str) -> list[Headline]:
    """The greatest correlation with the human scores that BERTScore reaches by the model, and its setting."""
    table = result.correlations[result.correlations["model"] == model].reset_index(drop=True)
    place = best_place(table) if len(table) else None
    if place is None:
        return [
            Headline(
                "pearson",
                np.nan,
                0,
                Message("pairs with a human score"),
                better=CARDS["pearson"].better,
                reason=NO_HUMANS,
                is_compared=False,
            )
        ]
    row = _records(table)[place]
    return [
        Headline(
            "pearson",
            row["pearson"],
            row["n"],
            Message("pairs with a human score"),
            row["ci_low"],
            row["ci_high"],
            Message("idf {idf}, penalty {penalty}, the best of the grid", idf=row["idf"], penalty=row["penalty"]),
            CARDS["pearson"].better,
        )
    ]


def of_alignment(result: Alignment, model: str) -> list[Headline]:
    """Mean F1 without and with the penalty, under the scoring of the run; neither ranks models."""
    scores = rescore(result, result.settings.scoring, models=(model,)).pairs
    scoring = result.settings.scoring
    return [
        Headline(
            measure,
            float(scores[measure].mean()) if len(scores) else np.nan,
            len(scores),
            "pairs",
            setting=Message("idf {idf}, penalty {penalty}", idf=scoring.idf, penalty=penalty),
            reason=A_DESCRIPTION,
            is_compared=False,
        )
        for measure, penalty in (("f1", "none"), ("penalized_f1", scoring.penalty))
    ]


OF_KIND: Mapping[str, Callable[[Any, str], list[Headline]]] = {
    "minimal-pairs": of_minimal_pairs,
    "fill-mask": of_fill_mask,
    "clusters": of_clusters,
    "classification": of_classification,
    "metric-study": of_metric_study,
    "alignment": of_alignment,
}


def _rows_of(result: MinimalPairs, model: str, stratum: str) -> frozenset[int]:
    """The rows of the pairs of a stratum, which another tokenizer sorts otherwise."""
    pairs = of_model(result, model)
    rows = pairs["row"].to_numpy()
    return frozenset((rows if stratum == "all" else rows[strata(*token_counts(pairs)) == stratum]).tolist())


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
