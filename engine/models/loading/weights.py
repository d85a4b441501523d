"""Loading of weights into memory: any encoder, masked or causal model that transformers knows, in one precision.

safetensors first; an older pytorch_model.bin only through torch's weights-only loading, which refuses a file
that holds code; code from a model's repository is run in a process of its own alone (`own_classes`).

Weights are read into the data type that is computed in and onto their device, tensor by tensor: on the way a tensor is
a page of the file that is mapped into memory. A model is in memory once, whatever it is asked: its hidden states are
those of the trunk of the class with the head.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from accelerate import dispatch_model
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from engine.errors import EngineError, ModelError
from engine.messages.message import Message, list_of
from engine.models.loading import bitsandbytes_weights, gguf_weights
from engine.models.loading.activations import use_fused_activations
from engine.models.loading.adapters import merge_adapter, resize_vocabulary
from engine.models.loading.attention_type import keep_attention_type
from engine.models.loading.devices import chosen_devices
from engine.models.loading.ids_beside_tokens import give_ids_beside_tokens
from engine.models.loading.leftover_weights import WeightCheck, check_weights, require_floats, tie_missing_head
from engine.models.loading.model_description import DescribedModel, describe
from engine.models.loading.padding_row import keep_padding_row
from engine.models.loading.placement import DeviceMap, device_map, free_by_device, require_room
from engine.models.loading.published_modules import load_published_modules
from engine.models.loading.quantised_weights import BITSANDBYTES, dequantising, require_dequantised
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.facts import ModelFacts
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.model_files import PICKLED, weight_files
from engine.models.sources.model_location import LocatedModel, locate
from engine.models.sources.weight_headers import weights_in
from engine.precision import AUTO, DTYPES, resolved

Task = Literal["encode", "masked", "causal", "seq2seq"]


@dataclass(frozen=True)
class LoadedModel:
    """A model on its device, in evaluation mode, with its tokenizer and facts.

    device: the one that gets the inputs, where several share the model. published_modules: what sentence-transformers
    applies to the hidden states; none where the files do not say. weight_check: what its files hold beside it, and
    lack. precision: what it computes in, a resolved one of `engine.precision`. devices: all that share it.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    facts: ModelFacts
    device: torch.device
    published_modules: tuple[torch.nn.Module, ...] = ()
    weight_check: WeightCheck = field(default_factory=WeightCheck)
    precision: str = "fp32"
    devices: tuple[torch.device, ...] = ()


@dataclass(frozen=True)
class ModelWeights:
    """A model in memory, once for all tasks that it can be asked.

    checks: what was found, or why it cannot be, for each task that these weights serve.
    """

    described: DescribedModel
    model: PreTrainedModel
    checks: Mapping[str, WeightCheck | ModelError]
    devices: tuple[torch.device, ...]
    precision: str


def load(model: str | LocatedModel, task: Task, *, revision: str | None = None, precision: str = AUTO) -> LoadedModel:
    """Load a model for one task, by name (see `locate`) or as it was located.

    task: "encode" for hidden states, which every model has; "masked" for filling masks; "causal" for scoring from
    left to right; "seq2seq" for scoring by the decoder of an encoder-decoder. precision: a choice of
    `engine.precision`. Raises ModelError when the model cannot be found or read, when it is of the wrong kind for the
    task, when its weights lack parts that the task needs, or when it does not fit into memory.
    """
    if task not in get_args(Task):
        raise ModelError(
            Message("A model is loaded for one of {Task}; got {task!r}.", Task=list_of(get_args(Task)), task=task)
        )
    located = model if isinstance(model, LocatedModel) else locate(model, revision)
    described = describe(located)
    return load_from_description(described, task, resolved(precision, described.facts.dtype, described.facts.device))


def load_from_description(described: DescribedModel, task: Task, precision: str = "fp32") -> LoadedModel:
    """Load the weights of a model that was described already, in a resolved precision. Raises ModelError as `load`."""
    return for_task(read_weights(described, task, precision), task)


