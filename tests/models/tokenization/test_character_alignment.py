from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.tokenization.character_alignment import align_surfaces, normalize_with_origins

# Characters that NFKC joins, splits or reorders, besides any other: voiced half-width kana, marks of several classes
# (U+0323 is reordered before U+0301), Hangul parts, ligatures, square words.
TROUBLE = "ｶﾞﾊﾟか\u3099e\u0301\u0323\u0327ẋᄀ\u1161\u11a8가㍿㌔Ⅳﬁ½ＣＤ①Å\u0344İßΣ 　\n\x00\u200b😀𩸽"
texts = st.text(st.one_of(st.sampled_from(TROUBLE), st.characters(exclude_categories=["Cs"])), max_size=30)


@pytest.mark.parametrize(
    ("text", "characters", "origins"),
    [
        ("ＣＤ", "cd", ["Ｃ", "Ｄ"]),
        ("ｶﾞｷ", "ガキ", ["ｶﾞ", "ｷ"]),
        ("か\u3099", "が", ["か\u3099"]),
        ("e\u0301a", "éa", ["e\u0301", "a"]),
        ("a㍿", "a株式会社", ["a", "㍿", "㍿", "㍿", "㍿"]),
        ("ﬁ½", "fi1⁄2", ["ﬁ", "ﬁ", "½", "½", "½"]),
        ("Straße", "strasse", ["S", "t", "r", "a", "ß", "ß", "e"]),
        ("", "", []),
    ],
)
def test_fold_keeps_where_each_character_comes_from(text: str, characters: str, origins: list[str]) -> None:
    normalized = normalize_with_origins(text, "NFKC")
    assert normalized.characters == characters
    assert [text[start:end] for start, end in zip(normalized.starts, normalized.ends, strict=True)] == origins


@given(texts, st.sampled_from(["NFKC", "NFC", None]))
def test_fold_equals_normalising_the_whole(text: str, form: str | None) -> None:
    normalized = normalize_with_origins(text, form, offset=7, case=False)
    assert normalized.characters == (text if form is None else unicodedata.normalize(form, text))
    assert list(normalized.starts) == sorted(normalized.starts) and list(normalized.ends) == sorted(normalized.ends)
    assert all(7 <= start < end <= 7 + len(text) for start, end in zip(normalized.starts, normalized.ends, strict=True))


@pytest.mark.parametrize(
    ("text", "surfaces", "found"),
    [
        ("the cat", ["the", "cat"], ["the", "cat"]),
        ("The CAT", ["the", "cat"], ["The", "CAT"]),
        ("a\x00 b", ["a", "b"], ["a", "b"]),  # a control character is dropped without a trace
        ("ab", ["b"], ["ab"]),  # a letter is not: b is not what the tokenizer meant, and takes all
        ("x 😀 y", ["x", None, "y"], ["x", "😀", "y"]),
        ("x 😀😀 y", ["x", None, None, "y"], ["x", "😀😀", "😀😀", "y"]),
        ("😀", [None], ["😀"]),
        ("ab", ["ab", None], ["ab", ""]),
        ("ab", ["a", "", "b"], ["a", "", "b"]),
    ],
)
def test_place(text: str, surfaces: list[str | None], found: list[str]) -> None:
    normalized = normalize_with_origins(text, "NFKC")
    spans = [normalized.origin(*piece) for piece in align_surfaces(surfaces, normalized, 0, len(normalized.characters))]
    assert [text[start:end] for start, end in spans] == found


@given(texts, st.lists(st.one_of(st.none(), texts), max_size=6))
def test_places_never_go_back_nor_leave_the_range(text: str, surfaces: list[str | None]) -> None:
    normalized = normalize_with_origins(text, "NFKC")
    end = len(normalized.characters)
    ranges = align_surfaces(surfaces, normalized, min(1, end), end)
    assert len(ranges) == len(surfaces) and all(min(1, end) <= first <= last <= end for first, last in ranges)
    assert ranges == sorted(ranges)
