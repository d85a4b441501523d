"""engine.datasets.human_scores: scales, and what is said of scores."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.datasets.human_scores import SCALE_MAXIMA, far_off, far_off_notices, fault, guess, notices, scale


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ([0.2, 1.0], "0-1"),
        ([0.0, 4.5], "0-5"),
        ([1, 5, 3], "1-5"),
        ([1, 7], "1-7"),
        ([2, 9.5], "1-10"),
        ([0.9, 5], "0-5"),
        ([1, 1], "0-1"),
        ([30, 88], "0-100"),
        ([0, 250], "0 to 250"),
        ([-3, 3], "-3 to 3"),
        ([-7, -0.0], "-7 to 0"),
        ([0, 0], "0-1"),
    ],
)
def test_scales_by_their_ends(scores: list[float], name: str) -> None:
    found = scale([*scores, math.nan])
    assert found is not None and found.name == name


def test_standardised_scores() -> None:
    # By hand: mean 0 and standard deviation sqrt((1.5 + 1.5 + 0) / 3) = 1.
    found = scale([-math.sqrt(1.5), math.sqrt(1.5), 0.0])
    assert found is not None and found.name == "standardised (z)"
    assert (found.low, found.high) == (-math.sqrt(1.5), math.sqrt(1.5))
    shifted = scale([-2.0, 0.5, 0.4])  # mean -0.37
    assert shifted is not None and shifted.name == "-2 to 0.5"


def test_no_score_has_no_scale() -> None:
    assert scale([]) is None and scale([math.nan]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_a_scale_holds_every_score(scores: list[float]) -> None:
    found = scale(scores)
    assert found is not None and found.low <= min(scores) and max(scores) <= found.high
    assert found.high in (*SCALE_MAXIMA, max(scores))
    assert scale(scores[::-1]) == found or "z" in found.name


def test_missing_constant_and_absent_scores_are_said() -> None:
    said = notices(
        {"a": (3.0, 3.0, math.nan), "b {x}": (math.nan,) * 3, "c": (1.0, 2.0, 3.0), "{d}": (1, 2, math.nan)}, (1, 2, 5)
    )
    assert said == (
        "Human scores 'a': 3 to 3, taken to be on the scale 1-5.",
        "1 row lacks a score in 'a' (left out of correlations): 5.",
        "'a' is 3 in every row: a correlation with it is undefined.",
        "'b {x}' holds no human score at all: there is nothing to correlate with.",
        "Human scores 'c': 1 to 3, taken to be on the scale 1-5.",
        "Human scores '{d}': 1 to 2, taken to be on the scale 1-5.",
        "1 row lacks a score in '{d}' (left out of correlations): 5.",
    )


def test_a_numbered_column_is_taken_where_half_of_it_are_numbers() -> None:
    frame = pd.DataFrame(
        {"rater1": ["1", "x", ""], "rater2": ["x", "y", "3"], "z": ["", "", ""], "z_1": ["1", "2", "3"]}
    )
    assert guess(frame) == ("rater1", "z_1")


@pytest.mark.parametrize("text", ["", " ", "3", "-2.5", "４．５", "1e-3", "nan", "None", "NA"])
def test_what_a_score_may_look_like(text: str) -> None:
    assert fault(text) is None


@pytest.mark.parametrize("text", ["x", "inf", "1_0", "3,5", "三"])
def test_what_it_may_not(text: str) -> None:
    assert fault(text, "score") == f"'score' holds '{text}'"


def test_order_does_not_matter() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=200)
    assert scale(scores.tolist()).name == scale(random.permutation(scores).tolist()).name == "standardised (z)"  # type: ignore[union-attr]


LIKERT = [1.0, 2.0, 3.0, 4.0, 5.0] * 4


@pytest.mark.parametrize(
    ("scores", "others"),
    [
        ([*LIKERT, 55.0], "1-5"),
        ([*LIKERT, math.nan, -99.0], "1-5"),
        ([0.25, 0.5, 1.0, 0.0] * 5 + [85.0], "0-1"),  # a share among them in per cent
        ([20.0, 70.0, 95.0] * 7 + [700.0], "0-100"),
    ],
)
def test_a_slip_far_off_the_scale_of_the_others_is_seen(scores: list[float], others: str) -> None:
    found = far_off(scores)
    assert found is not None and found[0].name == others
    (notice,) = far_off_notices({"h": scores}, range(1, len(scores) + 1))
    assert f"1 row has a score in 'h' far off the scale {others}" in notice and f": {len(scores)}." in notice


@pytest.mark.parametrize(
    "scores",
    [
        LIKERT,
        [*LIKERT, 9.0],  # no farther than the scale is wide
        [*LIKERT, 55.0, 77.0],  # more than one in twenty
        [1.0, 2.0, 55.0],
        [1.0] * 20 + [5.0],
        [0.0] * 19 + [1.0] + [5.0],  # a scale to 5 of which 0 is the usual score
        [-25.0, -10.0, -5.0, -1.0, *[0.0] * 30],  # errors are counted so: no scale has an end there
        [*range(40), 80.0],
    ],
)
def test_what_may_be_a_score_is_no_slip(scores: list[float]) -> None:
    assert far_off(scores) is None
