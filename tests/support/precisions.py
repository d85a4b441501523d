"""A loaded model in another precision, read from its files again."""

from __future__ import annotations

from typing import Literal

from engine.models.loading.weights import LoadedModel, load


def in_precision(loaded: LoadedModel, precision: str) -> LoadedModel:
    """The model of `loaded` for the same task in `precision`; `loaded` itself where that is what it has."""
    if precision == loaded.precision:
        return loaded
    has_head = loaded.model.get_output_embeddings() is not None
    task: Literal["encode", "masked", "causal"] = (
        "encode" if not has_head else "causal" if loaded.facts.kind == "causal" else "masked"
    )
    return load(loaded.facts.name, task, precision=precision)
