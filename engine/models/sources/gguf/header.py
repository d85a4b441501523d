"""The header of a GGUF file: what it says of the model, and where its tensors are. No torch, and none of the numbers.

Every size in it is checked before it is used, so that a damaged or hostile file ends in words. Source: the description of
the format, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 3, little-endian; version 2 has the same layout).
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message

SUFFIX = ".gguf"
ARCHITECTURE, FILE_TYPE = "general.architecture", "general.file_type"
# Data types of the tensors that are numbers as they stand, by the format's name -> torch's.
PLAIN = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}
# Bounds of a header: of the largest vocabularies published it has 20 MB, and a million strings in its lists together.
LONGEST_HEADER, LONGEST_STRING = 200_000_000, 4_000_000  # bytes
MOST_FIELDS, MOST_TENSORS, MOST_STRINGS = 10_000, 100_000, 3_000_000
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
# Type of a value in the header -> as struct has it.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LARGEST_DIMENSION = 2**40


@dataclass(frozen=True)
class Tensor:
    """A tensor of the file. shape: as torch has it, rows first. kind: the format's name of its data type, such as Q4_K.
    start, n_bytes: its place in the file."""

    name: str
    shape: tuple[int, ...]
    kind: str
    start: int
    n_bytes: int


@dataclass(frozen=True)
class Header:
    """The fields of a header by key, lists of numbers as views of memory, and the tensors by name."""

    path: Path
    fields: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    @property
    def architecture(self) -> str:
        """As the format calls it, such as "qwen3"; "" where the file does not say."""
        return str(self.fields.get(ARCHITECTURE, ""))

    @property
    def quantisation(self) -> str:
        """What the file says its weights are, such as "GGUF Q4_K_M", or else the data type of most of them."""
        from gguf.constants import LlamaFileType

        stated = self.fields.get(FILE_TYPE)
        by_number = {int(kind): kind.name for kind in LlamaFileType}
        if isinstance(stated, int) and stated in by_number and by_number[stated] != "GUESSED":
            return f"GGUF {by_number[stated].removeprefix('MOSTLY_').removeprefix('ALL_')}"
        return f"GGUF {self.most_frequent}"

    @property
    def most_frequent(self) -> str:
        """The data type of most of the weights, by the format's name."""
        sizes: Counter[str] = Counter()
        for tensor in self.tensors.values():
            sizes[tensor.kind] += prod(tensor.shape)
        return sizes.most_common(1)[0][0]


def is_gguf(name: str) -> bool:
    """Whether a path or the name of a file is that of a GGUF file."""
    return name.endswith(SUFFIX)


def read_header(path: Path) -> Header:
    """The header of a file, read again only when the file changes. Raises ModelError where it is damaged or cut short."""
    try:
        state = path.stat()
        return _read(path.resolve(), state.st_size, state.st_mtime_ns)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise ModelError(
            Message(
                "The weights in {path} are damaged or cut short: {error}. Copy or download them again.",
                path=path.name,  # the directory of a model of the hub is inside of this server
                error=error,
            )
        ) from error


def float32_numbers(path: Path, tensor: Tensor) -> list[float]:
    """The numbers of a small tensor that is in float32."""
    with path.open("rb") as file:
        file.seek(tensor.start)
        return list(struct.unpack(f"<{tensor.n_bytes // 4}f", file.read(tensor.n_bytes)))


@lru_cache(maxsize=2)
def _read(path: Path, size: int, modified: int) -> Header:
    """`size` and `modified` are part of the key: a file that was written again is read again."""
    if size < 24:
        raise ValueError(Message("a file of {n_bytes:,} bytes", n_bytes=size))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _Reader(path, content, size).header()


