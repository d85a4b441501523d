"""The ids of shape and pronunciation that RoCBERT reads beside the id of each token.

They belong to the token, so they are looked up where the model embeds its tokens; without them transformers takes 0
for all, or leaves both embeddings out.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.roc_bert.modeling_roc_bert import RoCBertEmbeddings

from engine.errors import ModelError
from engine.messages.message import Message


def give_ids_beside_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Let a RoCBERT look up shape and pronunciation of every token; any other model is left as it is.

    Raises ModelError where its tokenizer does not know them.
    """
    for module in model.modules():
        if isinstance(module, RoCBertEmbeddings) and (module.enable_shape or module.enable_pronunciation):
            tables = _tables(tokenizer, module.word_embeddings.num_embeddings)
            module.register_forward_pre_hook(_Lookup(tables), with_kwargs=True)


class _Lookup:
    """A hook of `RoCBertEmbeddings.forward`; the tables are int64 (n_ids,)."""

    def __init__(self, tables: dict[str, torch.Tensor]) -> None:
        self._tables = tables

    def __call__(
        self, module: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        ids = arguments[0] if arguments else named.get("input_ids")
        if ids is not None:
            self._tables = {name: table.to(ids.device) for name, table in self._tables.items()}
            named |= {name: table[ids] for name, table in self._tables.items()}
        return arguments[:1], named


def _tables(tokenizer: Any, n_embedded: int) -> dict[str, torch.Tensor]:
    if not hasattr(tokenizer, "convert_tokens_to_shape_ids"):
        raise ModelError(
            Message(
                "The model reads shape and pronunciation of every character beside its token, which its tokenizer "
                "({class_name}) does not know. Take the RoCBertTokenizer with word_shape.json and "
                "word_pronunciation.json that it was published with.",
                class_name=type(tokenizer).__name__,
            )
        )
    # The template has the shape and pronunciation of [UNK] (`prepare_for_model` of the tokenizer).
    template = {tokenizer.cls_token, tokenizer.sep_token}
    names = tokenizer.convert_ids_to_tokens(list(range(n_embedded)))
    names = [tokenizer.unk_token if name in template else name for name in names]
    return {
        "input_shape_ids": torch.tensor(tokenizer.convert_tokens_to_shape_ids(names)),
        "input_pronunciation_ids": torch.tensor(tokenizer.convert_tokens_to_pronunciation_ids(names)),
    }
