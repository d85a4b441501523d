"""A tokenizer that follows a recipe: normalise, segment, and only then look into the model's vocabulary.

It is asked as transformers' tokenizers are (`tokenizer(text)["input_ids"]`, `convert_ids_to_tokens`, `mask_token_id`)
and knows where its tokens stand in the text as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders
from tokenizers.models import WordLevel
from transformers import BatchEncoding, PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.models.bert_japanese.tokenization_bert_japanese import WordpieceTokenizer

from engine.errors import ModelError
from engine.models.sources.recipes import Recipe
from engine.models.tokenization.character_alignment import Folded
from engine.models.tokenization.offsets import CONTINUATION, SPACE_MARKS, Offsets, token_offsets
from engine.models.tokenization.preparing import Part, joined, prepare
from engine.models.tokenization.sentencepieces import SentencePieces

VOCABULARY = "vocab.txt"
# What a vocabulary may call its special tokens; [UNK] or <unk> there must be.
SPECIAL = {"unk_token": ("[UNK]", "<unk>"), "cls_token": ("[CLS]",), "sep_token": ("[SEP]",),
           "pad_token": ("[PAD]", "<pad>"), "mask_token": ("[MASK]",)}
# The pieces of a word: what the vocabulary calls each (None: unknown), and which characters of the word it covers.
# Also asked with whether the text begins with this word.
Cut = Callable[[Folded, bool], list[tuple[str | None, int, int]]]


class RecipeTokenizer:
    """Texts to tokens by a recipe; whatever else a tokenizer is asked, the vocabulary's own tokenizer answers."""

    def __init__(self, recipe: Recipe, names: PreTrainedTokenizerBase, cut: Cut | None) -> None:
        """`names` knows the vocabulary and its special tokens; it also cuts where `cut` is None."""
        self.recipe = recipe
        self._names = names
        self._cut = cut
        # Looked up once: transformers puts both together anew at every look.
        self._ids, self._special = names.get_vocab(), list(names.all_special_tokens)

    def __getattr__(self, name: str) -> Any:
        """What transformers' tokenizers answer without a text."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._names, name)

    def __len__(self) -> int:
        """Pieces of the vocabulary, special tokens included."""
        return len(self._names)

    def __call__(self, text: str, *, padding: bool = False, truncation: bool = False, **_: Any) -> BatchEncoding:
        """The ids of one text, whole and unpadded, framed by special tokens, as "input_ids"."""
        if padding or truncation:
            raise NotImplementedError("A recipe's tokenizer neither pads nor truncates.")
        return BatchEncoding({"input_ids": self.offsets(text).ids})

    def encode(self, text: str) -> list[int]:
        """The ids of one text, framed by special tokens."""
        return self.offsets(text).ids

    def tokenize(self, text: str) -> list[str]:
        """The tokens of one text, without the special tokens round it."""
        found = self.offsets(text)
        return [token for token, (start, end) in zip(found.tokens, found.offsets, strict=True) if start < end]

    def prepared(self, text: str) -> str:
        """The text as the vocabulary sees it: normalised, its words in spaces."""
        return " ".join(word.characters for part in self._parts(text) for word in part.words)

    def offsets(self, text: str) -> Offsets:
        """The tokens of one text and where they stand in it; see `engine.models.tokenization.offsets`."""
        parts = self._parts(text)
        return self._by_own_tokenizer(parts) if self._cut is None else self._framed(parts, self._cut)

    def _parts(self, text: str) -> list[Part]:
        return prepare(text, self.recipe, self._special)

    def _framed(self, parts: list[Part], cut: Cut) -> Offsets:
        unknown = str(self._names.unk_token)
        opening, closing = ([str(token)] if token else [] for token in (self._names.cls_token, self._names.sep_token))
        tokens, offsets, special = [*opening], [(0, 0)] * len(opening), [True] * len(opening)
        words: list[int | None] = [None] * len(opening)
        number = 0
        for position, part in enumerate(parts):
            for word in part.words:
                whole = [(word.characters, 0, len(word.characters))]
                pieces = whole if part.special else cut(word, position == 0)
                tokens += [token or unknown for token, *_ in pieces]
                offsets += [word.origin(start, end) for _, start, end in pieces]
                special += [part.special and word.characters != unknown] * len(pieces)
                words += [number] * len(pieces)
                number += 1
        tokens += closing
        return Offsets([self._ids[token] for token in tokens], tokens, offsets + [(0, 0)] * len(closing),
                       special + [True] * len(closing), words + [None] * len(closing))

    def _by_own_tokenizer(self, parts: list[Part]) -> Offsets:
        text = joined([word for part in parts for word in part.words], " " if self.recipe.segmenter else "")
        found = token_offsets(self._names, text.characters)
        # (0, 0) stands for a special token that the text does not spell.
        offsets = [text.origin(start, end) if start < end or start else (0, 0) for start, end in found.offsets]
        return Offsets(found.ids, found.tokens, offsets, found.special, found.words)


def recipe_tokenizer(directory: Path, recipe: Recipe) -> RecipeTokenizer:
    """The tokenizer of a directory whose vocabulary stands alone: vocab.txt, or a SentencePiece .model file.

    Raises ModelError when the vocabulary is missing or has no unknown token.
    """
    if recipe.vocabulary == "sentencepiece":
        pieces = SentencePieces(directory)
        names = _names(pieces.ids, recipe, directory)
        names.backend_tokenizer.decoder = decoders.Metaspace(replacement=SPACE_MARKS[0], prepend_scheme="never")
        return RecipeTokenizer(recipe, names, pieces.cut)
    vocabulary = _read(directory / VOCABULARY)
    names = _names(vocabulary, recipe, directory)
    names.backend_tokenizer.decoder = decoders.WordPiece(prefix=CONTINUATION, cleanup=False)
    if recipe.vocabulary == "words":
        return RecipeTokenizer(recipe, names, lambda word, _: [
            (word.characters if word.characters in vocabulary else None, 0, len(word.characters))])
    unknown = str(names.unk_token)
    splitter = WordpieceTokenizer(vocabulary, unknown)

    def cut(word: Folded, _: bool) -> list[tuple[str | None, int, int]]:
        tokens = splitter.tokenize(word.characters)
        if tokens == [unknown]:
            return [(None, 0, len(word.characters))]
        # Pieces follow one another without a gap.
        placed: list[tuple[str | None, int, int]] = []
        end = 0
        for token in tokens:
            start, end = end, end + len(token) - (len(CONTINUATION) if end else 0)
            placed.append((token, start, end))
        return placed

    return RecipeTokenizer(recipe, names, cut)


def _read(path: Path) -> dict[str, int]:
    """A vocabulary of one token a line, numbered from 0."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"The recipe needs {path.name} in {path.parent}, one piece a line in UTF-8, and it cannot be "
                         f"read: {error}. Put it there, or name another recipe.") from error
    return {line: number for number, line in enumerate(lines) if line}


def _names(vocabulary: Mapping[str, int], recipe: Recipe, directory: Path) -> PreTrainedTokenizerFast:
    special = {role: found for role, choices in SPECIAL.items()
               if (found := next((token for token in choices if token in vocabulary), None))}
    if "unk_token" not in special:
        raise ModelError(f"The vocabulary in {directory} holds neither {' nor '.join(SPECIAL['unk_token'])}, so "
                         "nothing can stand for a word that it does not know. Take the file that was published with "
                         "the model.")
    limit = {} if recipe.max_tokens is None else {"model_max_length": recipe.max_tokens}
    core = Tokenizer(WordLevel(dict(vocabulary), unk_token=special["unk_token"]))
    return PreTrainedTokenizerFast(tokenizer_object=core, **special, **limit)
