"""A list of readings of one's own: as it is typed, as a file has it, and in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InputError
from engine.language.readings.own import MOST_ENTRIES, in_one_line, own_readings


@pytest.mark.parametrize("text", [
    "斉藤=さいとう;東=ひがし/あずま", "斉藤,サイトウ\n東,ひがし／アズマ\n",
    "\ufeffname,reading\r\n斉藤,さいとう\r\n東,ひがし/あずま",
    "斉藤 ＝ さいとう；東：ひがし/あずま", "斉藤\tさいとう\n\n東\tひがし/あずま"])
def test_every_way_to_write_a_list_is_one_list(text: str) -> None:
    assert in_one_line(text) == "斉藤=さいとう;東=ひがし/あずま"
    assert own_readings(text) == {"斉藤": ("さいとう",), "東": ("ひがし", "あずま")}


def test_every_wrong_entry_is_named() -> None:
    with pytest.raises(InputError, match=r"2 of the list's entries .* '斉藤', '東=higashi'"):
        own_readings("斉藤;尾崎=おざき;東=higashi")
    with pytest.raises(InputError, match="at most 2,000 entries; got 2,001"):
        own_readings(";".join(f"名{n}=な" for n in range(MOST_ENTRIES + 1)))
    assert own_readings("") == {} and in_one_line(" \n") == ""


def test_texts_are_found_where_sentences_have_them_the_longest_first() -> None:
    own = own_readings("月島=つきしま;月島きらり=つきしまきらり")
    assert list(own.found_in(["月島きらりと月島", "ほか"])) == [(0, 0, 5, "月島きらり"), (0, 6, 8, "月島")]


@given(st.dictionaries(st.text("斉藤尾崎", min_size=1, max_size=3), st.text("あいう", min_size=1, max_size=3),
                       max_size=5))
def test_one_line_stays_what_it_is(entries: dict[str, str]) -> None:
    line = ";".join(f"{name}={kana}" for name, kana in entries.items())
    assert in_one_line(in_one_line(line)) == in_one_line(line)
