"""Recipes: how a text is normalised and segmented before a model's own vocabulary, where its files do not say so.

Models of 2019 were published as weights and a vocabulary, with the tokenization in the publisher's instructions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from engine.errors import InputError, ModelError
from engine.language import segmenters
from engine.messages.message import Message, list_of, together

STEPS = ("nfkc", "full-width", "lower")
VOCABULARIES: Mapping[str, str] = {
    "own": Message("the tokenizer published with it"),
    "wordpiece": Message("WordPiece of vocab.txt"),
    "words": Message("whole words of vocab.txt"),
    "sentencepiece": "SentencePiece",
}
EXAMPLE = '{"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece"}'


@dataclass(frozen=True)
class Recipe:
    """How a text becomes tokens.

    `normalize`: of STEPS. "nfkc" (Unicode's NFKC) and "full-width" (`language.widths`) come before the segmenter, in
    this order; "lower" comes after it, as BERT's own do_lower_case does, so that the segmenter sees the text's case.
    `segmenter`: of `language.segmenters`, or None; words that are separated by spaces stay separate in any case.
    `vocabulary`: "wordpiece" and "words" (a word that vocab.txt does not hold is unknown, none is ever split) put the
    tokens of the words between [CLS] and [SEP]; "sentencepiece" does so with the pieces of the directory's one .model
    file; "own" passes the words, joined by spaces, to the tokenizer that transformers reads from the directory.
    `max_tokens`: the longest input the model was trained on, special tokens included, where its configuration has more.
    """

    segmenter: str | None = None
    normalize: tuple[str, ...] = ()
    vocabulary: str = "own"
    max_tokens: int | None = None


def identity(recipe: Recipe) -> str:
    """All that determines the tokens apart from the model's files: the recipe, and the segmenter with its dictionary.

    Raises ModelError when the segmenter or its dictionary is not installed.
    """
    used = segmenters.identity(recipe.segmenter) if recipe.segmenter else None
    return json.dumps({**asdict(recipe), "with": used}, sort_keys=True)


def state(recipe: Recipe) -> str:
    """Like `identity`, but faster: a dictionary by the sizes and times of its files. Raises as `identity`."""
    used = segmenters.state(recipe.segmenter) if recipe.segmenter else None
    return json.dumps({**asdict(recipe), "with": used}, sort_keys=True)


def fingerprint_with_recipe(fingerprint: str, recipe: Recipe | None) -> str:
    """The fingerprint of files that are read by a recipe; unchanged without one. Raises as `identity`."""
    if recipe is None:
        return fingerprint
    return sha256(f"{fingerprint}\n{identity(recipe)}".encode()).hexdigest()


def description(recipe: Recipe) -> str:
    """The steps of a recipe in their order, for readers.

    >>> description(Recipe("mecab-jumandic", ("full-width",), "wordpiece", 128))
    'full-width, MeCab with jumandic, WordPiece of vocab.txt, at most 128 tokens'
    """
    steps = [step for step in STEPS[:2] if step in recipe.normalize]
    steps += [segmenters.display_name(recipe.segmenter)] if recipe.segmenter else []
    steps += [Message("lower case")] if "lower" in recipe.normalize else []
    steps.append(VOCABULARIES[recipe.vocabulary])
    steps += [Message("at most {max_tokens:,} tokens", max_tokens=recipe.max_tokens)] if recipe.max_tokens else []
    return together(", ", map(Message, steps))


def versioned_description(recipe: Recipe) -> str:
    """`description`, with the versions of what it uses. Raises as `identity`."""
    used = f" ({segmenters.identity(recipe.segmenter)})" if recipe.segmenter else ""
    return description(recipe) + used


def recipe_from(fields: Mapping[str, Any], where: str, base: Recipe | None = None) -> Recipe:
    """A recipe from its JSON fields, on top of `base`; `where`: what they were read from, for the message.

    Raises ModelError that names every unknown or invalid field.
    """
    errors = [Message("{name} is no field of a recipe", name=name) for name in fields if name not in asdict(Recipe())]
    values: dict[str, Any] = {name: fields[name] for name in asdict(Recipe()) if name in fields}
    if (name := values.get("segmenter")) is not None:
        try:
            segmenters.display_name(str(name))
        except InputError:
            errors.append(
                Message(
                    "segmenter is one of {NAMES}, or {MECAB_DIRECTORY}DIRECTORY (got {segmenter!r})",
                    NAMES=list_of(segmenters.NAMES),
                    MECAB_DIRECTORY=segmenters.MECAB_DIRECTORY,
                    segmenter=name,
                )
            )
    steps = values.get("normalize", [])
    if not isinstance(steps, list) or not set(map(str, steps)) <= set(STEPS):
        errors.append(Message("normalize is a list of {STEPS} (got {steps!r})", STEPS=list_of(STEPS), steps=steps))
    if (vocabulary := values.get("vocabulary", "own")) not in list(VOCABULARIES):
        errors.append(
            Message(
                "vocabulary is one of {VOCABULARIES} (got {vocabulary!r})",
                VOCABULARIES=list_of(VOCABULARIES),
                vocabulary=vocabulary,
            )
        )
    limit = values.get("max_tokens")
    if limit is not None and (type(limit) is not int or limit < 3):
        errors.append(Message("max_tokens is a whole number above 2 (got {limit!r})", limit=limit))
    if errors:
        raise ModelError(
            Message(
                "{where} is no recipe: {errors}. It is read like this: {EXAMPLE}",
                where=where,
                errors=together("; ", errors),
                EXAMPLE=EXAMPLE,
            )
        )
    if "normalize" in values:
        values["normalize"] = tuple(step for step in STEPS if step in steps)
    return replace(base or Recipe(), **values)
