"""Tiny models with code of their own, made on the spot: benign ones with the numbers of a plain class, and hostile ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from engine.inference.backend import Piece
from engine.inference.own_code.backend import WithOwnCode
from engine.models.sources.model_location import locate
from engine.models.sources.own_code.code_files import entry_of
from tests.waiting import SECONDS

CONFIGURATION = """
from transformers import BertConfig, GPT2Config

class OwnBertConfig(BertConfig):
    model_type = "own-bert"

class OwnGPTConfig(GPT2Config):
    model_type = "own-gpt"
"""
MASKED = """
from transformers import BertForMaskedLM, BertModel
from .configuration_own import OwnBertConfig

class OwnBertModel(BertModel):
    config_class = OwnBertConfig

class OwnBertForMaskedLM(BertForMaskedLM):
    config_class = OwnBertConfig

    def forward(self, *args, **kwargs):
        {in_forward}
        return super().forward(*args, **kwargs)
"""
# GPT-2 written anew, with the names of its weights and without any of its code.
CAUSAL = """
import math
import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast
from .configuration_own import OwnGPTConfig


class Linear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.zeros(n_in, n_out)), nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.n_head = config.n_head
        self.c_attn, self.c_proj = Linear(config.n_embd, 3 * config.n_embd), Linear(config.n_embd, config.n_embd)

    def forward(self, x, visible):
        n, length, width = x.shape
        q, k, v = (part.view(n, length, self.n_head, -1).transpose(1, 2) for part in self.c_attn(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mixed = scores.masked_fill(~visible, torch.finfo(x.dtype).min).softmax(dim=-1) @ v
        return self.c_proj(mixed.transpose(1, 2).reshape(n, length, width))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        inner = config.n_inner or 4 * config.n_embd
        self.c_fc, self.c_proj = Linear(config.n_embd, inner), Linear(inner, config.n_embd)

    def forward(self, x):
        return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.ln_2 = (nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon) for _ in range(2))
        self.attn, self.mlp = Attention(config), MLP(config)

    def forward(self, x, visible):
        x = x + self.attn(self.ln_1(x), visible)
        return x + self.mlp(self.ln_2(x))


class OwnPreTrained(PreTrainedModel):
    config_class = OwnGPTConfig
    base_model_prefix = "transformer"

    def _init_weights(self, module):
        pass


class OwnGPT(OwnPreTrained):
    def __init__(self, config):
        super().__init__(config)
        self.wte, self.wpe = nn.Embedding(config.vocab_size, config.n_embd), nn.Embedding(config.n_positions, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.post_init()

    def get_input_embeddings(self):
        return self.wte

    def set_input_embeddings(self, value):
        self.wte = value

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, output_hidden_states=None, **others):
        length = input_ids.shape[1]
        positions = torch.arange(length)[None] if position_ids is None else position_ids
        visible = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
        if attention_mask is not None:
            visible = visible & attention_mask[:, None, None, :].bool()
        x = self.wte(input_ids) + self.wpe(positions)
        states = [x]
        for block in self.h:
            x = block(x, visible)
            states.append(x)
        x = states[-1] = self.ln_f(x)
        return BaseModelOutputWithPast(last_hidden_state=x, hidden_states=tuple(states) if output_hidden_states else None)


class OwnGPTForCausalLM(OwnPreTrained):
    _tied_weights_keys = {"lm_head.weight": "transformer.wte.weight"}

    def __init__(self, config):
        super().__init__(config)
        self.transformer = OwnGPT(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, attention_mask=None, logits_to_keep=0, **others):
        found = self.transformer(input_ids, attention_mask, **others)
        kept = slice(-logits_to_keep, None) if isinstance(logits_to_keep, int) else logits_to_keep
        return CausalLMOutputWithPast(
            logits=self.lm_head(found.last_hidden_state[:, kept]), hidden_states=found.hidden_states
        )
"""
TOKENIZER = """
from transformers import BertJapaneseTokenizer

class OwnTokenizer(BertJapaneseTokenizer):
    pass
"""


def change(path: Path, **fields: Any) -> None:
    """Change fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def masked(plain: Path, folder: Path, *, at_import: str = "", in_forward: str = "pass") -> Path:
    """A BERT as a class of its own, with the weights of `plain`. at_import, in_forward: statements of its code."""
    shutil.copytree(plain, folder)
    (folder / "configuration_own.py").write_text(CONFIGURATION)
    indented = in_forward.replace("\n", "\n        ")
    (folder / "modeling_own.py").write_text(MASKED.replace("{in_forward}", indented) + at_import)
    change(
        folder / "config.json",
        model_type="own-bert",
        architectures=["OwnBertForMaskedLM"],
        auto_map={
            "AutoConfig": "configuration_own.OwnBertConfig",
            "AutoModel": "modeling_own.OwnBertModel",
            "AutoModelForMaskedLM": "modeling_own.OwnBertForMaskedLM",
        },
    )
    return folder


def causal(plain: Path, folder: Path, *, but: tuple[str, str] = ("", "")) -> Path:
    """A GPT-2 of which nothing is transformers', with the weights of `plain`; its code has no class for AutoModel.

    but: what of its code is replaced, and by what.
    """
    shutil.copytree(plain, folder)
    (folder / "configuration_own.py").write_text(CONFIGURATION)
    assert but[0] in CAUSAL
    (folder / "modeling_own.py").write_text(CAUSAL.replace(*but) if but[0] else CAUSAL)
    change(
        folder / "config.json",
        model_type="own-gpt",
        architectures=["OwnGPTForCausalLM"],
        auto_map={
            "AutoConfig": "configuration_own.OwnGPTConfig",
            "AutoModelForCausalLM": "modeling_own.OwnGPTForCausalLM",
        },
    )
    return folder


def own_tokenizer(plain: Path, folder: Path) -> Path:
    """A BERT with a tokenizer of its own, which does what that of `plain` does: MeCab and WordPiece."""
    shutil.copytree(plain, folder)
    (folder / "tokenization_own.py").write_text(TOKENIZER)
    change(
        folder / "tokenizer_config.json",
        tokenizer_class="OwnTokenizer",
        auto_map={"AutoTokenizer": ["tokenization_own.OwnTokenizer", None]},
    )
    return folder


def request_of(folder: Path, items: Sequence[Any] = ("",), **settings: Any) -> dict[str, Any]:
    """The request of a gateway for the model of a directory."""
    located = locate(str(folder))
    own = {"own_code": located.own_code.entries} if located.own_code else {}
    return {"model": located.address, "revision": None, "items": list(items), "settings": settings, **own}


def ask(
    backend: WithOwnCode, operation: str, folder: Path, items: Sequence[Any] = ("",), **settings: Any
) -> list[Piece]:
    """The pieces of one chunk."""
    future: Future[list[Piece]] = backend.run(operation, request_of(folder, items, **settings), "run")
    return future.result(timeout=SECONDS)


def allowed(*folders: Path) -> str:
    """The setting that allows the code of these directories as they are now."""
    return ", ".join(map(entry_of, folders))


def assert_equal_pieces(found: Sequence[Piece], expected: Sequence[Piece]) -> None:
    """Fields of the same names; numbers within 1e-5, all else equal."""
    assert len(found) == len(expected)
    for own, plain in zip(found, expected, strict=True):
        assert own.keys() == plain.keys()
        for name, value in plain.items():
            if isinstance(value, np.ndarray):
                np.testing.assert_allclose(own[name], value, rtol=0, atol=1e-5, err_msg=name)
            else:
                assert own[name] == value, name
