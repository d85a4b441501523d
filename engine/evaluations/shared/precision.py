"""The setting `precision`, which every evaluation that computes a model has, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.messages import Message
from engine.options import option
from engine.precision import DEFAULT_PRECISION, MEANINGS

HELP = Message("Precision of the models; their logits and probabilities are float32 in each.")


def precision_option(more: Mapping[str, str] | None = None) -> Any:
    """The field `precision`; `more`: choices of one evaluation alone."""
    return option(DEFAULT_PRECISION, HELP, choices={**MEANINGS, **(more or {})})


def computed_in_fp32(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored settings of an earlier version, which computed in float32 wherever it did not say otherwise.

    >>> computed_in_fp32({})["precision"], computed_in_fp32({"precision": "bf16"})["precision"]
    ('fp32', 'bf16')
    """
    return {"precision": "fp32", **stored}
