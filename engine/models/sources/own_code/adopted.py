"""The classes of its own that this process's model has, by transformers' Auto class; none but in a confined process.

`engine.models.loading.own_classes` fills it, once; imports neither torch nor transformers.
"""

from __future__ import annotations

from typing import Any

from engine.models.sources.own_code.code_files import TOKENIZER

CONFIG = "AutoConfig"
_HEADS = (("masked", "AutoModelForMaskedLM"), ("causal", "AutoModelForCausalLM"))
# By Auto class.
ADOPTED: dict[str, Any] = {}


def has_own_model() -> bool:
    """Whether the model itself is of classes of its own, and not its tokenizer or configuration alone."""
    return bool(ADOPTED.keys() - {CONFIG, TOKENIZER})


def own_kind(architectures: list[str]) -> Any:
    """What a model of own classes scores: "masked", "causal" or "encoder"; None where its classes are transformers'.

    architectures: of its configuration; where there are none, the head that its code has decides.
    """
    if not has_own_model():
        return None
    for kind, auto_class in _HEADS:
        if auto_class in ADOPTED and (not architectures or architectures[0] == ADOPTED[auto_class].__name__):
            return kind
    return "encoder"


def own_tokenizer() -> Any:
    """The class of the tokenizer, None where it is transformers'."""
    return ADOPTED.get(TOKENIZER)
