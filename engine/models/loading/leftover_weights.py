"""Do the weights of a file and the parts of a model fit together, name by name?

transformers fills parts that a file lacks with random numbers and passes over what it has no place for, with a
warning at most. A model of other layers than its configuration says would be scored without a sign.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import transformers
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.weight_headers import DTYPES, Weight

# Random weights there change no result: hidden states are taken below the pooler.
_MAY_BE_MISSING = re.compile(r"(^|\.)pooler\.")
_HEAD = re.compile(r"(^|\.)lm_head\.weight$")
# Of no consequence though they lie below the head: the pooler, positions, rotary factors and masks, which transformers
# works out itself, and heads that predict further tokens.
_HARMLESS = re.compile(
    r"(^|\.)(pooler|mtp|mtp_layers|mtp_block)\.|"
    r"(^|\.)(position_ids|token_type_ids|(original_)?inv_freq|(cos|sin)_cached|masked_bias|num_batches_tracked)$"
)
# The causal mask of GPT-2 and its kin, where no layer has a bias of that name.
_MASK = re.compile(r"(^|\.)(attn|attention|crossattention)\.bias$")
_ADAPTER = re.compile(
    r"(^|[._])(lora|dora|loha|lokr|hada|boft|oft|vera|ia3)_|(^|\.)\w*adapters?\.|"
    r"(^|\.)(prefix|prompt)_(encoder|embeddings?|tokens|tuning)\b|^base_model\.model\."
)
_QUANTISED = re.compile(
    r"(^|[._])(SCB|weight_format|w?q?zeros|q?scales?|(in|out)put_scale|weight_scale(_inv|_2)?|(weight_)?zero_point|"
    r"weight_packed|weight_shape|g_idx|absmax|quant_map|nested_absmax|nested_quant_map|quant_state\.\w+|"
    r"qweight|w?_?blocks)$"
)
_PARAMETRISED = re.compile(r"(^|\.)parametrizations\.")
# Bert's attention by distance, which transformers 5 no longer has.
_BY_DISTANCE = re.compile(r"\.distance_embedding\.weight$")


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


def require_floats(name: str, weights: Mapping[str, Weight], model: PreTrainedModel) -> None:
    """Raise ModelError for weights that are integers or of 8 bits where the model has floating-point numbers.

    weights: those of the files, of a model whose config.json does not say that they are quantised: read as numbers
    without their scales they would be another model.
    """
    # By their own names, because those of the modules may be others in a file.
    whole = {key.rpartition(".")[2] for key, tensor in model.state_dict().items() if not tensor.dtype.is_floating_point}
    quantised = [
        f"{key}: {weight.dtype}"
        for key, weight in weights.items()
        if weight.dtype not in DTYPES.values()
        and not (_HARMLESS.search(key) or _MASK.search(key))
        and key.rpartition(".")[2] not in whole
    ]
    if quantised:
        raise _quantised(name, quantised)


def check_weights(
    name: str,
    model: PreTrainedModel,
    info: dict[str, Any],
    *,
    trunk_only: bool = False,
    with_decoder: bool = False,
    packaged: bool = False,
) -> WeightCheck:
    """What the files and the model do not have in common; ModelError where the weights are not those of this model.

    info: what `from_pretrained(output_loading_info=True)` tells. trunk_only: the head is not asked, so it may be
    missing. with_decoder: all of an encoder-decoder is asked. packaged: the model is the text part of a multimodal
    one, whose other parts are left over. Allowed are heads that the task does not need, those other parts, a missing
    pooler, a missing decoder where the encoder alone is read (sentence-transformers saves T5 so), and what is worked
    out again from the configuration (`_HARMLESS`).
    """
    unexpected = sorted(info["unexpected_keys"])
    below = left_below_the_head(unexpected, model, trunk_only=trunk_only, with_decoder=with_decoder, packaged=packaged)
    # Said first, for a part that is stored otherwise is missing under its own name.
    # Outside of the trunk an adapter shows itself, too (a prefix encoder); a part for images may be called one.
    _require_plain(name, below if packaged else unexpected, below)
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
    if layers := leftover_layers(unexpected, model):
        raise ModelError(
            Message(
                "The weights of {name} hold layers that its config.json does not count ({layers}): a "
                "shorter model would be evaluated. Take weights and config.json from the same model.",
                name=name,
                layers=_listed(layers),
            )
        )
    if below:
        raise ModelError(
            Message(
                "The weights of {name} hold {n} parts below the head that a {class_name} of transformers {version} has "
                "no place for ({listed}), so that another model would be evaluated. They belong to a later version of "
                "the architecture, or to one that needs its publisher's own code. Take weights and config.json from "
                "the same model, or choose a model whose architecture this transformers has.",
                name=name,
                n=len(below),
                class_name=type(model).__name__,
                version=transformers.__version__,
                listed=_listed(below),
            )
        )
    return WeightCheck(tuple(unexpected), tuple(sorted(pooler | {key.partition(".")[0] for key in decoder})))


def _require_plain(name: str, asked: list[str], below: list[str]) -> None:
    """Raise ModelError for weights that are stored in another form than the plain matrices of a model."""
    if adapters := [key for key in asked if _ADAPTER.search(key)]:
        raise ModelError(
            Message(
                "The weights of {name} hold an adapter beside the base model ({adapters}), which "
                "would be passed over. Merge it first, with merge_and_unload of the library peft.",
                name=name,
                adapters=_listed(adapters),
            )
        )
    if parametrised := [key for key in below if _PARAMETRISED.search(key)]:
        raise ModelError(
            Message(
                "The weights of {name} are stored as what they are computed from ({listed}), by torch's "
                "parametrizations. Take these away where the model was made (remove_parametrizations of "
                "torch.nn.utils.parametrize) and save it again.",
                name=name,
                listed=_listed(parametrised),
            )
        )
    if quantised := [key for key in below if _QUANTISED.search(key)]:
        raise _quantised(name, quantised)
    if by_distance := [key for key in below if _BY_DISTANCE.search(key)]:
        raise ModelError(
            Message(
                "The weights of {name} hold the relative positions of its attention ({listed}), which transformers "
                "{version} no longer has for this architecture (position_embedding_type relative_key). Choose a model "
                "with absolute positions.",
                name=name,
                listed=_listed(by_distance),
                version=transformers.__version__,
            )
        )


def _quantised(name: str, weights: list[str]) -> ModelError:
    return ModelError(
        Message(
            "The weights of {name} are quantised, though its config.json says nothing of it ({listed}): without their "
            "scales they are other numbers. Choose the model they were made from, or add the quantization_config that "
            "they were saved with.",
            name=name,
            listed=_listed(weights),
        )
    )


def left_below_the_head(
    unexpected: Collection[str],
    model: PreTrainedModel,
    *,
    trunk_only: bool = False,
    with_decoder: bool = False,
    packaged: bool = False,
) -> list[str]:
    """Weights without a place that lie within what is asked of a model, and are not harmless.

    Within the trunk is what has its prefix, or begins with the name of one of its parts; of a head that is asked, what
    belongs to a module that has weights in the model, too (`lm_head.bias`, not `cls.seq_relationship.weight`).
    """
    base, prefix = model.base_model, f"{model.base_model_prefix}."
    whole = with_decoder or not model.config.is_encoder_decoder
    # By their weights: the embeddings of an encoder-decoder are a part of their own, which the encoder shares.
    read = {id(weight) for weight in (base if whole else model.get_encoder()).parameters()}
    parts = {
        name
        for name, module in base.named_children()
        if any(id(weight) in read for weight in module.parameters()) and (whole or name != "decoder")
    }
    owners = {key.rpartition(".")[0] for key in base.state_dict()}
    computed = {name for name, _ in base.named_buffers()}
    heads = {} if trunk_only or base is model else {path: module for path, module in model.named_modules() if path}

    def is_below(key: str) -> bool:
        inner = key.removeprefix(prefix)
        parent = inner.rpartition(".")[0]
        if inner in computed or _HARMLESS.search(inner) or (_MASK.search(inner) and parent not in owners):
            return False
        if inner.partition(".")[0] in parts or (key.startswith(prefix) and whole and not packaged):
            return True
        of_head = max((path for path in heads if key.startswith(f"{path}.")), key=len, default="")
        return "." in of_head or bool(of_head and next(heads[of_head].parameters(recurse=False), None) is not None)

    return [key for key in unexpected if is_below(key)]


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
    return list_of([*keys[:3], *(["…"] if len(keys) > 3 else [])])
