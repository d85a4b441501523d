"""The facts of a model with code of its own: what decides keys and names by this process, the rest as its own says."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

from engine.errors import RunError
from engine.inference.backend import Piece
from engine.messages.message import Message
from engine.models.sources import recipes
from engine.models.sources.facts import Kind, ModelFacts, TokenCheck
from engine.models.sources.model_files import weight_files
from engine.models.sources.model_location import LocatedModel
from engine.models.sources.own_code.own_code import OwnCode
from engine.models.sources.published_vectors import read_published_vectors

LONGEST_TEXT, MOST_ENTRIES = 1_000, 100_000  # characters of a text, entries of a list
# What the process may say of the model, by its type; lists are of texts but for the shares of scripts.
_SAID: dict[type, tuple[str, ...]] = {
    str: (
        "architecture", "kind", "tokenizer", "device", "dtype", "bos_token", "eos_token", "unknown_token", "quantised",
        "chat_template",
    ),
    int: ("n_layers", "hidden_size", "vocab_size", "max_tokens", "n_parameters", "n_seq2seq_parameters"),
    bool: ("has_mask", "has_cls", "has_bos", "has_eos", "masked_next_token"),
    float: ("latin_tokens",),
    list: ("scripts", "script_shares", "opening", "template_tokens", "cls_and_sep", "control_tokens"),
}  # fmt: skip


def checked_facts(said: Piece, located: LocatedModel, own_code: OwnCode) -> Piece:
    """The facts as `describe` returns them. Raises RunError where what was said is not of the right types.

    Fingerprints are computed here: they are the keys of pieces, and code that could choose them would answer for
    another model.
    """
    try:
        recipe = recipes.versioned_description(located.recipe) if located.recipe else ""
        facts = ModelFacts(
            **{name: _of_type(said[name], kind) for kind, names in _SAID.items() for name in names},
            name=located.name,
            source=located.source,
            path=str(located.path),
            revision=located.revision,
            fingerprint=located.fingerprint,
            tokenizer_fingerprint=located.tokenizer_fingerprint,
            weights_bytes=sum(path.stat().st_size for path in weight_files(located.weights_directory)),
            recipe=recipe,
            published=read_published_vectors(located.root),
            token_check=_token_check(said["token_check"]),
            own_code=own_code.description,
        )
        if facts.kind not in get_args(Kind)[:3] or facts.device != "cpu":
            raise ValueError(f"{facts.kind} on {facts.device}")
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            Message(
                "What the own code of {name} says of the model cannot be ({error}).",
                name=located.name,
                error=str(error)[:200],
            )
        ) from None
    return facts.to_dict()


def _of_type(value: Any, kind: type) -> Any:
    if kind is list:
        entries = value if isinstance(value, list) and len(value) <= MOST_ENTRIES else [None]
        fits = all(type(each) is float or (isinstance(each, str) and len(each) <= LONGEST_TEXT) for each in entries)
    elif kind is str:
        fits = isinstance(value, str) and len(value) <= LONGEST_TEXT
    else:
        fits = not (isinstance(value, int) and value < 0) and type(value) is kind
    if not fits:
        raise ValueError(f"{str(value)[:50]!r} is no {kind.__name__}")
    return tuple(value) if kind is list else value


def _token_check(said: Any) -> TokenCheck | None:
    if said is None:
        return None
    check = TokenCheck(**said)
    for field in fields(check):
        value = getattr(check, field.name)
        if type(value).__name__ != field.type or len(str(value)) > LONGEST_TEXT:
            raise ValueError(f"{field.name} is a {type(value).__name__}")
    return check
