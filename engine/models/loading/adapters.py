"""Adapters of peft, merged into the weights of their base model, so that all that follows sees a plain model.

An adapter names the modules of the class that it was trained on: a model with its head, the bare encoder, or a text
model in multimodal packaging. Here the model is shown to peft under those names, whichever class it was read into.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from transformers import PreTrainedModel

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.model_files import weight_files
from engine.models.sources.pickled_weights import SUFFIX

_PREFIX = "base_model.model."
# The first part of a weight's name that belongs to the adapter and not to the model.
_ADAPTER_PART = re.compile(
    r"^(lora|ia3|hada|lokr|oft|boft|vera|ln_tuning|hra|fourierft|vblora|randlora|c3a|"
    r"trainable_tokens)_|^token_adapter$"
)
_RETRAINED = re.compile(r"(^|\.)(token_adapter|trainable_tokens)")
# A text model in multimodal packaging, newer and older: the paths of its trunk and of its head.
_IN_PACKAGING = (("model.language_model", "lm_head"), ("language_model.model", "language_model.lm_head"))
MERGE_ADVICE = Message(
    "Merge it where it was trained (merge_and_unload of the library peft), save the model with "
    "save_pretrained and name that directory."
)


def resize_vocabulary(name: str, model: PreTrainedModel, directory: Path) -> None:
    """Give a model the vocabulary of its adapter, where that holds embeddings of another number of pieces.

    Raises ModelError where the adapter does not hold all that belongs to the added pieces.
    """
    shapes = _shapes(name, directory)
    view = _view(name, model, shapes)
    sizes: dict[Any, int] = {}
    for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
        path = next((path for path, module in view.named_modules() if module is layer), None)
        saved = next((shape for key, shape in shapes.items() if path and key in _names_of_weight(path)), None)
        if layer is not None and saved is not None:
            sizes[layer] = saved[0]
    embeddings: Any = model.get_input_embeddings()
    head: Any = model.get_output_embeddings()
    n_pieces = sizes.get(embeddings)
    if n_pieces is None or n_pieces == embeddings.weight.shape[0]:
        return
    tied = head is not None and head.weight is embeddings.weight
    if head is not None and (getattr(head, "bias", None) is not None or not (tied or sizes.get(head) == n_pieces)):
        raise ModelError(
            Message(
                "The adapter of {name} has a vocabulary of {n_pieces:,} pieces, its base {shape:,}, "
                "and it does not hold all the weights of the output layer for them. {MERGE_ADVICE}",
                name=name,
                n_pieces=n_pieces,
                shape=embeddings.weight.shape[0],
                MERGE_ADVICE=MERGE_ADVICE,
            )
        )
    model.resize_token_embeddings(n_pieces, mean_resizing=False)


def merge_adapter(name: str, model: PreTrainedModel, directory: Path) -> None:
    """Merge the adapter in `directory` into a model in float32, in place.

    Raises ModelError where the adapter does not fit the model, is damaged, or cannot be merged.
    """
    # The library takes a second to import; most models need none of it.
    with silence_transformers():
        from peft import PeftConfig, PeftModel

    shapes = _shapes(name, directory)
    view = _view(name, model, shapes)
    _untie(model, view, shapes)
    try:
        with silence_transformers(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message="Found missing adapter keys")
            config = PeftConfig.from_pretrained(str(directory))
            config.task_type = None  # the head of a task is not evaluated
            modules = [path for path, _ in view.named_modules()]
            kept = [
                saved
                for saved in getattr(config, "modules_to_save", None) or []
                if any(path == saved or path.endswith(f".{saved}") for path in modules)
            ]
            if hasattr(config, "modules_to_save"):
                config.modules_to_save = kept or None
            adapted: Any = PeftModel.from_pretrained(view, str(directory), config=config, torch_device="cpu")
            adapted.merge_and_unload(safe_merge=True)
    except (torch.OutOfMemoryError, MemoryError):
        raise
    except Exception as error:  # peft raises errors of many classes for an adapter that does not fit
        raise ModelError(
            Message(
                "The adapter {name} cannot be merged into its base model: {error} {MERGE_ADVICE}",
                name=name,
                error=one_line_message(error),
                MERGE_ADVICE=MERGE_ADVICE,
            )
        ) from error


def _untie(model: PreTrainedModel, view: torch.nn.Module, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Give the output layer weights of its own where only it or only the embeddings are adapted.

    Merging writes into the weights, and what was added to one would be added to both. Retrained tokens belong to both.
    """
    embeddings, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is None or head.weight is not embeddings.weight:
        return
    adapted = {_module_of(key) for key in shapes if _adapter_part(key) is not None and not _RETRAINED.search(key)}
    if any(path in adapted for path, module in view.named_modules() if module in (embeddings, head)):
        head.weight = torch.nn.Parameter(head.weight.detach().clone())  # type: ignore[operator]
        model.config.tie_word_embeddings = False


