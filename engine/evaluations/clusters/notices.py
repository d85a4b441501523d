"""What a reader of a clusters result should know: what was left out, what is undefined, what was sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.formats.grid import quoted
from engine.evaluations.clusters.maps import n_fitted, why_no_map, why_no_neighbours
from engine.evaluations.clusters.records import EXCLUDE, VALIDITY, Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.measures.cards.catalog import CARDS
from engine.measures.clusters.dispersion import Dispersion
from engine.messages.message import Message, list_of

CLASSES_IN_NOTICE = 10
NO_UPPER_END = Message(
    "The scores under permuted labels have no upper end: in more than 2.5% of the permutations "
    "all classes have one centroid."
)


def notices(
    settings: Settings,
    all_vectors: Sequence[ModelVectors],
    dispersions: Sequence[Dispersion],
    validity: Sequence[Mapping[str, Any]],
    null: pd.DataFrame,
    n_sentences: int,
) -> list[str]:
    """The notices, those that hold for every model once and without a name."""
    models_by_notice: dict[str, list[str]] = {}
    for vectors, dispersion, piece in zip(all_vectors, dispersions, validity, strict=True):
        for notice in (
            *_left_out(settings, vectors, n_sentences),
            *_otherwise(settings, vectors, dispersion),
            *_undefined(settings, vectors, dispersion, piece),
        ):
            models_by_notice.setdefault(notice, []).append(vectors.model)
    if without := null.loc[null["null_high"].isna() & null["null_low"].notna(), "model"].tolist():
        models_by_notice[NO_UPPER_END] = without
    messages = [
        notice
        if len(models) == len(all_vectors)
        else Message("{models}: {notice}", models=list_of(models), notice=notice)
        for notice, models in models_by_notice.items()
    ]
    if len(all_vectors) > 1 and any(vectors.n_too_long for vectors in all_vectors):
        messages.append(
            Message(
                "Every model is scored over the same {kept:,} sentences: what one of them cannot read "
                "is left out for all.",
                kept=len(all_vectors[0].kept),
            )
        )
    fitted = next(filter(None, (n_fitted(vectors, settings) for vectors in all_vectors)), None)
    if fitted:
        messages.append(
            Message(
                "Maps by UMAP were fitted to {fitted:,} of {kept:,} sentences, a sample of each class in proportion to "
                "its size (seed {seed}); each other sentence was placed among its nearest ones of these (transform).",
                fitted=fitted,
                kept=len(all_vectors[0].kept),
                seed=settings.seed,
            )
        )
    if settings.correction != "none":
        messages.append(
            Message(
                "Vectors were corrected by {correction} before every measure, fitted to all sentences "
                "that the model includes; intervals and permutations take the correction as given.",
                correction=settings.correction,
            )
        )
    if settings.centre:
        messages.append(
            Message(
                "Vectors were mean-centred for the cosines of map and neighbours. A_m, B_m and M_m "
                "are the same without."
            )
        )
    return messages


def _left_out(settings: Settings, vectors: ModelVectors, n_sentences: int) -> list[Message]:
    messages = []
    if vectors.n_too_long:
        messages.append(
            Message(
                "{n_too_long} of {n_sentences} sentences cannot be read (too long) and were left out.",
                n_too_long=vectors.n_too_long,
                n_sentences=n_sentences,
            )
        )
    if vectors.lone_classes:
        n, named = len(vectors.lone_classes), quoted(vectors.lone_classes, CLASSES_IN_NOTICE)
        what = (
            Message("{n} class has only one sentence ({named})", n=n, named=named)
            if n == 1
            else Message("{n} classes have only one sentence ({named})", n=n, named=named)
        )
        messages.append(
            Message("{what}; left out.", what=what)
            if settings.lone_classes == EXCLUDE
            else Message(
                "{what}; kept. They add nothing to A_m, and the intervals know nothing of their spread.", what=what
            )
        )
    return messages


def _otherwise(settings: Settings, vectors: ModelVectors, dispersion: Dispersion) -> list[str]:
    """What M_m would be were classes of one sentence treated the other way."""
    if np.isnan(vectors.score_otherwise) or np.isnan(dispersion.score):
        return []
    other, own = f"{vectors.score_otherwise:,.4g}", f"{dispersion.score:,.4g}"
    return [
        Message("With the classes of one sentence M_m would be {other}; it is {own}.", other=other, own=own)
        if settings.lone_classes == EXCLUDE
        else Message("Without the classes of one sentence M_m would be {other}; it is {own}.", other=other, own=own)
    ]


def _undefined(
    settings: Settings, vectors: ModelVectors, dispersion: Dispersion, validity: Mapping[str, Any]
) -> list[str]:
    messages = [why for why in (why_no_map(vectors, settings), why_no_neighbours(vectors, settings)) if why]
    if all(part.n == 1 for part in dispersion.classes):
        messages.append(
            Message(
                "Every class has one sentence, so A_m is 0 whatever the model, and the score A_m / "
                "B_m is undefined. Add sentences to the classes."
            )
        )
    elif np.isnan(dispersion.score):
        messages.append(Message("All class centroids coincide, so the score A_m / B_m is undefined."))
    if not np.isnan(validity["silhouette"]) and validity["sample_size"] < len(vectors.kept):
        messages.append(
            Message(
                "The silhouette was taken over {validity:,} of {kept:,} sentences, drawn with seed {seed}.",
                validity=validity["sample_size"],
                kept=len(vectors.kept),
                seed=settings.seed,
            )
        )
    messages += [
        CARDS[column.card].undefined or Message("{name} is undefined.", name=CARDS[column.card].name)
        for column in VALIDITY.columns
        if column.card and np.isnan(validity[column.name])
    ]
    return messages
