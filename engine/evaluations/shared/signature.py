"""The signature of a result: all that determines its numbers, in one JSON-able dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from engine.datasets.outside_names import has_vectors, is_from_file
from engine.errors import InputError
from engine.library_versions import SIGNED
from engine.messages.message import Message
from engine.models.sources.endpoint_names import is_endpoint, needs_the_model, only_with_labels, only_with_pairs
from engine.models.sources.facts import ModelFacts
from engine.models.sources.names import require_distinct, split_label, without_label
from engine.precision import in_words
from engine.version import VERSION, library_version

FINGERPRINT_DIGITS = 12
SIGNATURE_FILE = "settings.json"  # in what a command writes


def signature(
    settings: Any,
    models: Sequence[ModelFacts],
    dataset_hash: str,
    *,
    libraries: Sequence[str] = (),
    **resolved: Any,
) -> dict[str, Any]:
    """Settings as given and as resolved, models with revision, fingerprint and recipe, dataset, versions.

    `settings` is a frozen dataclass; `libraries` are distributions that matter beside the usual ones;
    `resolved` holds what the settings left open (the layer that "last" stands for).
    """
    fields: Mapping[str, Any] = asdict(settings) if is_dataclass(settings) else dict(settings)  # type: ignore[arg-type]
    return {
        "models": [
            {
                **_named(facts.name),
                "revision": facts.revision,
                "fingerprint": facts.fingerprint[:FINGERPRINT_DIGITS],
                "device": facts.device,
                "dtype": _dtype(fields, facts),
                **({"recipe": facts.recipe} if facts.recipe else {}),
                **({"dequantised_from": facts.quantised} if facts.quantised else {}),
                **({"adapter_of": facts.adapter_of} if facts.adapter_of else {}),
                **({"own_code": facts.own_code} if facts.own_code else {}),
                **({"endpoint": asdict(facts.endpoint)} if facts.endpoint else {}),
                **({"scores": asdict(facts.scores)} if facts.scores else {}),
                **({"vectors": asdict(facts.vectors)} if facts.vectors else {}),
            }
            for facts in models
        ],
        "settings": {key: value for key, value in fields.items() if key != "models"},
        **resolved,
        "dataset": dataset_hash[:FINGERPRINT_DIGITS],
        "versions": {"hakari": VERSION, **{name: library_version(name) for name in (*SIGNED, *libraries)}},
    }


def _named(name: str) -> dict[str, str]:
    """The model's name as its user wrote it, and the label and model that it consists of where it has a label."""
    label, model = split_label(name)
    return {"name": name, "label": label, "model": model} if label else {"name": name}


def _dtype(settings: Mapping[str, Any], facts: ModelFacts) -> str:
    """What the model computed in; its published data type where nothing is computed here but tokens."""
    if "precision" not in settings or not facts.is_loaded:
        return facts.dtype
    return in_words(settings["precision"], facts.dtype, facts.device)


def require_models(models: Sequence[str], *, endpoints: bool = False, vectors: bool = False) -> None:
    """Raise InputError when no model is named, or two are not distinct; see `require_distinct`.

    Raises ModelError for an endpoint and for scores from a file, unless they serve, for vectors from a file likewise, and
    for a label that cannot be.
    """
    if not models:
        raise InputError(Message("No model is chosen. Name at least one, such as builtin/bert-mini-ja."))
    require_distinct(models)
    for name in filter(is_endpoint, () if endpoints else map(without_label, models)):
        raise needs_the_model(name)
    for name in filter(is_from_file, map(without_label, models)):
        if has_vectors(name) and not vectors:
            raise only_with_labels(name)
        if not has_vectors(name) and not endpoints:
            raise only_with_pairs(name)
