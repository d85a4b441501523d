"""Two sides of the evaluations of single sentences: clusters, classification, fill-mask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.evaluations.clusters.records import Result as Clusters
from engine.evaluations.comparison.common_items import (
    BOOTSTRAP,
    Differences,
    Number,
    changed_most_first,
    common_items,
    mean_difference,
    share_difference,
)
from engine.evaluations.comparison.records import Side
from engine.evaluations.shared.unknown_tokens import NOTICED
from engine.language.quantities import count
from engine.measures.mask_probability import probability_differences
from engine.messages.message import Message

DISTANCE = Message("distance to the centroid of the own class, over the mean of these distances under the model")
SHARE = Message("share of the tests in which the class was predicted")
PROBABILITY = Message("probability of the masked word")
BY_WORDS = Message("Student's t, paired, over the words")
NO_P_VALUE = Message(
    "the run keeps the interval of its bootstrap, not a p-value: significant where the interval excludes 0"
)
NO_BOOTSTRAP = Message("the run has no bootstrap of these two models")
OTHER_SENTENCES = Message("not over the same sentences and classes")
GROWS = Message(
    "M_m grows with the number of sentences per class, so there is no difference of M_m over different "
    "sentences or classes."
)
NO_VECTORS = Message("two runs keep no vectors to resample together: compare the models in one run")


def compare_clusters(first: Side, second: Side) -> Differences:
    """M_m, with the run's own paired bootstrap where both are of one run, and who is nearest to another class.

    M_m over other sentences, or other classes of them, has no difference: it grows with the sentences of a class.
    A sentence whose nearest centroid is that of another class has moved out of its own.
    """
    common = common_items(*map(_points, (first, second)))
    table = common.table
    own = [(table[f"nearest_class_{side}"] == table[f"label_{side}"]).to_numpy() for side in ("first", "second")]
    n_relabelled = int((table["label_first"] != table["label_second"]).sum())
    is_over_the_same = not (common.n_only_first or common.n_only_second) and _are_alike_classes(table)
    numbers = [
        _scores(first, second, len(table), OTHER_SENTENCES if not is_over_the_same else ""),
        share_difference("nearest_own_centroid", Message("all sentences"), own[0], own[1]),
    ]
    table = table.assign(
        first=table["relative_first"],
        second=table["relative_second"],
        difference=table["relative_first"] - table["relative_second"],
        first_outcome=table["nearest_class_first"],
        second_outcome=table["nearest_class_second"],
    )
    relabelled = (
        (
            Message(
                "{n_relabelled} with another class on each side: each side is compared with its own.",
                n_relabelled=count(n_relabelled, "sentence"),
            ),
        )
        if n_relabelled
        else ()
    )
    return Differences(
        common,
        numbers,
        changed_most_first(table),
        DISTANCE,
        (
            *relabelled,
            *(() if is_over_the_same else (GROWS,)),
            *_other_vectors(first, second),
            *_unknown(first, second),
        ),
    )


def compare_classifications(first: Side, second: Side) -> Differences:
    """The share of right predictions over the sentences that both tested, and what was predicted otherwise."""
    common = common_items(*(_predictions(side) for side in (first, second)))
    table = common.table
    shares = [table[f"share_{side}"].to_numpy() for side in ("first", "second")]
    number = mean_difference("classification_accuracy", Message("mean over the sentences tested"), shares[0], shares[1])
    table = table.assign(
        first=shares[0],
        second=shares[1],
        difference=shares[0] - shares[1],
        first_outcome=table["predicted_first"],
        second_outcome=table["predicted_second"],
    )
    return Differences(common, (number,), changed_most_first(table), SHARE, _other_vectors(first, second))


def compare_masks(first: Side, second: Side) -> Differences:
    """The mean probability of the masked words, by the test of the run itself: sentences of one word are together."""
    common = common_items(*map(_probabilities, (first, second)))
    table = common.table
    values = [table[f"probability_{side}"].to_numpy() for side in ("first", "second")]
    number = _mask_difference(values[0], values[1], table["other_text"].tolist(), table["category"].tolist())
    table = table.assign(first=values[0], second=values[1], difference=values[0] - values[1])
    return Differences(common, (number,), changed_most_first(table), PROBABILITY)


def _mask_difference(
    first: NDArray[np.float64], second: NDArray[np.float64], words: list[str], domains: list[str]
) -> Number:
    """The means of two columns of probabilities (n,) and Student's paired test over the words, of each domain apart.

    Of fewer words than have an interval: the exact test by sign flips.
    """
    measure, items = "mask_probability", Message("mean over sentences")
    if not np.isnan([first, second]).any():
        found = probability_differences([first, second], words, domains)
        difference, low, high, p_value = (float(one[0]) for one in (found.mean, found.low, found.high, found.p_value))
        if not np.isnan(p_value):
            means = float(first.mean()), float(second.mean())
            return Number(measure, items, len(first), *means, difference, low, high, BY_WORDS, p_value)
    return mean_difference(measure, items, first, second, list(zip(domains, words, strict=True)))


def _points(side: Side) -> pd.DataFrame:
    points = _of_model(side.result.points, side.model)
    distances = points["own_distance"].to_numpy(dtype=np.float64)
    mean = float(np.nanmean(distances)) if np.isfinite(distances).any() else 0.0
    return points[["row", "text", "label", "nearest_class"]].assign(
        category=points["label"], relative=distances / (mean or 1.0)
    )


def _are_alike_classes(table: pd.DataFrame) -> bool:
    """Whether both sides divide the sentences alike, whatever they call the classes."""
    labels = table[["label_first", "label_second"]].drop_duplicates()
    return labels["label_first"].is_unique and labels["label_second"].is_unique


def _other_vectors(first: Side, second: Side) -> tuple[str, ...]:
    """Says so where the two sides' vectors are not made in one way, as far as the signatures tell."""
    one, other = (side.result.signature.get("vectors", {}).get(side.model) for side in (first, second))
    if one is None or other is None or one == other:
        return ()
    return (
        Message(
            "The sentence vectors of the two sides are made in different ways ({name}: {one}; {name_}: {other}).",
            name=first.name,
            one=one,
            name_=second.name,
            other=other,
        ),
    )