class _Reader:
    """Reads a header from its beginning on; `position` never leaves the file or the bound of a header."""

    def __init__(self, path: Path, content: mmap.mmap, size: int) -> None:
        self._path, self._content, self._size = path, content, size
        self._end = min(size, LONGEST_HEADER)
        self._n_strings = 0
        self.position = 0

    def header(self) -> Header:
        if self._take(4) != _MAGIC:
            raise ValueError(Message("it does not begin as a GGUF file does"))
        version = self._number("I")
        if version not in _VERSIONS:
            raise ValueError(
                Message("its version of the format is {version:,}, not one of {known}", version=version, known="2, 3")
            )
        n_tensors = self._count(MOST_TENSORS, "Q", 24)
        n_fields = self._count(MOST_FIELDS, "Q", 13)
        fields: dict[str, Any] = {}
        for _ in range(n_fields):
            key = self._string()
            if key in fields:
                raise ValueError(Message("it names {name!r} twice", name=key))
            fields[key] = self._value(self._number("I"))
        table = [self._entry() for _ in range(n_tensors)]
        if len({name for name, *_ in table}) < n_tensors:
            raise ValueError(Message("it names a tensor twice"))
        return Header(self._path, fields, self._placed(table, fields.get("general.alignment", 32)))

    def _placed(self, table: list[tuple[str, tuple[int, ...], int, int]], alignment: Any) -> dict[str, Tensor]:
        from gguf.constants import GGML_QUANT_SIZES

        known = {int(kind): (kind.name, *sizes) for kind, sizes in GGML_QUANT_SIZES.items()}
        if not isinstance(alignment, int) or not 1 <= alignment <= 2**20:
            raise ValueError(Message("an alignment of {alignment}", alignment=str(alignment)[:20]))
        start = -(-self.position // alignment) * alignment
        tensors = {}
        for name, shape, kind, offset in table:
            if kind not in known:
                raise ValueError(Message("the tensor {name} has the unknown data type {kind:,}", name=name, kind=kind))
            kind_name, n_numbers, n_bytes = known[kind]
            if shape[-1] % n_numbers:
                raise ValueError(
                    Message(
                        "the tensor {name} has rows of {n:,} numbers, no multiple of the {block} of a block",
                        name=name,
                        n=shape[-1],
                        block=n_numbers,
                    )
                )
            length = prod(shape) // n_numbers * n_bytes
            if start + offset + length > self._size:
                raise ValueError(
                    Message(
                        "the tensor {name} would end at byte {end:,} of {size:,}",
                        name=name,
                        end=start + offset + length,
                        size=self._size,
                    )
                )
            tensors[name] = Tensor(name, shape, kind_name, start + offset, length)
        return tensors

    def _entry(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string()
        n_dimensions = self._count(4, "I", 8)
        shape = tuple(self._number("Q") for _ in range(n_dimensions))[::-1]
        if not shape or not all(0 < length <= _LARGEST_DIMENSION for length in shape):
            raise ValueError(Message("the tensor {name} has the shape {shape}", name=name, shape=str(shape)))
        return name, shape, self._number("I"), self._number("Q")

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind in _NUMBERS:
            number = self._number(_NUMBERS[kind])
            return _shortest(number) if _NUMBERS[kind] == "f" else number
        if kind != _ARRAY:
            raise ValueError(Message("a value of the unknown type {kind:,}", kind=kind))
        inner = self._number("I")
        if inner == _STRING:
            n_strings = self._count(MOST_STRINGS - self._n_strings, "Q", 8)
            self._n_strings += n_strings
            return [self._string() for _ in range(n_strings)]
        if inner not in _NUMBERS:
            raise ValueError(Message("a list of the unknown type {kind:,}", kind=inner))
        width = struct.calcsize(f"<{_NUMBERS[inner]}")
        n_entries = self._count(LONGEST_HEADER, "Q", width)
        form: Any = _NUMBERS[inner]
        return memoryview(self._take(n_entries * width)).cast(form)

    def _string(self) -> str:
        try:
            return self._take(self._count(LONGEST_STRING, "Q", 1)).decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(Message("a text that is not UTF-8")) from error

    def _count(self, most: int, form: str, each: int) -> int:
        """A number of things that follow, each of at least so many bytes."""
        count = int(self._number(form))
        if count > most or self.position + count * each > self._end:
            raise ValueError(Message("it announces {count:,} entries where there cannot be as many", count=count))
        return count

    def _number(self, form: str) -> Any:
        (number,) = struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))
        return number

    def _take(self, n_bytes: int) -> bytes:
        if self.position + n_bytes > self._end:
            raise ValueError(Message("it ends within its header"))
        taken = self._content[self.position : self.position + n_bytes]
        self.position += n_bytes
        return taken


def _shortest(number: float) -> float:
    """The shortest decimal number of the same float32, which is what was written: 1e-05, not 9.99999974e-06."""
    stored = struct.pack("<f", number)
    written = (float(f"{number:.{digits}g}") for digits in range(1, 10))
    return next((value for value in written if _packed(value) == stored), number)


def _packed(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:  # rounded above the largest of them
        return b""
