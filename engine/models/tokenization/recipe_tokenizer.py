"""A tokenizer that follows a recipe: normalise, segment, and only then look up the model's vocabulary.

It has the interface of transformers' tokenizers (`tokenizer(text)["input_ids"]`, `convert_ids_to_tokens`,
`mask_token_id`) and returns the offsets of its tokens in the original text.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders
from tokenizers.models import WordLevel
from transformers import BatchEncoding, PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.models.bert_japanese.tokenization_bert_japanese import WordpieceTokenizer

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.character_alignment import NormalizedText
from engine.models.tokenization.offsets import CONTINUATION, SPACE_MARKS, Offsets, token_offsets
from engine.models.tokenization.pretokenization import Part, join_words, pretokenize
from engine.models.tokenization.sentencepieces import SentencePieces

VOCABULARY = "vocab.txt"
# Names of the special tokens in a vocabulary; only the unknown token is required.
SPECIAL = {
    "unk_token": ("[UNK]", "<unk>"),
    "cls_token": ("[CLS]",),
    "sep_token": ("[SEP]",),
    "pad_token": ("[PAD]", "<pad>"),
    "mask_token": ("[MASK]",),
}
# (word, whether the text begins with it) -> its pieces: the vocabulary entry of each (None: unknown) and the range of
# the word's characters that it covers.
SplitWord = Callable[[NormalizedText, bool], list[tuple[str | None, int, int]]]


class RecipeTokenizer:
    """Tokenizes by a recipe; all other attributes of a tokenizer are those of `vocabulary_tokenizer`."""

    def __init__(
        self, recipe: Recipe, vocabulary_tokenizer: PreTrainedTokenizerBase, split_word: SplitWord | None
    ) -> None:
        """`vocabulary_tokenizer` has the vocabulary and its special tokens; it also splits if `split_word` is None."""
        self.recipe = recipe
        self._vocabulary_tokenizer = vocabulary_tokenizer
        self._split_word = split_word
        # Read once: transformers builds both anew at every access.
        self._ids, self._special = vocabulary_tokenizer.get_vocab(), list(vocabulary_tokenizer.all_special_tokens)

    def with_control_tokens(self, control: Collection[str]) -> RecipeTokenizer:
        """The same tokenizer, which reads only these special tokens as such where a text contains them."""
        changed = copy.copy(self)
        changed._special = [token for token in self._special if token in control]
        return changed

    def __getattr__(self, name: str) -> Any:
        """The attributes of transformers' tokenizers that need no text."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._vocabulary_tokenizer, name)

    def __len__(self) -> int:
        """Pieces of the vocabulary, special tokens included."""
        return len(self._vocabulary_tokenizer)

    def __call__(self, text: str, *, padding: bool = False, truncation: bool = False, **_: Any) -> BatchEncoding:
        """The ids of one text, whole and unpadded, between special tokens, as "input_ids"."""
        if padding or truncation:
            raise NotImplementedError("A recipe's tokenizer neither pads nor truncates.")
        return BatchEncoding({"input_ids": self.offsets(text).ids})

    def encode(self, text: str) -> list[int]:
        """The ids of one text, between special tokens."""
        return self.offsets(text).ids

    def tokenize(self, text: str) -> list[str]:
        """The tokens of one text, without the special tokens around it."""
        encoding = self.offsets(text)
        return [token for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True) if start < end]

    def prepared(self, text: str) -> str:
        """The text as the vocabulary sees it: normalised, its words separated by spaces."""
        return " ".join(word.characters for part in self._parts(text) for word in part.words)

    def offsets(self, text: str) -> Offsets:
        """The tokens of one text with their offsets in it; see `engine.models.tokenization.offsets`."""
        parts = self._parts(text)
        if self._split_word is None:
            return self._by_published_tokenizer(parts)
        return self._between_special_tokens(parts, self._split_word)

    def _parts(self, text: str) -> list[Part]:
        return pretokenize(text, self.recipe, self._special)

    def _between_special_tokens(self, parts: list[Part], split_word: SplitWord) -> Offsets:
        vocabulary = self._vocabulary_tokenizer
        unknown = str(vocabulary.unk_token)
        opening, closing = ([str(token)] if token else [] for token in (vocabulary.cls_token, vocabulary.sep_token))
        tokens, offsets, special = [*opening], [(0, 0)] * len(opening), [True] * len(opening)
        words: list[int | None] = [None] * len(opening)
        number = 0
        for position, part in enumerate(parts):
            for word in part.words:
                whole = [(word.characters, 0, len(word.characters))]
                pieces = whole if part.special else split_word(word, position == 0)
                tokens += [token or unknown for token, *_ in pieces]
                offsets += [word.origin(start, end) for _, start, end in pieces]
                special += [part.special and word.characters != unknown] * len(pieces)
                words += [number] * len(pieces)
                number += 1
        tokens += closing
        return Offsets(
            [self._ids[token] for token in tokens],
            tokens,
            offsets + [(0, 0)] * len(closing),
            special + [True] * len(closing),
            words + [None] * len(closing),
        )

    def _by_published_tokenizer(self, parts: list[Part]) -> Offsets:
        text = join_words([word for part in parts for word in part.words], " " if self.recipe.segmenter else "")
        encoding = token_offsets(self._vocabulary_tokenizer, text.characters, control=self._special)
        # (0, 0) stands for a special token that the text does not contain.
        offsets = [text.origin(start, end) if start < end or start else (0, 0) for start, end in encoding.offsets]
        return Offsets(encoding.ids, encoding.tokens, offsets, encoding.special, encoding.words)


