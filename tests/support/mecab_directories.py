"""Directories of MeCab dictionaries, whole and damaged, made of the one that comes as a package."""

from __future__ import annotations

import struct
from pathlib import Path

import ipadic

FILES = ("char.bin", "dicrc", "matrix.bin", "unk.dic", "sys.dic")
_HEADER = struct.Struct("<10I32s")  # magic, version, type, words, left, right, trie, tokens, features, dummy, charset


def whole(folder: Path, *but: str) -> Path:
    """A dictionary of one's own: links to the files of ipadic, all of them `but` some."""
    folder.mkdir(parents=True)
    for name in FILES:
        if name not in but:
            (folder / name).symlink_to(Path(ipadic.DICDIR) / name)
    return folder


def with_file(folder: Path, name: str, content: bytes) -> Path:
    """Like `whole`, with one file of other content."""
    whole(folder, name)
    (folder / name).write_bytes(content)
    return folder


def content(name: str) -> bytearray:
    return bytearray((Path(ipadic.DICDIR) / name).read_bytes())


def that_crashes(folder: Path) -> Path:
    """sys.dic whose sizes are right and whose words point outside the matrix: MeCab ends with the process."""
    damaged = content("sys.dic")
    *_, trie, tokens, _features, _dummy, _charset = _HEADER.unpack_from(damaged)
    begin = _HEADER.size + trie
    damaged[begin : begin + tokens] = b"\xff" * tokens
    return with_file(folder, "sys.dic", bytes(damaged))


def in_euc(folder: Path) -> Path:
    """sys.dic that says it was compiled for EUC-JP, as MeCab's dictionaries are unless told otherwise."""
    renamed = content("sys.dic")
    renamed[40:72] = b"euc-jp".ljust(32, b"\0")
    unknown = content("unk.dic")
    unknown[40:72] = b"euc-jp".ljust(32, b"\0")
    with_file(folder, "sys.dic", bytes(renamed))
    (folder / "unk.dic").unlink()
    (folder / "unk.dic").write_bytes(bytes(unknown))
    return folder
