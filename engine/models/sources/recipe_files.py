"""Which recipe a model is read by: that of the card it was named with, or of a hakari.json beside its weights.

    {"card": "paper/kyoto-univ"}
    {"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece", "max_tokens": 128}
    {"card": "paper/mecab", "segmenter": "mecab:/opt/mecab-ipadic-neologd"}

Fields beside "card" take the place of the card's. The file counts among the tokenizer's, so fingerprints hold it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.language.segmenters import MECAB_DIRECTORY
from engine.models.sources.model_files import read_json
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import EXAMPLE, Recipe, recipe_from

FILE = "hakari.json"


def recipe_for(directory: Path, card: str | None, *, own: bool) -> Recipe | None:
    """The recipe for the files in `directory`, or None where they say themselves how tokens are made.

    card: the name of a card of the papers, where the model was named by one. own: whether the directory is on this
    machine by its user's will; what came from the hub names no directory of ours. Raises ModelError when the file is
    not readable or holds no recipe, or when there is both a card and a file that says otherwise.
    """
    path = directory / FILE
    recipe = _written(path, own=own) if path.is_file() else None
    if card is None:
        return recipe
    named = PAPER_CARDS[card].recipe
    if path.is_file() and recipe != named:
        raise ModelError(f"{card} names one recipe, and {path} another. Name the directory alone (the file may hold "
                         f'"card": "{card}" and what differs from it), or take the file away.')
    return named


def _written(path: Path, *, own: bool) -> Recipe | None:
    fields: dict[str, Any] = read_json(path, f"It says how texts become tokens, like this: {EXAMPLE}")
    card = fields.pop("card", None)
    if card is not None and card not in PAPER_CARDS:
        raise ModelError(f"{path} names the card {card!r}, and there is none. There are {', '.join(PAPER_CARDS)}.")
    base = PAPER_CARDS[card].recipe if card is not None else None
    recipe = recipe_from(fields, str(path), base) if fields else base
    if recipe is None and card is None:
        raise ModelError(f"{path} says nothing. It holds a recipe, like this: {EXAMPLE}")
    if not own and recipe is not None and (recipe.segmenter or "").startswith(MECAB_DIRECTORY):
        raise ModelError(f"{path} came from the hub and names a directory of this machine ({recipe.segmenter}). "
                         "Copy the model into a directory of your own and name the dictionary there.")
    return recipe