def recipe_tokenizer(directory: Path, recipe: Recipe) -> RecipeTokenizer:
    """The tokenizer of a directory whose vocabulary stands alone: vocab.txt, or a SentencePiece .model file.

    Raises ModelError when the vocabulary is missing or has no unknown token.
    """
    if recipe.vocabulary == "sentencepiece":
        pieces = SentencePieces(directory)
        vocabulary_tokenizer = _vocabulary_tokenizer(pieces.ids, recipe, directory)
        vocabulary_tokenizer.backend_tokenizer.decoder = decoders.Metaspace(
            replacement=SPACE_MARKS[0], prepend_scheme="never"
        )
        return RecipeTokenizer(recipe, vocabulary_tokenizer, pieces.split)
    vocabulary = _read_vocabulary(directory / VOCABULARY)
    vocabulary_tokenizer = _vocabulary_tokenizer(vocabulary, recipe, directory)
    vocabulary_tokenizer.backend_tokenizer.decoder = decoders.WordPiece(prefix=CONTINUATION, cleanup=False)
    # A word that is spelled like a special token is none.
    words = {word: number for word, number in vocabulary.items() if word not in vocabulary_tokenizer.all_special_tokens}
    if recipe.vocabulary == "words":
        return RecipeTokenizer(
            recipe,
            vocabulary_tokenizer,
            lambda word, _: [(word.characters if word.characters in words else None, 0, len(word.characters))],
        )
    unknown = str(vocabulary_tokenizer.unk_token)
    splitter = WordpieceTokenizer(words, unknown)

    def split_word(word: NormalizedText, _: bool) -> list[tuple[str | None, int, int]]:
        tokens = splitter.tokenize(word.characters)
        if tokens == [unknown]:
            return [(None, 0, len(word.characters))]
        # No characters lie between two pieces.
        piece_ranges: list[tuple[str | None, int, int]] = []
        end = 0
        for token in tokens:
            start, end = end, end + len(token) - (len(CONTINUATION) if end else 0)
            piece_ranges.append((token, start, end))
        return piece_ranges

    return RecipeTokenizer(recipe, vocabulary_tokenizer, split_word)


def _read_vocabulary(path: Path) -> dict[str, int]:
    """A vocabulary of one token a line, numbered from 0."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(
            Message(
                "The recipe needs {name} in {parent}, one piece a line in UTF-8, and it cannot be "
                "read: {error}. Put it there, or name another recipe.",
                name=path.name,
                parent=path.parent,
                error=error,
            )
        ) from error
    return {line: number for number, line in enumerate(lines) if line}


def _vocabulary_tokenizer(vocabulary: Mapping[str, int], recipe: Recipe, directory: Path) -> PreTrainedTokenizerFast:
    present = {role: [token for token in choices if token in vocabulary] for role, choices in SPECIAL.items()}
    special = {role: tokens[0] for role, tokens in present.items() if tokens}
    if "unk_token" not in special:
        raise ModelError(
            Message(
                "The vocabulary in {directory} holds none of {SPECIAL}, so nothing can stand for a "
                "word that it does not know. Take the file that was published with the model.",
                directory=directory,
                SPECIAL=list_of(SPECIAL["unk_token"]),
            )
        )
    limit = {} if recipe.max_tokens is None else {"model_max_length": recipe.max_tokens}
    core = Tokenizer(WordLevel(dict(vocabulary), unk_token=special["unk_token"]))
    return PreTrainedTokenizerFast(tokenizer_object=core, **special, **limit)
