"""The embedding of the padding token is the published one, whatever initialises weights after they were read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

from engine.models.loading.padding_row import keep_padding_row
from tests.models.zoo import sweep
from tests.models.zoo.specimens import Specimen

PAD = 3


def zeroed(folder: Path, row: float, head: type[Any] = AutoModelForCausalLM) -> Any:
    """A model whose file has this number in every place of the row, read with a row of zeros."""
    torch.manual_seed(1)
    sizes = {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=12, pad_token_id=PAD, tie_word_embeddings=True, **sizes))
    with torch.no_grad():
        model.get_input_embeddings().weight[PAD] = row
    model.save_pretrained(folder)
    read = head.from_pretrained(folder)
    with torch.no_grad():
        read.get_input_embeddings().weight[PAD] = 0
    return read


@pytest.mark.parametrize("head", [AutoModelForCausalLM, AutoModel])
def test_the_row_is_that_of_the_file_with_the_head_and_without(tmp_path: Path, head: type[Any]) -> None:
    model = zeroed(tmp_path, 0.5, head)
    keep_padding_row(model, tmp_path.glob("*.safetensors"))
    weight = model.get_input_embeddings().weight
    assert (weight[PAD] == 0.5).all() and weight[PAD + 1].any()


def test_a_row_of_zeros_in_the_file_and_files_of_other_kinds_change_nothing(tmp_path: Path) -> None:
    model = zeroed(tmp_path, 0.0)
    keep_padding_row(model, tmp_path.glob("*"))
    assert not model.get_input_embeddings().weight[PAD].any()
    other = zeroed(tmp_path / "other", 0.5)
    keep_padding_row(other, [tmp_path / "pytorch_model.bin"])
    assert not other.get_input_embeddings().weight[PAD].any()


def test_a_class_that_empties_the_row_has_the_probabilities_of_its_file(tmp_path: Path) -> None:
    built = sweep._built("YoutuForCausalLM", "causal", tmp_path / "youtu", ("num_key_value_heads",))
    assert isinstance(built, Specimen), built
    assert sweep._compared(built) == ("exact", "as causal")
