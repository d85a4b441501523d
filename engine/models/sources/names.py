"""Parsing of a model's name: a label, a card of the papers, a location, a folder in it, a revision.

    builtin/bert-mini-ja · owner/name · owner/name@revision · owner/name:folder@revision · /a/directory
    owner/name:file.gguf · /a/directory/file.gguf
    paper/tohoku-univ · paper/nict=/a/directory · paper/nict=owner/name:folder@revision
    BERT v3=owner/name@revision · Novel=paper/nict=/a/directory

A label is what figures and tables call the model; `split_label` takes it off, and all else here is given what follows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path

from engine.errors import InputError, ModelError
from engine.messages.message import Message, list_of
from engine.models.sources import cards, recipes
from engine.models.sources.adapters import local_base
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.hub_cards import card_recipe, hub_card, is_card
from engine.models.sources.modules import module_directories
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipe_files import recipe_for

LONGEST_LABEL = 40  # characters
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode categories of what a label cannot show: controls, line breaks


def split_label(name: str) -> tuple[str, str]:
    """The label of LABEL=MODEL, and the model; "" and the name itself where there is no label.

    A text with "/" before "=" begins with a card or is a path, and an existing directory is never parsed. Raises
    ModelError for a label that cannot be, for one without a model, and for two labels.

    >>> split_label("BERT v3=owner/name"), split_label("paper/nict=/srv/nict")
    (('BERT v3', 'owner/name'), ('', 'paper/nict=/srv/nict'))
    """
    label, equals, model = name.partition("=")
    if not equals or "/" in label or is_directory(name):
        return "", name
    fault = _label_fault(label)
    if fault:
        raise ModelError(
            Message(
                "The label {label!r} of {name!r} cannot be: {fault}. Name a model LABEL=MODEL, such "
                "as BERT v3=owner/name.",
                label=label,
                name=name,
                fault=fault,
            )
        )
    if not model.strip():
        raise ModelError(
            Message(
                "{name!r} is a label without a model. Name a model LABEL=MODEL, such as BERT v3=owner/name.", name=name
            )
        )
    if split_label(model)[0]:
        raise ModelError(
            Message(
                "{name!r} has two labels; a model has one. Name it {label}={model}.",
                name=name,
                label=label,
                model=split_label(model)[1],
            )
        )
    return label, model


def without_label(text: str) -> str:
    """A model's name without its label; any other text, also one whose label cannot be, as it is.

    >>> without_label("Ours=/srv/models/ours"), without_label("owner/name")
    ('/srv/models/ours', 'owner/name')
    """
    try:
        return split_label(text)[1]
    except ModelError:
        return text


def shown_name(name: str) -> str:
    """What figures, tables and reports call a model: its label, or its name where it has none.

    >>> shown_name("Ours=/srv/models/ours"), shown_name("owner/name")
    ('Ours', 'owner/name')
    """
    try:
        return split_label(name)[0] or name
    except ModelError:
        return name


def require_distinct(names: Sequence[str]) -> None:
    """Raise InputError where one run names a model twice, or two models that would be shown by the same text.

    Raises ModelError for a label that cannot be.
    """
    split = [split_label(name) for name in names]
    models = [model for _, model in split]
    twice = sorted({model for model in models if models.count(model) > 1})
    if twice:
        raise InputError(Message("Each model is evaluated once; named more than once: {twice}.", twice=list_of(twice)))
    labels = [label for label, _ in split if label]
    same = sorted({label for label in labels if labels.count(label) > 1})
    if same:
        raise InputError(
            Message("Labels of models must be unique; given to more than one: {same}.", same=list_of(same))
        )
    for model in (model for label, model in split if not label):
        shown = {model, model.removeprefix(cards.BUILT_IN_PREFIX)}
        if clash := next((label for label in labels if label in shown), None):
            raise InputError(
                Message(
                    "The label {clash} is also the name of another model of the run, {model}. Choose another label.",
                    clash=clash,
                    model=model,
                )
            )


def split_card(name: str) -> tuple[str | None, str]:
    """The card that a name begins with, and the rest of the name; for a card alone its model on the hub.

    An existing directory is never parsed, whatever its name looks like. Raises ModelError for an unknown card, or for
    a card alone whose model is not on the hub.

    >>> split_card("paper/nict=/srv/nict"), split_card("owner/name")
    (('paper/nict', '/srv/nict'), (None, 'owner/name'))
    """
    prefix, equals, target = name.partition("=")
    if equals and hub_card(prefix) and not is_directory(name):
        if target.startswith(cards.BUILT_IN_PREFIX):
            raise ModelError(Message("{target} is built in and needs no card.", target=target))
        return prefix, target or prefix
    if is_directory(name) or (not equals and not name.startswith(cards.PAPER_PREFIX)):
        return None, name
    if prefix not in PAPER_CARDS:
        if equals and "/" in prefix and not prefix.startswith((cards.PAPER_PREFIX, "/", ".", "~")):
            raise ModelError(
                Message(
                    '{prefix!r} in {name!r} is no card, and a label has no "/" in it. Name a model '
                    "LABEL=MODEL, such as BERT v3=owner/name.",
                    prefix=prefix,
                    name=name,
                )
            )
        if equals and not prefix.startswith(cards.PAPER_PREFIX) and not is_directory(target):
            return None, name
        raise ModelError(
            Message(
                "There is no card {prefix!r}. The cards are {PAPER_CARDS}.",
                prefix=prefix,
                PAPER_CARDS=list_of(PAPER_CARDS),
            )
        )
    card = PAPER_CARDS[prefix]
    if equals and target.startswith(cards.BUILT_IN_PREFIX):
        raise ModelError(Message("{target} is built in and needs no card.", target=target))
    if not target and card.hub is None:
        raise ModelError(
            Message(
                "{prefix} is not on the Hugging Face Hub: it needs {needs}. Name it {model_name}, "
                "with your directory (from {url}).",
                prefix=prefix,
                needs=card.needs,
                model_name=card.model_name,
                url=card.url,
            )
        )
    return prefix, target or str(card.hub)


def local_directory(name: str) -> Path | None:
    """The directory that a model's name locates, with or without a card before it; None where it locates none.

    For the path of a GGUF file the directory that it is in.

    >>> local_directory("paper/nict=/no/such/place"), local_directory("owner/name")
    (None, None)
    """
    for candidate in (name, name.partition("=")[2]):
        path = as_path(candidate)
        if path is not None and path.is_dir():
            return path.resolve()
        if path is not None and _is_gguf_file(path):
            return path.parent.resolve()
    return None


def model_directories(name: str) -> tuple[Path, ...]:
    """All directories of this machine that a model's name leads to; none for a model of the hub, and for other texts.

    They are that of the model itself, those of its modules (see `modules`), and that of an adapter's base model.
    """
    directory = local_directory(name)
    if directory is None:
        return ()
    directories = (directory, *module_directories(directory))
    bases = [base for path in directories if (base := local_base(path))]
    return tuple(dict.fromkeys((*directories, *bases)))


def recipe_state(name: str) -> str:
    """The state of the recipe of a model's name, computed without reading its dictionary: it changes when that does.

    "" for a name without a recipe, and for any text that names no model. The message of the error where a recipe
    cannot be used.
    """
    directories, prefix = model_directories(name), name.partition("=")[0]
    card = prefix if is_card(prefix) and not is_directory(name) else None
    try:
        if not directories:
            repository = hub_card(split_revision(name)[0])
            recipe = card_recipe(card) if card else repository.recipe if repository else None
        else:
            by_directory = (recipe_for(path, card, is_local=True) for path in directories)
            recipe = next((recipe for recipe in by_directory if recipe), None)
        return recipes.state(recipe) if recipe else ""
    except ModelError as error:
        return str(error)


def split_revision(model: str) -> tuple[str, str | None]:
    """The name and the revision of "owner/name@revision"; the name of a directory is left whole.

    >>> split_revision("owner/name@v1"), split_revision("paper/tohoku-univ")
    (('owner/name', 'v1'), ('paper/tohoku-univ', None))
    """
    if is_directory(model) or is_directory(model.partition("=")[2]):
        return model, None
    name, _, revision = model.partition("@")
    return name, revision or None


def split_subfolder(target: str) -> tuple[str, str]:
    """The repository and the folder in it of "owner/name:folder", or the GGUF file; "" where none is named.

    >>> split_subfolder("owner/name:encoder/base"), split_subfolder("owner/name")
    (('owner/name', 'encoder/base'), ('owner/name', ''))
    """
    repository, _, subfolder = target.partition(":")
    return repository, subfolder


def as_path(name: str) -> Path | None:
    """A name as a path; None where it is not a valid one: too long, with a NUL, or the home of an unknown user."""
    try:
        path = Path(name).expanduser()
        path.exists()
    except (OSError, ValueError, RuntimeError):
        return None
    return path if name else None


def is_directory(name: str) -> bool:
    """Whether a text, as it stands, is the path of a directory that exists, or of a GGUF file, which stands for one."""
    path = as_path(name)
    return path is not None and (path.is_dir() or _is_gguf_file(path))


def _is_gguf_file(path: Path) -> bool:
    return is_gguf(path.name) and path.is_file()


def _label_fault(label: str) -> str:
    """Why a label cannot be, "" where it can."""
    if not 1 <= len(label) <= LONGEST_LABEL:
        return Message(
            "it has 1 to {LONGEST_LABEL} characters, not {label}", LONGEST_LABEL=LONGEST_LABEL, label=len(label)
        )
    if any(unicodedata.category(character) in _UNSEEN for character in label):
        return Message("it contains a character that cannot be seen, such as a line break")
    return Message("it begins or ends with a blank") if label != label.strip() else ""
