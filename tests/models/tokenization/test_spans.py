from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, BertJapaneseTokenizer, BertTokenizer, ByT5Tokenizer, GPT2Tokenizer

from engine.errors import InputError
from engine.models.tokenization import offsets
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.spans import Spans, token_spans, word_of_token
from tests.support import tiny_models
from tests.support.odd_tokenizers import japanese, unigram_with_bytes
from tests.support.shared_data import shared_data

KINDS = (
    "wordpiece",
    "japanese",
    "japanese characters",
    "japanese basic",
    "japanese lower",
    "byte-level",
    "unigram",
    "unigram bytes",
    "metaspace",
    "python bytes",
)


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tokenizers")
    return {
        "wordpiece": AutoTokenizer.from_pretrained(tiny_models.bert(folder / "bert")),
        "byte-level": AutoTokenizer.from_pretrained(tiny_models.gpt2_byte_level(folder / "byte-level")),
        "unigram": AutoTokenizer.from_pretrained(tiny_models.gpt2_unigram(folder / "unigram")),
        "unigram bytes": unigram_with_bytes(),
        "metaspace": unigram_with_bytes(scheme="always", split=True),
        "python bytes": ByT5Tokenizer(),
        "japanese": japanese(folder / "a"),
        "japanese characters": japanese(folder / "b", pieces="character"),
        "japanese basic": japanese(folder / "c", words="basic", lower=True),
        "japanese lower": japanese(folder / "d", lower=True),
    }


def covered(text: str, spans: Spans) -> list[str]:
    """What each token but the special ones spans."""
    return [text[start:end] for start, end in spans.spans[~spans.special]]


ODD = (
    "ｶﾞ",
    "ﾊﾟ",
    "㍿",
    "ＣＤ",
    "ﬁ",
    "½",
    "か\u3099",
    "e\u0301",  # NFKC joins or splits these
    "😀",
    "👩\u200d🔬",
    "𩸽",
    "ß",
    "İ",
    "ΑΣ",
    "…",
    "[MASK]",
    "[UNK]",
    "[SEP]",
    "<s>",
    "##",
    "▁",
    "Ġ",
    " ",
    "  ",
    "　",
    "\n",
    "\t",
    "\x00",
    "\u200b",
    "東京タワー",
    "、",
    "cat",
    "un",
    "CAT",
)
odd_characters = st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"]))
odd_texts = st.lists(odd_characters, max_size=12).map("".join)


def test_accents_that_the_basic_tokenizer_takes_off_are_part_of_their_character(tokenizers: dict[str, Any]) -> None:
    text = "\u00c0 か\u3099東京タワー"  # À, and が as two characters: read as a and か
    found = token_spans(tokenizers["japanese basic"], text)
    assert found.tokens[1:-1] == ["a", "か", "##東京", "##タワー"]
    assert covered(text, found) == ["\u00c0", "か\u3099", "東京", "タワー"]


