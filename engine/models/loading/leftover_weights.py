"""Do the weights of a file and the parts of a model fit together, name by name?

transformers fills parts that a file lacks with random numbers and passes over what it has no place for, with a
warning at most. A model of other layers than its configuration says would be scored without a sign.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message

# Random weights there change no result: hidden states are taken below the pooler.
_MAY_BE_MISSING = re.compile(r"(^|\.)pooler\.")
_HEAD = re.compile(r"(^|\.)lm_head\.weight$")
_ADAPTER = re.compile(r"\.lora_[AB]\.|\.lora_embedding_|^base_model\.model\.")


@dataclass(frozen=True)
class WeightCheck:
    """Names of the weights that the model has no place for, and of its parts that the files lack; both change nothing."""

    unused: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def tie_missing_head(model: PreTrainedModel, info: dict[str, Any], *, tied: bool) -> None:
    """Make a missing output matrix the input embeddings, where the packaging says that it is (`tied`).

    info: what `from_pretrained(output_loading_info=True)` tells, from which the matrix is taken.
    """
    missing = set(info["missing_keys"])
    if tied and missing and all(_HEAD.search(key) for key in missing):
        model.config.tie_word_embeddings = True
        model.tie_weights()
        info["missing_keys"] = set()


def check_weights(
    name: str, model: PreTrainedModel, info: dict[str, Any], *, trunk_only: bool = False, with_decoder: bool = False
) -> WeightCheck:
    """What the files and the model do not have in common; ModelError where the weights are not those of this model.

    info: what `from_pretrained(output_loading_info=True)` tells. trunk_only: the head is not asked, so it may be
    missing. Allowed are heads that the task does not need, the vision part of a packaged model, a missing pooler, and a
    missing decoder where the encoder alone is read (sentence-transformers saves T5 so), which it is not `with_decoder`.
    """
    trunk = f"{model.base_model_prefix}." if trunk_only else ""
    info = {
        **info,
        "missing_keys": [key for key in info["missing_keys"] if key.startswith(trunk)],
        "mismatched_keys": [key for key in info["mismatched_keys"] if _name(key).startswith(trunk)],
    }
    pooler = {key for key in info["missing_keys"] if _MAY_BE_MISSING.search(key)}
    decoder = set() if with_decoder else _decoder_alone(model).intersection(info["missing_keys"])
    missing = sorted(set(info["missing_keys"]) - pooler - decoder)
    if missing:
        # transformers would initialise them at random and go on.
        raise ModelError(
            Message(
                "The weights of {name} lack {n} parts that a {class_name} needs ({listed}). "
                "Choose a model that was published with them.",
                name=name,
                n=len(missing),
                class_name=type(model).__name__,
                listed=_listed(missing),
            )
        )
    mismatched = sorted(map(_name, info["mismatched_keys"]))
    if mismatched:
        raise ModelError(
            Message(
                "{n} parts of the weights of {name} have another shape than config.json "
                "says ({listed}). Take weights and config.json from the same model.",
                n=len(mismatched),
                name=name,
                listed=_listed(mismatched),
            )
        )
    unexpected = sorted(info["unexpected_keys"])
    if adapters := [key for key in unexpected if _ADAPTER.search(key)]:
        raise ModelError(
            Message(
                "The weights of {name} hold an adapter beside the base model ({adapters}), which "
                "would be passed over. Merge it first, with merge_and_unload of the library peft.",
                name=name,
                adapters=_listed(adapters),
            )
        )
    if layers := leftover_layers(unexpected, model):
        raise ModelError(
            Message(
                "The weights of {name} hold layers that its config.json does not count ({layers}): a "
                "shorter model would be evaluated. Take weights and config.json from the same model.",
                name=name,
                layers=_listed(layers),
            )
        )
    return WeightCheck(tuple(unexpected), tuple(sorted(pooler | {key.partition(".")[0] for key in decoder})))


def _name(key: Any) -> str:
    """The name of a weight whose shape is another, which transformers tells alone or with both shapes."""
    return str(key[0] if isinstance(key, tuple) else key)


def _decoder_alone(model: PreTrainedModel) -> set[str]:
    """The names of the weights of an encoder-decoder that its encoder does not have; none of other models."""
    if not model.config.is_encoder_decoder:
        return set()
    encoder = model.get_encoder()
    read = {id(tensor) for tensor in (*encoder.parameters(), *encoder.buffers())}
    return {key for key, tensor in model.state_dict(keep_vars=True).items() if id(tensor) not in read}


def leftover_layers(unexpected: Collection[str], model: PreTrainedModel) -> list[str]:
    """Weights without a place that differ from those of the model by the number of their layer alone."""
    prefixes = ("model.", f"{model.base_model_prefix}.")
    known = {_pattern(key, prefixes) for key in model.state_dict()}
    return [key for key in unexpected if re.search(r"\.\d+\.", f".{key}") and _pattern(key, prefixes) in known]


def _pattern(key: str, prefixes: tuple[str, ...]) -> str:
    for prefix in prefixes:
        key = key.removeprefix(prefix)
    return re.sub(r"(?<=\.)\d+(?=\.)", "N", f".{key}")


def _listed(keys: list[str]) -> str:
    return ", ".join(keys[:3]) + (", …" if len(keys) > 3 else "")