def read_weights(described: DescribedModel, task: Task, precision: str) -> ModelWeights:
    """The weights of a model, read for a task first, in a resolved precision. Raises ModelError as `load`."""
    facts = described.facts
    require_kind(facts, task)
    devices = chosen_devices()
    free = free_by_device(devices)
    sizes = sized_for(facts, task)
    budget = require_room(sizes, precision, free)
    # The class with the published head serves hidden states as well, unless its trunk is another class.
    class_task: str = facts.kind
    if task == "seq2seq":
        class_task = task
    elif facts.kind == "encoder" or (task == "encode" and not _shares_trunk(described)):
        class_task = "encode"
    try:
        placed: DeviceMap = {"": devices[0]}
        if len(devices) > 1:
            placed = device_map(sizes, _skeleton(described, class_task, precision), budget, free)
        weights = _read(described, class_task, precision, placed, devices)
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ModelError(
            Message(
                "{name} does not fit into the memory of {device}, though it should take {words}. "
                "Choose a smaller model, or set HAKARI_DEVICE to a device with more.",
                name=facts.name,
                device=facts.device,
                words=budget.words,
            )
        ) from error
    if isinstance(failed := weights.checks[task], ModelError):
        raise failed
    weights.model.requires_grad_(False)
    use_fused_activations(weights.model)
    keep_attention_type(weights.model)
    give_ids_beside_tokens(weights.model, described.tokenizer)
    weights.model.eval()
    return weights


def for_task(weights: ModelWeights, task: Task) -> LoadedModel:
    """The model of `weights` for a task that they serve. Raises ModelError as `load`; nothing is read again."""
    described, facts = weights.described, weights.described.facts
    require_kind(facts, task)
    weight_check = weights.checks[task]
    if isinstance(weight_check, ModelError):
        raise weight_check
    modules: tuple[torch.nn.Module, ...] = ()
    if task == "encode" and facts.published is not None and not facts.published.problem:
        modules = load_published_modules(facts.name, facts.published, weights.devices[0])
    model: Any = weights.model.base_model if task == "encode" and len(weights.checks) > 1 else weights.model
    return LoadedModel(
        model, described.tokenizer, facts, weights.devices[0], modules, weight_check, weights.precision, weights.devices
    )


def sized_for(facts: ModelFacts, task: Task) -> ModelFacts:
    """The facts of what is read for a task: of an encoder-decoder the encoder, or all of it with its head."""
    return replace(facts, kind="causal", n_parameters=facts.n_seq2seq_parameters) if task == "seq2seq" else facts


def require_kind(facts: ModelFacts, task: Task) -> None:
    """Raise ModelError where a model cannot be asked a task, whatever its weights are."""
    if task == "masked" and facts.kind != "masked":
        raise ModelError(
            Message(
                "{name} ({architecture}) is {kind} and fills no masks. Choose a masked model such as "
                "builtin/bert-mini-ja.",
                name=facts.name,
                architecture=facts.architecture,
                kind=_kind_description(facts.kind),
            )
        )
    if task == "causal" and facts.kind != "causal":
        raise ModelError(
            Message(
                "{name} ({architecture}) is {kind} and does not score from left to right. Choose a "
                "causal model such as builtin/gpt2-mini-ja.",
                name=facts.name,
                architecture=facts.architecture,
                kind=_kind_description(facts.kind),
            )
        )
    if task == "seq2seq" and not facts.n_seq2seq_parameters:
        raise ModelError(
            Message(
                "{name} ({architecture}) has no decoder with a language-model head, so it scores no sentence by one. "
                "Choose an encoder-decoder that was published with it (…ForConditionalGeneration).",
                name=facts.name,
                architecture=facts.architecture,
            )
        )
    if task == "masked" and not facts.has_mask:
        raise ModelError(
            Message(
                "The tokenizer of {name} ({tokenizer}) has no mask token, so nothing can be masked. "
                "Give the model the tokenizer it was trained with.",
                name=facts.name,
                tokenizer=facts.tokenizer,
            )
        )


def _kind_description(kind: str) -> str:
    return {"masked": Message("a masked model"), "causal": Message("a causal model")}.get(
        kind, Message("an encoder without language-model head")
    )


def _shares_trunk(described: DescribedModel) -> bool:
    """Whether the trunk of the class with the head is what the hidden states are taken from.

    Of an adapter the class is read that the task needs: it may hold embeddings for the one and no head for the other.
    """
    return described.shares_trunk and described.adapter_directory is None


def _skeleton(described: DescribedModel, class_task: str, precision: str) -> PreTrainedModel:
    """The model on torch's meta device, shapes and data type alone."""
    with silence_transformers(), torch.device("meta"):
        model: PreTrainedModel = described.architecture.auto_class(class_task).from_config(
            described.architecture.config, dtype=getattr(torch, DTYPES[precision]), trust_remote_code=False
        )
    return model


