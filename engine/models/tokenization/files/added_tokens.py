"""The tokens that a directory's files add to a vocabulary, with the ids they say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from engine.messages.message import Message
from engine.models.sources.model_files import read_json
from engine.models.tokenization.files.layouts import ROLES

SETTINGS_FILE = "tokenizer_config.json"
_OLDER_SETTINGS, _IDS = "special_tokens_map.json", "added_tokens.json"


@dataclass(frozen=True)
class AddedTokens:
    """ids: the tokens with an id of their own. special: those of no role that are special tokens, in order."""

    ids: Mapping[int, AddedToken]
    special: tuple[AddedToken, ...]

    @property
    def ordinary(self) -> tuple[str, ...]:
        """The spellings of those that are words like others."""
        return tuple(token.content for token in self.ids.values() if not token.special)


def read_settings(directory: Path) -> dict[str, Any]:
    """tokenizer_config.json, with what special_tokens_map.json says beside it; {} without either.

    Raises ModelError where one of them is damaged.
    """
    settings: dict[str, Any] = {}
    for name in (_OLDER_SETTINGS, SETTINGS_FILE):
        if (directory / name).is_file():
            settings |= read_json(directory / name, Message("It says which tokenizer to use."))
    return settings


def added_tokens(directory: Path, settings: Mapping[str, Any]) -> AddedTokens:
    """As added_tokens_decoder, added_tokens.json and additional_special_tokens have them.

    Raises ModelError where added_tokens.json is damaged.
    """
    roles = {_content(settings[role]) for role in ROLES if settings.get(role)}
    listed = settings.get("additional_special_tokens") or settings.get("extra_special_tokens") or ()
    special = {_content(token): token for token in _each(listed)}
    ids: dict[int, AddedToken] = {}
    if (directory / _IDS).is_file():
        by_spelling = read_json(directory / _IDS, Message("It says which ids added tokens have."))
        for spelling, number in by_spelling.items():
            ids[int(number)] = _added(special.get(spelling, spelling), spelling in special or spelling in roles)
    for number, token in (settings.get("added_tokens_decoder") or {}).items():
        ids[int(number)] = _added(token, _content(token) in special or _content(token) in roles)
    return AddedTokens(ids, tuple(_added(token, True) for spelling, token in special.items() if spelling not in roles))


def _each(listed: Any) -> Iterable[Any]:
    return listed.values() if isinstance(listed, Mapping) else listed


def _content(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, Mapping) else str(token)


def _added(token: Any, special: bool) -> AddedToken:
    """Special tokens are not looked for in normalised texts; of other tokens the file says it."""
    if not isinstance(token, Mapping):
        return AddedToken(str(token), normalized=not special, special=special)
    fields = {name: bool(token[name]) for name in ("lstrip", "rstrip", "single_word") if name in token}
    special = bool(token.get("special", special))
    return AddedToken(_content(token), special=special, normalized=bool(token.get("normalized", not special)), **fields)
