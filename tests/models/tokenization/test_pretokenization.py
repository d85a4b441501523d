from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.language.widths import full_width
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.pretokenization import join_words, pretokenize

SPECIAL = ["[CLS]", "[MASK]", "[UNK]"]
ODD = (
    "ｶﾞ",
    "ﾊﾟ",
    "㍿",
    "ＣＤ",
    "ﬁ",
    "½",
    "か\u3099",
    "e\u0301",
    "😀",
    "𩸽",
    "ß",
    "İ",
    "ΑΣ",
    "[MASK]",
    "[UNK]",
    "[",
    " ",
    "　",
    "\n",
    "\x00",
    "\u200b",
    "東京",
    "、",
    "GPU",
)
texts = st.lists(st.one_of(st.sampled_from(ODD), st.characters()), max_size=12).map("".join)


def words(text: str, recipe: Recipe) -> list[tuple[str, str]]:
    """The words as the vocabulary sees them, and what they stem from."""
    return [
        (word.characters, text[word.starts[0] : word.ends[-1]])
        for part in pretokenize(text, recipe, SPECIAL)
        for word in part.words
    ]


def test_steps_come_in_their_order() -> None:
    # NFKC takes ㍿ apart and makes ＣＤ narrow; then it is widened, cut and lowered.
    recipe = Recipe("mecab-ipadic", ("nfkc", "full-width", "lower"), "wordpiece")
    assert words("㍿のＣＤ ｶﾞ", recipe) == [("株式会社", "㍿"), ("の", "の"), ("ｃｄ", "ＣＤ"), ("ガ", "ｶﾞ")]
    assert words("ｶﾞとGPU", Recipe("mecab-jumandic", ("full-width",), "words")) == [
        ("ガ", "ｶﾞ"),
        ("と", "と"),
        ("ＧＰＵ", "GPU"),
    ]


def test_the_segmenter_sees_the_case_of_the_text() -> None:
    # The same words: lowered first, "CD" and "cd" could be cut differently.
    upper = [word for word, _ in words("iPhone XS と CD", Recipe("mecab-unidic-lite", (), "words"))]
    lower = [word for word, _ in words("iPhone XS と CD", Recipe("mecab-unidic-lite", ("lower",), "words"))]
    assert lower == [word.lower() for word in upper]


def test_special_tokens_are_left_alone_and_no_word_reaches_over_one() -> None:
    parts = pretokenize("東[MASK]京 [CLS][mask]", Recipe(None, ("lower",), "words"), SPECIAL)
    assert [([word.characters for word in part.words], part.special) for part in parts] == [
        (["東"], False),
        (["[MASK]"], True),
        (["京"], False),
        (["[CLS]"], True),
        (["[mask]"], False),
    ]


def test_without_a_segmenter_words_are_those_in_spaces_or_the_whole() -> None:
    assert words(" a  b\u3000c ", Recipe(None, (), "wordpiece")) == [("a", "a"), ("b", "b"), ("c", "c")]
    assert words(" a  b ", Recipe(None, (), "sentencepiece")) == [(" a  b ", " a  b ")]
    assert pretokenize("", Recipe(), SPECIAL) == []


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe("mecab-ipadic", ("nfkc",), "wordpiece"),
        Recipe("mecab-jumandic", ("full-width", "lower"), "words"),
        Recipe(None, ("lower",), "sentencepiece"),
        Recipe(None, ("nfkc", "full-width", "lower"), "words"),
    ],
)
@settings(max_examples=80)
@given(text=texts)
def test_words_are_the_normalised_text_and_their_origins_cover_it(recipe: Recipe, text: str) -> None:
    normalised = []
    position = 0
    for part in pretokenize(text, recipe, SPECIAL):
        for word in part.words:
            assert len(word.characters) == len(word.starts) == len(word.ends)
            for start, end in zip(word.starts, word.ends, strict=True):
                assert position <= end and start < end  # in order, and never nothing
                position = max(position, start)
            normalised.append(word.characters)
    steps: dict[str, Any] = {
        "nfkc": lambda t: unicodedata.normalize("NFKC", t),
        "full-width": full_width,
        "lower": str.lower,
    }
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _lone(text) else text
    pieces = _split(expected)
    for step in ("nfkc", "full-width", "lower"):
        if step in recipe.normalize:
            pieces = [piece if piece in SPECIAL else steps[step](piece) for piece in pieces]
    # Lower case word by word differs from that of the whole in a final sigma only.
    assert "".join("".join(normalised).split()).replace("ς", "σ") == "".join("".join(pieces).split()).replace("ς", "σ")


def _lone(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _split(text: str) -> list[str]:
    pieces = [text]
    for token in SPECIAL:
        pieces = [part for piece in pieces for part in ([piece] if piece in SPECIAL else _keeping(piece, token))]
    return pieces


def _keeping(text: str, token: str) -> list[str]:
    first, *others = text.split(token)
    return [first, *(part for other in others for part in (token, other))]


def test_joined_words_have_spaces_that_stem_from_nothing() -> None:
    text = "東京 ㍿"
    parts = pretokenize(text, Recipe(None, ("nfkc",), "words"), SPECIAL)
    whole = join_words([word for part in parts for word in part.words])
    assert whole.characters == "東京 株式会社"
    assert whole.origin(0, 2) == (0, 2) and whole.origin(3, 7) == (3, 4) and whole.origin(2, 3) == (3, 3)
