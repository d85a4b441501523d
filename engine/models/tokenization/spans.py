"""Character spans of the tokens of a text, and the word that each token belongs to.

Words are the tokenizer's own or MeCab's. On Japanese the tokenizers disagree on what a word is (a whole
sentence, a run between punctuation, every kanji), so MeCab is the default there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from transformers import PreTrainedTokenizerBase

from engine.errors import InputError
from engine.language.words import uses_spaces, word_spans
from engine.messages.message import Message, list_of
from engine.models.tokenization.offsets import SPACE_MARKS, Offsets, offsets_of_each

WORDS = ("auto", "tokenizer", "mecab")
NO_SPAN = (-1, -1)
TEXTS_AT_ONCE = 1000  # bounds the memory of the arrays over all their characters and tokens


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
    """The tokens of one text, as `spans_of_each`."""
    return spans_of_each(tokenizer, [text], control=control)[0]


def spans_of_each(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    *,
    control: Collection[str] | None = (),
    encodings: Sequence[Offsets] | None = None,
) -> list[Spans]:
    """Tokenize texts and return the span of each token in its text; ids equal those of `encoding.token_ids`.

    A control token that a text contains is plain text, save those in `control` (`plain_text.reader`).

    A piece of a Python tokenizer that cannot be found in the text ([UNK], or one that the tokenizer rewrote)
    spans the characters between the pieces that were found. encodings: of the texts, where they are known already.
    """
    if encodings is None:
        encodings = offsets_of_each(tokenizer, texts, control=control)
    spans: list[Spans] = []
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        part = slice(start, start + TEXTS_AT_ONCE)
        spans += _spans(texts[part], encodings[part])
    return spans


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
        raise InputError(Message("Words are one of {WORDS}; got {how!r}.", WORDS=list_of(WORDS), how=how))
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


def _spans(texts: Sequence[str], encodings: Sequence[Offsets]) -> list[Spans]:
    """The spans of all tokens of the texts, computed on the concatenated texts."""
    counts = np.array([len(encoding.ids) for encoding in encodings])  # (n_texts,)
    n_tokens, ends = int(counts.sum()), np.cumsum(counts)
    first_character = np.cumsum([0, *map(len, texts)])[:-1]  # (n_texts,)
    shift = np.repeat(first_character, counts)  # (n_tokens,) where the text of each token begins
    offsets = np.fromiter(
        chain.from_iterable(chain.from_iterable(encoding.offsets for encoding in encodings)),
        dtype=np.int64,
        count=2 * n_tokens,
    ).reshape(-1, 2)  # (n_tokens, 2)
    special = np.fromiter(chain.from_iterable(encoding.special for encoding in encodings), bool, n_tokens)
    starts, stops = (offsets + shift[:, None]).T
    space = _is_space("".join(texts))  # (n_characters,)
    trimmed = np.where(special[:, None], NO_SPAN, _trimmed(space, starts, stops) - shift[:, None]).astype(np.int32)
    words = _own_words(encodings, counts, special, space, starts, stops)
    return [
        Spans(
            encoding.ids, encoding.tokens, trimmed[begin:end].copy(), special[begin:end].copy(), words[begin:end].copy()
        )
        for encoding, begin, end in zip(encodings, (ends - counts).tolist(), ends.tolist(), strict=True)
    ]


def _own_words(
    encodings: Sequence[Offsets],
    counts: np.ndarray,
    special: np.ndarray,
    space: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
) -> np.ndarray:
    """The tokenizer's words, split at white space: to a Unigram without pre-tokenizer a whole text is one word.

    int32 (n_tokens,). counts: (n_texts,) tokens of each text. space: bool (n_characters,). starts, stops: int64
    (n_tokens,) the characters of each token.
    """
    n_tokens = len(special)
    if not n_tokens:
        return np.zeros(0, dtype=np.int32)
    own = np.fromiter(
        (-1 if word is None else word for encoding in encodings for word in encoding.words), np.int64, n_tokens
    )
    tokens = list(chain.from_iterable(encoding.tokens for encoding in encodings))
    opens_word = np.fromiter((token[:1] in SPACE_MARKS for token in tokens), bool, n_tokens)
    is_mark = np.fromiter((token in SPACE_MARKS for token in tokens), bool, n_tokens)
    n_spaces = np.concatenate([[0], np.cumsum(space)])  # (n_characters + 1,) white space before each character
    is_blank = is_mark | (stops > starts) & (n_spaces[stops] - n_spaces[starts] == stops - starts)
    # A word begins after a control token and where a text does, ...
    begins = np.ones(n_tokens, dtype=bool)
    first_tokens = (np.cumsum(counts) - counts)[counts > 0]
    follows = np.ones(n_tokens, dtype=bool)
    follows[first_tokens] = False
    follows[1:] &= ~special[:-1]
    follows[0] = False
    at = np.flatnonzero(follows & ~special)
    # ... where the tokenizer says so, and after white space, whether it counts as part of the token or of no token.
    gap_end = np.maximum(np.minimum(starts[at] + 1, stops[at]), stops[at - 1])
    is_spaced = (starts[at] >= stops[at - 1]) & (n_spaces[gap_end] > n_spaces[stops[at - 1]])
    begins[at] = (own[at] != own[at - 1]) | ~is_blank[at - 1] & (is_spaced | opens_word[at])
    begins &= ~special
    n_begun = np.cumsum(begins)  # (n_tokens,)
    before_text = np.repeat(np.concatenate([[0], n_begun])[np.cumsum(counts) - counts], counts)
    return np.where(special, -1, n_begun - before_text - 1).astype(np.int32)


def _is_space(text: str) -> np.ndarray:
    """Which characters are white space, bool (n_characters,), as str.isspace says."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return _SPACES[np.minimum(codes, len(_SPACES) - 1)]


def _trimmed(space: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The spans without the white space around them, int64 (n, 2); white space alone stays as it is."""
    n_characters = len(space)
    positions = np.arange(n_characters)
    # Of each place between two characters: where the next character begins, and where the one before ends.
    next_start = np.append(np.minimum.accumulate(np.where(space, n_characters, positions)[::-1])[::-1], n_characters)
    previous_end = np.concatenate([[0], np.maximum.accumulate(np.where(space, 0, positions + 1))])
    first, last = next_start[starts], previous_end[stops]
    return np.where((first < stops)[:, None], np.stack([first, last], axis=1), np.stack([starts, stops], axis=1))


# Of every character up to the last white space, U+3000, and of one that is none.
_SPACES = np.array([chr(code).isspace() for code in range(0x3002)])
