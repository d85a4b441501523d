"""Adapters of the library peft: small weights beside the name of the base model that they belong to.

    adapter_config.json · adapter_model.safetensors (or adapter_model.bin) · perhaps a tokenizer

Imports no torch: the base model is located like any other, and merged with its adapter when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.model_files import (
    ADAPTER_CONFIG,
    ADAPTER_PICKLED,
    ADAPTER_SAFETENSORS,
    PICKLED,
    SAFETENSORS,
    read_json,
)

# Types whose weights can be merged into the base, so that the merged model equals the adapted one.
MERGED_TYPES = (
    "LORA",
    "ADALORA",
    "LOHA",
    "LOKR",
    "IA3",
    "OFT",
    "BOFT",
    "VERA",
    "HRA",
    "LN_TUNING",
    "FOURIERFT",
    "VBLORA",
    "RANDLORA",
    "C3A",
    "TRAINABLE_TOKENS",
)
# Starts of training that leave the base as it is, or change it in a way that follows from its weights alone.
_STARTS = (True, False, None, "gaussian", "eva", "pissa", "olora", "orthogonal")
# Settings of peft under which merged weights are not the adapted model, or that need files of another machine.
_UNMERGED = (
    "alora_invocation_tokens",
    "arrow_config",
    "layer_replication",
    "megatron_config",
    "loftq_config",
    "monteclora_config",
    "use_qalora",
    "use_bdlora",
    "velora_config",
    "kasa_config",
    "ensure_weight_tying",
)
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_TOKENIZER = {"tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "added_tokens.json"}
_PURPOSE = Message("It says which base model the adapter belongs to.")


@dataclass(frozen=True)
class Adapter:
    """What adapter_config.json says: the type of the adapter, and its base model with a revision of the hub."""

    kind: str
    base: str
    revision: str | None = None


def is_adapter(names: Collection[str], where: str) -> bool:
    """Whether the files of a directory are those of an adapter alone; names: of the files, where: for the message.

    Raises ModelError for an adapter beside full weights: whether these contain it already cannot be seen.
    """
    adapter = [name for name in (ADAPTER_CONFIG, ADAPTER_SAFETENSORS, ADAPTER_PICKLED) if name in names]
    full = [name for name in (*SAFETENSORS, *PICKLED) if name in names]
    if adapter and full:
        raise ModelError(
            Message(
                "{where} holds full weights ({full}) and an adapter beside them ({adapter}), and does not say "
                "whether the weights contain the adapter. To evaluate the adapter with its base, put its files "
                "into a directory of their own and name that; to evaluate the weights alone, take the adapter's "
                "files away.",
                where=where,
                full=full[0],
                adapter=list_of(adapter),
            )
        )
    return ADAPTER_CONFIG in adapter


def adapter_weights(names: Collection[str], where: str) -> str:
    """The file that holds the weights of an adapter, safetensors before others. Raises ModelError where none does."""
    for name in (ADAPTER_SAFETENSORS, ADAPTER_PICKLED):
        if name in names:
            return name
    raise ModelError(
        Message(
            "{where} holds {ADAPTER_CONFIG} but no {ADAPTER_SAFETENSORS}. Save the adapter with "
            "save_pretrained of the library peft.",
            where=where,
            ADAPTER_CONFIG=ADAPTER_CONFIG,
            ADAPTER_SAFETENSORS=ADAPTER_SAFETENSORS,
        )
    )


def read_adapter(directory: Path) -> Adapter:
    """The adapter of a directory. Raises ModelError where it names no base model or cannot be merged."""
    path = directory / ADAPTER_CONFIG
    fields = read_json(path, _PURPOSE)
    kind, base, revision = (fields.get(name) for name in ("peft_type", "base_model_name_or_path", "revision"))
    if not isinstance(base, str) or not base.strip():
        raise ModelError(
            Message(
                "{path} names no base model (base_model_name_or_path). Write its Hugging Face id or "
                "its directory there.",
                path=path,
            )
        )
    if kind not in MERGED_TYPES:
        raise ModelError(
            Message(
                "The adapter in {directory} is of the type {kind!r}, which cannot be merged into the "
                "weights of its base. Hakari reads {MERGED_TYPES}.",
                directory=directory,
                kind=kind,
                MERGED_TYPES=list_of(MERGED_TYPES),
            )
        )
    start, unmerged = fields.get("init_lora_weights"), [name for name in _UNMERGED if fields.get(name)]
    if unmerged or not (isinstance(start, bool | str | None) and start in _STARTS):
        setting = unmerged[0] if unmerged else Message("init_lora_weights {start!r}", start=start)
        raise ModelError(
            Message(
                "The adapter in {directory} was trained with {setting}: its weights alone do not "
                "give the adapted model. Merge it where it was trained (merge_and_unload of the "
                "library peft), save the model with save_pretrained and name that directory.",
                directory=directory,
                setting=setting,
            )
        )
    return Adapter(kind, base.strip(), revision if isinstance(revision, str) and revision else None)


def base_directory(directory: Path, adapter: Adapter) -> Path | None:
    """The local directory of the base model: relative to the adapter's, or as it stands; None where there is none."""
    for candidate in (directory / adapter.base, Path(adapter.base)):
        try:
            if candidate.expanduser().is_dir():
                return candidate.expanduser().resolve()
        except (OSError, ValueError, RuntimeError):
            continue
    return None


def local_base(directory: Path) -> Path | None:
    """The local directory of the base model of the adapter in `directory`; None where there is no such."""
    if not (directory / ADAPTER_CONFIG).is_file():
        return None
    try:
        return base_directory(directory, read_adapter(directory))
    except ModelError:
        return None


def require_hub_id(directory: Path, adapter: Adapter, *, is_local: bool) -> None:
    """Raise ModelError for a base model that is no local directory and no Hugging Face id either."""
    if _REPOSITORY.fullmatch(adapter.base):
        return
    config = directory / ADAPTER_CONFIG
    raise ModelError(
        Message(
            "{config} names the base model {base!r}, and there is no such directory here. Copy the base model to "
            "it, or write its Hugging Face id or its directory as base_model_name_or_path.",
            config=config,
            base=adapter.base,
        )
        if is_local
        else Message(
            "{config} names the base model {base!r}, and it came from the hub, so the base model has to be one of "
            "the hub, too. Copy the adapter into a directory of your own and write its Hugging Face id or its "
            "directory as base_model_name_or_path.",
            config=config,
            base=adapter.base,
        )
    )


def has_tokenizer(directory: Path) -> bool:
    """Whether a directory holds a tokenizer of its own, which stands before that of the base model."""
    return any(path.name in _TOKENIZER or path.suffix == ".model" for path in directory.iterdir())
