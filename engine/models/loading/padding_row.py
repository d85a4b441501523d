"""The embedding of the padding token as the file has it.

A class whose weights transformers 5 initialises by a method of its own may set this row to zero after it was read (Youtu).
Where the head shares the embeddings, the row is the weight of one token's logit, which every probability is divided by.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open


def keep_padding_row(model: Any, files: Iterable[Path]) -> None:
    """Give the input embeddings of `model` the row of the padding token that its safetensors files have.

    Nothing is changed where the row has a number in it, where it is zero in the file too, or where no weight of the
    files is known to be these embeddings: one of the same name and shape.
    """
    embedding = model.get_input_embeddings()
    index = getattr(embedding, "padding_idx", None)
    if index is None or embedding.weight.is_meta or embedding.weight[index].any():
        return
    names = [name for name, part in model.named_parameters(remove_duplicate=False) if part is embedding.weight]
    for path in files:
        if path.suffix != ".safetensors":
            continue
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 - no mapping
                if any(name == own or own.endswith(f".{name}") or name.endswith(f".{own}") for own in names):
                    published = file.get_slice(name)
                    if tuple(published.get_shape()) == tuple(embedding.weight.shape):
                        with torch.no_grad():
                            embedding.weight[index].copy_(published[index])