def _unknown(first: Side, second: Side) -> tuple[str, ...]:
    """Says for which sides much of the text is out of the vocabulary."""
    shares = [float(_of_model(side.result.models, side.model)["unknown_share"].iloc[0]) for side in (first, second)]
    return tuple(
        Message("{name}: {share:.0%} of the tokens are unknown to the model.", name=side.name, share=share)
        for side, share in zip((first, second), shares, strict=True)
        if share >= NOTICED
    )


def _scores(first: Side, second: Side, n: int, no_difference: str) -> Number:
    """M_m of both sides; the difference has the interval of the run where both are its models.

    no_difference: why there is none, "" where there is.
    """
    one, other = (float(_of_model(side.result.models, side.model)["score"].iloc[0]) for side in (first, second))
    if no_difference:
        return Number(
            "dispersion_score", Message("all sentences of each side"), n, one, other, np.nan, reason=no_difference
        )
    number = Number("dispersion_score", Message("all sentences of each side"), n, one, other, one - other)
    if first.result is not second.result or first.model == second.model:
        return replace(number, reason="" if first.result is second.result else NO_VECTORS)
    result: Clusters = first.result
    table = result.comparisons
    for sign, models in ((1, (first.model, second.model)), (-1, (second.model, first.model))):
        row = table[(table["model"] == models[0]) & (table["other"] == models[1])]
        if len(row):
            low, high = sorted(sign * float(row[name].iloc[0]) for name in ("ci_low", "ci_high"))
            return replace(number, ci_low=low, ci_high=high, test=BOOTSTRAP, reason=NO_P_VALUE)
    return replace(number, reason=NO_BOOTSTRAP)


def _predictions(side: Side) -> pd.DataFrame:
    sentences = _of_model(side.result.sentences, side.model)
    return (
        sentences[["row", "text", "class", "predicted"]]
        .rename(columns={"class": "category"})
        .assign(share=(sentences["n_correct"] / sentences["n_asked"]).to_numpy(dtype=np.float64))
    )


def _probabilities(side: Side) -> pd.DataFrame:
    """The sentences of a side that it could fill; the word is `other_text`, the domain the category."""
    items = _of_model(side.result.items, side.model)[["row", "probability"]]
    sentences = side.result.sentences[["row", "text", "label", "domain"]]
    return items.merge(sentences, on="row", how="inner").rename(columns={"label": "other_text", "domain": "category"})


def _of_model(table: pd.DataFrame, model: str) -> pd.DataFrame:
    return table[(table["model"] == model).to_numpy()].reset_index(drop=True)
