"""Ratings as data: what was rated with a column of scores for each rater, as the studies read them."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.judged import PREFERENCE
from engine.datasets.minimal_pairs.layouts import OTHER
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.runs.ratings.questions import sentences_of_pairs

Values = TypeVar("Values")


def rated_dataset(
    dataset: SentencePairs | MinimalPairs, scores: pd.DataFrame, name: str
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
    texts = {f"{PREFERENCE}{rater}": _texts(ordered[rater]) for rater in ordered.columns}
    return _with_columns(subset, name, texts)


def pair_scores(dataset: MinimalPairs, items: Sequence[int], scores: pd.DataFrame) -> list[pd.DataFrame]:
    """What each sentence of the pairs got, nan where a rater did not rate it: of the acceptable sentences, then of the
    unacceptable ones, (n_items, n_raters) each; of single sentences one frame.

    scores: as `Rated.scores`, by the positions in `MinimalPairs.sentences`. The index is the items.
    """
    of_pairs = sentences_of_pairs(dataset, items)
    return [
        scores.loc[[of_pairs[item][side] for item in items]].set_axis(list(items))
        for side in range(dataset.data_kind.n_sentences)
    ]


def pair_means(frames: Sequence[pd.DataFrame]) -> list[pd.Series]:
    """The mean of each frame of `pair_scores` over those who rated the sentence, and of a pair both of its sentences.

    One who stopped early has rated one sentence of many pairs: with that score alone the two sentences would be held
    against each other by different people.
    """
    counted = np.logical_and.reduce([frame.notna() for frame in frames])
    return [frame.where(counted).mean(axis=1) for frame in frames]


def with_acceptability(dataset: MinimalPairs, items: Sequence[int], scores: pd.DataFrame, name: str) -> MinimalPairs:
    """The rated rows of a dataset, in its order, with the acceptability of their sentences, as a dataset called `name`.

    scores: as `Rated.scores`, by the positions in `MinimalPairs.sentences`. The columns are those of `DataKind.rated`:
    the means of `pair_means`, which a run of pairs holds its scores against, and the scores of each rater. Names that
    are there get a number.
    """
    ordered = sorted(items)
    subset = dataset.subset([dataset.rows[item] for item in ordered])
    frames = pair_scores(dataset, ordered, scores)
    means, heads = zip(*dataset.data_kind.rated, strict=True)
    columns = {column: _texts(mean) for column, mean in zip(means, pair_means(frames), strict=True)}
    of_raters = {
        f"{head}{rater}": _texts(frame[rater])
        for rater in scores.columns
        for head, frame in zip(heads, frames, strict=True)
    }
    return _with_columns(subset, name, columns | _with_free_names(of_raters, columns))


def _texts(values: pd.Series) -> tuple[str, ...]:
    return tuple("" if np.isnan(value) else f"{value:.6g}" for value in values.to_numpy(dtype=np.float64))


def _with_columns(pairs: MinimalPairs, name: str, columns: dict[str, tuple[str, ...]]) -> MinimalPairs:
    """The pairs as a dataset called `name` with more columns in the rows of their files."""
    added, n = _with_free_names(columns, pairs.further), pairs.n
    return replace(
        pairs,
        name=name,
        sources=pairs.sources or (name,) * n,
        formats=pairs.formats or (OTHER,) * n,
        file_formats=pairs.file_formats or ("csv",) * n,
        originals=tuple(_original(pairs, i, {column: values[i] for column, values in added.items()}) for i in range(n)),
    )


def _original(pairs: MinimalPairs, index: int, added: dict[str, str]) -> str:
    """The row of the file of a pair, as JSON, with more columns; one is made for a pair from no file."""
    original = pairs.originals[index] if pairs.originals else ""
    if not original:
        fields = {name: values[index] for name, values in pairs.fields.items()}
        original = json.dumps(
            {
                "acceptable": pairs.acceptable[index],
                "unacceptable": pairs.unacceptable[index],
                "category": pairs.categories[index],
                **fields,
            },
            ensure_ascii=False,
        )
    # numbers and nested values of the row stay as they are spelled
    return f"{original.rstrip()[:-1]}, {json.dumps(added, ensure_ascii=False)[1:]}"


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
