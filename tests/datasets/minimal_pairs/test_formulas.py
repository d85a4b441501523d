"""Formulas over regions: worked by hand, SyntaxGym's precedence, a comparison with Python's own reading, refusals."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.datasets.minimal_pairs.formulas import MOST_CHARACTERS, MOST_DEPTH, MOST_PARTS, MOST_SHOWN, parsed
from engine.errors import InputError

NAN = float("nan")
# The surprisals of three items in four regions, by hand.
OF = {
    (1, "a"): np.array([1.0, 4.0, NAN]),
    (2, "a"): np.array([2.0, 2.0, 2.0]),
    (1, "b"): np.array([3.0, 3.0, 3.0]),
    (0, "a"): np.array([6.0, 7.0, 8.0]),
}


@pytest.mark.parametrize(
    ("formula", "holds"),
    [
        ("(1;%a%) < (1;%b%)", [1, 0, NAN]),
        ("(1;%a%) > (1;%b%)", [0, 1, NAN]),
        ("(2;%a%) < (1;%b%)", [1, 1, 1]),
        ("(*;%a%) > (1;%a%) + (2;%a%)", [1, 1, NAN]),
        ("[(1;%b%) - (2;%a%)] = 1", [1, 1, 1]),
        ("(1;%b%) - (2;%a%) = 1.0009", [1, 1, 1]),
        ("(1;%b%) - (2;%a%) = 1.002", [0, 0, 0]),
        # From left to right, as in SyntaxGym 0.6.0: (0 & 0) | 1, and (3 - 2) + 1.
        ("(2;%a%) > 4 & (2;%a%) > 3 | (2;%a%) < 3", [1, 1, 1]),
        ("((2;%a%) < 3 | (2;%a%) > 3) & (2;%a%) > 4", [0, 0, 0]),
        ("(1;%b%) - (2;%a%) + 1 = 2", [1, 1, 1]),
        ("(1;%b%) - (2;%a%) - 1 = 0", [1, 1, 1]),
        ("(2;%a%) > -1.5", [1, 1, 1]),
        ("(1;%b%) - (2;%a%)", [1, 1, 1]),
        ("(1;%a%) - (1;%b%)", [0, 1, NAN]),
        # A sentence that is missing leaves the item open, whatever the other side says.
        ("(1;%a%) < 0 | (2;%a%) < 3", [1, 1, NAN]),
    ],
)
def test_what_a_formula_says(formula: str, holds: list[float]) -> None:
    np.testing.assert_array_equal(parsed(formula).holds(OF), holds)


def test_the_effect_is_the_side_that_is_greater_less_the_other() -> None:
    np.testing.assert_array_equal(parsed("(1;%a%) < (1;%b%)").effect(OF), [2, -1, NAN])  # type: ignore[arg-type]
    np.testing.assert_array_equal(parsed("((1;%b%) - (2;%a%)) - 3").effect(OF), [-2, -2, -2])  # type: ignore[arg-type]
    assert parsed("(1;%a%) = (1;%b%)").effect(OF) is None
    assert parsed("(1;%a%) < (1;%b%) & (2;%a%) < 3").effect(OF) is None


def test_comparisons_are_parts_of_what_joins_them() -> None:
    both = parsed("[ (1;%a%) < (1;%b%) ] & (2;%a%) - 1 > 0")
    assert [part.text for part in both.comparisons] == ["(1;%a%) < (1;%b%)", "(2;%a%) - 1 > 0"]
    np.testing.assert_array_equal(both.comparisons[1].holds(OF), [1, 1, 1])
    assert parsed("(1;%a%) < 3").comparisons == () and both.regions == ((1, "a"), (1, "b"), (2, "a"))


def test_random_formulas_mean_what_they_mean_to_python() -> None:
    """Bracketed sums and comparisons, read by Python as they stand but for & and |, which there bind closer than <."""
    chosen = random.Random(0)
    values = {
        (number, name): np.array([chosen.randint(0, 4) + 0.0 for _ in range(20)])
        for number in (1, 2)
        for name in ("a", "b")
    }

    def number(depth: int) -> str:
        if not depth or chosen.random() < 0.3:
            return chosen.choice(["(1;%a%)", "(2;%a%)", "(1;%b%)", "(2;%b%)", "1.5", "2"])
        return f"({number(depth - 1)} {chosen.choice('+-')} {number(depth - 1)})"

    def truth(depth: int) -> str:
        if not depth or chosen.random() < 0.3:
            return f"({number(2)} {chosen.choice('<>')} {number(2)})"
        return f"({truth(depth - 1)} {chosen.choice('&|')} {truth(depth - 1)})"

    for _ in range(200):
        formula = truth(3)
        python = formula
        for (place, name), _of in values.items():
            python = python.replace(f"({place};%{name}%)", f"v[{place}, {name!r}]")
        expected = np.broadcast_to(eval(python, {"v": values}), 20)
        np.testing.assert_array_equal(parsed(formula).holds(values | {(0, "a"): values[1, "a"]}), expected)


@pytest.mark.parametrize(
    ("formula", "place", "needed"),
    [
        ("", 1, "a region"),
        ("(1;%a%) <", 10, "a region"),
        ("(1;%a%) < (1;%b%) < 3", 19, "one comparison"),
        ("(1;%a%) & (1;%b%) < 2", 9, "a comparison before"),
        ("(1;%a%) < 2 & (1;%b%)", 22, "a comparison after"),
        ("(1;%a%) < 2 | (2;%a%) < 1 & (1;%a%) < 3", 27, "a | b & c"),
        ("((1;%a%) < 2) + 1 > 0", 19, "a number on both sides"),
        ("(1;%a%) < 1e999", 11, "a number up to"),
        ("(1;%a%) > -2e9", 12, "a number up to"),
        ("((1;%a%) < 2", 13, "the closing )"),
        ("[(1;%a%) < 2)", 13, "the closing ]"),
        ("(1;%a%) (1;%b%)", 9, "operator"),
        ("(0;%a%) < 2", 1, "a region from 1"),
        ("- (1;%a%) < 2", 3, "a number after"),
        ("(1,%a%) < 2", 3, "A region is"),
        ("(1;%a%) < 2 ; drop", 13, "A region is"),
        ("()", 2, "a region"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_place(formula: str, place: int, needed: str) -> None:
    with pytest.raises(InputError, match=rf"at character {place}\b") as error:
        parsed(formula)
    assert needed in str(error.value)


@pytest.mark.parametrize(
    "formula",
    [
        "(" * (MOST_DEPTH + 1) + "1" + ")" * (MOST_DEPTH + 1),
        " & ".join(["(1;%a%) < 2"] * MOST_PARTS),
        "(1;%" + "a" * MOST_CHARACTERS + "%)",
        "[" * 100_000,
    ],
)
def test_a_formula_has_its_bounds(formula: str) -> None:
    with pytest.raises(InputError, match="at most"):
        parsed(formula)


def test_an_error_does_not_repeat_a_long_formula() -> None:
    with pytest.raises(InputError, match="at most") as error:
        parsed("(" * 5_000)
    assert len(str(error.value)) < 2 * MOST_SHOWN
