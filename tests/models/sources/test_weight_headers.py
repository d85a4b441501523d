from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import ModelError
from engine.models.sources.weight_headers import Weight, published_dtype, weights_in


def file(folder: Path, **tensors: torch.Tensor) -> Path:
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder / "model.safetensors"


def test_names_types_and_shapes_are_those_that_were_saved(tmp_path: Path) -> None:
    path = file(
        tmp_path, a=torch.zeros(3, 4, dtype=torch.bfloat16), b=torch.zeros(5), n=torch.zeros(2, dtype=torch.int8)
    )
    index = tmp_path / "model.safetensors.index.json"
    index.write_text("{}")
    weights = weights_in([index, path])
    assert weights == {"a": Weight("bfloat16", (3, 4)), "b": Weight("float32", (5,)), "n": Weight("I8", (2,))}
    assert [weights[name].n_numbers for name in "abn"] == [12, 5, 2]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"dtype": "float16"}, "float16"),
        ({"torch_dtype": "float32"}, "float32"),  # what config.json says
        ({"text_config": {"torch_dtype": "float16"}}, "float16"),  # of the text part of a packaged model
        ({}, "bfloat16"),
        ({"dtype": "float99"}, "bfloat16"),
        ({"text_config": None}, "bfloat16"),  # most of the numbers
    ],
)
def test_what_a_model_was_published_in(tmp_path: Path, config: dict[str, Any], expected: str) -> None:
    path = file(tmp_path, norm=torch.zeros(4), matrix=torch.zeros(8, 8, dtype=torch.bfloat16))
    assert published_dtype(config, [path]) == expected


def test_a_pickle_that_says_nothing_is_float32(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"not read")
    assert published_dtype({}, [tmp_path / "pytorch_model.bin"]) == "float32"


def header(content: Any) -> bytes:
    text = json.dumps(content).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x01",
        (2**60).to_bytes(8, "little"),
        (50).to_bytes(8, "little") + b"{",
        header([1]),
        header({"a": 1}),
        header({"a": {"dtype": "F32"}}),
        header({"a": {"dtype": 1, "shape": []}}),
    ],
)
def test_a_damaged_file_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"model\.safetensors are damaged or cut short"):
        weights_in([path])
