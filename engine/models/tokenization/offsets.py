"""The tokens of a text with their character offsets, from any tokenizer.

Rust tokenizers give offsets, which are corrected here in two cases (combining marks, byte fallback). Python
tokenizers give none: their pieces are aligned with the normalised text. The steps of `BertJapaneseTokenizer` are
repeated, words first and then the pieces of each word, so that an [UNK] or a rewritten character stays in its word.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
from tokenizers import Encoding
from transformers import BertJapaneseTokenizer, PreTrainedTokenizerBase

from engine.models.tokenization.character_alignment import UnicodeForm, align_surfaces, normalize_with_origins
from engine.models.tokenization.control_spellings import Spellings
from engine.models.tokenization.encoding import encoded_each, token_ids
from engine.models.tokenization.plain_text import (
    added_special_tokens,
    control_spellings,
    reader,
    special_text,
    split_at_added_tokens,
)

# How SentencePiece and byte-level BPE write the space before a word, and WordPiece a piece that continues a word.
SPACE_MARKS = ("▁", "Ġ")
CONTINUATION = "##"
OTHER_MARKS = ("</w>", "@@")

Span = tuple[int, int]


@dataclass(frozen=True)
class Offsets:
    """Tokens as the tokenizer has them, special ones included, n in all.

    `offsets`: characters of the original text, possibly with the space before a word; (0, 0) for special tokens.
    `special`: control tokens, whether the tokenizer added them or the text contains them.
    `words`: equal neighbours belong to one word of the tokenizer; the values have no other meaning.
    """

    ids: list[int]
    tokens: list[str]
    offsets: list[Span]
    special: list[bool]
    words: Sequence[int | None]


@runtime_checkable
class ProvidesOffsets(Protocol):
    """A tokenizer that returns the offsets of its tokens itself (`recipe_tokenizer`)."""

    def offsets(self, text: str) -> Offsets:
        """The tokens of one text."""


def token_offsets(tokenizer: PreTrainedTokenizerBase, text: str, *, control: Collection[str] | None = ()) -> Offsets:
    """The tokens of one text, as `offsets_of_each`."""
    return offsets_of_each(tokenizer, [text], control=control)[0]


def offsets_of_each(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], *, control: Collection[str] | None = ()
) -> list[Offsets]:
    """Tokenize texts; ids equal those of `encoding.token_ids`, and the offsets of a text never go back.

    A control token that a text contains is plain text, save those in `control` (`plain_text.reader`).
    """
    if isinstance(tokenizer, ProvidesOffsets):
        plain: list[ProvidesOffsets] = [reader(tokenizer, text, control) for text in texts]
        return [provider.offsets(text) for provider, text in zip(plain, texts, strict=True)]
    if not tokenizer.is_fast:
        return [_recovered_offsets(tokenizer, text, control) for text in texts]
    special_ids, names = control_ids(tokenizer), _names.setdefault(tokenizer, {})
    offsets_by_number: dict[int, Offsets] = {}
    for number, ids, encoding in encoded_each(tokenizer, texts, control=control):
        missing = [token for token in ids if token not in names]
        names.update(zip(missing, tokenizer.convert_ids_to_tokens(missing), strict=True))
        offsets_by_number[number] = _fast_offsets(
            texts[number], ids, [names[token] for token in ids], encoding, special_ids
        )
    return [offsets_by_number[number] for number in range(len(texts))]


def _fast_offsets(
    text: str, ids: list[int], tokens: list[str], encoding: Encoding, special_ids: frozenset[int]
) -> Offsets:
    """`tokens`: by id, because the encoding's own show the spelling of an unknown piece instead of <unk>."""
    offsets = encoding.offsets
    # A control token inside the text counts as one only where the text contains it: a Unigram may write </s> for an
    # unknown piece (transformers 5 does so with T5Tokenizer vocabularies whose <unk> is not the third piece).
    special = [
        bool(added) or (token_id in special_ids and text[slice(*offset)].strip() == token)
        for token_id, token, offset, added in zip(ids, tokens, offsets, encoding.special_tokens_mask, strict=True)
    ]
    if any(map(_is_byte, tokens)):
        offsets = _separate_bytes(text, tokens, offsets)
    if not text.isascii() and any(map(_composes_with_the_one_before, text)):
        offsets = _with_combining_marks(text, offsets)
    return Offsets(ids, tokens, offsets, special, encoding.word_ids)


