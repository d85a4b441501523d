"""Recipes: what has to be done to a text before a model's own vocabulary sees it, where its files do not say so.

Models of 2019 came as weights and a vocabulary; how texts were cut for it stood in the publisher's instructions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from engine.errors import InputError, ModelError
from engine.language import segmenters

STEPS = ("nfkc", "full-width", "lower")
VOCABULARIES: Mapping[str, str] = {
    "own": "the tokenizer published with it",
    "wordpiece": "WordPiece of vocab.txt",
    "words": "whole words of vocab.txt",
    "sentencepiece": "SentencePiece",
}
EXAMPLE = '{"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece"}'


@dataclass(frozen=True)
class Recipe:
    """How a text becomes tokens.

    `normalize`: of STEPS. "nfkc" (Unicode's NFKC) and "full-width" (`language.widths`) come before the segmenter, in
    this order; "lower" comes after it, as BERT's own do_lower_case does, so that the segmenter sees the text's case.
    `segmenter`: of `language.segmenters`, or None; words that a text has in spaces stay apart in any case.
    `vocabulary`: "wordpiece" and "words" (a word that vocab.txt does not hold is unknown, none is ever split) frame
    the tokens of each word by [CLS] and [SEP]; "sentencepiece" does so with the pieces of the directory's one .model
    file; "own" gives the words, in spaces, to the tokenizer that transformers reads from the directory.
    `max_tokens`: the longest input the model was trained on, special tokens included, where its configuration has more.
    """

    segmenter: str | None = None
    normalize: tuple[str, ...] = ()
    vocabulary: str = "own"
    max_tokens: int | None = None


def identity(recipe: Recipe) -> str:
    """All that determines the tokens beside the model's files: the recipe, and the segmenter with its dictionary.

    Raises ModelError when the segmenter or its dictionary is not installed.
    """
    used = segmenters.identity(recipe.segmenter) if recipe.segmenter else None
    return json.dumps({**asdict(recipe), "with": used}, sort_keys=True)


def state(recipe: Recipe) -> str:
    """Like `identity`, told at a glance: a dictionary by its files' sizes and times. Raises as `identity`."""
    used = segmenters.state(recipe.segmenter) if recipe.segmenter else None
    return json.dumps({**asdict(recipe), "with": used}, sort_keys=True)


def seasoned(fingerprint: str, recipe: Recipe | None) -> str:
    """The fingerprint of files that are read by a recipe; without one it stays what it is. Raises as `identity`."""
    if recipe is None:
        return fingerprint
    return sha256(f"{fingerprint}\n{identity(recipe)}".encode()).hexdigest()


def in_words(recipe: Recipe) -> str:
    """The steps in their order, for readers.

    >>> in_words(Recipe("mecab-jumandic", ("full-width",), "wordpiece", 128))
    'full-width, MeCab with jumandic, WordPiece of vocab.txt, at most 128 tokens'
    """
    steps = [step for step in STEPS[:2] if step in recipe.normalize]
    steps += [segmenters.in_words(recipe.segmenter)] if recipe.segmenter else []
    steps += ["lower case"] if "lower" in recipe.normalize else []
    steps.append(VOCABULARIES[recipe.vocabulary])
    steps += [f"at most {recipe.max_tokens:,} tokens"] if recipe.max_tokens else []
    return ", ".join(steps)


def signed(recipe: Recipe) -> str:
    """`in_words`, with the versions of what it uses. Raises as `identity`."""
    used = f" ({segmenters.identity(recipe.segmenter)})" if recipe.segmenter else ""
    return in_words(recipe) + used


def recipe_from(fields: Mapping[str, Any], where: str, base: Recipe | None = None) -> Recipe:
    """A recipe as JSON holds it, on top of `base`; `where` says where it was read from.

    Raises ModelError that names every field which is unknown or wrong.
    """
    wrong = [f"{name} is no field of a recipe" for name in fields if name not in asdict(Recipe())]
    given: dict[str, Any] = {name: fields[name] for name in asdict(Recipe()) if name in fields}
    if (name := given.get("segmenter")) is not None:
        try:
            segmenters.in_words(str(name))
        except InputError as error:
            wrong.append(str(error).rstrip("."))
    steps = given.get("normalize", [])
    if not isinstance(steps, list) or not set(map(str, steps)) <= set(STEPS):
        wrong.append(f"normalize is a list of {', '.join(STEPS)}; got {steps!r}")
    if (vocabulary := given.get("vocabulary", "own")) not in list(VOCABULARIES):
        wrong.append(f"vocabulary is one of {', '.join(VOCABULARIES)}; got {vocabulary!r}")
    limit = given.get("max_tokens")
    if limit is not None and (type(limit) is not int or limit < 3):
        wrong.append(f"max_tokens is a whole number above 2; got {limit!r}")
    if wrong:
        raise ModelError(f"{where} is no recipe: {'; '.join(wrong)}. It is read like this: {EXAMPLE}")
    if "normalize" in given:
        given["normalize"] = tuple(step for step in STEPS if step in steps)
    return replace(base or Recipe(), **given)
