"""What the weights of a model are, from the headers of its safetensors files: data types, shapes, bytes. No torch.

A header is a JSON object in front of the numbers, so that a file of any size is described by its first kilobytes.
Source: the format's description, https://huggingface.co/docs/safetensors (8 bytes of length, little-endian, then JSON).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message

# A header of the format is at most this long.
LONGEST_HEADER = 100_000_000
# As the headers name them -> torch's name.
DTYPES = {"F64": "float64", "F32": "float32", "BF16": "bfloat16", "F16": "float16"}
DEFAULT_DTYPE = "float32"


@dataclass(frozen=True)
class Weight:
    """One tensor of a file. dtype: torch's name, or the header's own where it is not in DTYPES."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def n_numbers(self) -> int:
        """Its numbers."""
        return prod(self.shape)


def weights_in(files: Iterable[Path]) -> dict[str, Weight]:
    """The weights of safetensors files by name; other files are passed over. Raises ModelError for a damaged one."""
    weights: dict[str, Weight] = {}
    for path in files:
        if path.suffix == ".safetensors":
            weights |= {
                name: Weight(DTYPES.get(entry["dtype"], entry["dtype"]), tuple(entry["shape"]))
                for name, entry in _header(path).items()
                if name != "__metadata__"
            }
    return weights


def published_dtype(config: Mapping[str, Any], files: Iterable[Path]) -> str:
    """The data type that a model was published in, by torch's name; DEFAULT_DTYPE where nothing says it.

    config: the content of config.json, whose `dtype` (or `torch_dtype`) counts as it does for transformers. Where it
    says none, the data type of most of the weights. Raises ModelError for a damaged file.
    """
    text = config.get("text_config")
    for fields in (config, text if isinstance(text, Mapping) else {}):
        stated = fields.get("dtype", fields.get("torch_dtype"))
        if stated in DTYPES.values():
            return str(stated)
    sizes: Counter[str] = Counter()
    for weight in weights_in(files).values():
        if weight.dtype in DTYPES.values():
            sizes[weight.dtype] += weight.n_numbers
    return sizes.most_common(1)[0][0] if sizes else DEFAULT_DTYPE


def _header(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= LONGEST_HEADER:
                raise ValueError(Message("a header of {length:,} bytes", length=length))
            header = json.loads(file.read(length))
        if not isinstance(header, dict) or not all(
            isinstance(entry, dict) and isinstance(entry.get("dtype"), str) and isinstance(entry.get("shape"), list)
            for name, entry in header.items()
            if name != "__metadata__"
        ):
            raise ValueError(Message("no table of weights"))
        return header
    except (OSError, ValueError) as error:
        raise ModelError(
            Message(
                "The weights in {path} are damaged or cut short: {error}. Copy or download them again.",
                path=path,
                error=error,
            )
        ) from error
