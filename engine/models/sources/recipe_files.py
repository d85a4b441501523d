"""The recipe by which a model is read: that of the card it was named with, or of a hakari.json beside its weights.

    {"card": "paper/kyoto-univ"}
    {"segmenter": "mecab-jumandic", "normalize": ["full-width"], "vocabulary": "wordpiece", "max_tokens": 128}
    {"card": "paper/mecab", "segmenter": "mecab:/opt/mecab-ipadic-neologd"}

Fields beside "card" override those of the card. The file is one of the tokenizer's files, so fingerprints include it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.language.segmenters import MECAB_DIRECTORY
from engine.messages.message import Message, list_of
from engine.models.sources.hub_cards import card_recipe, hub_card, is_card
from engine.models.sources.model_files import read_json
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import EXAMPLE, Recipe, recipe_from

RECIPE_FILE = "hakari.json"


def recipe_for(directory: Path, card: str | None, *, is_local: bool, repository: str = "") -> Recipe | None:
    """The recipe for the files in `directory`, or None where they determine the tokens themselves.

    card: the name of a card (see `hub_cards.is_card`), where the model was named by one. repository: of the hub that
    the files came from; its own card counts where nothing else names a recipe. is_local: whether the user of this
    machine put the directory here; a download from the hub may not name a directory of this machine. Raises ModelError
    when the file is not readable or holds no recipe, or when there is both a card and a file with another recipe.
    """
    path = directory / RECIPE_FILE
    recipe = _read_recipe(path, is_local=is_local) if path.is_file() else None
    if card is None:
        of_repository = hub_card(repository)
        return recipe if recipe or of_repository is None else of_repository.recipe
    named_recipe = card_recipe(card)
    if path.is_file() and recipe != named_recipe:
        raise ModelError(
            Message(
                "{card} names one recipe, and {path} another. Name the directory alone (the file may "
                'hold "card": "{card}" and what differs from it), or take the file away.',
                card=card,
                path=path,
            )
        )
    return named_recipe


def _read_recipe(path: Path, *, is_local: bool) -> Recipe | None:
    fields: dict[str, Any] = read_json(
        path, Message("It says how texts become tokens, like this: {EXAMPLE}", EXAMPLE=EXAMPLE), repeated_keys=False
    )
    card = fields.pop("card", None)
    if card is not None and not (isinstance(card, str) and is_card(card)):
        raise ModelError(
            Message(
                "{path} names the card {card!r}, which does not exist. There are {PAPER_CARDS}.",
                path=path,
                card=card,
                PAPER_CARDS=list_of(PAPER_CARDS),
            )
        )
    base = card_recipe(card) if card is not None else None
    recipe = recipe_from(fields, str(path), base) if fields else base
    if recipe is None and card is None:
        raise ModelError(
            Message("{path} says nothing. It holds a recipe, like this: {EXAMPLE}", path=path, EXAMPLE=EXAMPLE)
        )
    if not is_local and recipe is not None and (recipe.segmenter or "").startswith(MECAB_DIRECTORY):
        raise ModelError(
            Message(
                "{path} came from the hub and names a directory of this machine ({segmenter}). Copy "
                "the model into a directory of your own and name the dictionary there.",
                path=path,
                segmenter=recipe.segmenter,
            )
        )
    return recipe