def _read(
    described: DescribedModel, class_task: str, precision: str, placed: DeviceMap, devices: tuple[torch.device, ...]
) -> ModelWeights:
    facts, architecture, adapter = described.facts, described.architecture, described.adapter_directory
    files, dtype = weight_files(described.weights_directory), getattr(torch, DTYPES[precision])
    numbers, model_class, config = None, architecture.auto_class(class_task), architecture.config
    if is_gguf(files[0].name) or facts.quantised == BITSANDBYTES:
        skeleton = _skeleton(described, class_task, precision)
        model_class = type(skeleton)  # the automatic one wants a directory
        if is_gguf(files[0].name):
            numbers = gguf_weights.state_dict(facts.name, files[0], config)
        else:
            numbers = bitsandbytes_weights.state_dict(facts.name, files, skeleton)
    if facts.quantised in ("", BITSANDBYTES) and getattr(config, "quantization_config", None) is not None:
        config = deepcopy(config)
        del config.quantization_config  # transformers would quantise the numbers
    try:
        with silence_transformers():
            model, info = model_class.from_pretrained(
                described.weights_directory if numbers is None else None,
                state_dict=numbers,
                config=config,
                # An adapter is added in float32 where the processor has the memory, and the sum is rounded once.
                dtype=dtype if adapter is None else torch.float32,
                device_map=placed if adapter is None else {"": torch.device("cpu")},
                output_loading_info=True,
                use_safetensors=files[0].name not in PICKLED,
                key_mapping=architecture.key_mapping,
                ignore_mismatched_sizes=True,
                weights_only=True,
                trust_remote_code=False,
                local_files_only=True,
                **(dequantising(facts.quantised) if numbers is None else {}),
            )
    except (torch.OutOfMemoryError, MemoryError, EngineError):
        raise
    except Exception as error:  # a damaged file raises errors of many classes: SafetensorError, KeyError, EOFError …
        raise _load_error(facts, files, error) from error
    if facts.quantised:
        require_dequantised(facts.name, facts.quantised, model, dtype if adapter is None else torch.float32)
    else:
        require_floats(facts.name, weights_in(files), model)
        keep_padding_row(model, files)
    tie_missing_head(model, info, tied=described.tied_embeddings)
    checks = {class_task: _check(described, model, info, with_decoder=class_task == "seq2seq")}
    if class_task not in ("encode", "seq2seq") and _shares_trunk(described):
        checks["encode"] = _check(described, model, info, trunk_only=True)
    if adapter is not None and not isinstance(checks[class_task], ModelError):
        resize_vocabulary(facts.name, model, adapter)
        merge_adapter(facts.name, model, adapter)
        model.to(dtype=dtype)
        if len(placed) > 1:
            dispatch_model(model, placed)
        else:
            model.to(devices[0])
    is_encoder_alone = architecture.config.is_encoder_decoder and class_task != "seq2seq"
    part = model.get_encoder() if is_encoder_alone else model
    return ModelWeights(described, part, checks, devices, precision)


def _check(
    described: DescribedModel,
    model: PreTrainedModel,
    info: dict[str, Any],
    *,
    trunk_only: bool = False,
    with_decoder: bool = False,
) -> WeightCheck | ModelError:
    name, packaged = described.facts.name, described.architecture.key_mapping is not None
    try:
        return check_weights(name, model, info, trunk_only=trunk_only, with_decoder=with_decoder, packaged=packaged)
    except ModelError as error:
        return error


def _load_error(facts: ModelFacts, files: tuple[Path, ...], error: Exception) -> ModelError:
    # By its name: the directory of a model of the hub is inside of this server
    names = ", ".join(path.name for path in files)
    if isinstance(error, pickle.UnpicklingError):
        global_name = re.search(r"GLOBAL (\S+)", str(error))
        named = f" ({global_name[1]})" if global_name else ""
        return ModelError(
            Message(
                "{names} of {name} is refused: beside weights it holds Python objects or "
                "code{named}, or it is damaged. Choose a model published as safetensors, or save "
                "the weights alone.",
                names=names,
                name=facts.name,
                named=named,
            )
        )
    return ModelError(
        Message(
            "The weights of {name} ({names}) cannot be loaded: {error} Copy or download them again.",
            name=facts.name,
            names=names,
            error=one_line_message(error).replace(str(files[0].parent), facts.name),
        )
    )
