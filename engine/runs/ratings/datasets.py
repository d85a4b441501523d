"""Ratings as data: the rated pairs with a column of scores for each rater, as the studies read them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

import pandas as pd

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs

Values = TypeVar("Values")


def rated_dataset(dataset: SentencePairs | MinimalPairs, scores: pd.DataFrame, name: str
                  ) -> SentencePairs | MinimalPairs:
    """The rated rows of a dataset, in its order, with a column for each rater, as a dataset called `name`.

    scores: as `Rated.scores`; of minimal pairs above 0 where the acceptable sentence was preferred. The columns are
    human scores of sentence pairs and fields of minimal pairs, which keep all columns of their files. A rater with the
    name of a column that is there gets a number.
    """
    ordered = scores.sort_index()
    items = [int(item) for item in ordered.index]
    if isinstance(dataset, SentencePairs):
        frame = dataset.to_frame().iloc[items]
        frame.attrs = {}  # rows that were left out were not rated
        picked = SentencePairs.from_frame(frame.reset_index(drop=True), name)
        columns = {rater: tuple(map(float, ordered[rater])) for rater in ordered.columns}
        return replace(picked, human={**picked.human, **_with_free_names(columns, picked.human)})
    subset = dataset.subset([dataset.rows[item] for item in items])
    texts = {rater: tuple("" if pd.isna(value) else f"{value:g}" for value in ordered[rater])
             for rater in ordered.columns}
    return replace(subset, name=name, fields={**subset.further, **_with_free_names(texts, subset.further)},
                   sources=(), formats=(), file_formats=(), originals=())


def _with_free_names(columns: dict[str, Values], taken: Collection[str]) -> dict[str, Values]:
    """The columns under names that are not taken."""
    named: dict[str, Values] = {}
    for rater, values in columns.items():
        name, number = rater, 1
        while name in taken or name in named:
            number += 1
            name = f"{rater} ({number})"
        named[name] = values
    return named
