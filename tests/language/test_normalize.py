"""engine.language.normalize: steps, their order, and what they leave alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InputError
from engine.language.normalize import STEPS, normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ﾊﾟﾝﾀﾞ", "パンダ"),  # half-width kana with its separate marks become one character each
        ("ＡＢＣ１２３", "ABC123"),
        ("㍻①㌔", "平成1キロ"),
        ("が", "が"),  # か + combining mark
        ("🐼と👩‍👩‍👧", "🐼と👩‍👩‍👧"),  # emoji, joined ones too, are no compatibility characters
        ("", ""),
    ],
)
def test_nfkc(text: str, expected: str) -> None:
    assert normalize(text, ["nfkc"]) == expected


def test_the_order_is_that_of_steps_however_they_are_listed() -> None:
    # ㎑ is "kHz" only after NFKC: lower case first would leave the capital H.
    assert normalize("㎑", ["lower", "nfkc"]) == normalize("㎑", ["nfkc", "lower"]) == "khz"
    assert normalize("㎑", ["lower"]) == "㎑"


def test_an_unknown_step_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"'nfd'; there are: nfkc, lower"):
        normalize("x", ["nfkc", "nfd"])


@settings(max_examples=50)
@given(st.text())
def test_no_step_leaves_every_text_untouched(text: str) -> None:
    assert normalize(text, []) == text


@settings(max_examples=50)
@given(st.text())
def test_each_step_is_the_standard_librarys(text: str) -> None:
    assert normalize(text, ["nfkc"]) == unicodedata.normalize("NFKC", text)
    assert normalize(text, ["lower"]) == text.lower()
    assert normalize(text, STEPS) == unicodedata.normalize("NFKC", text).lower()
