"""Human scores of pairs: recognising their columns, reading their values, and finding their scale."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import NAMES, normalize_name
from engine.messages.message import Message

# Upper ends of the scales that human scores are collected on; a scale with a lower end below 0 is not one of these.
SCALE_MAXIMA = (1, 5, 7, 10, 100)
FROM_ONE = (5, 7, 10)  # of these, the scales that begin at 1 where no score lies below it
# Mean and standard deviation of standardised scores are 0 and 1, except for rounding and omitted rows.
Z_TOLERANCE = 0.25
# What a scale can be named where its ends are not those of the scores.
SCALES = tuple(f"{low}-{high}" for high in SCALE_MAXIMA for low in ((0, 1) if high in FROM_ONE else (0,)))
NOT_NUMBERS = Message(
    "{name}: {bad} of {rows} have a human score that is not a number. Write a number such as 3.5, or leave it empty."
)
RANGE = Message("{least:g} to {greatest:g}")
FAR_OFF = (
    Message(
        "{rows} has a score in '{column}' far off the scale {scale}, on which the others are: {listed}. Is it a slip?"
    ),
    Message(
        "{rows} have a score in '{column}' far off the scale {scale}, on which the others are: {listed}. Are they slips?"
    ),
)
MOST_FAR, FEWEST = 20, 10
_LEAST_WIDTH = 4  # of a scale: scores of 0 and 1 alone may be on one to 5
SHOWN_CHARACTERS = 40
_MISSING = ("", "none", "na", "n/a", "nan", "null", "-", "missing")  # in small letters

# annotator1, rater_a, human-2, 評価者B, score3: the column of one annotator among several.
_ANNOTATOR_COLUMN = re.compile(
    r"(human|annotator|annotation|rater|rating|evaluator|judge|score|z|評価者|評価|注釈者|採点者|スコア)_?([0-9]+|[a-z])"
)


@dataclass(frozen=True)
class Scale:
    """The scale of scores: `low` and `high` are its ends, `name` is for readers."""

    name: str
    low: float
    high: float


def guess(frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns of a table that look like human scores, in their order.

    A column with such a name ("human", "score", "評価" …) always counts as one; a numbered or lettered one
    ("annotator1", "rater_b", "評価者A" …) if at least half of its values are numbers.
    """

    def is_score_column(column: str) -> bool:
        name = normalize_name(column)
        return name in NAMES["human"] or (
            _ANNOTATOR_COLUMN.fullmatch(name) is not None and mostly_numbers(frame[column])
        )

    return tuple(filter(is_score_column, frame.columns))


def mostly_numbers(values: Sequence[str] | pd.Series) -> bool:
    """Whether at least half of the texts are scores or empty, and one is a score."""
    faults = [fault(value) for value in values]
    return any(not is_missing(value) for value in values) and 2 * faults.count(None) >= len(faults)


def fault(score: str, column: str = "") -> Message | None:
    """Why a text is not a score; None for a finite number and for a missing score."""
    try:
        # float() also reads 1_000, inf and nan, which are not scores.
        if is_missing(score) or ("_" not in score and math.isfinite(number(score))):
            return None
    except ValueError:
        pass
    shown = score if len(score) <= SHOWN_CHARACTERS else f"{score[:SHOWN_CHARACTERS]}…"
    return Message("'{column}' holds '{shown}'", column=column, shown=shown)


def is_missing(score: str) -> bool:
    """Whether a text stands for a score that is not there: nothing, None, NA, nan, null, or a spreadsheet's error."""
    text = score.strip()
    return text.casefold() in _MISSING or text in rows.ERROR_VALUES


def number(score: str) -> float:
    """The score that a text holds, nan for a missing one; full-width digits are read. Raises ValueError for others.

    >>> number("４．５")
    4.5
    """
    return float(unicodedata.normalize("NFKC", score)) if not is_missing(score) else math.nan


def scale(scores: Sequence[float]) -> Scale | None:
    """The scale of scores, inferred from the least and the greatest; None where there is no score.

    Scores from 0 up belong to the shortest of 0-1, 0-5, 0-7, 0-10 and 0-100 that holds them; where none is below 1, to
    1-5, 1-7 or 1-10 (a few scores may lie so on a scale from 0). Scores below 0 with mean 0 and standard deviation 1,
    each within 0.25, are standardised: that scale has no ends, and low and high are the least and the greatest score,
    as for any other scores.

    >>> scale([0.5, 4.0, float("nan")])
    Scale(name='0-5', low=0.0, high=5.0)
    >>> scale([1, 4])
    Scale(name='1-5', low=1.0, high=5.0)
    """
    finite_scores = [score for score in scores if math.isfinite(score)]
    if not finite_scores:
        return None
    least, greatest = min(finite_scores), max(finite_scores)
    if least >= 0:
        maximum = next((maximum for maximum in SCALE_MAXIMA if greatest <= maximum), None)
        if maximum is not None:
            low = 1 if least >= 1 and maximum in FROM_ONE else 0
            return Scale(f"{low}-{maximum}", float(low), float(maximum))
    if least < 0 and _is_standardised(finite_scores):
        return Scale(Message("standardised (z)"), least, greatest)
    return Scale(RANGE.format(least=least + 0.0, greatest=greatest + 0.0), least, greatest)  # -0 is 0


