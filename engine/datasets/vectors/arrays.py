"""What files of numpy and of safetensors hold, by name; no pickle is read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from engine.datasets.formats.files import max_file_bytes
from engine.errors import InputError, reason_of
from engine.messages.message import Message


def arrays_in(content: bytes | Path, name: str) -> dict[str, np.ndarray]:
    """The arrays of .npy ("" is the name of the only one) or .npz, which the content tells, as numpy does.

    Of any shape and type. Raises InputError: damaged content, pickled objects, and what unpacks to more than a file may have.
    """
    try:
        if _start(content) == b"PK":
            _refuse_unpacked(content, name)
        loaded = np.load(_open(content), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded:
            return {key: _array(loaded[key], key, name) for key in loaded.files}
    except (InputError, MemoryError):
        raise
    except OSError as error:
        raise InputError(Message("{name} cannot be read: {error}.", name=name, error=reason_of(error))) from error
    except Exception as error:  # what damaged or encrypted content raises is not documented
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise InputError(
                Message(
                    "{name} holds objects and no numbers: lists of different lengths, or texts. Save an array of numbers "
                    "(n, dimensions), such as numpy.array(vectors, dtype=numpy.float32).",
                    name=name,
                )
            ) from error
        raise InputError(Message("{name} is no file of numpy: {error}.", name=name, error=str(error))) from error


def _array(value: object, key: str, name: str) -> np.ndarray:
    if not isinstance(value, np.ndarray):  # bytes of a file that is no .npy
        raise InputError(Message("{name} is no file of numpy: {error}.", name=name, error=key))
    return value


def _refuse_unpacked(content: bytes | Path, name: str) -> None:
    """Refuse what a zip unpacks to before it is unpacked."""
    with zipfile.ZipFile(_open(content)) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max_file_bytes():
        raise InputError(
            Message(
                "{name} unpacks to {mib:,} MiB; at most {most:,} are read. Save fewer dimensions, or float16.",
                name=name,
                mib=unpacked >> 20,
                most=max_file_bytes() >> 20,
            )
        )


def _start(content: bytes | Path) -> bytes:
    if isinstance(content, bytes):
        return content[:2]
    with content.open("rb") as file:
        return file.read(2)


def _open(content: bytes | Path) -> Any:
    return io.BytesIO(content) if isinstance(content, bytes) else content


def tensors_in(content: bytes | Path, name: str) -> dict[str, np.ndarray]:
    """The tensors of .safetensors by name, of any shape. Raises InputError: damaged content, types that numpy has not."""
    from safetensors.numpy import load, load_file  # an import of its own time

    try:
        return dict(load(content) if isinstance(content, bytes) else load_file(content))
    except OSError as error:
        raise InputError(Message("{name} cannot be read: {error}.", name=name, error=reason_of(error))) from error
    except MemoryError:
        raise
    except Exception as error:  # the library's own, and those of types that numpy has not
        raise InputError(
            Message(
                "{name} cannot be read as .safetensors: {error}. Numbers may be float64, float32 or float16; bfloat16 is "
                "saved as float32 first.",
                name=name,
                error=str(error),
            )
        ) from error
