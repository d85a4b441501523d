"""Loading of weights into memory: any encoder, masked or causal model that transformers knows, in one precision.

safetensors first; an older pytorch_model.bin only through torch's weights-only loading, which refuses a file
that holds code; code from a model's repository is never run.
"""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from engine.errors import ModelError
from engine.models.loading.activations import use_fused_activations
from engine.models.loading.adapters import merge_adapter, resize_vocabulary
from engine.models.loading.attention_type import keep_attention_type
from engine.models.loading.devices import chosen_device
from engine.models.loading.leftover_weights import WeightCheck, check_weights
from engine.models.loading.model_description import DescribedModel, describe
from engine.models.loading.published_modules import load_published_modules
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.facts import ModelFacts
from engine.models.sources.model_files import PICKLED, weight_files
from engine.models.sources.model_location import LocatedModel, locate
from engine.precision import AUTO, BYTES_PER_WEIGHT, DTYPES, resolved

Task = Literal["encode", "masked", "causal"]


@dataclass(frozen=True)
class LoadedModel:
    """A model on its device, in evaluation mode, with its tokenizer and facts.

    published_modules: what sentence-transformers applies to the hidden states; none where the files do not say.
    weight_check: what its files hold beside it, and lack. precision: what it computes in, a resolved one of
    `engine.precision`.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    facts: ModelFacts
    device: torch.device
    published_modules: tuple[torch.nn.Module, ...] = ()
    weight_check: WeightCheck = field(default_factory=WeightCheck)
    precision: str = "fp32"


def load(model: str | LocatedModel, task: Task, *, revision: str | None = None, precision: str = AUTO
         ) -> LoadedModel:
    """Load a model for one task, by name (see `locate`) or as it was located.

    task: "encode" for hidden states, which every model has; "masked" for filling masks; "causal" for scoring from
    left to right. precision: a choice of `engine.precision`. Raises ModelError when the model cannot be found or read,
    when it is of the wrong kind for the task, or when its weights lack parts that the task needs.
    """
    if task not in get_args(Task):
        raise ModelError(f"A model is loaded for one of {', '.join(get_args(Task))}; got {task!r}.")
    located = model if isinstance(model, LocatedModel) else locate(model, revision)
    described = describe(located)
    return load_from_description(described, task, resolved(precision, described.facts.dtype, described.facts.device))


def load_from_description(described: DescribedModel, task: Task, precision: str = "fp32") -> LoadedModel:
    """Load the weights of a model that was described already, in a resolved precision. Raises ModelError as `load`.
    """
    facts = described.facts
    _require_kind(facts, task)
    device = chosen_device()
    try:
        model, weight_check = _load_weights(described, task, DTYPES[precision])
        model.to(device)  # type: ignore[arg-type]  # transformers' wrapper hides torch's signature
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ModelError(f"{facts.name} ({facts.n_parameters * BYTES_PER_WEIGHT[precision] / 2**30:.1f} GiB in "
                         f"{precision}) does not fit into the memory of "
                         f"{device}. Choose a smaller model, or set HAKARI_DEVICE to a device with more.") from error
    model.requires_grad_(False)
    use_fused_activations(model)
    keep_attention_type(model)
    modules: tuple[torch.nn.Module, ...] = ()
    if task == "encode" and facts.published is not None and not facts.published.problem:
        modules = load_published_modules(facts.name, facts.published, device)
    return LoadedModel(model.eval(), described.tokenizer, facts, device, modules, weight_check, precision)


def _require_kind(facts: ModelFacts, task: Task) -> None:
    if task == "masked" and facts.kind != "masked":
        raise ModelError(f"{facts.name} ({facts.architecture}) is {_kind_description(facts.kind)} and fills no masks. "
                         "Choose a masked model such as builtin/bert-mini-ja.")
    if task == "causal" and facts.kind != "causal":
        raise ModelError(f"{facts.name} ({facts.architecture}) is {_kind_description(facts.kind)} and does not score "
                         "from left to right. Choose a causal model such as builtin/gpt2-mini-ja.")
    if task == "masked" and not facts.has_mask:
        raise ModelError(f"The tokenizer of {facts.name} ({facts.tokenizer}) has no mask token, so nothing can be "
                         "masked. Give the model the tokenizer it was trained with.")


def _kind_description(kind: str) -> str:
    return {"masked": "a masked model", "causal": "a causal model"}.get(kind, "an encoder without language-model head")


def _load_weights(described: DescribedModel, task: Task, dtype: str) -> tuple[PreTrainedModel, WeightCheck]:
    facts, architecture = described.facts, described.architecture
    files = weight_files(described.weights_directory)
    try:
        with silence_transformers():
            model, info = architecture.auto_class(task).from_pretrained(
                described.weights_directory, config=architecture.config, dtype=getattr(torch, dtype),
                output_loading_info=True, use_safetensors=files[0].name not in PICKLED,
                key_mapping=architecture.key_mapping, ignore_mismatched_sizes=True, weights_only=True,
                trust_remote_code=False, local_files_only=True,
            )
    except (torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # a damaged file raises errors of many classes: SafetensorError, KeyError, EOFError …
        raise _load_error(facts, files, error) from error
    weight_check = check_weights(facts.name, model, info, tied=described.tied_embeddings)
    if described.adapter_directory is not None:
        resize_vocabulary(facts.name, model, described.adapter_directory)
        merge_adapter(facts.name, model, described.adapter_directory)
    return model.get_encoder() if architecture.config.is_encoder_decoder else model, weight_check


def _load_error(facts: ModelFacts, files: tuple[Path, ...], error: Exception) -> ModelError:
    names, directory = ", ".join(path.name for path in files), files[0].parent
    if isinstance(error, pickle.UnpicklingError):
        global_name = re.search(r"GLOBAL (\S+)", str(error))
        named = f" ({global_name[1]})" if global_name else ""
        return ModelError(f"{names} in {directory} is refused: beside weights it holds Python objects or code{named}, "
                          "or it is damaged. Choose a model published as safetensors, or save the weights alone.")
    return ModelError(f"The weights of {facts.name} ({names} in {directory}) cannot be loaded: "
                      f"{one_line_message(error)} Copy or download them again.")
