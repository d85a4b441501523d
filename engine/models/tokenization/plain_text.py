"""Control tokens that a text spells out ([SEP], <s>, <|endoftext|>) read as plain text.

A tokenizer of transformers takes them for control tokens. Here a text that contains one is read by a copy of the
tokenizer that knows their ids but does not look for their spellings, so every other text is read as it always was. The
copy of a Rust tokenizer has other names for them, in its vocabulary too: `split_special_tokens` alone would leave the
search to a Unigram, whose pieces they are, while SentencePiece itself never finds a control piece in a text. A Python
tokenizer may look for spellings in steps of its own; `control_tokens_read` says where that is so.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase
from transformers.tokenization_python import Trie

from engine.models.tokenization.control_spellings import Spellings
from engine.models.tokenization.probe_texts import ordinary_text

# No text can hold them: they are no characters.
_UNREADABLE = "\ufffe\uffff"


@runtime_checkable
class TakesControlTokens(Protocol):
    """A tokenizer that can be had with fewer control tokens (`recipe_tokenizer`)."""

    def with_control_tokens(self, control: Collection[str]) -> Any:
        """The same tokenizer, which reads only these as control tokens."""


def control_spellings(tokenizer: PreTrainedTokenizerBase) -> Spellings:
    """The spellings of a tokenizer's control tokens: its special tokens, the unknown token included.

    Save those without a role that are text like other text (`special_text`).
    """
    if tokenizer not in _spellings:
        added = added_special_tokens(tokenizer).values()
        special = {*map(str, tokenizer.all_special_tokens), *added}
        _spellings[tokenizer] = Spellings(special - special_text(tokenizer))
    return _spellings[tokenizer]


def special_text(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """Special tokens that stand for text: those without a role whose spelling ordinary texts have.

    A publisher may list a full stop among the additional special tokens so that it is never cut; to take it for the end
    of something, or to look for another name of it, would lose it.
    """
    if tokenizer not in _special_text:
        roles = {str(token) for token in tokenizer.special_tokens_map.values() if isinstance(token, str)}
        others = {*map(str, tokenizer.all_special_tokens), *added_special_tokens(tokenizer).values()} - roles
        _special_text[tokenizer] = frozenset(token for token in others if token and token in ordinary_text())
    return _special_text[tokenizer]


def added_special_tokens(tokenizer: PreTrainedTokenizerBase) -> dict[int, str]:
    """Id -> spelling of the special ones among the added tokens, whether they have a role or not."""
    if tokenizer not in _added:  # read once: transformers builds thousands of them anew at every access
        _added[tokenizer] = {
            number: token.content for number, token in tokenizer.added_tokens_decoder.items() if token.special
        }
    return _added[tokenizer]


def forget(tokenizer: PreTrainedTokenizerBase) -> None:
    """Look its special tokens up anew: it was changed."""
    for known in (_special_text, _added, _spellings, _copies):
        known.pop(tokenizer, None)


def reader(
    tokenizer: PreTrainedTokenizerBase, text: str, control: Collection[str] | None = ()
) -> PreTrainedTokenizerBase:
    """The tokenizer that reads a text: itself, or a copy where the text contains a control token that is plain text.

    control: those that are control tokens also where the text contains them, such as a mask that was put into it; None:
    all of them.
    """
    if control is None or tokenizer in _plain_readers:
        return tokenizer
    spellings = control_spellings(tokenizer)
    left = text
    for token in control:
        left = left.replace(token, " ")
    if not spellings.occur_in(left):
        return tokenizer
    copies = _copies.setdefault(tokenizer, {})
    kept = frozenset(control) & spellings.tokens
    if kept not in copies:
        copies[kept] = _plain_reader(tokenizer, kept)
        _plain_readers[copies[kept]] = kept
    return copies[kept]


def texts_by_reader(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], control: Collection[str] | None = ()
) -> list[tuple[PreTrainedTokenizerBase, list[int]]]:
    """The tokenizers that read these texts (`reader`), each with the numbers of its texts, in order."""
    if control is None or tokenizer in _plain_readers:
        return [(tokenizer, list(range(len(texts))))] if texts else []
    spellings = control_spellings(tokenizer)
    if control:
        contains = [reader(tokenizer, text, control) is not tokenizer for text in texts]
    else:
        contains = list(map(spellings.occur_in, texts))
    plain = [number for number, contained in enumerate(contains) if not contained]
    marked = [number for number, contained in enumerate(contains) if contained]
    groups = [(tokenizer, plain)] if plain else []
    return [*groups, (reader(tokenizer, texts[marked[0]], control), marked)] if marked else groups


def split_at_added_tokens(tokenizer: PreTrainedTokenizerBase, text: str) -> list[tuple[str, bool]]:
    """The segments of a text for a Python tokenizer, in order, and which of them are added tokens."""
    control = _plain_readers.get(tokenizer)
    added = set(tokenizer.added_tokens_encoder)
    if control is not None:
        added -= control_spellings(tokenizer).tokens - control
    return [(segment, segment in added) for segment in tokenizer.tokens_trie.split(text)]


def _plain_reader(tokenizer: PreTrainedTokenizerBase, control: frozenset[str]) -> PreTrainedTokenizerBase:
    if isinstance(tokenizer, TakesControlTokens):
        plain: PreTrainedTokenizerBase = tokenizer.with_control_tokens(control)
    elif tokenizer.is_fast:
        plain = _with_other_names(tokenizer, control_spellings(tokenizer).tokens - control)
    else:
        plain = _without_search(tokenizer, control)
    _spellings[plain] = control_spellings(tokenizer)
    return plain


def _with_other_names(tokenizer: PreTrainedTokenizerBase, tokens: frozenset[str]) -> PreTrainedTokenizerBase:
    """A Rust tokenizer with the same ids, in which these tokens have names that no text contains."""
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    new_names = {token: f"{_UNREADABLE}{token}" for token in tokens}
    # Renamed and not removed: the ids of later tokens are counted from the earlier ones.
    state["added_tokens"] = [
        added | {"content": new_names.get(added["content"], added["content"])} for added in state["added_tokens"]
    ]
    model = state["model"]
    if isinstance(model["vocab"], dict):
        model["vocab"] = {new_names.get(piece, piece): number for piece, number in model["vocab"].items()}
    else:
        model["vocab"] = [(new_names.get(piece, piece), score) for piece, score in model["vocab"]]
    if "merges" in model:  # of a BPE; SentencePiece never puts a control piece together
        model["merges"] = [merge for merge in model["merges"] if not tokens.intersection(_pieces_of(merge, model))]
    if model.get("unk_token") in new_names:
        model["unk_token"] = new_names[model["unk_token"]]
    state["truncation"] = state["padding"] = None
    plain: Any = copy.copy(tokenizer)
    plain._tokenizer = Tokenizer.from_str(json.dumps(state))
    # Some classes set their template anew before every text, by names that are others here (mBART, NLLB).
    plain._switch_to_input_mode = lambda: None
    return plain  # type: ignore[no-any-return]


def _pieces_of(merge: str | list[str], model: dict[str, Any]) -> tuple[str, str, str]:
    """The two pieces of a merge, which older files join by a space, and the piece that it makes."""
    first, second = merge.split(" ") if isinstance(merge, str) else merge
    return first, second, first + second.removeprefix(model.get("continuing_subword_prefix") or "")


def _without_search(tokenizer: PreTrainedTokenizerBase, control: frozenset[str]) -> PreTrainedTokenizerBase:
    """A Python tokenizer that looks in a text for added tokens other than control tokens, and for `control`."""
    plain = copy.copy(tokenizer)
    others = control_spellings(tokenizer).tokens - control
    plain.tokens_trie = Trie([token for token in tokenizer.added_tokens_encoder if token not in others])

    def tokenize(text: str, **settings: Any) -> list[str]:
        settings.pop("split_special_tokens", None)
        prepared, _ = tokenizer.prepare_for_tokenization(text, **settings)
        tokens: list[str] = []
        for segment, is_added in split_at_added_tokens(plain, prepared):
            tokens += [segment] if is_added else tokenizer._tokenize(segment) if segment else []
        return tokens

    setattr(plain, "tokenize", tokenize)  # noqa: B010 - of this copy alone
    return plain


_special_text: WeakKeyDictionary[PreTrainedTokenizerBase, frozenset[str]] = WeakKeyDictionary()
_added: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()
_spellings: WeakKeyDictionary[PreTrainedTokenizerBase, Spellings] = WeakKeyDictionary()
_copies: WeakKeyDictionary[PreTrainedTokenizerBase, dict[frozenset[str], PreTrainedTokenizerBase]] = WeakKeyDictionary()
# The copies, each with the control tokens that it reads as such.
_plain_readers: WeakKeyDictionary[PreTrainedTokenizerBase, frozenset[str]] = WeakKeyDictionary()
