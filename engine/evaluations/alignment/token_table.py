"""The tokens of a run's pairs as one table: what every later choice of weights, readings and units needs.

Words and readings are looked up here, once, so that no choice needs a dictionary of words later. Texts stand in the
table as codes of categories: a corpus has far fewer different tokens than tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment.naming.names import NAME_TEXTS, name_columns
from engine.evaluations.alignment.records import TOKENS
from engine.evaluations.shared.declared_tables import returns
from engine.language.parts_of_speech import tagged_words
from engine.language.readings.by_pykakasi import reading
from engine.language.readings.by_unidic import unidic_reading
from engine.language.tagged_word import TaggedWord
from engine.language.word_entries import entry, joined_entries

SIDES = ("reference", "candidate")
NO_WORD = -1
MARKS = ("▁", "Ġ")  # of a word's beginning, as SentencePiece and byte-level BPE write them
# The column that holds what an engine reads in a scope.
READING_COLUMNS: Mapping[tuple[str, str], str] = {
    (engine, scope): f"{engine}_{scope}" for engine in ("pykakasi", "unidic") for scope in ("piece", "word")
}
WORDS = "words"  # the column of the words that a dictionary of words is asked for
TEXT_COLUMNS = ("token", "surface", *READING_COLUMNS.values(), *NAME_TEXTS, WORDS)
NUMBER_COLUMNS: Mapping[str, Any] = {
    "row": np.int64,
    "reference": np.int32,
    "position": np.int32,
    "start": np.int32,
    "end": np.int32,
    "special": np.bool_,
    "word": np.int32,
    "proper_noun": np.bool_,
    "name": np.int32,
}


@dataclass(frozen=True)
class Sentence:
    """One side of a pair as the model cut it: `spans` int (n, 2) are characters of `text`, -1 for special tokens."""

    text: str
    tokens: Sequence[str]
    special: np.ndarray
    spans: np.ndarray


@dataclass
class TokenTable:
    """Builds the table of one model, sentence by sentence."""

    model: str
    _codes: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {} for name in TEXT_COLUMNS})
    _columns: dict[str, list[np.ndarray]] = field(
        default_factory=lambda: {name: [] for name in (*TEXT_COLUMNS, *NUMBER_COLUMNS, "side")}
    )

    def add(self, row: int, reference: int, side: str, sentence: Sentence, other: str = "") -> None:
        """The tokens of one sentence: `reference` is the number of the reference that it is or was held against.

        other: the other sentence of the pair, in which names may have counterparts.
        """
        n = len(sentence.tokens)
        special = np.asarray(sentence.special, dtype=bool)
        spans = without_mere_marks(sentence.text, sentence.tokens, np.asarray(sentence.spans).reshape(-1, 2))
        tagged = tagged_words(sentence.text)
        touched = touched_words(spans, tagged)
        surfaces = [
            sentence.text[start:end] if end > start else token
            for token, (start, end) in zip(sentence.tokens, spans.tolist(), strict=True)
        ]
        names = name_columns(sentence.text, other, spans, special)
        proper = np.cumsum([0, *(word.is_proper_noun for word in tagged)])
        numbers = {
            "row": np.full(n, row),
            "reference": np.full(n, reference),
            "position": np.arange(n),
            "start": spans[:, 0],
            "end": spans[:, 1],
            "special": special,
            "word": words_of_tokens(special, touched, len(tagged)),
            "proper_noun": ~special & (proper[touched[:, 1]] > proper[touched[:, 0]]),
            "name": names.pop("name"),
        }
        for name, values in numbers.items():
            self._columns[name].append(values.astype(NUMBER_COLUMNS[name]))
        self._columns["side"].append(np.full(n, SIDES.index(side), dtype=np.int8))
        for name, texts in {
            "token": sentence.tokens,
            "surface": surfaces,
            **names,
            WORDS: entries_of_tokens(sentence.text, special, touched, tagged),
            **_readings(sentence.text, surfaces, special, touched, tagged),
        }.items():
            codes = self._codes[name]
            self._columns[name].append(np.array([codes.setdefault(text, len(codes)) for text in texts], dtype=np.int32))

    def pack(self) -> None:
        """Take less room for the sentences so far."""
        for name, parts in self._columns.items():
            if len(parts) > 1:
                self._columns[name] = [np.concatenate(parts)]

    @returns(TOKENS)
    def frame(self) -> pd.DataFrame:
        """The table, texts as categories."""
        joined = {name: np.concatenate(parts) for name, parts in self._columns.items()}
        texts = {
            name: pd.Categorical.from_codes(joined[name], categories=pd.Index(list(self._codes[name])))
            for name in TEXT_COLUMNS
        }
        return pd.DataFrame(
            {
                "model": pd.Categorical.from_codes(
                    np.zeros(len(joined["row"]), dtype=np.int8), categories=pd.Index([self.model])
                ),
                "row": joined["row"],
                "reference": joined["reference"],
                "side": pd.Categorical.from_codes(joined["side"], categories=pd.Index(list(SIDES))),
                "position": joined["position"],
                "token": texts["token"],
                "surface": texts["surface"],
                **{name: joined[name] for name in ("start", "end", "special", "word", "proper_noun")},
                **{name: texts[name] for name in READING_COLUMNS.values()},
                "name": joined["name"],
                **{name: texts[name] for name in NAME_TEXTS},
                WORDS: texts[WORDS],
            }
        )


def entries_of_tokens(text: str, special: np.ndarray, touched: np.ndarray, tagged: Sequence[TaggedWord]) -> list[str]:
    """The words that each token touches, as a dictionary of words has them, joined; "" for special tokens and no word.

    A token across several words touches them all, and each of them whole: ▁東京タ of 東京タワー has 東京 and タワー.
    """
    entries = [entry(text[word.start : word.end]) for word in tagged]
    return [
        "" if flag else joined_entries(entries[first:last])
        for flag, (first, last) in zip(special.tolist(), touched.tolist(), strict=True)
    ]


def looked_up_entries(table: pd.DataFrame, sentence: np.ndarray, sentences: Sequence[str]) -> list[str]:
    """`entries_of_tokens` for all tokens of a table without that column, of an earlier version; takes MeCab's time."""
    spans = table[["start", "end"]].to_numpy()
    special = table["special"].to_numpy(dtype=bool)
    first = np.searchsorted(sentence, np.arange(len(sentences) + 1))
    found: list[str] = []
    for index, text in enumerate(sentences):
        tokens = slice(first[index], first[index + 1])
        tagged = tagged_words(text)
        found += entries_of_tokens(text, special[tokens], touched_words(spans[tokens], tagged), tagged)
    return found


