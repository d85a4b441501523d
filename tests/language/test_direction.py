"""Which way a text is written."""

from __future__ import annotations

import pytest

from engine.language.direction import is_right_to_left


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["الكتاب"], True),
        (["שלום"], True),
        (["the cat"], False),
        (["猫が寝る"], False),
        ([], False),
        ([""], False),
        (["12 + 3 = 15!"], False),
        (["قرأ الولد BERT"], True),  # more Arabic letters than Latin ones
        (["قرأ", "the cat sat on the mat"], False),
        (["abc", "שלוש"], True),
    ],
)
def test_most_letters_decide(texts: list[str], expected: bool) -> None:
    assert is_right_to_left(texts) is expected