def test_the_pieces_of_words_that_are_not_found_do_not_go_back(
    tokenizers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets, "_strips_accents", lambda _: False)  # so neither word stands in the text as it is read
    text = "\u00c0 か\u3099東京タワー"
    found = token_spans(tokenizers["japanese basic"], text)
    assert covered(text, found) == ["\u00c0 か\u3099"] * 2 + ["東京", "タワー"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(text=odd_texts, as_control=st.booleans())
def test_any_text_has_the_tokenizers_ids_and_ordered_spans(
    tokenizers: dict[str, Any], kind: str, text: str, as_control: bool
) -> None:
    tokenizer = tokenizers[kind]
    found = token_spans(tokenizer, text, control=control_spellings(tokenizer).tokens if as_control else ())
    assert found.ids == tokenizer(text)["input_ids"] or not as_control
    assert found.tokens == tokenizer.convert_ids_to_tokens(found.ids)
    assert found.spans.dtype == found.words.dtype == np.int32 and found.spans.shape == (len(found.ids), 2)
    assert (found.spans[found.special] == -1).all() and (found.words[found.special] == -1).all()
    starts, ends = found.spans[~found.special].T
    assert (starts >= 0).all() and (starts <= ends).all() and (ends <= len(text)).all()
    assert (np.diff(starts) >= 0).all() and (np.diff(ends) >= 0).all()
    for how in ("tokenizer", "mecab"):
        words = word_of_token(text, found, how)[~found.special]
        assert words.size == 0 or (words[0] == 0 and set(np.diff(words)) <= {0, 1})  # counted from 0 without a gap


def test_a_python_tokenizer_by_hand(tokenizers: dict[str, Any]) -> None:
    text = "昨日、ﾗｰﾒﾝと𩸽㍿ ＣＤ"
    found = token_spans(tokenizers["japanese"], text)
    # 𩸽 is not in the vocabulary; ㍿ is 株式会社 after NFKC, two words to MeCab.
    assert found.tokens[1:-1] == [
        "昨",
        "##日",
        "、",
        "ラ",
        "##ー",
        "##メ",
        "##ン",
        "と",
        "[UNK]",
        "株",
        "##式",
        "会",
        "##社",
        "C",
        "##D",
    ]
    assert covered(text, found) == [
        "昨",
        "日",
        "、",
        "ﾗ",
        "ｰ",
        "ﾒ",
        "ﾝ",
        "と",
        "𩸽",
        "㍿",
        "㍿",
        "㍿",
        "㍿",
        "Ｃ",
        "Ｄ",
    ]
    assert found.words.tolist() == [-1, 0, 0, 1, 2, 2, 2, 2, 3, 4, 5, 5, 6, 6, 7, 7, -1]
    # MeCab reads the text as it was given, where ㍿ is one word.
    assert word_of_token(text, found, "mecab").tolist() == [-1, 0, 0, 1, 2, 2, 2, 2, 3, 4, 5, 5, 5, 5, 6, 6, -1]


def test_unknown_pieces_behind_a_control_token_do_not_go_back(tokenizers: dict[str, Any]) -> None:
    tokenizer = tokenizers["japanese basic"]
    found = token_spans(tokenizer, "ｶﾞ[MASK]ｶﾞが ｶﾞ", control=control_spellings(tokenizer).tokens)
    assert found.tokens == ["[CLS]", "[UNK]", "[MASK]", "[UNK]", "[UNK]", "[SEP]"]
    starts, ends = found.spans[~found.special].T
    assert starts[1] >= ends[0] == 2 and (np.diff(ends) >= 0).all()


def test_half_width_kana_stay_with_their_marks(tokenizers: dict[str, Any]) -> None:
    found = token_spans(tokenizers["japanese"], "ｶﾞｷﾞ")
    assert found.tokens[1:-1] == ["ガ", "ギ"] and covered("ｶﾞｷﾞ", found) == ["ｶﾞ", "ｷﾞ"]


def test_an_unknown_word_does_not_take_its_neighbours(tokenizers: dict[str, Any]) -> None:
    text = "東京の鱧を食べた"  # の is unknown, and so is 鱧
    found = token_spans(tokenizers["japanese"], text)
    assert covered(text, found)[:3] == ["東京", "の", "鱧"]


def test_bytes_share_their_character(tokenizers: dict[str, Any]) -> None:
    first, *middle, last = covered("a 鱧!", token_spans(tokenizers["byte-level"], "a 鱧!"))
    assert first == "a" and last == "!" and len(middle) > 1
    assert {part for part in middle if part != " "} == {"鱧"}


def test_a_python_tokenizer_that_is_not_known_by_steps(tokenizers: dict[str, Any]) -> None:
    found = token_spans(tokenizers["python bytes"], "ab 鱧 c")
    # Letters and spaces are found; the three bytes of 鱧 take what lies between them.
    assert covered("ab 鱧 c", found) == ["a", "b", " ", "鱧", "鱧", "鱧", " ", "c"]
    assert found.special.tolist() == [False] * 8 + [True]


def test_the_space_before_a_word_is_no_part_of_it(tokenizers: dict[str, Any]) -> None:
    for kind in ("byte-level", "metaspace"):
        assert "cat" in "".join(covered("the cat", token_spans(tokenizers[kind], "the cat")))
        assert not any(
            part.startswith(" ") and part.strip()
            for part in covered("the  cat", token_spans(tokenizers[kind], "the  cat"))
        )


@pytest.mark.parametrize("kind", ["wordpiece", "byte-level", "metaspace"])
def test_own_words_are_those_of_the_rust_tokenizer(tokenizers: dict[str, Any], kind: str) -> None:
    for text in tiny_models.ENGLISH:
        theirs = tokenizers[kind](text).word_ids()
        ours = token_spans(tokenizers[kind], text).words.tolist()
        assert ours == [-1 if word is None else word for word in theirs]


def test_words_of_a_unigram_without_pre_tokenizer_end_at_white_space(tokenizers: dict[str, Any]) -> None:
    found = token_spans(tokenizers["unigram bytes"], "the cat")
    assert set(tokenizers["unigram bytes"]("the cat").word_ids()[1:]) == {0}  # one word, says the tokenizer
    by_word = {int(word): "" for word in found.words if word >= 0}
    for part, word in zip(covered("the cat", found), found.words[~found.special], strict=True):
        by_word[int(word)] += part
    assert by_word == {0: "the", 1: "cat"} or by_word == {0: "the", 1: " cat"}


def spans_of(*pieces: tuple[int, int], special: int = 0) -> Spans:
    """Spans as given, in one word of the tokenizer's, with special tokens at the end."""
    n = len(pieces)
    return Spans(
        [*range(n + special)],
        ["x"] * (n + special),
        np.array([*pieces, *[(-1, -1)] * special], dtype=np.int32),
        np.array([False] * n + [True] * special),
        np.array([0] * n + [-1] * special, dtype=np.int32),
    )


def test_a_token_across_a_boundary_joins_the_words_it_touches() -> None:
    text = "東京タワーで食べ"  # MeCab: 東京 | タワー | で | 食べ
    separated = spans_of((0, 1), (1, 2), (2, 5), (5, 6), (6, 8), special=1)
    assert word_of_token(text, separated, "mecab").tolist() == [0, 0, 1, 2, 3, -1]
    # 京タ touches 東京 and タワー: one word; で食 touches the other two.
    across = spans_of((0, 1), (1, 3), (3, 5), (5, 7), (7, 8), special=1)
    assert word_of_token(text, across, "mecab").tolist() == [0, 0, 0, 1, 1, -1]
    # One token over all joins all.
    assert word_of_token(text, spans_of((0, 8)), "mecab").tolist() == [0]


def test_white_space_is_a_word_of_its_own() -> None:
    assert word_of_token("東京　タワー", spans_of((0, 2), (2, 3), (2, 3), (3, 6)), "mecab").tolist() == [0, 1, 1, 2]


def test_auto_takes_mecab_where_there_is_japanese() -> None:
    pieces = spans_of((0, 2), (2, 5))
    assert word_of_token("東京タワー", pieces, "auto").tolist() == [0, 1]
    assert word_of_token("hello", pieces, "auto").tolist() == [0, 0]
    with pytest.raises(InputError, match="auto, tokenizer, mecab; got 'juman'"):
        word_of_token("hello", pieces, "juman")


def published(name: str) -> Any:
    """A tokenizer as published, from its vocabulary alone."""
    folder = shared_data("tokenizers", name)
    if name == "bert-base-japanese":
        return BertJapaneseTokenizer(
            str(folder / "vocab.txt"), word_tokenizer_type="mecab", mecab_kwargs={"mecab_dic": "unidic_lite"}
        )
    if name == "gpt2":
        return GPT2Tokenizer(vocab=str(folder / "vocab.json"), merges=str(folder / "merges.txt"))
    return BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=False)


@pytest.mark.parametrize("name", ["bert-base-japanese", "bert-base-multilingual-cased", "gpt2"])
def test_published_vocabularies_cover_every_character_of_real_sentences(name: str) -> None:
    tokenizer = published(name)
    lines = shared_data("wiki", "sentences.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:15_000:100]:
        text = line.split("\t")[1]
        found = token_spans(tokenizer, text)
        assert found.ids == tokenizer(text)["input_ids"]
        seen = {position for start, end in found.spans[~found.special] for position in range(start, end)}
        assert "".join(char for position, char in enumerate(text) if position not in seen).strip() == "", text