def without_mere_marks(text: str, tokens: Sequence[str], spans: np.ndarray) -> np.ndarray:
    """The spans int (n, 2), empty where a token is nothing but the mark of a word's beginning and no space is there.

    Tokenizers of SentencePiece put a space before a text; where the mark of it stays a token (▁, ニューヨーク) fast ones
    give it the first character of the word, which the next token has as well.
    """
    mere = [
        token in MARKS and text[start:end] != token and not text[start:end].isspace()
        for token, (start, end) in zip(tokens, spans.tolist(), strict=True)
    ]
    return np.where(np.array(mere, dtype=bool)[:, None], spans[:, :1], spans)


def touched_words(spans: np.ndarray, tagged: Sequence[TaggedWord]) -> np.ndarray:
    """The words that share a character with each token: int (n, 2), the first and the one after the last.

    A token that touches none (a special token, white space, a mere sign) has two equal numbers.
    """
    starts, ends = (np.array([getattr(word, name) for word in tagged], dtype=np.int64) for name in ("start", "end"))
    first = np.searchsorted(ends, spans[:, 0], side="right")
    last = np.searchsorted(starts, spans[:, 1], side="left")
    return np.stack([first, np.maximum(first, last)], axis=1)  # (n, 2)


def words_of_tokens(special: np.ndarray, touched: np.ndarray, n_words: int) -> np.ndarray:
    """The number, from 0, of the word that each token belongs to: int (n,), -1 for special tokens.

    A token that crosses a boundary joins the words that it touches into one, as in
    `engine.models.tokenization.spans`; one that touches none is a word of its own. A word is not
    continued after a special token.
    """
    group = joined_words(touched, n_words)
    touches = touched[:, 0] < touched[:, 1]
    # Numbers below 0 have no other use.
    key = np.full(len(special), 0, dtype=np.int64)
    key[touches] = group[touched[touches, 0]]
    key[~touches] = -1 - np.flatnonzero(~touches)
    begins = ~special & np.r_[True, special[:-1] | (key[1:] != key[:-1])] if len(special) else special
    return np.where(special, NO_WORD, np.cumsum(begins) - 1)


def joined_words(touched: np.ndarray, n_words: int) -> np.ndarray:
    """One number for all words that tokens join: int (n_words,), never falling."""
    joins_previous = np.zeros(n_words, dtype=bool)
    for first, last in touched[touched[:, 1] - touched[:, 0] > 1].tolist():
        joins_previous[first + 1 : last] = True
    return np.cumsum(~joins_previous)


def _readings(
    text: str, surfaces: Sequence[str], special: np.ndarray, touched: np.ndarray, tagged: Sequence[TaggedWord]
) -> dict[str, list[str]]:
    """What each engine reads in each scope, "" for special tokens and, of a word, for tokens that touch none."""
    flags = special.tolist()
    alone: dict[str, Callable[[str], str]] = {"pykakasi": reading, "unidic": unidic_reading}
    columns = {
        READING_COLUMNS[engine, "piece"]: [
            "" if flag else read(surface) for surface, flag in zip(surfaces, flags, strict=True)
        ]
        for engine, read in alone.items()
    }
    group = joined_words(touched, len(tagged)).tolist()
    members: dict[int, list[TaggedWord]] = {}
    for number, word in zip(group, tagged, strict=True):
        members.setdefault(number, []).append(word)
    by_group = {
        number: (reading(text[words[0].start : words[-1].end]), "".join(word.reading for word in words))
        for number, words in members.items()
    }
    of_token = [
        by_group[group[first]] if first < last and not flag else ("", "")
        for (first, last), flag in zip(touched.tolist(), flags, strict=True)
    ]
    columns[READING_COLUMNS["pykakasi", "word"]] = [pair[0] for pair in of_token]
    columns[READING_COLUMNS["unidic", "word"]] = [pair[1] for pair in of_token]
    return columns
