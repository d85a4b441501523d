"""Starting from a model that is trained already: its layers as they are, the embeddings of new pieces from its own.

A piece of the new vocabulary starts as the mean of the embeddings of the pieces that the old tokenizer cuts it into, so
that training need not learn the layers anew when only the vocabulary changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, BertForMaskedLM, GPT2LMHeadModel, PreTrainedModel, PreTrainedTokenizerBase

from engine.errors import InputError

CLASSES: dict[str, Any] = {"bert": BertForMaskedLM, "gpt2": GPT2LMHeadModel}
CONTINUES = "##"  # before a WordPiece that continues a word
SPACE = "▁"  # of a Unigram piece


def start_from(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, start: Path, architecture: str) -> None:
    """Give `model` the weights of the model in the directory `start`, in place.

    Raises InputError where the directory holds no model of the architecture, or one of other layers.
    """
    old_tokenizer = AutoTokenizer.from_pretrained(start)
    old = CLASSES[architecture].from_pretrained(start, dtype=torch.float32)
    state, new_state = old.state_dict(), model.state_dict()
    by_piece = {name for name, weight in new_state.items()
                if weight.ndim and weight.shape[0] == len(tokenizer) and state[name].shape[0] == len(old_tokenizer)}
    differing = [f"{name}: {tuple(state[name].shape)} there, {tuple(weight.shape)} here"
                 for name, weight in new_state.items()
                 if name not in by_piece and (name not in state or state[name].shape != weight.shape)]
    if differing:
        raise InputError(f"The model in {start} has other layers than this one ({differing[0]}). Set --layers, "
                         "--hidden, --heads and --max-length as it has them, or start from another.")
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
        if isinstance(token, str) and getattr(old_tokenizer, role, None)}
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
