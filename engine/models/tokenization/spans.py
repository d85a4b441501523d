"""Character spans of the tokens of a text, and the word that each token belongs to.

Words are the tokenizer's own or MeCab's. On Japanese the tokenizers disagree on what a word is (a whole
sentence, a run between punctuation, every kanji), so MeCab is the default there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from transformers import PreTrainedTokenizerBase

from engine.errors import InputError
from engine.language.words import uses_spaces, word_spans
from engine.models.tokenization.offsets import SPACE_MARKS, Offsets, Span, token_offsets

WORDS = ("auto", "tokenizer", "mecab")
NO_SPAN = (-1, -1)


@dataclass(frozen=True)
class Spans:
    """The tokens of one text, special tokens included, n in all.

    `spans` int32 (n, 2): characters of the original text that a token stems from, without white space around them;
    (-1, -1) for special tokens. They never go back, but several tokens may share one character (bytes of a
    byte-level BPE, 株式会社 from ㍿), and a token that only marks a word's beginning may have an empty span.
    `special` bool (n,): control tokens, which the tokenizer added or read in the text; [UNK] is none.
    `words` int32 (n,): the tokenizer's own words, counted from 0; -1 for special tokens.
    """

    ids: list[int]
    tokens: list[str]
    spans: np.ndarray
    special: np.ndarray
    words: np.ndarray


def token_spans(tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = ()) -> Spans:
    """Tokenize `text` and return the span of each token in it; ids equal those of `encoding.token_ids`.

    A control token that the text contains is plain text, save those in `control` (`plain_text.reader`).

    A piece of a Python tokenizer that cannot be found in the text ([UNK], or one that the tokenizer rewrote)
    spans the characters between the pieces that were found.
    """
    encoding = token_offsets(tokenizer, text, control=control)
    spans = [NO_SPAN if special else _trimmed(text, *offset)
             for offset, special in zip(encoding.offsets, encoding.special, strict=True)]
    return Spans(encoding.ids, encoding.tokens, np.array(spans, dtype=np.int32).reshape(-1, 2),
                 np.array(encoding.special, dtype=bool), _own_words(text, encoding))


def word_of_token(text: str, spans: Spans, how: str) -> np.ndarray:
    """Number the words of `text` from 0 and return the word of each token: int32 (n,), -1 for special tokens.

    how: "tokenizer": the tokenizer's own words: a WordPiece and the "##" pieces after it; what the pre-tokenizer
    of a byte-level BPE or SentencePiece keeps together, and in any case a new word after white space.
    "mecab": MeCab's words (unidic-lite). **A token that crosses a boundary joins the words it touches into
    one**; tokens that touch no word (white space) are a word of their own at each position.
    "auto": "mecab" where the text has kana or kanji, "tokenizer" elsewhere.
    Raises InputError for another `how`.
    """
    if how not in WORDS:
        raise InputError(f"Words are one of {', '.join(WORDS)}; got {how!r}.")
    if how == "tokenizer" or (how == "auto" and uses_spaces(text)):
        return spans.words

    words = word_spans(text)
    starts, ends = [start for start, _ in words], [end for _, end in words]
    # Words `first` to before `last` overlap the token's characters.
    touched = [(bisect_right(ends, start), bisect_left(starts, end)) for start, end in spans.spans.tolist()]
    joins_previous = np.zeros(len(words), dtype=bool)
    for first, last in touched:
        joins_previous[first + 1 : last] = True
    joined_word = np.cumsum(~joins_previous).tolist()  # (n_words,) one number for words that were joined
    numbers: dict[tuple[str, int], int] = {}
    word_numbers = np.full(len(spans.ids), -1, dtype=np.int32)
    for i, (first, last) in enumerate(touched):
        if not spans.special[i]:
            key = ("word", joined_word[first]) if first < last else ("space", int(spans.spans[i, 0]))
            word_numbers[i] = numbers.setdefault(key, len(numbers))
    return word_numbers


def _own_words(text: str, encoding: Offsets) -> np.ndarray:
    """The tokenizer's words, split at white space: to a Unigram without pre-tokenizer a whole text is one word."""
    words = np.full(len(encoding.ids), -1, dtype=np.int32)
    word, previous = -1, -1  # previous: the token before, or -1 where the words begin anew
    for i, (token, (start, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
        if encoding.special[i]:
            previous = -1
            continue
        begins = previous < 0 or encoding.words[i] != encoding.words[previous]
        if not begins and not _is_blank(text, encoding.tokens[previous], encoding.offsets[previous]):
            # White space before the token, whether it counts as the token's own or as nobody's.
            previous_end = encoding.offsets[previous][1]
            spaced = start >= previous_end and any(map(str.isspace, text[previous_end : min(start + 1, end)]))
            begins = spaced or token.startswith(SPACE_MARKS)
        word += begins
        words[i], previous = word, i
    return words


def _is_blank(text: str, token: str, offset: Span) -> bool:
    return token in SPACE_MARKS or text[slice(*offset)].isspace()


def _trimmed(text: str, start: int, end: int) -> Span:
    """The span without the white space around it; white space alone stays as it is."""
    inner = text[start:end]
    if not inner or inner.isspace():
        return start, end
    return end - len(inner.lstrip()), start + len(inner.rstrip())