class _Packaged(torch.nn.Module):
    """Parts of a model under the names that they have in another class."""

    def __init__(self, model: PreTrainedModel, parts: Mapping[str, torch.nn.Module]) -> None:
        super().__init__()
        self.config = model.config
        self.get_input_embeddings = model.get_input_embeddings
        self.get_output_embeddings = model.get_output_embeddings
        for path, part in parts.items():
            parent: torch.nn.Module = self
            *folders, last = path.split(".")
            for folder in folders:
                if folder not in dict(parent.named_children()):
                    parent.add_module(folder, torch.nn.Module())
                parent = parent.get_submodule(folder)
            parent.add_module(last, part)


def _views(model: PreTrainedModel) -> Iterator[tuple[torch.nn.Module, str]]:
    """The model under the names of the classes that an adapter may have been trained on, and the path of its trunk."""
    trunk = model.base_model
    head = model.get_output_embeddings()
    yield model, "" if trunk is model else f"{model.base_model_prefix}."
    if trunk is not model:
        yield trunk, ""
    else:
        yield _Packaged(model, {model.base_model_prefix: model}), f"{model.base_model_prefix}."
    for trunk_path, head_path in _IN_PACKAGING:
        parts = {trunk_path: trunk, **({head_path: head} if trunk is not model and head is not None else {})}
        yield _Packaged(model, parts), f"{trunk_path}."


def _view(name: str, model: PreTrainedModel, shapes: Mapping[str, tuple[int, ...]]) -> torch.nn.Module:
    """The view of the model that has a module for every weight of the adapter's; heads of other tasks need none."""
    adapted = {_module_of(key) for key in shapes if _adapter_part(key) is not None} - {""}
    whole = {_module_of(key) for key in shapes if _adapter_part(key) is None} - {""}
    for view, trunk in _views(model):
        modules = {path for path, _ in view.named_modules()}
        # What lies outside of the trunk is a head: of another task, or that of a model read without one.
        needed = {path for path in adapted | whole if path.startswith(trunk)} if trunk else adapted
        if needed <= modules and (needed or adapted | whole <= modules):
            return view
    first = next(iter(sorted(adapted or whole)), Message("part that it changes"))
    raise ModelError(
        Message(
            "The adapter {name} does not fit its base model: a {class_name} has no {first}. Check "
            "base_model_name_or_path in adapter_config.json.",
            name=name,
            class_name=type(model).__name__,
            first=first,
        )
    )


def _adapter_part(key: str) -> int | None:
    """The position of the first part of a name that belongs to the adapter; None for a weight of the model itself."""
    return next((number for number, part in enumerate(key.split(".")) if _ADAPTER_PART.match(part)), None)


def _module_of(key: str) -> str:
    """The module of the model that a weight of an adapter belongs to; "" for one that all modules share."""
    position = _adapter_part(key)
    parts = key.split(".")[: -1 if position is None else position]
    return ".".join(part for part in parts if part not in ("base_layer", "modules_to_save", "original_module"))


def _names_of_weight(path: str) -> tuple[str, ...]:
    return (f"{path}.weight", f"{path}.base_layer.weight", f"{path}.modules_to_save.weight")


def _shapes(name: str, directory: Path) -> dict[str, tuple[int, ...]]:
    """The shape of each weight of the adapter, by its name without the prefix of peft. Raises ModelError."""
    [path] = weight_files(directory)
    try:
        if path.name.endswith(SUFFIX):
            tensors = torch.load(path, map_location="meta", weights_only=True)
            shapes = {key: tuple(tensor.shape) for key, tensor in tensors.items()}
        else:
            with safe_open(path, framework="pt") as file:
                shapes = {key: tuple(file.get_slice(key).get_shape()) for key in file.keys()}  # noqa: SIM118
    except Exception as error:  # SafetensorError, UnpicklingError for code, EOFError, AttributeError for no tensors …
        raise ModelError(
            Message(
                "The weights of the adapter {name} ({path}) are damaged, or hold Python objects or "
                "code beside tensors: {error} Save or download them again, as safetensors.",
                name=name,
                path=path,
                error=one_line_message(error),
            )
        ) from error
    return {key.removeprefix(_PREFIX).removeprefix("base_model."): shape for key, shape in shapes.items()}
