"""Human scores of pairs: columns that look like them, what a score may look like, and on which scale it stands."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.datasets import rows
from engine.datasets.formats.columns import NAMES, fold

# Upper ends of the scales that human scores are collected on; a lower end below 0 makes it none of these.
TOPS = (1, 5, 7, 10, 100)
# Mean and standard deviation of standardised scores are 0 and 1, but for rounding and rows that were left out.
Z_TOLERANCE = 0.25
SHOWN_CHARACTERS = 40

# annotator1, rater_a, human-2, 評価者B, score3: one person's column among several.
_ONE_OF_SEVERAL = re.compile(
    r"(human|annotator|annotation|rater|rating|evaluator|judge|score|z|評価者|評価|注釈者|採点者|スコア)_?([0-9]+|[a-z])")


@dataclass(frozen=True)
class Scale:
    """Where scores lie: `low` and `high` are the ends of the scale, `name` says it in words."""

    name: str
    low: float
    high: float


def guess(frame: pd.DataFrame) -> tuple[str, ...]:
    """The columns of a table that look like human scores, in their order.

    A column that is named like one ("human", "score", "評価" …) is one, whatever it holds; a numbered or lettered
    one ("annotator1", "rater_b", "評価者A" …) where at least half of its values are numbers.
    """
    def looks_like_one(column: str) -> bool:
        name = fold(column)
        return name in NAMES["human"] or (_ONE_OF_SEVERAL.fullmatch(name) is not None and mostly_numbers(frame[column]))

    return tuple(filter(looks_like_one, frame.columns))


def mostly_numbers(values: Sequence[str] | pd.Series) -> bool:
    """Whether at least half of the texts are scores or empty, and one is a score."""
    faults = [fault(value) for value in values]
    return any(value.strip() for value in values) and 2 * faults.count(None) >= len(faults)


def fault(score: str) -> str | None:
    """Why a text is no score; None for a finite number and for an empty text, which is a missing score."""
    try:
        # float() also reads 1_000, inf and nan, which no rater means.
        if not score.strip() or ("_" not in score and math.isfinite(number(score))):
            return None
    except ValueError:
        pass
    return f"holds '{score if len(score) <= SHOWN_CHARACTERS else score[:SHOWN_CHARACTERS] + '…'}'"


def number(score: str) -> float:
    """The score that a text holds, nan for an empty one; full-width digits are read. Raises ValueError for others.

    >>> number("４．５")
    4.5
    """
    return float(unicodedata.normalize("NFKC", score)) if score.strip() else math.nan


def scale(scores: Sequence[float]) -> Scale | None:
    """The scale that scores seem to stand on, told by the least and the greatest; None where there is no score.

    Scores from 0 up belong to the shortest of 0-1, 0-5, 0-7, 0-10 and 0-100 that holds them (1-5 cannot be told
    from 0-5, and is not). Scores below 0 with mean 0 and standard deviation 1, each within 0.25, are standardised:
    that scale has no ends, and low and high are the least and the greatest score. Any other scores, too, are taken
    to go from the least to the greatest.

    >>> scale([0.5, 4.0, float("nan")])
    Scale(name='0-5', low=0.0, high=5.0)
    """
    given = [score for score in scores if math.isfinite(score)]
    if not given:
        return None
    least, greatest = min(given), max(given)
    if least >= 0:
        top = next((top for top in TOPS if greatest <= top), None)
        if top is not None:
            return Scale(f"0-{top}", 0.0, float(top))
    if least < 0 and _is_standardised(given):
        return Scale("standardised (z)", least, greatest)
    return Scale(f"{least:g} to {greatest:g}", least, greatest)


def notices(human: Mapping[str, Sequence[float]], numbers: Sequence[int]) -> tuple[str, ...]:
    """What is worth knowing of the scores by column: their scale, who lacks one, and who never changes."""
    said: list[str] = []
    for name, scores in human.items():
        missing = [row for row, score in zip(numbers, scores, strict=True) if math.isnan(score)]
        given = [score for score in scores if not math.isnan(score)]
        found = scale(given)
        if found is None:
            said.append(f"'{name}' holds no human score at all: there is nothing to correlate with.")
            continue
        said.append(f"Human scores '{name}': {min(given):g} to {max(given):g}, taken to be on the scale {found.name}.")
        said += rows.noticed(missing, f"lack{{s}} a score in '{_braced(name)}' (left out of correlations)")
        if len(given) > 1 and min(given) == max(given):
            said.append(f"'{name}' is {given[0]:g} in every row: a correlation with it is undefined.")
    return tuple(said)


def _is_standardised(scores: Sequence[float]) -> bool:
    # Of n scores none lies farther than sqrt(n) deviations from the mean; the squares of what does may overflow.
    if max(map(abs, scores)) > 2 * math.sqrt(len(scores)) + 1:
        return False
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    return abs(mean) <= Z_TOLERANCE and abs(deviation - 1) <= Z_TOLERANCE


def _braced(name: str) -> str:
    """A name for a text that `str.format` reads."""
    return name.replace("{", "{{").replace("}", "}}")
