"""The special tokens that a tokenizer itself puts round a text, and which of them stands for the whole text.

The CLS of a model is what its tokenizer's template puts first, whatever the token is called: ModernBERT-ja writes
`<s> … </s>` though its `cls_token` is another. XLNet puts its `<cls>` last.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from transformers import PreTrainedTokenizerBase

from engine.models.tokenization.offsets import Offsets, control_ids, token_offsets

_PLAIN_TEXT = "a"


def has_cls(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether the template has a token whose state stands for the text: the first one, or XLNet's last."""
    return cls_position(tokenizer) is not None


def opening_ids(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Ids of the special tokens that the template puts before a text."""
    encoding = _encoding_of_plain_text(tokenizer)
    first = next((i for i, special in enumerate(encoding.special) if not special), len(encoding.ids))
    return encoding.ids[:first]


def cls_position(tokenizer: PreTrainedTokenizerBase) -> int | None:
    """Where the CLS of every text stands: 0, or -1 where it ends the text; None without one."""
    encoding = _encoding_of_plain_text(tokenizer)
    if encoding.special[0]:
        return 0
    ends_with_cls = encoding.special[-1] and encoding.ids[-1] == tokenizer.cls_token_id
    return -1 if ends_with_cls else None


def template_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """The special tokens that the tokenizer puts round every text, in order: ("[CLS]", "[SEP]"), ("<bos>",), ()."""
    encoding = _encoding_of_plain_text(tokenizer)
    return tuple(token for token, special in zip(encoding.tokens, encoding.special, strict=True) if special)


def cls_and_sep_tokens(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """What the tokenizer calls its cls_token and its sep_token, whether its template writes them or others."""
    return tuple(dict.fromkeys(str(token) for token in (tokenizer.cls_token, tokenizer.sep_token) if token))


def unknown_token(tokenizer: PreTrainedTokenizerBase) -> str:
    """The token that stands for text out of the vocabulary; "" without one, and where it has another role, too."""
    token = tokenizer.unk_token
    if token is None or tokenizer.unk_token_id in control_ids(tokenizer):
        return ""
    return str(token)


def _encoding_of_plain_text(tokenizer: PreTrainedTokenizerBase) -> Offsets:
    """Encoded once for each tokenizer: every text has the same template."""
    if tokenizer not in _encodings:
        _encodings[tokenizer] = token_offsets(tokenizer, _PLAIN_TEXT)
    return _encodings[tokenizer]


_encodings: WeakKeyDictionary[PreTrainedTokenizerBase, Offsets] = WeakKeyDictionary()
