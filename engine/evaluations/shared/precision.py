"""The setting `precision`, which every evaluation that computes a model has, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.messages.message import Message
from engine.options import Choice, option
from engine.precision import AS_PUBLISHED, AUTO, DEFAULT_PRECISION, MEANINGS

HELP = Message("Precision of the models; their logits and probabilities are float32 in each.")
PRECISIONS = {name: Choice(name, meaning=meaning) for name, meaning in MEANINGS.items()} | {
    AUTO: Choice(AUTO, "Automatic", MEANINGS[AUTO]),
    AS_PUBLISHED: Choice(AS_PUBLISHED, "As published", MEANINGS[AS_PUBLISHED]),
    "tf32": Choice("tf32", "fp32 with TF32", MEANINGS["tf32"]),
}


def precision_option(*more: Choice) -> Any:
    """The field `precision`; `more`: choices of one evaluation alone."""
    return option(DEFAULT_PRECISION, HELP, choices=(*PRECISIONS.values(), *more))


def computed_in_fp32(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored settings of an earlier version, which computed in float32 wherever it did not say otherwise.

    >>> computed_in_fp32({})["precision"], computed_in_fp32({"precision": "bf16"})["precision"]
    ('fp32', 'bf16')
    """
    return {"precision": "fp32", **stored}
