"""The signature of a result: all that determines its numbers, in one JSON-able dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from engine.errors import InputError
from engine.models.sources.facts import ModelFacts
from engine.version import VERSION, library_version

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy")
FINGERPRINT_DIGITS = 12


def signature(
    settings: Any, models: Sequence[ModelFacts], dataset_hash: str, *,
    libraries: Sequence[str] = (), **resolved: Any,
) -> dict[str, Any]:
    """Settings as given and as resolved, models with revision, fingerprint and recipe, dataset, versions.

    `settings` is a frozen dataclass; `libraries` are distributions that matter beside the usual ones;
    `resolved` holds what the settings left open (the layer that "last" stands for).
    """
    given: Mapping[str, Any] = asdict(settings) if is_dataclass(settings) else dict(settings)  # type: ignore[arg-type]
    return {
        "models": [
            {"name": facts.name, "revision": facts.revision, "fingerprint": facts.fingerprint[:FINGERPRINT_DIGITS],
             "device": facts.device, "dtype": facts.dtype, **({"recipe": facts.recipe} if facts.recipe else {})}
            for facts in models
        ],
        "settings": {key: value for key, value in given.items() if key != "models"},
        **resolved,
        "dataset": dataset_hash[:FINGERPRINT_DIGITS],
        "versions": {"hakari": VERSION, **{name: library_version(name) for name in (*LIBRARIES, *libraries)}},
    }


def resolve_layer(layer: int | None, facts: ModelFacts) -> int:
    """The hidden state that `layer` stands for: None is the last, -1 too, 0 the embeddings.

    Raises InputError when the model has no such layer.
    """
    resolved = facts.n_layers if layer is None else layer + facts.n_layers + 1 if layer < 0 else layer
    if not 0 <= resolved <= facts.n_layers:
        raise InputError(f"{facts.name} has layers 0 (embeddings) to {facts.n_layers}; got layer {layer}.")
    return resolved


def require_models(models: Sequence[str]) -> None:
    """Raise InputError when no model is named, or one is named twice."""
    if not models:
        raise InputError("No model is chosen. Name at least one, such as builtin/bert-mini-ja.")
    twice = sorted({name for name in models if models.count(name) > 1})
    if twice:
        raise InputError(f"Each model is evaluated once; named more than once: {', '.join(twice)}.")
