"""A piece as bytes and back, without pickle: a JSON header, then the arrays as they lie in memory.

    4 bytes   length of the header, little-endian
    header    [{name: value of every field that is no array}, [[name, dtype, shape] of every array]]
    arrays    in the header's order, little-endian, rows first
"""

from __future__ import annotations

import json
import math
import struct

import numpy as np

from engine.inference.backend import Piece

_LENGTH = struct.Struct("<I")
# Bool, integers and floats: kinds whose bytes mean the same everywhere and never hold a Python object.
_ARRAY_KINDS = "biuf"


def to_bytes(piece: Piece) -> bytes:
    """Raises TypeError for an array of objects or text, or a field JSON has no word for."""
    plain, described, raw = {}, [], []
    for name, value in piece.items():
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _ARRAY_KINDS:
                raise TypeError(f"Field {name!r} is an array of {value.dtype}; only numbers and booleans are kept.")
            little = value.astype(value.dtype.newbyteorder("<"), copy=False)
            described.append([name, little.dtype.str, list(value.shape)])
            raw.append(little.tobytes())
        else:
            plain[name] = value
    header = json.dumps([plain, described], separators=(",", ":")).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *raw])


def from_bytes(data: bytes) -> Piece:
    """The piece `to_bytes` wrote, its arrays fresh and writable. Raises ValueError for anything else."""
    try:
        start = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        plain, described = json.loads(data[_LENGTH.size:start])
        piece: Piece = dict(plain)
        for name, dtype, shape in described:
            count = math.prod(shape)
            array = np.frombuffer(data, dtype=np.dtype(dtype), count=count, offset=start)
            # A copy: aligned, writable, and free of the bytes around it.
            piece[name] = array.reshape(shape).copy()
            start += array.nbytes
    except (struct.error, TypeError, ValueError, KeyError) as error:
        raise ValueError(f"These bytes are no piece: {error}") from error
    return piece
