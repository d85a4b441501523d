"""Pretraining on English: sentences, spaces between them, lower-cased WordPiece and Unigram with spaces."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModelForMaskedLM, AutoTokenizer
from transformers.models.bert_japanese.tokenization_bert_japanese import BasicTokenizer, WordpieceTokenizer

from engine.datasets.corpora.corpus import Document
from engine.models.pretraining.pretrain import pretrain
from engine.models.pretraining.rows import RowFormat, write_rows
from engine.models.pretraining.texts import WRITINGS, english_sentences
from engine.models.pretraining.tokenizers import fast_encoder, train_basic_wordpiece, train_unigram
from tests.models.pretraining.test_pretrain import TINY

PEOPLE = ["My aunt", "The Captain", "Mrs. Allen’s brother", "A young painter", "Old Tom", "The baker"]
PLACES = ["in the garden", "at the harbour", "by the fire", "on the hill", "near the café", "in the parlour"]
DEEDS = ["read the letter again", "waited for the rain to stop", "sang a song", "said, “I’m late!”", "laughed aloud"]
SENTENCES = [f"{who} {deed} {place}." for who, place, deed in itertools.product(PEOPLE, PLACES, DEEDS)]
UNSEEN = [
    "Mrs. Tom's aunt said, \"I'm at the CAFÉ!\"",
    "The rain laughed; the painter-baker didn't.",
    "Ünder  42 hills",
]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. We stayed. “Why?” He knew.", ["It rained.", "We stayed.", "“Why?”", "He knew."]),
        ("Mr. Clark met Dr. Grey and J. Allen.", ["Mr. Clark met Dr. Grey and J. Allen."]),  # no ends: names follow
        (
            "“Go!” she said. Line one\nLine two ",
            ["“Go!” she said.", "Line one", "Line two"],
        ),  # nor before a small letter
        ("3.5 miles. (So he said.) Then", ["3.5 miles.", "(So he said.)", "Then"]),
    ],
)
def test_english_sentences_end_before_capitals(text: str, sentences: list[str]) -> None:
    assert list(english_sentences(text)) == sentences


def test_words_and_pieces_are_those_of_berts_basic_tokenizer(tmp_path: Path) -> None:
    train_basic_wordpiece(SENTENCES, 300, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    words = BasicTokenizer(do_lower_case=True)
    pieces = WordpieceTokenizer(tokenizer.get_vocab(), unk_token="[UNK]")
    for text in [*SENTENCES[::17], *UNSEEN]:
        straight = text.translate(str.maketrans("‘’“”", "''\"\""))
        expected = [piece for word in words.tokenize(straight) for piece in pieces.tokenize(word)]
        assert tokenizer.tokenize(text) == expected
        assert tokenizer(text)["input_ids"] == [2, *tokenizer.convert_tokens_to_ids(expected), 3]
    assert tokenizer.convert_ids_to_tokens(range(5)) == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert not any(piece != piece.lower() for piece in list(tokenizer.get_vocab())[5:] if not piece.startswith("["))


def test_a_rare_letter_makes_no_word_unknown(tmp_path: Path) -> None:
    # z is one letter in some 1,500; a vocabulary without it would know no word that has one.
    train_basic_wordpiece([*SENTENCES * 3, "She gazed at the puzzle."], 300, tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert "[UNK]" not in tokenizer.tokenize("A dozen lazy men amazed him.")


def test_spaces_survive_in_a_unigram_vocabulary_and_quotes_are_straight(tmp_path: Path) -> None:
    train_unigram(SENTENCES, 420, tmp_path, straight_quotes=True)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    for text in [*SENTENCES[::17], *UNSEEN[:2], " The rain stopped."]:
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.decode(ids) == text.translate(str.maketrans("‘’“”", "''\"\""))
    assert tokenizer.tokenize("“I’m late!”") == tokenizer.tokenize('"I\'m late!"')


def test_a_sentence_within_a_row_begins_with_its_space(tmp_path: Path) -> None:
    # An id is a character: the text of a row can be read from it. Long rows hold 62 of them, short ones 6.
    def encode(text: str) -> list[int]:
        return [ord(character) for character in text]

    def rows(language: str) -> list[str]:
        form = RowFormat(1, 2, 0, max_length=64, closes_row=True)
        write_rows([Document("a", "Go on. Do.\nAh. Oh.")] * 8, encode, form, tmp_path / language, WRITINGS[language])
        short = np.fromfile(tmp_path / language / "short.bin", dtype=np.uint16).reshape(-1, 8)
        long = np.fromfile(tmp_path / language / "long.bin", dtype=np.uint16)
        read: Callable[[np.ndarray], str] = lambda ids: "".join(chr(i) for i in ids if i > 2)  # noqa: E731
        return [*map(read, short[:3]), read(long)]

    # A row that is full begins the next one, and a document stands behind the end of the one before: without a space.
    assert rows("en")[:2] == ["Go on.", "Do."]
    assert rows("en")[-1].startswith("Go on. Do. Ah. Oh.Go on. Do.")
    assert rows("ja")[-1].startswith("Go on. Do.Ah. Oh.Go on. Do.")


def test_an_english_bert_is_pretrained_with_its_own_pieces_and_says_so(tmp_path: Path) -> None:
    corpus = tmp_path / "novel.txt"
    corpus.write_text("\n\n".join("\n".join(SENTENCES[i::3] * 3) for i in range(12)), encoding="utf-8")
    settings = replace(TINY, language="en", documents="blank-line", vocab_size=300, steps=4, held_out_share=0.4)
    record = pretrain([corpus], tmp_path / "tiny-en", settings, report=lambda line: None, evaluate_every=100)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "tiny-en")
    assert tokenizer.tokenize("The GARDEN") == tokenizer.tokenize("the garden")
    assert fast_encoder(tokenizer)("A hill") == tokenizer("A hill")["input_ids"][1:-1]
    assert AutoModelForMaskedLM.from_pretrained(tmp_path / "tiny-en").config.vocab_size == record["vocabulary"]
    card = (tmp_path / "tiny-en" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlanguage: en\n") and "A small masked language model of English" in card
    assert "lower-cased WordPiece" in card and "MeCab" not in card
