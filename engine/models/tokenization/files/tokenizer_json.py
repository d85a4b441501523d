"""tokenizer.json as the library `tokenizers` reads it, and the vocabularies that it can read without one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.files.layouts import ROLES, Layout
from engine.models.tokenization.files.published_file import PublishedFile, set_template

TOKENIZER_JSON = "tokenizer.json"
# Settings of which transformers makes a template anew.
_BOS, _EOS = "add_bos_token", "add_eos_token"


def tokenizer_json(
    path: Path, tokenizer: PreTrainedTokenizerBase, layout: Layout | None, settings: Mapping[str, Any]
) -> PublishedFile:
    """The reference of a tokenizer with a tokenizer.json: its ids and its template.

    A class that always sets its own template (a language code) keeps that; so does one whose tokenizer_config.json says
    add_bos_token or add_eos_token, if BOS and EOS are all that the file puts round a text.
    """
    published = Tokenizer.from_file(str(path))
    published.no_padding()
    published.no_truncation()
    published.encode_special_tokens = False
    before, after = _template(published)
    ids = published.get_vocab(with_added_tokens=True)
    if layout is not None and layout.sets_template:
        before, after = (_ids(tokenizer, ids, names(settings)) for names in (layout.before, layout.after))
    else:
        before, after = _as_settings_say(tokenizer, settings, ids, before, after)
    added = published.get_added_tokens_decoder().values()
    return library_file(
        TOKENIZER_JSON,
        published,
        before,
        after,
        spellings=_plain_spellings(path, published),
        words=tuple(token.content for token in added if not token.special),
    )


def library_file(
    name: str,
    published: Tokenizer,
    before: Sequence[int],
    after: Sequence[int],
    spellings: Sequence[str] = (),
    words: Sequence[str] = (),
) -> PublishedFile:
    """What a tokenizer of the library `tokenizers` says; a repair puts it in the place of another."""
    keeps_template = (list(before), list(after)) == _template(published)
    plain = Tokenizer.from_str(published.to_str())
    plain.encode_special_tokens = True

    def content(text: str) -> list[int]:
        return list(published.encode(text, add_special_tokens=False).ids)

    def content_of_plain(text: str) -> list[int]:
        return list(plain.encode(text, add_special_tokens=False).ids)

    def repair(tokenizer: PreTrainedTokenizerBase) -> None:
        target: Any = tokenizer
        backend = Tokenizer.from_str(published.to_str())
        known = backend.get_vocab(with_added_tokens=True)
        of_class = target._tokenizer.get_added_tokens_decoder()
        further = [token for _, token in sorted(of_class.items()) if token.content not in known]
        roles = [
            AddedToken(str(token), special=True, normalized=False)
            for token in target._special_tokens_map.values()
            if token and str(token) in known
        ]
        backend.add_tokens([*roles, *further])
        if not keeps_template:
            set_template(backend, before, after)
        target._tokenizer = backend

    return PublishedFile(
        name,
        content,
        tuple(before),
        tuple(after),
        lambda number: str(published.id_to_token(number)),
        tuple(spellings),
        tuple(words),
        (repair,),
        content_of_plain,
    )


def _template(published: Tokenizer) -> tuple[list[int], list[int]]:
    encoding = published.encode("a")
    own = [i for i, added in enumerate(encoding.special_tokens_mask) if not added]
    if not own:  # nothing is left of the text
        return list(encoding.ids), []
    return list(encoding.ids[: own[0]]), list(encoding.ids[own[-1] + 1 :])


def _as_settings_say(
    tokenizer: PreTrainedTokenizerBase,
    settings: Mapping[str, Any],
    ids: Mapping[str, int],
    before: list[int],
    after: list[int],
) -> tuple[list[int], list[int]]:
    bos, eos = (ids.get(str(token)) for token in (tokenizer.bos_token, tokenizer.eos_token))
    says_any = any(isinstance(settings.get(name), bool) for name in (_BOS, _EOS))
    if not says_any or not {*before, *after} <= {bos, eos}:
        return before, after
    if isinstance(settings.get(_BOS), bool):
        before = [bos] if settings[_BOS] and bos is not None else []
    if isinstance(settings.get(_EOS), bool):
        after = [eos] if settings[_EOS] and eos is not None else []
    return before, after


def _ids(tokenizer: PreTrainedTokenizerBase, ids: Mapping[str, int], names: Sequence[str]) -> list[int]:
    spelled = [str(getattr(tokenizer, name)) if name in ROLES else name for name in names]
    return [ids[name] for name in spelled if name in ids]


def _plain_spellings(path: Path, published: Tokenizer) -> tuple[str, ...]:
    """Special tokens that the library can be told to read as text: of a BPE; a Unigram has them among its pieces."""
    if json.loads(path.read_text(encoding="utf-8"))["model"].get("type") != "BPE":
        return ()
    return tuple(token.content for token in published.get_added_tokens_decoder().values() if token.special)
