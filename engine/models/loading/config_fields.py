"""The fields of a configuration, checked before a model of them is built."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import PreTrainedConfig

from engine.errors import ModelError
from engine.messages.message import Message

# Far above any trained model; a model of a billion layers would be built for hours before memory ran out.
LARGEST = {
    "num_hidden_layers": 2_000,
    "hidden_size": 1_000_000,
    "vocab_size": 100_000_000,
    "num_attention_heads": 1_000_000,
}
ADVICE = Message("Take config.json as it was published with the weights.")
_OBJECTS = ("quantization_config", "auto_map", "text_config")


def require_fields(fields: Mapping[str, Any], directory: Path) -> None:
    """Raise ModelError where a field that decides what the model is has another type, or a number is none."""
    architectures = fields.get("architectures") or []
    if not isinstance(architectures, list) or not all(isinstance(name, str) for name in architectures):
        raise ModelError(
            Message(
                "config.json in {directory} says architectures {architectures!r}; that is a list of "
                "names of classes. {ADVICE}",
                directory=directory,
                architectures=architectures,
                ADVICE=ADVICE,
            )
        )
    if not isinstance(fields.get("model_type", ""), str):
        raise ModelError(
            Message(
                "config.json in {directory} says model_type {fields!r}; that is a text. {ADVICE}",
                directory=directory,
                fields=fields["model_type"],
                ADVICE=ADVICE,
            )
        )
    for name in _OBJECTS:
        if not isinstance(fields.get(name) or {}, Mapping):
            raise ModelError(
                Message(
                    "config.json in {directory} says {name} {name_!r}; that is an object. {ADVICE}",
                    directory=directory,
                    name=name,
                    name_=fields[name],
                    ADVICE=ADVICE,
                )
            )
    if "NaN" in json.dumps([value for value in fields.values() if isinstance(value, float | list | Mapping)]):
        raise ModelError(
            Message(
                "config.json in {directory} holds a value that is not a number (NaN). {ADVICE}",
                directory=directory,
                ADVICE=ADVICE,
            )
        )


def require_sizes(config: PreTrainedConfig, directory: Path) -> None:
    """Raise ModelError where the text part of a configuration states no whole number above 0, or an absurd one."""
    text = config.get_text_config()
    for name, largest in LARGEST.items():
        size = getattr(text, name, None)
        if isinstance(size, list):  # OpenELM and others state one number for each layer
            continue
        if size is not None and (type(size) is not int or not 0 < size <= largest):
            raise ModelError(
                Message(
                    "config.json in {directory} says {name} {size!r}; that is a whole number from 1 "
                    "to {largest:,}. {ADVICE}",
                    directory=directory,
                    name=name,
                    size=size,
                    largest=largest,
                    ADVICE=ADVICE,
                )
            )
