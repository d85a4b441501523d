from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.widths import full_width, full_width_units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BERTとGPT-2", "ＢＥＲＴとＧＰＴ－２"),
        ("ｶﾞｽ､ﾊﾟﾝ｡ｳﾞｱ", "ガス、パン。ヴァ".replace("ァ", "ア")),
        ("ｱﾞ", "ア゛"),
        ('it\'s "<b>"', "ｉｔ’ｓ ”＜ｂ＞”"),
        ("a`b", "ａ‘ｂ"),
        ("C:\\¥", "Ｃ：\\￥"),
        ("~", "～"),
        ("　全角 ﾟ", "　全角 ゜"),
        ("", ""),
        ("é😀龘", "é😀龘"),
    ],
)
def test_what_publishers_made_of_a_text(text: str, expected: str) -> None:
    # By mojimoji's own table (mojimoji.pyx), but for the space, which it makes an ideographic one.
    assert full_width(text) == expected


def test_every_printable_ascii_character_has_its_place_in_the_block() -> None:
    given_otherwise = {'"', "'", "`", "\\"}
    for code in range(0x21, 0x7F):
        if chr(code) not in given_otherwise:
            assert unicodedata.normalize("NFKC", full_width(chr(code))) == chr(code)


@given(st.text(st.one_of(st.characters(), st.sampled_from("ｶﾞﾊﾟaA1 　")), max_size=20))
def test_units_add_up_to_the_text_and_a_second_time_changes_nothing(text: str) -> None:
    units = full_width_units(text)
    assert "".join(character for character, _ in units) == full_width(text)
    assert sum(length for _, length in units) == len(text)
    assert full_width(full_width(text)) == full_width(text)
