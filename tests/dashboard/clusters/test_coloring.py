"""Colours of points by the columns of the data: categories, numbers, missing values; and the search of sentences."""

from __future__ import annotations

import ast

import numpy as np
import pandas as pd
import pytest

from dashboard.clusters import coloring
from dashboard.clusters.map_controls import rows_with
from dashboard.shared.theme import N_COLORS


def points_of(n: int) -> pd.DataFrame:
    """The same sentences under two models."""
    points = pd.DataFrame({"row": range(1, n + 1), "label": [f"c{row % 3}" for row in range(n)], "text": "文"})
    return pd.concat([points.assign(model="a"), points.assign(model="b")], ignore_index=True)


def groups_of(values: list[str]) -> list[str]:
    """The group of each sentence, whose values of a column are these."""
    colored = coloring.by_column(points_of(len(values)), "column", dict(enumerate(values, 1)))
    return [colored.groups[colored.group_by_row[row]] for row in range(1, len(values) + 1)]


def test_classes_are_coloured_in_the_order_of_their_first_sentence() -> None:
    colored = coloring.by_class(points_of(5))
    assert colored.groups == ("c0", "c1", "c2") and colored.column is None
    assert [colored.group_by_row[row] for row in range(1, 6)] == [0, 1, 2, 0, 1]


def test_values_are_groups_and_a_sentence_without_one_has_its_own() -> None:
    assert groups_of(["b", "a", "", "b"]) == ["b", "a", "no value", "b"]


def test_few_different_numbers_are_categories() -> None:
    assert groups_of(["0", "1", "1", "0"]) == ["0", "1", "1", "0"]


def test_by_hand_numbers_fall_into_steps_of_one_width() -> None:
    # From 0 to 80 in eight steps of 10: 0 and 9.5 in the first, 10 in the second, the largest in the last.
    values = ["0", "9.5", "10", "35", "70", "80", ""]
    assert groups_of(values) == ["0–10", "0–10", "10–20", "30–40", "70–80", "70–80", "no value"]


@pytest.mark.parametrize("other", ["unknown", "nan", "inf", "1,000"])
def test_a_column_with_another_text_is_none_of_numbers(other: str) -> None:
    values = [*map(str, range(10)), other]
    assert groups_of(values) == values


def test_rare_values_share_a_group() -> None:
    values = [f"v{k}" for k in range(coloring.MOST_GROUPS + 5)] * 2
    values = [*values, *values[: coloring.MOST_GROUPS]]
    groups = groups_of(values)
    assert groups[: coloring.MOST_GROUPS] == values[: coloring.MOST_GROUPS]
    assert set(groups) == {*values[: coloring.MOST_GROUPS], "5 other values"}


def test_no_two_groups_of_a_column_have_one_colour_and_shape() -> None:
    values = [*(f"v{k}" for k in range(40)), ""]
    colored = coloring.by_column(points_of(41), "column", dict(enumerate(values, 1)))
    looks = {(colored.color(k), colored.symbol(k)) for k in range(len(colored.groups))}
    assert len(looks) == len(colored.groups) == coloring.MOST_GROUPS + 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colours_of_steps_grow_lighter(theme: str) -> None:
    numbers = coloring.by_column(points_of(9), "column", {row: str(row) for row in range(1, 10)})
    assert numbers.ramps is not None and len(numbers.groups) == coloring.N_STEPS
    parts = [
        np.array(ast.literal_eval(color.removeprefix("rgb"))) for color in numbers.ramps[theme][: coloring.N_STEPS]
    ]
    lightness = [float(np.dot(part, [0.2126, 0.7152, 0.0722])) for part in parts]
    assert lightness == sorted(lightness) and len(set(lightness)) == coloring.N_STEPS
    assert {numbers.symbol(k) for k in range(coloring.N_STEPS)} == {"circle"}


def test_fifty_classes_and_more_keep_within_the_palette() -> None:
    assert coloring.by_class(points_of(5)).color(N_COLORS) == coloring.by_class(points_of(5)).color(0)


def test_a_search_takes_text_as_text_and_widths_as_one() -> None:
    points = pd.DataFrame({"row": [3, 1, 2, 3], "text": ["ラーメン (大)", "ﾗｰﾒﾝを食べた", "RAMEN", "ラーメン (大)"]})
    assert rows_with(points, "ラーメン") == (1, 3)
    assert rows_with(points, "(") == (3,) and rows_with(points, "ramen") == (2,) and rows_with(points, "x") == ()