def control_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids of the control tokens, which stand for no text: all special tokens but the unknown token.

    The unknown token is included only where it also has another role (GPT-2's <|endoftext|>).
    """
    doubles = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    unknown = tokenizer.unk_token_id
    # GLM's [gMASK] and <sop> have no role of their own: they are special among the added tokens alone.
    special = {*tokenizer.all_special_ids, *added_special_tokens(tokenizer)}
    special -= {int(tokenizer.convert_tokens_to_ids(token)) for token in special_text(tokenizer)}  # type: ignore[arg-type]
    return frozenset(token for token in special if token != unknown or token in doubles)


def control_tokens_read(tokenizer: PreTrainedTokenizerBase, text: str) -> list[str]:
    """The control tokens that a text contains and that are read as such although they are plain text; each once."""
    spellings = control_spellings(tokenizer)
    if not spellings.occur_in(text):
        return []
    encoding = token_offsets(tokenizer, text)
    if tokenizer.is_fast or isinstance(tokenizer, ProvidesOffsets):
        read = [
            token
            for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True)
            if Spellings([token]).occur_in(text[start:end])
        ]
    else:  # a control token has no offsets here
        control = control_ids(tokenizer)
        added = Counter(token_ids(tokenizer, "")) if text else Counter()
        counts = Counter(token for token in encoding.ids if token in control) - added
        read = list(tokenizer.convert_ids_to_tokens(list(counts)))
    return [token for token in dict.fromkeys(read) if token in spellings.tokens]


def _recovered_offsets(
    tokenizer: PreTrainedTokenizerBase, text: str, read_as_control: Collection[str] | None
) -> Offsets:
    ids = token_ids(tokenizer, text, control=read_as_control)
    tokens = list(tokenizer.convert_ids_to_tokens(ids))
    control = control_ids(tokenizer)
    special = [token in control for token in ids]
    if isinstance(tokenizer, BertJapaneseTokenizer):
        plain: Any = reader(tokenizer, text, read_as_control)
        pieces, spans, words = _japanese_pieces(plain, text)
        # The tokenizer puts the pieces between special tokens; pieces of any other step would not be found here.
        before = next((i for i in range(len(ids)) if ids[i : i + len(pieces)] == pieces), None)
        if before is not None:
            after = len(ids) - before - len(pieces)
            return Offsets(
                ids,
                tokens,
                [(0, 0)] * before + spans + [(0, 0)] * after,
                special,
                [None] * before + words + [None] * after,
            )

    normalized = normalize_with_origins(text, "NFKC")
    unknown = tokenizer.unk_token_id
    surfaces = [
        None if token == unknown else _surface(piece)
        for token, piece, flag in zip(ids, tokens, special, strict=True)
        if not flag
    ]
    ranges = iter(align_surfaces(surfaces, normalized, 0, len(normalized.characters)))
    offsets = [(0, 0) if flag else normalized.origin(*next(ranges)) for flag in special]
    continues = [piece.startswith(CONTINUATION) for piece in tokens]
    starts = np.array([any(continues) and not flag for flag in continues], dtype=bool)
    return Offsets(ids, tokens, offsets, special, np.cumsum(starts).tolist())


def _japanese_pieces(tokenizer: BertJapaneseTokenizer, text: str) -> tuple[list[int], list[Span], list[int | None]]:
    """Ids, spans and words of the pieces, by the steps of the tokenizer."""
    ids: list[int] = []
    spans: list[Span] = []
    numbers: list[int | None] = []
    word_number, position = 0, 0
    ids_of_added = tokenizer.added_tokens_encoder
    # Read once: the tokenizer builds the list of its special tokens anew at every access.
    special, unknown, form = tokenizer.all_special_tokens, tokenizer.unk_token, _unicode_form(tokenizer)
    keeps_accents = not _strips_accents(tokenizer)
    for segment, is_added in split_at_added_tokens(tokenizer, text):
        begin = text.find(segment, position)
        position = begin + len(segment)
        if is_added:
            ids.append(ids_of_added[segment])
            spans.append((begin, position))
            numbers.append(word_number)
            word_number += 1
            continue
        words = [segment]
        if tokenizer.do_word_tokenize:
            words = tokenizer.word_tokenizer.tokenize(segment, never_split=special)
        normalized = normalize_with_origins(segment, form, offset=begin, accents=keeps_accents)
        word_ranges = align_surfaces(words, normalized, 0, len(normalized.characters))
        # Words that were not found share what is between their neighbours, and so do their pieces.
        for (first, last), row in groupby(zip(word_ranges, words, strict=True), key=itemgetter(0)):
            surfaces: list[str | None] = []
            for _, word in row:
                pieces = tokenizer.subword_tokenizer.tokenize(word) if tokenizer.do_subword_tokenize else [word]
                surfaces += [
                    None if piece == unknown else _surface(piece, opens_word=i == 0) for i, piece in enumerate(pieces)
                ]
                ids += [int(tokenizer.convert_tokens_to_ids(piece)) for piece in pieces]  # type: ignore[arg-type]
                numbers += [word_number] * len(pieces)
                word_number += 1
            spans += [normalized.origin(*of_piece) for of_piece in align_surfaces(surfaces, normalized, first, last)]
    return ids, spans, numbers


def _unicode_form(tokenizer: BertJapaneseTokenizer) -> UnicodeForm | None:
    """The Unicode form to which the tokenizer normalises a text before it splits it."""
    if tokenizer.do_word_tokenize and tokenizer.word_tokenizer_type == "basic":
        return "NFC"
    normalizes = getattr(getattr(tokenizer, "word_tokenizer", None), "normalize_text", True)
    return "NFKC" if normalizes else None


def _strips_accents(tokenizer: BertJapaneseTokenizer) -> bool:
    """Whether its words are the basic tokenizer's, which takes accents off where it lowers, unless it is told."""
    if not tokenizer.do_word_tokenize or tokenizer.word_tokenizer_type != "basic":
        return False
    told = tokenizer.word_tokenizer.strip_accents
    return bool(tokenizer.word_tokenizer.do_lower_case if told is None else told)


def _surface(piece: str, *, opens_word: bool = False) -> str:
    """What a piece spells: without the marks of WordPiece, SentencePiece and the older BPEs."""
    if not opens_word:
        piece = piece.removeprefix(CONTINUATION)
    for mark in (*SPACE_MARKS, *OTHER_MARKS):
        piece = piece.replace(mark, "")
    return piece


def _with_combining_marks(text: str, offsets: list[Span]) -> list[Span]:
    """Extend each token by the marks that compose with its last character: the Rust NFKC leaves out the ﾞ of ｶﾞ."""
    extended = list(offsets)
    following = len(text)
    for i in range(len(offsets) - 1, -1, -1):
        start, end = offsets[i]
        if start == end:
            continue
        if i + 1 < len(offsets) and offsets[i] == offsets[i + 1]:
            extended[i] = extended[i + 1]
            continue
        while end < following and _composes_with_the_one_before(text[end]):
            end += 1
        extended[i], following = (start, end), start
    return extended


@lru_cache(maxsize=2**16)
def _composes_with_the_one_before(character: str) -> bool:
    return bool(unicodedata.combining(unicodedata.normalize("NFKD", character)[0]))


def _separate_bytes(text: str, tokens: list[str], offsets: list[Span]) -> list[Span]:
    """Give each byte token <0x…> the offsets of its own character.

    Where a Unigram falls back to bytes for several characters in a row, the Rust tokenizer gives all their
    bytes the offsets of the whole row.
    """
    separated = list(offsets)
    i = 0
    while i < len(tokens):
        run = i
        while run < len(tokens) and offsets[run] == offsets[i] and _is_byte(tokens[run]):
            run += 1
        if run - i > 1:
            separated[i:run] = _byte_spans(text, bytes(int(token[3:5], 16) for token in tokens[i:run]), *offsets[i])
        i = max(run, i + 1)
    return separated


def _is_byte(token: str) -> bool:
    return token[:3] == "<0x" and len(token) == 6 and token[-1] == ">"


def _byte_spans(text: str, spelling: bytes, start: int, end: int) -> list[Span]:
    """The span of each byte, where the bytes encode the text or its NFKC form; else the whole span for each."""
    characters = spelling.decode("utf-8", errors="replace")
    forms: tuple[UnicodeForm | None, ...] = (None, "NFKC")
    for form in forms:
        normalized = normalize_with_origins(text[start:end], form, offset=start, case=False)
        if characters == normalized.characters:
            return [
                (normalized.starts[i], normalized.ends[i])
                for i, character in enumerate(characters)
                for _ in character.encode()
            ]
    return [(start, end)] * len(spelling)


# The names of the ids that occurred, because transformers looks each up anew.
_names: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()