def notices(human: Mapping[str, Sequence[float]], numbers: Sequence[int]) -> tuple[str, ...]:
    """Notices on the scores of each column: their scale, the rows without one, and columns of one value only."""
    messages: list[str] = []
    for name, scores in human.items():
        missing = [row for row, score in zip(numbers, scores, strict=True) if math.isnan(score)]
        present_scores = [score for score in scores if not math.isnan(score)]
        score_scale = scale(present_scores)
        if score_scale is None:
            messages.append(
                Message("'{name}' holds no human score at all: there is nothing to correlate with.", name=name)
            )
            continue
        messages.append(
            Message(
                "Human scores '{name}': {least:g} to {greatest:g}, taken to be on the scale {name_}.",
                name=name,
                least=min(present_scores),
                greatest=max(present_scores),
                name_=score_scale.name,
            )
        )
        messages += rows.row_notice(
            missing,
            Message("{rows} lacks a score in '{column}' (left out of correlations): {listed}."),
            Message("{rows} lack a score in '{column}' (left out of correlations): {listed}."),
            column=name,
        )
        if len(present_scores) > 1 and min(present_scores) == max(present_scores):
            messages.append(
                Message(
                    "'{name}' is {present_scores:g} in every row: a correlation with it is undefined.",
                    name=name,
                    present_scores=present_scores[0],
                )
            )
    return tuple(messages)


def far_off(scores: Sequence[float]) -> tuple[Scale, float, float] | None:
    """The scale that all scores but a few are on, and the least and the greatest of these; None where none is far off.

    Far off is farther from the others than the scale is wide, and than 4. At most one score in MOST_FAR is, and of fewer
    than FEWEST scores none: more may be a scale of their own.

    >>> far_off([1, 2, 3, 4, 5] * 4 + [55])
    (Scale(name='1-5', low=1.0, high=5.0), 1, 5)
    """
    present = sorted(score for score in scores if math.isfinite(score))
    most = max(1, len(present) // MOST_FAR)
    inner = scale(present[most : len(present) - most]) if len(present) >= FEWEST else None
    if inner is None or inner.name not in SCALES:
        return None
    width = max(inner.high - inner.low, _LEAST_WIDTH)
    rest = [score for score in present if inner.low - width <= score <= inner.high + width]
    found = scale(rest)
    if found is None or found.name not in SCALES or not 0 < len(present) - len(rest) <= most:
        return None
    width, least, greatest = max(found.high - found.low, _LEAST_WIDTH), rest[0], rest[-1]
    is_apart = not any(
        least - width <= score <= greatest + width for score in present if not least <= score <= greatest
    )
    return (found, least, greatest) if is_apart else None


def far_off_notices(scores: Mapping[str, Sequence[float]], numbers: Sequence[int]) -> tuple[str, ...]:
    """Notices on the rows of each column whose score lies far off the others (`far_off`)."""
    messages: list[str] = []
    for name, values in scores.items():
        if (found := far_off(values)) is None:
            continue
        of_others, least, greatest = found
        messages += rows.row_notice(
            [row for row, score in zip(numbers, values, strict=True) if score < least or score > greatest],
            *FAR_OFF,
            column=name,
            scale=of_others.name,
        )
    return tuple(messages)


def named_scale(name: str) -> Scale:
    """One of SCALES by its name.

    >>> named_scale("1-5")
    Scale(name='1-5', low=1.0, high=5.0)
    """
    low, high = name.split("-")
    return Scale(name, float(low), float(high))


def scales_that_hold(scores: Sequence[float]) -> tuple[str, ...]:
    """Those of SCALES that no score lies outside of, the narrowest first.

    >>> scales_that_hold([1, 4.5])
    ('0-5', '1-5', '0-7', '1-7', '0-10', '1-10', '0-100')
    """
    finite_scores = [score for score in scores if math.isfinite(score)]
    return tuple(
        name
        for name in SCALES
        if finite_scores
        and named_scale(name).low <= min(finite_scores)
        and max(finite_scores) <= named_scale(name).high
    )


def _is_standardised(scores: Sequence[float]) -> bool:
    # None of n scores is farther than sqrt(n) deviations from the mean; squares of larger values may overflow.
    if max(map(abs, scores)) > 2 * math.sqrt(len(scores)) + 1:
        return False
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return abs(mean) <= Z_TOLERANCE and abs(deviation - 1) <= Z_TOLERANCE
