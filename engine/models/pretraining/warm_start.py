"""Starting from a model that is trained already: its layers as they are, the embeddings of new pieces from its own.

A piece of the new vocabulary starts as the mean of the embeddings of the pieces that the old tokenizer cuts it into, so
that training need not learn the layers anew when only the vocabulary changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertForMaskedLM,
    GPT2LMHeadModel,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from engine.errors import InputError
from engine.messages.message import Message, together
from engine.models.pretraining.settings import Settings

CLASSES: dict[str, Any] = {"bert": BertForMaskedLM, "gpt2": GPT2LMHeadModel}
CONTINUES = "##"  # before a WordPiece that continues a word
SPACE = "▁"  # of a Unigram piece


# Of each architecture: the setting of a size, the name of it in a configuration, and the option that sets it.
SIZES: dict[str, dict[str, tuple[str, str]]] = {
    "bert": {
        "layers": ("num_hidden_layers", "--layers"),
        "hidden": ("hidden_size", "--hidden"),
        "heads": ("num_attention_heads", "--heads"),
        "max_length": ("max_position_embeddings", "--max-length"),
    },
    "gpt2": {
        "layers": ("n_layer", "--layers"),
        "hidden": ("n_embd", "--hidden"),
        "heads": ("n_head", "--heads"),
        "max_length": ("n_positions", "--max-length"),
    },
}


def check_start(settings: Settings) -> None:
    """Raise InputError where `settings.start` names no model of the architecture and of the sizes of the settings."""
    start, architecture = str(settings.start), settings.architecture
    try:
        if not (Path(start) / "config.json").is_file():
            raise InputError(Message("There is no model in {start}: it holds no config.json.", start=start))
        config = AutoConfig.from_pretrained(start)
        AutoTokenizer.from_pretrained(start)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            Message("The model in {start} cannot be started from: {error}", start=start, error=error)
        ) from error
    if config.model_type != architecture:
        raise InputError(
            Message(
                "The model in {start} is of the architecture {model_type!r}, not {architecture!r}.",
                start=start,
                model_type=config.model_type,
                architecture=architecture,
            )
        )
    differing = [
        Message(
            "{option} {name} there, {setting} here",
            option=option,
            name=getattr(config, name),
            setting=getattr(settings, setting),
        )
        for setting, (name, option) in SIZES[architecture].items()
        if getattr(config, name) != getattr(settings, setting)
    ]
    if differing:
        raise InputError(
            Message(
                "The model in {start} has other layers than this one: {differing}. Set these options "
                "as it has them, or start from another model.",
                start=start,
                differing=together("; ", differing),
            )
        )


def start_from(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, start: Path, architecture: str) -> None:
    """Give `model` the weights of the model in the directory `start`, in place.

    Raises InputError where its weights are of other shapes than `check_start` leads to expect.
    """
    old_tokenizer = AutoTokenizer.from_pretrained(start)
    old = CLASSES[architecture].from_pretrained(start, dtype=torch.float32)
    state, new_state = old.state_dict(), model.state_dict()
    by_piece = {
        name
        for name, weight in new_state.items()
        if weight.ndim
        and name in state
        and weight.shape[0] == len(tokenizer)
        and state[name].shape[0] == len(old_tokenizer)
    }
    differing = [
        name
        for name, weight in new_state.items()
        if name not in by_piece and (name not in state or state[name].shape != weight.shape)
    ]
    if differing:
        raise InputError(
            Message(
                "The model in {start} has other layers than this one ({differing}). Start from another.",
                start=start,
                differing=differing[0],
            )
        )
    sources = piece_sources(tokenizer, old_tokenizer)
    with torch.no_grad():
        for name, weight in new_state.items():
            weight.copy_(mean_rows(state[name], sources) if name in by_piece else state[name])
    model.tie_weights()


def piece_sources(tokenizer: PreTrainedTokenizerBase, old_tokenizer: PreTrainedTokenizerBase) -> list[list[int]]:
    """For each id of a vocabulary the ids of the old one that it starts from, at least one.

    The same piece, or special token of the same role; else the pieces that the old tokenizer cuts its text into.
    """
    old_ids = old_tokenizer.get_vocab()
    roles: dict[str, Any] = {
        str(token): old_tokenizer.convert_tokens_to_ids(str(getattr(old_tokenizer, role)))
        for role, token in tokenizer.special_tokens_map.items()
        if isinstance(token, str) and getattr(old_tokenizer, role, None)
    }
    sources: list[list[int]] = []
    for piece in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer)))):
        if piece in roles:
            sources.append([int(roles[piece])])
        elif piece in old_ids:
            sources.append([old_ids[piece]])
        else:
            text = piece.removeprefix(CONTINUES).replace(SPACE, " ").strip() or piece
            ids = [i for i in old_tokenizer.encode(text, add_special_tokens=False) if i != old_tokenizer.unk_token_id]
            sources.append(ids or [int(old_tokenizer.unk_token_id)])
    return sources


def mean_rows(weight: torch.Tensor, sources: list[list[int]]) -> torch.Tensor:
    """The mean of the rows of `weight` (n_old, …) that each entry of `sources` names, (len(sources), …)."""
    lengths = torch.tensor([len(ids) for ids in sources])
    owner = torch.repeat_interleave(torch.arange(len(sources)), lengths)
    summed = weight.new_zeros((len(sources), *weight.shape[1:]))
    summed.index_add_(0, owner, weight[torch.tensor([i for ids in sources for i in ids])])
    return summed / lengths.to(weight.dtype).view(-1, *[1] * (weight.ndim - 1))
