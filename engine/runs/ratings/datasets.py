"""Ratings as data: the rated pairs with a column of scores for each rater, as the studies read them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import TypeVar

import pandas as pd

from engine.datasets.minimal_pairs.judged import PREFERENCE
from engine.datasets.minimal_pairs.layouts import OTHER
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs

Values = TypeVar("Values")


def rated_dataset(dataset: SentencePairs | MinimalPairs, scores: pd.DataFrame, name: str
                  ) -> SentencePairs | MinimalPairs:
    """The rated rows of a dataset, in its order, with a column for each rater, as a dataset called `name`.

    scores: as `Rated.scores`; of minimal pairs above 0 where the acceptable sentence was preferred. The columns are
    human scores of sentence pairs, and graded judgements of minimal pairs: `judged.PREFERENCE` and the rater, beside
    the columns of their files. A rater with the name of a column that is there gets a number.
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
    texts = {f"{PREFERENCE}{rater}": tuple("" if pd.isna(value) else f"{value:g}" for value in ordered[rater])
             for rater in ordered.columns}
    added = _with_free_names(texts, subset.further)
    n = subset.n
    return replace(subset, name=name, sources=subset.sources or (name,) * n, formats=subset.formats or (OTHER,) * n,
                   file_formats=subset.file_formats or ("csv",) * n,
                   originals=tuple(_with_preferences(subset, i, {column: values[i] for column, values in added.items()})
                                   for i in range(n)))


def _with_preferences(pairs: MinimalPairs, index: int, preferences: dict[str, str]) -> str:
    """The row of the file of a pair, as JSON, with more columns; one is made for a pair from no file."""
    original = pairs.originals[index] if pairs.originals else ""
    if not original:
        fields = {name: values[index] for name, values in pairs.fields.items()}
        original = json.dumps({"acceptable": pairs.acceptable[index], "unacceptable": pairs.unacceptable[index],
                               "category": pairs.categories[index], **fields}, ensure_ascii=False)
    # numbers and nested values of the row stay as they are spelled
    return f"{original.rstrip()[:-1]}, {json.dumps(preferences, ensure_ascii=False)[1:]}"


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
