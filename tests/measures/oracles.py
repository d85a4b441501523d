"""BERTScore, the reading penalty and word similarity of one pair as plain loops that read like the papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Matches:
    """For every token of one sentence the position of its best match, -1 without one, and the cosine, nan there."""

    position: list[int]
    similarity: list[float]


def best_matches(
    matrix: np.ndarray, special: Sequence[bool], other_special: Sequence[bool], *, match_special: bool = True
) -> tuple[Matches, Matches]:
    """Zhang et al. 2020, equation 1: of the reference's tokens (the rows), and of the candidate's (the columns)."""
    return _matches(matrix, other_special, match_special), _matches(matrix.T, special, match_special)


def _matches(matrix: np.ndarray, other_special: Sequence[bool], match_special: bool) -> Matches:
    position, similarity = [], []
    for cosines in matrix:
        best, greatest = -1, math.nan
        for j, cosine in enumerate(cosines):
            if (match_special or not other_special[j]) and (best == -1 or cosine > greatest):
                best, greatest = j, float(cosine)
        position.append(best)
        similarity.append(greatest)
    return Matches(position, similarity)


def weighted_mean(similarity: Sequence[float], weights: Sequence[float]) -> float:
    """Zhang et al. 2020, equation 2; nan where the weights sum to 0."""
    total = weighted = 0.0
    for cosine, weight in zip(similarity, weights, strict=True):
        total += weight
        if weight:
            weighted += weight * cosine
    return weighted / total if total else math.nan


def f1(precision: float, recall: float) -> float:
    """Harmonic mean; 0 where both are 0, nan where they are opposite numbers."""
    if precision == recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else math.nan


def textbook_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """Wagner and Fischer's table, row by row: the definition the novel paper gives in words."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        previous, row = row, [i]
        for j, right in enumerate(b, start=1):
            row.append(min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (left != right)))
    return row[-1]


def agreement(a: Sequence[str], b: Sequence[str]) -> float:
    """M of two readings; 1 for 0/0."""
    longest = max(len(a), len(b))
    return 1 - textbook_distance(a, b) / longest if longest else 1.0


@dataclass(frozen=True)
class Penalty:
    """M and the edit distance of every token of one sentence, and the mean of M over the scored tokens."""

    agreements: list[float]
    distances: list[float]
    value: float


def penalty(
    penalised: Sequence[bool],
    readings: Sequence[Sequence[str]],
    match_readings: Sequence[Sequence[str]],
    scored: Sequence[bool],
) -> Penalty:
    """The novel paper, section 3, with one M for each penalised token."""

    def of_token(i: int) -> tuple[Sequence[str], Sequence[str]]:
        return readings[i], match_readings[i]

    return _penalty(penalised, scored, of_token)


def joined_penalty(
    penalised: Sequence[bool],
    readings: Sequence[Sequence[str]],
    match_readings: Sequence[Sequence[str]],
    scored: Sequence[bool],
) -> Penalty:
    """The same with one M for the readings of all penalised tokens joined."""
    own = [part for reading, flag in zip(readings, penalised, strict=True) if flag for part in reading]
    other = [part for reading, flag in zip(match_readings, penalised, strict=True) if flag for part in reading]
    return _penalty(penalised, scored, lambda _: (own, other))


def _penalty(
    penalised: Sequence[bool], scored: Sequence[bool], readings_of: Callable[[int], tuple[Sequence[str], Sequence[str]]]
) -> Penalty:
    agreements, distances, total, n_scored = [], [], 0.0, 0
    for i, (flag, counts) in enumerate(zip(penalised, scored, strict=True)):
        agreements.append(agreement(*readings_of(i)) if flag else 1.0)
        distances.append(textbook_distance(*readings_of(i)) if flag else math.nan)
        if counts:
            total += agreements[-1]
            n_scored += 1
    return Penalty(agreements, distances, total / n_scored if n_scored else math.nan)


def compared(
    own: Mapping[str, Any],
    other: Mapping[str, Any],
    position: Sequence[int],
    as_written: Callable[[str], Sequence[str]],
) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """What is compared of each unit and of its match: readings where both are whole, else how they are written.

    own, other: the units of a sentence and of the other, with "readings", "whole", "written" and "special".
    """
    mine: list[Sequence[str]] = []
    theirs: list[Sequence[str]] = []
    for i, p in enumerate(position):
        if p < 0 or other["special"][p]:
            mine.append(as_written(own["written"][i]))
            theirs.append("")
        elif own["whole"][i] and other["whole"][p]:
            mine.append(own["readings"][i])
            theirs.append(other["readings"][p])
        else:
            mine.append(as_written(own["written"][i]))
            theirs.append(as_written(other["written"][p]))
    return mine, theirs


def read_once(
    readings: Sequence[Sequence[str]], words: Sequence[object], penalised: Sequence[bool]
) -> list[Sequence[str]]:
    """Readings in which penalised neighbours of one word say it once."""
    kept: list[Sequence[str]] = list(readings)
    previous: object = None
    for i, flag in enumerate(penalised):
        if flag:
            if words[i] == previous:
                kept[i] = ""
            previous = words[i]
    return kept


def word_matrix(matrix: np.ndarray, rows: Sequence[Sequence[int]], columns: Sequence[Sequence[int]]) -> np.ndarray:
    """BERTScore of one word against another: `rows` and `columns` hold the tokens of each word."""

    def alike(row: Sequence[int], column: Sequence[int]) -> float:
        recall = sum(max(matrix[i, j] for j in column) for i in row) / len(row)
        precision = sum(max(matrix[i, j] for i in row) for j in column) / len(column)
        return float(recall + precision) / 2

    return np.array([[alike(row, column) for column in columns] for row in rows])
