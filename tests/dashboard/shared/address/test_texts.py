"""Choices as texts of an address and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.address.texts import from_texts, name_of, shown, to_texts
from engine.errors import InputError
from engine.messages.languages import in_language, translated
from engine.options import Option

SHARE = Option("", 0.7, least=0, most=1, name="threshold", kind=float)
LAYERS = Option("", (), least=0, name="layer", kind=int, several=True)
ORDER = Option("", "a", choices={"a": "", "b": ""}, name="order")
ON = Option("", True, name="match_special", kind=bool)
TEXT = Option("", "", name="search")


@given(st.floats(0, 1))
def test_a_number_loses_no_digit(value: float) -> None:
    assert from_texts(SHARE, to_texts(value)) == value


@pytest.mark.parametrize(
    ("declared", "value", "texts"),
    [
        (LAYERS, (2, 0), ["2", "0"]),
        (ORDER, "b", ["b"]),
        (ON, False, ["off"]),
        (ON, True, ["on"]),
        (TEXT, "斉藤 & 尾崎", ["斉藤 & 尾崎"]),
    ],
)
def test_values_come_back(declared: Option, value: Any, texts: list[str]) -> None:
    assert to_texts(value) == texts and from_texts(declared, texts) == value


@pytest.mark.parametrize(
    ("declared", "texts", "why"),
    [
        (SHARE, ["1.5"], "cannot be: threshold must be between 0 and 1"),
        (SHARE, ["nan"], "cannot be"),
        (SHARE, ["much"], "is no number"),
        (SHARE, ["0.1", "0.2"], "more than one value"),
        (LAYERS, ["2.5"], "is no whole number"),
        (LAYERS, ["-1"], "cannot be: layer is at least 0"),
        (ORDER, ["c"], "cannot be: order is one of a, b"),
        (ON, ["yes"], "neither on nor off"),
    ],
)
def test_what_cannot_be_is_refused_with_words(declared: Option, texts: list[str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        from_texts(declared, texts)


def test_only_what_the_page_offers_is_taken() -> None:
    assert from_texts(TEXT, ["novel"], ["none", "novel"]) == "novel"
    with pytest.raises(InputError, match="is not one of none, novel"):
        from_texts(TEXT, ["/etc/passwd"], ["none", "novel"])
    with pytest.raises(InputError, match="is not one of novel"):  # "" is no choice that a link names
        from_texts(TEXT, ["wiki"], ["", "novel"])
    with pytest.raises(InputError, match="is not offered"):  # a list that is too long for a message
        from_texts(Option("", 0, name="row", kind=int), ["99"], range(50))


def test_names_and_messages_are_short() -> None:
    assert name_of(ON) == "match-special"
    assert len(shown(["x" * 500])) < 50


def test_why_a_text_is_no_value_is_said_in_the_readers_language() -> None:
    """Its end was cut off as from any text, so that it stayed English; a choice that is no text was an empty one."""
    order = Option("", "", choices={"": "", "a": "", "b": ""}, name="order")
    with pytest.raises(InputError, match="cannot be: order is one of a, b; got 'c'") as wrong:
        from_texts(order, ["c"])
    with in_language("ja"):
        assert translated(wrong.value.message) == "使えない値です: orderは次のいずれかです: a、b。指定された値: 'c'。"
