"""engine.evaluations.alignment.token_table: spans to words, readings in and out of context, and the table of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.evaluations.alignment.token_table import Sentence, TokenTable, touched_words, words_of_tokens
from engine.language.parts_of_speech import tagged_words
from engine.models.tokenization.spans import Spans, word_of_token

TEXT = "斉藤さんは一日走った"  # MeCab: 斉藤|さん|は|一日|走っ|た


def table(text: str, pieces: list[tuple[str, int, int]]) -> pd.DataFrame:
    """The table of one sentence between [CLS] and [SEP]; pieces are (token, start, end)."""
    tokens = ["[CLS]", *(token for token, *_ in pieces), "[SEP]"]
    spans = np.array([(-1, -1), *((start, end) for _, start, end in pieces), (-1, -1)])
    built = TokenTable("m")
    built.add(7, 1, "reference", Sentence(text, tokens, np.array([t in ("[CLS]", "[SEP]") for t in tokens]), spans))
    return built.frame()


def column(frame: pd.DataFrame, name: str) -> list[object]:
    return frame[name].tolist()[1:-1]


def test_pieces_know_their_word_and_its_reading() -> None:
    frame = table(
        TEXT,
        [
            ("斉", 0, 1),
            ("##藤", 1, 2),
            ("さん", 2, 4),
            ("は", 4, 5),
            ("一", 5, 6),
            ("##日", 6, 7),
            ("走", 7, 8),
            ("##っ", 8, 9),
            ("た", 9, 10),
        ],
    )
    assert frame["word"].tolist() == [-1, 0, 0, 1, 2, 3, 3, 4, 4, 5, -1]
    assert column(frame, "surface") == ["斉", "藤", "さん", "は", "一", "日", "走", "っ", "た"]
    # A piece alone is read as that kanji; in its word 斉 and 藤 are さいとう, and 一日 before a verb is いちにち.
    assert column(frame, "pykakasi_piece")[:2] == ["せい", "ふじ"]
    assert column(frame, "pykakasi_word")[:2] == ["さいとう", "さいとう"]
    assert column(frame, "unidic_word")[2:] == ["さん", "は", "いちにち", "いちにち", "はしっ", "はしっ", "た"]
    assert column(frame, "proper_noun") == [True, True] + [False] * 7
    assert frame.loc[[0, 10], ["pykakasi_piece", "unidic_word"]].to_numpy().tolist() == [["", ""], ["", ""]]
    assert (frame["row"] == 7).all() and (frame["model"] == "m").all() and (frame["side"] == "reference").all()


def test_a_piece_that_crosses_words_joins_them() -> None:
    # 斉藤さ|んは|一日|走っ|た: the first piece begins 斉藤 and ends in さん, the second begins in さん and ends は.
    frame = table(TEXT, [("斉藤さ", 0, 3), ("んは", 3, 5), ("一日", 5, 7), ("走っ", 7, 9), ("た", 9, 10)])
    assert column(frame, "word") == [0, 0, 1, 2, 3]
    assert column(frame, "unidic_word")[:2] == ["さいとうさんは"] * 2
    assert column(frame, "proper_noun") == [True, False, False, False, False]


def test_pieces_that_touch_no_word_are_words_of_their_own_without_a_reading() -> None:
    frame = table("犬 猫", [("▁", 0, 0), ("犬", 0, 1), (" ", 1, 2), ("猫", 2, 3)])
    assert column(frame, "word") == [0, 1, 2, 3]
    assert column(frame, "unidic_word") == ["", "いぬ", "", "ねこ"]
    assert column(frame, "surface") == ["▁", "犬", " ", "猫"]


def test_a_mark_of_a_words_beginning_is_no_part_of_the_word() -> None:
    """Fast tokenizers of SentencePiece give it the first character of the word: ▁ was read に and part of the name."""
    frame = table("大阪に住む", [("▁", 0, 1), ("大阪", 0, 2), ("に", 2, 3), ("住む", 3, 5)])
    assert column(frame, "surface") == ["▁", "大阪", "に", "住む"]
    assert column(frame, "pykakasi_piece") == ["", "おおさか", "に", "すむ"]
    assert column(frame, "unidic_word") == ["", "おおさか", "に", "すむ"]
    assert column(frame, "proper_noun") == [False, True, False, False]
    assert column(frame, "name") == [-1, 0, -1, -1] and column(frame, "words")[0] == ""
    assert list(zip(column(frame, "start"), column(frame, "end"), strict=True)) == [(0, 0), (0, 2), (2, 3), (3, 5)]
    # A space of the text and the character itself stay where they are.
    frame = table("犬 ▁", [("▁", 0, 1), ("犬", 0, 1), ("▁", 1, 2), ("▁", 2, 3)])
    assert list(zip(column(frame, "start"), column(frame, "end"), strict=True)) == [(0, 0), (0, 1), (1, 2), (2, 3)]


def test_bytes_of_one_character_belong_to_its_word() -> None:
    frame = table("齋藤", [("é½", 0, 1), ("ĭ", 0, 1), ("è", 1, 2), ("Ĺ¤", 1, 2)])
    assert column(frame, "word") == [0, 0, 0, 0]
    assert column(frame, "pykakasi_word") == ["さいとう"] * 4


def test_a_special_token_within_a_text_ends_a_word() -> None:
    tokens, special = ["斉", "[SEP]", "藤"], np.array([False, True, False])
    built = TokenTable("m")
    built.add(1, 1, "candidate", Sentence("斉藤", tokens, special, np.array([(0, 1), (-1, -1), (1, 2)])))
    assert built.frame()["word"].tolist() == [0, -1, 1]


def test_a_text_without_tokens_or_words() -> None:
    assert table("", []).shape[0] == 2
    assert column(table("。", [("。", 0, 1)]), "word") == [0]


@settings(max_examples=60)
@given(st.text(st.sampled_from("斉藤さんは走た 。A1"), max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_words_are_those_of_the_models(text: str, cuts: list[bool]) -> None:
    """The same rule as for pseudo-log-likelihoods, which is proved there; numbers may differ, groups may not."""
    ends = [i + 1 for i in range(len(text)) if cuts[i] or i == len(text) - 1]
    spans = np.array(list(zip([0, *ends[:-1]], ends, strict=True)) if text else [], dtype=np.int32).reshape(-1, 2)
    special = np.zeros(len(spans), dtype=bool)
    theirs = word_of_token(text, Spans([0] * len(spans), [""] * len(spans), spans, special, special), "mecab")
    tagged = tagged_words(text)
    ours = words_of_tokens(special, touched_words(spans, tagged), len(tagged))
    np.testing.assert_array_equal(ours[1:] == ours[:-1], theirs[1:] == theirs[:-1])


def test_tables_of_models_have_their_own_categories() -> None:
    frame = table("猫", [("猫", 0, 1)])
    assert isinstance(frame["token"].dtype, pd.CategoricalDtype)
    assert frame["token"].cat.categories.tolist() == ["[CLS]", "猫", "[SEP]"]
