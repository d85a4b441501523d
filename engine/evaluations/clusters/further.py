"""What is computed of the same vectors beside A_m, B_m and M_m: models compared pairwise, seeds, further classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from engine.datasets.labelled.labelled_sentences import MAX_LABELS, LabelledSentences
from engine.datasets.text_column import group_name
from engine.errors import InputError
from engine.evaluations.clusters.records import CLASS_COLUMNS, CLUSTERINGS, EXCLUDE, OVERLAP, Settings
from engine.evaluations.clusters.tables import NO_NEIGHBOURS, overlap_row
from engine.evaluations.clusters.vectors import ModelVectors
from engine.inference.gateway import GatewaySession
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.model_similarity import RSA_SENTENCES
from engine.messages.message import Message

ONE_VALUE = Message("one value in every sentence")
NO_VALUE = Message("no sentence has a value")
ALL_DIFFERENT = Message("fewer than two values occur in more than one sentence")
WITHOUT_SCORE = Message("every class has one sentence, or all centroids coincide")
FEWEST_COMPARED = 3  # sentences, for which CKA and the order of distances are more than one number


def overlaps(
    settings: Settings,
    all_vectors: Sequence[ModelVectors],
    neighbours: Mapping[str, tuple[np.ndarray, np.ndarray]],
    session: GatewaySession,
) -> pd.DataFrame:
    """The table `OVERLAP`: each two models, over the sentences that all include."""
    rows = []
    for first, second in combinations(all_vectors, 2):
        similarity: Mapping[str, float] = {"cka": np.nan, "expected_cka": np.nan, "rsa": np.nan, "n_rsa": 0}
        sampled = {"error": True} if len(first.kept) > RSA_SENTENCES else {}
        if len(first.kept) >= FEWEST_COMPARED:
            beside = [first.placed, second.placed]
            similarity = session.on_vectors(
                "model_similarity",
                np.concatenate(beside, axis=1),
                label=Message("CKA and RSA: {model}, {other}", model=first.model, other=second.model),
                first_dims=beside[0].shape[1],
                metric=settings.metric,
                seed=settings.seed,
                **sampled,
            )
        rows.append(
            (
                *overlap_row(
                    first, second, *(neighbours.get(vectors.model, NO_NEIGHBOURS)[0] for vectors in (first, second))
                ),
                *(similarity[name] for name in ("cka", "expected_cka", "rsa", "n_rsa")),
                similarity.get("rsa_error", np.nan),
            )
        )
    return OVERLAP.frame(rows)


def clusterings(settings: Settings, all_vectors: Sequence[ModelVectors], session: GatewaySession) -> pd.DataFrame:
    """The table `CLUSTERINGS`; without rows where the settings ask for no repetition."""
    rows = []
    for vectors in all_vectors if settings.clusterings else ():
        piece = session.on_vectors(
            "repeated_clustering",
            vectors.vectors,
            label=Message("k-means over seeds: {model}", model=vectors.model),
            class_of=vectors.class_of,
            n_seeds=settings.clusterings,
            seed=settings.seed,
        )
        rows += [
            (
                vectors.model,
                measure,
                len(values),
                values.mean(),
                values.std() if len(values) > 1 else np.nan,
                values.min(),
                values.max(),
            )
            for measure, values in piece.items()
        ]
    return CLUSTERINGS.frame(rows)


def classes_by_column(settings: Settings, dataset: LabelledSentences) -> dict[str, tuple[str, ...]]:
    """The classes in each column that `settings` name, outer spaces removed; "" where a sentence has none.

    Raises InputError for a column that is not there.
    """
    by_column = {}
    for column in dict.fromkeys(settings.class_columns):
        if column not in dataset.further:
            others = ", ".join(map(repr, dataset.further)) or Message("none")
            raise InputError(
                Message(
                    "{name} has no further column {column!r} to take classes from; it has {others}.",
                    name=dataset.name,
                    column=column,
                    others=others,
                )
            )
        by_column[column] = tuple(map(group_name, dataset.further[column]))
    return by_column


def class_columns(
    settings: Settings,
    all_vectors: Sequence[ModelVectors],
    by_column: Mapping[str, Sequence[str]],
    session: GatewaySession,
) -> pd.DataFrame:
    """The table `CLASS_COLUMNS`; without rows where no column was named."""
    rows = []
    for vectors in all_vectors if by_column else ():
        for column, values in {"": None, **by_column}.items():
            classes = vectors.labels if values is None else tuple(values[index] for index in vectors.kept)
            sizes = Counter(classes)
            usable = np.array(
                [bool(name) and (settings.lone_classes != EXCLUDE or sizes[name] > 1) for name in classes]
            )
            own = replace(vectors, labels=tuple(np.array(classes)[usable].tolist()), vectors=vectors.vectors[usable])
            n_classes = len(set(own.labels))
            if why := _no_classes(n_classes, len({name for name in classes if name})):
                rows.append((vectors.model, column, len(own.labels), n_classes, *[float("nan")] * 4, why))
                continue
            observed = dispersion(own.vectors, own.labels)
            null = session.on_vectors(
                "label_permutation",
                own.vectors,
                label=Message("Permuted labels: {model}", model=vectors.model),
                class_of=own.class_of,
                n_permutations=settings.resamples,
                seed=settings.seed,
            )
            rows.append(
                (
                    vectors.model,
                    column,
                    len(own.labels),
                    n_classes,
                    observed.in_class,
                    observed.out_of_class,
                    observed.score,
                    null["p_value"],
                    WITHOUT_SCORE if np.isnan(observed.score) else "",
                )
            )
    return CLASS_COLUMNS.frame(rows)


def _no_classes(n_classes: int, n_values: int) -> str:
    """Why the values of a column are no classes; "" where they are."""
    if n_classes > MAX_LABELS:
        return Message(
            "{n_values:,} different values; at most {MAX_LABELS:,} are supported",
            n_values=n_values,
            MAX_LABELS=MAX_LABELS,
        )
    if n_classes >= 2:
        return ""
    return ONE_VALUE if n_values == 1 else ALL_DIFFERENT if n_values else NO_VALUE
