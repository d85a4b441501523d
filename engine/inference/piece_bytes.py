"""Serialisation of a piece without pickle: a JSON header, then the raw arrays.

4 bytes   length of the header, little-endian
header    [{name: value of every field that is not an array}, [[name, dtype, shape] of every array]]
arrays    in the header's order, little-endian, C order
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable

import numpy as np

from engine.inference.backend import Piece
from engine.messages.message import Message, as_text, of_text

_LENGTH = struct.Struct("<I")
# Bool, integers and floats: portable, and never Python objects.
_ARRAY_KINDS = "biuf"


def to_bytes(piece: Piece) -> bytes:
    """The bytes of a piece. Raises TypeError for an array of objects or text, or a field that JSON cannot represent."""
    other_fields, array_headers, buffers = {}, [], []
    for name, value in piece.items():
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _ARRAY_KINDS:
                raise TypeError(f"Field {name!r} is an array of {value.dtype}; only numbers and booleans are stored.")
            little_endian = value.astype(value.dtype.newbyteorder("<"), copy=False)
            array_headers.append([name, little_endian.dtype.str, list(value.shape)])
            buffers.append(little_endian.tobytes())
        else:
            other_fields[name] = as_text(value) if isinstance(value, str) else value
    header = json.dumps([other_fields, array_headers], separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *buffers])


def from_bytes(data: bytes, read_text: Callable[[str], str] = of_text) -> Piece:
    """The piece that `to_bytes` wrote, with writable arrays. Raises ValueError for anything else.

    read_text: what a field with a text stands for.
    """
    try:
        start = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        other_fields, array_headers = json.loads(data[_LENGTH.size : start])
        piece: Piece = {
            name: read_text(value) if isinstance(value, str) else value for name, value in other_fields.items()
        }
        for name, dtype, shape in array_headers:
            count = math.prod(shape)
            array = np.frombuffer(data, dtype=np.dtype(dtype), count=count, offset=start)
            # A copy: aligned, writable, and independent of `data`.
            piece[name] = array.reshape(shape).copy()
            start += array.nbytes
    except (struct.error, TypeError, ValueError, KeyError) as error:
        raise ValueError(Message("These bytes are not a piece: {error}", error=error)) from error
    return piece
