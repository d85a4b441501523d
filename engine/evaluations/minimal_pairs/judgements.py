"""Scores beside human judgements of the sentences: MORCELA fitted to them, and how well each score follows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from engine.datasets import human_scores
from engine.datasets.formats.json_rows import texts_of_row
from engine.datasets.minimal_pairs.judged import PREFERENCE, RATINGS
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.measures.minimal_pairs.fitted_adjustment import CrossFit, cross_fitted
from engine.messages.message import Message, list_of, together

SIDES = ("acceptable", "unacceptable")
# Columns of judgements of the acceptable and of the unacceptable sentence: those that were given to the sentences here,
# then those of Sprouse, Schütze and Almeida (2013) as MORCELA's authors publish them, in z-scores of a Likert scale.
PUBLISHED = (RATINGS, ("Good Sentence LS", "Bad Sentence LS"))
# The share of people who chose the unacceptable sentence of the two, in the same file.
CHOSE_UNACCEPTABLE = "Bad Sentence FC Mean"
UNPAIRED = Message(
    "There is a column '{there}' and none '{absent}': no score is held against judgements, which both sentences of a pair "
    "need."
)


def ratings(dataset: MinimalPairs, columns: Sequence[str] = ()) -> tuple[np.ndarray, np.ndarray] | None:
    """The judgements of the acceptable and of the unacceptable sentences, float64 (n_pairs,) each, nan for none.

    columns: those of the file that hold them, the acceptable sentences' first; () for PUBLISHED. None where the file
    has no such columns, and for one column, which holds `preferences`. Raises InputError for more than two columns,
    columns that the file does not have, and a text that is no number.
    """
    if len(columns) > 2:
        raise InputError(
            Message(
                "Judgements are two columns, of the acceptable and of the unacceptable sentences, or "
                "one of their difference; got {columns}.",
                columns=list_of(columns),
            )
        )
    if len(columns) == 1:
        return None
    names = next(
        (
            pair
            for pair in ([tuple(columns)] if columns else PUBLISHED)
            if all(any(name in original for original in dataset.originals) for name in pair)
        ),
        None,
    )
    rows = [texts_of_row(original) for original in dataset.originals] if names else []
    if names is None or not all(any(name in row for row in rows) for name in names):
        if columns:
            raise InputError(
                Message(
                    "{name} has no columns {columns} of human judgements.",
                    name=dataset.name,
                    columns=list_of(columns),
                )
            )
        return None
    good, bad = _numbers(dataset, {name: [row.get(name, "") for row in rows] for name in names})
    return good, bad


def preferences(dataset: MinimalPairs, columns: Sequence[str] = ()) -> np.ndarray | None:
    """Graded judgements of the difference in each pair, float64 (n_pairs,), above 0 where the acceptable sentence is
    preferred, nan for none.

    columns: the one of the file that holds them; () for the mean of the columns that begin with `judged.PREFERENCE`,
    one for each rater. None where the file has no such column, and for two columns, which hold `ratings`. A column
    CHOSE_UNACCEPTABLE is turned: the share for the acceptable sentence less that for the other. Raises InputError for a
    column that the file does not have, and for a text that is no number.
    """
    if len(columns) > 1:
        return None
    further = dataset.further if columns or _may_have_preferences(dataset) else {}
    names = list(columns) or [name for name in further if name.startswith(PREFERENCE)]
    if not names:
        return None
    if names[0] not in further:
        raise InputError(
            Message("{name} has no column {names} of human judgements.", name=dataset.name, names=names[0])
        )
    of_raters = _numbers(dataset, {name: further[name] for name in names})
    n_rated = np.isfinite(of_raters).sum(axis=0)
    mean = np.divide(np.nansum(of_raters, axis=0), n_rated, out=np.full(dataset.n, np.nan), where=n_rated > 0)
    return np.asarray(1 - 2 * mean if names == [CHOSE_UNACCEPTABLE] else mean)


def _may_have_preferences(dataset: MinimalPairs) -> bool:
    """Whether a column may begin with `judged.PREFERENCE`: rows are not taken apart to find out."""
    return any(name.startswith(PREFERENCE) for name in dataset.fields) or any(
        PREFERENCE in original for original in dataset.originals
    )


def judgement_notices(dataset: MinimalPairs, items: pd.DataFrame, columns: Sequence[str] = ()) -> list[str]:
    """Which judgements lie far off the others, and that those of one sentence stand without the other's.

    items: of the result. columns: as in `ratings`.
    """
    names = columns if len(columns) == len(SIDES) else RATINGS
    scores = {name: items[f"{side}_rating"].tolist() for name, side in zip(names, SIDES, strict=True)}
    alone = [] if columns else _ratings_alone(dataset)
    return [
        *human_scores.far_off_notices(scores, items["row"].tolist()),
        *(UNPAIRED.format(there=name, absent=next(other for other in RATINGS if other != name)) for name in alone),
    ]


def _ratings_alone(dataset: MinimalPairs) -> list[str]:
    """That of RATINGS which the file has without the other; rows are not taken apart where no name is in them."""
    rows = [texts_of_row(original) for original in dataset.originals if RATINGS[0] in original]  # part of both names
    there = [name for name in RATINGS if any(name in row for row in rows)]
    return there if len(there) == 1 else []


def preferences_of_pairs(pairs: pd.DataFrame, items: pd.DataFrame) -> np.ndarray | None:
    """The graded judgements of pairs of one model, float64 (n_pairs,), from `Result.items`; None without any."""
    if "preference" not in items.columns or not items["preference"].notna().any():
        return None
    return np.asarray(items["preference"].to_numpy(dtype=np.float64)[pairs["item"].to_numpy()])


def of_pairs(pairs: pd.DataFrame, items: pd.DataFrame) -> tuple[np.ndarray, np.ndarray] | None:
    """The judgements of pairs of one model, float64 (n_pairs,) each, from `Result.items`; None where there are none."""
    if "acceptable_rating" not in items.columns or not items["acceptable_rating"].notna().any():
        return None
    rated = items[[f"{side}_rating" for side in SIDES]].to_numpy(dtype=np.float64)[pairs["item"].to_numpy()]
    return rated[:, 0], rated[:, 1]


def labels_of(pairs: pd.DataFrame, items: pd.DataFrame) -> np.ndarray | None:
    """Whether each single sentence of one model was judged acceptable, 1 or 0, nan where that is not known: float64
    (n,), from `Result.items`; None where no sentence was judged so.
    """
    if "label" not in items.columns or not items["label"].notna().any():
        return None
    return items["label"].take(pairs["item"].to_numpy()).to_numpy(dtype=np.float64, na_value=np.nan)


def cross_fit(pairs: pd.DataFrame, items: pd.DataFrame, seed: int) -> CrossFit | None:
    """MORCELA's coefficients for the pairs of one model, both sentences' in turn: (2 · n_pairs,).

    None without judgements or unigrams.
    """
    rated = of_pairs(pairs, items)
    unigrams = np.concatenate([pairs[f"{side}_unigrams"].to_numpy(dtype=np.float64) for side in SIDES])
    sums = np.concatenate([pairs[f"{side}_log_likelihood"].to_numpy(dtype=np.float64) for side in SIDES])
    if rated is None or not (np.isfinite(unigrams).all() and np.isfinite(sums).all()):
        return None
    lengths = np.concatenate([pairs[f"{side}_tokens"].to_numpy(dtype=np.int64) for side in SIDES])
    return cross_fitted(sums, unigrams, lengths, np.concatenate(rated), np.tile(np.arange(len(pairs)), 2), seed=seed)


def _numbers(dataset: MinimalPairs, columns: Mapping[str, Sequence[str]]) -> np.ndarray:
    """The judgements in columns of texts, float64 (n_columns, n_pairs), nan for none.

    Raises InputError for texts that are no number, all of them listed.
    """
    reasons: dict[int, list[str]] = {}
    for name, texts in columns.items():
        for text, row in zip(texts, dataset.rows, strict=True):
            if reason := human_scores.fault(text, name):
                reasons.setdefault(row, []).append(reason)
    if reasons:
        bad = [BadRow(row, together(" and ", of_row)) for row, of_row in sorted(reasons.items())]
        error = InputError(
            human_scores.NOT_NUMBERS.format(name=dataset.name, bad=f"{len(bad):,}", rows=count(dataset.n, "row")), bad
        )
        error.can_skip = False  # that leaves out rows that are bad as data
        raise error
    return np.array([list(map(human_scores.number, texts)) for texts in columns.values()], dtype=np.float64)
