"""Directories in the publishers' layouts: the tokens are what the publisher's instructions give, followed by hand."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fugashi
import ipadic
import jumandic
import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import BertJapaneseTokenizer

from engine.errors import ModelError
from engine.language.mecab import NEOLOGD_VARIABLE
from engine.language.widths import full_width
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.plain_text import control_spellings
from engine.models.tokenization.recipe_tokenizer import RecipeTokenizer, recipe_tokenizer
from engine.models.tokenization.spans import token_spans, word_of_token
from engine.models.tokenization.tokenizer_loading import load_tokenizer
from tests.support import fake_jumanpp, tiny_models
from tests.support.layouts import papers as paper_layouts
from tests.support.shared_data import shared_data

CARDS = ("paper/kyoto-univ", "paper/mecab", "paper/sp", "paper/tohoku-univ", "paper/nict", "paper/laboro")
SENTENCES = (
    *tiny_models.JAPANESE,
    "昨日、図書館で小説を三冊読んだ。",
    "ＧＰＵとGPU、2020年のCDとＣＤ",
    "ｶﾞｽ㍿の斉藤さん",
    "龘な猫",
    "<b>猫</b> &amp; <script>alert(1)</script>",
    "New York の 東京タワー",
    "東京" * 60,
    "x" * 120,
    "面白かった" + "猫" * 120,
)
ODD = (
    "ｶﾞ",
    "㍿",
    "ＣＤ",
    "か\u3099",
    "e\u0301",
    "😀",
    "𩸽",
    "ß",
    "İ",
    "[MASK]",
    "[UNK]",
    "[SEP]",
    "<unk>",
    "##",
    "▁",
    " ",
    "　",
    "\n",
    "\u200b",
    "東京",
    "、",
    "New York",
    "cd",
    "<b>",
)
odd_characters = st.one_of(st.sampled_from(ODD), st.characters(exclude_categories=["Cs"]))
odd_texts = st.lists(odd_characters, max_size=12).map("".join)


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", fake_jumanpp.install(folder / "bin") + os.pathsep + os.environ["PATH"])
        patch.setenv(NEOLOGD_VARIABLE, ipadic.DICDIR)
        yield {
            "paper/kyoto-univ": paper_layouts.japanese_bert(folder / "kyoto", widen=True),
            "paper/nict": paper_layouts.japanese_bert(folder / "nict", widen=True),
            "paper/tohoku-univ": paper_layouts.japanese_bert(folder / "tohoku"),
            "paper/mecab": paper_layouts.japanese_bert(folder / "mecab", subwords=False),
            "paper/sp": paper_layouts.sentencepiece_bert(folder / "sp"),
            "paper/laboro": paper_layouts.sentencepiece_bert(folder / "laboro", "webcorpus"),
        }


@pytest.fixture(scope="module")
def tokenizers(directories: dict[str, Path]) -> dict[str, RecipeTokenizer]:
    return {
        card: recipe_tokenizer(folder, PAPER_CARDS[card].recipe or Recipe()) for card, folder in directories.items()
    }


def word_pieces(words: list[str], vocabulary: list[str]) -> list[int]:
    """BERT's greedy longest match first, as Google's tokenization.py has it."""
    ids = []
    for word in words:
        pieces, start = [], 0
        while start < len(word):
            end = next(
                (end for end in range(len(word), start, -1) if ("##" if start else "") + word[start:end] in vocabulary),
                None,
            )
            if end is None or len(word) > 100:
                pieces = ["[UNK]"]
                break
            pieces.append(("##" if start else "") + word[start:end])
            start = end
        ids += [vocabulary.index(piece) for piece in pieces]
    return [vocabulary.index("[CLS]"), *ids, vocabulary.index("[SEP]")]


def mecab(text: str, dictionary: str) -> list[str]:
    return [node.surface for node in fugashi.GenericTagger(f'-r /dev/null -d "{dictionary}"')(text)]


def by_hand(card: str, folder: Path, text: str) -> list[int]:
    """Ids of a text, by the words of the publisher."""
    path = folder / "vocab.txt"
    vocabulary = path.read_text(encoding="utf-8").split("\n") if path.exists() else []
    wide = full_width(text).replace("\u3000", " ")
    if card == "paper/kyoto-univ":  # full-width, Juman++, then subwords of the vocabulary; 濁点 and kanji untouched
        return word_pieces([word for run in wide.split() for word in fake_jumanpp.words(run)], vocabulary)
    if card == "paper/nict":
        return word_pieces(mecab(wide, jumandic.DICDIR), vocabulary)
    if card == "paper/tohoku-univ":
        return word_pieces(mecab(unicodedata.normalize("NFKC", text), ipadic.DICDIR), vocabulary)
    if card == "paper/mecab":  # a word is in the vocabulary or it is unknown
        words = mecab(text, ipadic.DICDIR)
        ids = [vocabulary.index(word) if word in vocabulary else vocabulary.index("[UNK]") for word in words]
        return [vocabulary.index("[CLS]"), *ids, vocabulary.index("[SEP]")]
    [model] = folder.glob("*.model")  # Kikuta's tokenization_sentencepiece.py
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(model)).encode(
        text.lower() if card == "paper/sp" else text, out_type=str
    )
    number = {line.split("\t")[0]: i for i, line in enumerate(model.with_suffix(".vocab").read_text().splitlines())}
    return [number["[CLS]"], *(number.get(piece, 0) for piece in pieces), number["[SEP]"]]


@pytest.mark.parametrize("card", CARDS)
def test_ids_are_what_the_publishers_recipe_gives(
    card: str, directories: dict[str, Path], tokenizers: dict[str, RecipeTokenizer]
) -> None:
    unknown = 0
    for text in SENTENCES:
        ids = tokenizers[card](text)["input_ids"]
        assert ids == by_hand(card, directories[card], text), text
        unknown += ids.count(tokenizers[card].unk_token_id)
    assert unknown > 3  # there is something to be unknown


@pytest.mark.parametrize("card", CARDS)
def test_spans_are_where_the_words_stand_in_the_text(card: str, tokenizers: dict[str, RecipeTokenizer]) -> None:
    for text in SENTENCES:
        found = token_spans(tokenizers[card], text)  # type: ignore[arg-type]
        covered = {i for start, end in found.spans[~found.special] for i in range(start, end)}
        assert {i for i, character in enumerate(text) if not character.isspace()} <= covered, text
        for token, (start, end) in zip(found.tokens, found.spans.tolist(), strict=True):
            if token[0] not in "[<▁" and start < end:
                plain = unicodedata.normalize("NFKC", text[start:end]).lower()
                assert unicodedata.normalize("NFKC", token.removeprefix("##")).lower() in plain, (token, text)


@pytest.mark.parametrize("card", CARDS)
@settings(max_examples=60)
@given(text=odd_texts, as_control=st.booleans())
def test_any_text_has_ordered_spans_within_it(
    card: str, tokenizers: dict[str, RecipeTokenizer], text: str, as_control: bool
) -> None:
    tokenizer: Any = tokenizers[card]
    found = token_spans(tokenizer, text, control=control_spellings(tokenizer).tokens if as_control else ())
    assert tokenizer(text)["input_ids"] == tokenizer.encode(text)
    assert found.ids == tokenizer.encode(text) or not as_control
    assert found.tokens == tokenizer.convert_ids_to_tokens(found.ids)
    spans = found.spans[~found.special]
    assert (spans[:, 0] <= spans[:, 1]).all() and (spans >= 0).all() and (spans <= len(text)).all()
    assert (np.diff(spans, axis=0) >= 0).all()
    assert (found.spans[found.special][[0, -1]] == -1).all()
    numbers = found.words[~found.special]
    assert (np.diff(numbers) >= 0).all() and (found.words[found.special] == -1).all()


@pytest.mark.parametrize("card", CARDS)
def test_a_mask_in_the_text_is_one_token_and_parts_words(card: str, tokenizers: dict[str, RecipeTokenizer]) -> None:
    tokenizer = tokenizers[card]
    text = "昨日、[MASK]で小説を"
    found = token_spans(tokenizer, text, control=["[MASK]"])  # type: ignore[arg-type]
    [position] = [i for i, token in enumerate(found.ids) if token == tokenizer.mask_token_id]
    assert found.special[position] and text[slice(*tokenizer.offsets(text).offsets[position])] == "[MASK]"
    # What follows begins no sentence: SentencePiece would put a space before it.
    assert found.tokens[position + 1] == "で"
    assert tokenizer.decode([found.ids[position + 1]]) == "で"


def test_words_of_the_segmenter_are_the_tokenizers_own(tokenizers: dict[str, RecipeTokenizer]) -> None:
    text = "図書館で食べる"
    found = token_spans(tokenizers["paper/nict"], text)  # type: ignore[arg-type]
    words = word_of_token(text, found, "tokenizer")
    cut = [text[found.spans[words == number, 0].min() : found.spans[words == number, 1].max()] for number in range(4)]
    assert cut == mecab(text, jumandic.DICDIR)


def test_a_character_that_became_several_pieces_is_theirs_alike(tokenizers: dict[str, RecipeTokenizer]) -> None:
    found = token_spans(tokenizers["paper/sp"], "猫㍿")  # type: ignore[arg-type]
    pieces = {token: tuple(span) for token, span in zip(found.tokens, found.spans.tolist(), strict=True)}
    assert [pieces[piece] for piece in "株式会社"] == [(1, 2)] * 4


def test_what_is_prepared_can_be_looked_at(tokenizers: dict[str, RecipeTokenizer]) -> None:
    assert tokenizers["paper/nict"].prepared("図書館 GPU[MASK]") == "図書 館 ＧＰＵ [MASK]"
    assert tokenizers["paper/nict"].tokenize("図書館") == ["図書", "館"]
    assert len(tokenizers["paper/nict"]) == tokenizers["paper/nict"].vocab_size


def test_it_neither_pads_nor_cuts(tokenizers: dict[str, RecipeTokenizer]) -> None:
    with pytest.raises(NotImplementedError, match="neither pads nor truncates"):
        tokenizers["paper/nict"]("猫", padding=True)
    assert tokenizers["paper/kyoto-univ"].model_max_length == 128
    assert len(tokenizers["paper/kyoto-univ"]("猫" * 300)["input_ids"]) == 302


def test_tohoku_universitys_recipe_gives_what_transformers_class_for_it_gives() -> None:
    folder = shared_data("tokenizers", "bert-base-japanese")
    published = BertJapaneseTokenizer(
        str(folder / "vocab.txt"),
        word_tokenizer_type="mecab",
        subword_tokenizer_type="wordpiece",
        mecab_kwargs={"mecab_dic": "ipadic"},
        do_lower_case=False,
    )
    tokenizer = recipe_tokenizer(folder, PAPER_CARDS["paper/tohoku-univ"].recipe or Recipe())
    lines = shared_data("wiki", "sentences.tsv").read_text(encoding="utf-8").splitlines()[:1500]
    for text in [*SENTENCES, "今日は[MASK]です。 [UNK]", *(line.split("\t")[1] for line in lines)]:
        assert tokenizer(text)["input_ids"] == published(text)["input_ids"], text


def test_a_large_published_sentencepiece_vocabulary_is_followed(tmp_path: Path) -> None:
    path = shared_data("tokenizers", "rinna-japanese", "google_sp.model")
    (tmp_path / "wiki-ja.model").write_bytes(path.read_bytes())
    tokenizer = recipe_tokenizer(tmp_path, Recipe(None, ("lower",), "sentencepiece"))
    own = sentencepiece.SentencePieceProcessor(model_file=str(path))
    lines = shared_data("wiki", "sentences.tsv").read_text(encoding="utf-8").splitlines()[:1500]
    for text in [*SENTENCES, " 先頭 ", *(line.split("\t")[1] for line in lines)]:
        assert tokenizer(text)["input_ids"][1:-1] == own.encode(text.lower()), text


def test_a_recipe_can_go_before_the_tokenizer_that_was_published(tmp_path: Path) -> None:
    folder = tiny_models.gpt2_unigram(tmp_path / "gpt2")
    plain, lowered = load_tokenizer(folder), load_tokenizer(folder, Recipe(None, ("lower",), "own"))
    assert lowered("ＧＰＵ CATと<s>")["input_ids"] == plain("ｇｐｕ catと<s>")["input_ids"]
    segmented = load_tokenizer(folder, Recipe("mecab-jumandic", (), "own"))
    text = "猫が庭で静かに眠っている。"
    assert segmented(text)["input_ids"] == plain(" ".join(mecab(text, jumandic.DICDIR)))["input_ids"]
    spans = token_spans(segmented, text)
    assert "".join(text[start:end] for start, end in spans.spans[~spans.special]) == text


@pytest.mark.parametrize(
    ("make", "recipe", "words"),
    [
        (paper_layouts.sentencepiece_bert, Recipe(None, (), "wordpiece"), r"needs vocab\.txt in .*cannot be read"),
        (paper_layouts.japanese_bert, Recipe(None, (), "sentencepiece"), r"the one SentencePiece .*there are none"),
    ],
)
def test_a_vocabulary_that_is_not_there_is_an_error(
    tmp_path: Path, make: Callable[[Path], Path], recipe: Recipe, words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        recipe_tokenizer(make(tmp_path / "model"), recipe)


def test_a_vocabulary_without_an_unknown_token_is_an_error(tmp_path: Path) -> None:
    folder = paper_layouts.japanese_bert(tmp_path / "model", special=("[PAD]", "[CLS]", "[SEP]", "[MASK]"))
    with pytest.raises(ModelError, match=r"holds none of \[UNK\], <unk>"):
        recipe_tokenizer(folder, Recipe(None, (), "words"))


def test_a_damaged_sentencepiece_model_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "wiki-ja.model").write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"wiki-ja\.model is no SentencePiece model that can be read"):
        recipe_tokenizer(tmp_path, Recipe(None, (), "sentencepiece"))


def test_numbers_are_those_of_the_vocabulary_file_beside_the_model(tmp_path: Path) -> None:
    folder = paper_layouts.sentencepiece_bert(tmp_path / "sp")
    pieces = [line.split("\t")[0] for line in (folder / "wiki-ja.vocab").read_text(encoding="utf-8").splitlines()]
    (folder / "vocab.txt").write_text("\n".join(reversed(pieces)) + "\n", encoding="utf-8")
    tokenizer = recipe_tokenizer(folder, Recipe(None, (), "sentencepiece"))
    assert tokenizer("猫")["input_ids"][0] == len(pieces) - 1 - pieces.index("[CLS]")
    assert json.dumps(tokenizer.tokenize("猫が"), ensure_ascii=False) == '["猫", "が"]'
