from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.language.pieces import pieces


@given(st.text("あ。 a！", max_size=60), st.integers(1, 12))
def test_pieces_are_the_text_and_none_is_too_long(text: str, most: int) -> None:
    cut = pieces(text, most)
    assert "".join(cut) == text
    assert all(0 < len(piece) <= most for piece in cut)


def test_a_piece_ends_with_a_sentence_where_it_can() -> None:
    assert pieces("雨が降る。雪が降る。風", 8) == ["雨が降る。", "雪が降る。風"]
    assert pieces("長" * 7 + "。短", 4) == ["長" * 4, "長" * 3 + "。", "短"]
    assert pieces("", 4) == []
