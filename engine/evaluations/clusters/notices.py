"""What a reader of a clusters result should know: what was left out, what is undefined, what was sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.formats.grid import quoted
from engine.evaluations.clusters.maps import why_no_map, why_no_neighbours
from engine.evaluations.clusters.records import EXCLUDE, VALIDITY, Settings
from engine.evaluations.clusters.vectors import ModelVectors
from engine.measures.cards.catalog import CARDS
from engine.measures.clusters.dispersion import Dispersion
from engine.translation import mark

CLASSES_IN_NOTICE = 10
NO_UPPER_END = mark("The scores under permuted labels have no upper end: in more than 2.5 % of the permutations all "
                    "classes have one centroid.")


def notices(settings: Settings, all_vectors: Sequence[ModelVectors], dispersions: Sequence[Dispersion],
            validity: Sequence[Mapping[str, Any]], null: pd.DataFrame, n_sentences: int) -> list[str]:
    """The notices, those that hold for every model once and without a name."""
    models_by_notice: dict[str, list[str]] = {}
    for vectors, dispersion, piece in zip(all_vectors, dispersions, validity, strict=True):
        for notice in (*_left_out(settings, vectors, n_sentences), *_otherwise(settings, vectors, dispersion),
                       *_undefined(settings, vectors, dispersion, piece)):
            models_by_notice.setdefault(notice, []).append(vectors.model)
    if without := null.loc[null["null_high"].isna() & null["null_low"].notna(), "model"].tolist():
        models_by_notice[NO_UPPER_END] = without
    messages = [notice if len(models) == len(all_vectors) else f"{', '.join(models)}: {notice}"
                for notice, models in models_by_notice.items()]
    if len(all_vectors) > 1 and any(vectors.n_too_long for vectors in all_vectors):
        messages.append(f"Every model is scored over the same {len(all_vectors[0].kept):,} sentences: what one of them "
                        "cannot read is left out for all.")
    if settings.correction != "none":
        messages.append(f"Vectors were corrected by {settings.correction} before every measure, fitted to all "
                        "sentences that the model includes; intervals and permutations take the correction as given.")
    if settings.centre:
        messages.append("Vectors were mean-centred for the cosines of map and neighbours. A_m, B_m and M_m are the "
                        "same without.")
    return messages


def _left_out(settings: Settings, vectors: ModelVectors, n_sentences: int) -> list[str]:
    messages = []
    if vectors.n_too_long:
        messages.append(f"{vectors.n_too_long} of {n_sentences} sentences cannot be read (too long) and were left out.")
    if vectors.lone_classes:
        n, named = len(vectors.lone_classes), quoted(vectors.lone_classes, CLASSES_IN_NOTICE)
        what = (f"{n} class has only one sentence ({named})" if n == 1 else
                f"{n} classes have only one sentence ({named})")
        messages.append(f"{what}; left out." if settings.lone_classes == EXCLUDE else
                        f"{what}; kept. They add nothing to A_m, and the intervals know nothing of their spread.")
    return messages


def _otherwise(settings: Settings, vectors: ModelVectors, dispersion: Dispersion) -> list[str]:
    """What M_m would be were classes of one sentence treated the other way."""
    if np.isnan(vectors.score_otherwise) or np.isnan(dispersion.score):
        return []
    other, own = f"{vectors.score_otherwise:,.4g}", f"{dispersion.score:,.4g}"
    return [f"With the classes of one sentence M_m would be {other}; it is {own}." if settings.lone_classes == EXCLUDE
            else f"Without the classes of one sentence M_m would be {other}; it is {own}."]


def _undefined(settings: Settings, vectors: ModelVectors, dispersion: Dispersion,
               validity: Mapping[str, Any]) -> list[str]:
    messages = [why for why in (why_no_map(vectors, settings), why_no_neighbours(vectors, settings)) if why]
    if all(part.n == 1 for part in dispersion.classes):
        messages.append("Every class has one sentence, so A_m is 0 whatever the model, and the score A_m / B_m is "
                        "undefined. Add sentences to the classes.")
    elif np.isnan(dispersion.score):
        messages.append("All class centroids coincide, so the score A_m / B_m is undefined.")
    if not np.isnan(validity["silhouette"]) and validity["sample_size"] < len(vectors.kept):
        messages.append(f"The silhouette was taken over {validity['sample_size']:,} of {len(vectors.kept):,} "
                        f"sentences, drawn with seed {settings.seed}.")
    messages += [CARDS[column.card].undefined or f"{CARDS[column.card].name} is undefined."
                 for column in VALIDITY.columns if column.card and np.isnan(validity[column.name])]
    return messages
