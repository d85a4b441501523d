"""The members of a zip or a tar stream, and what is refused of them: an archive may come from anybody."""

from __future__ import annotations

import io
import lzma
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from typing import IO

from engine.errors import InputError

MAX_MEMBERS = 200_000

Wanted = Callable[[str], bool]

# RuntimeError: a password; NotImplementedError: an unusual compression; OSError: among others, no gzip after all.
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError,
           NotImplementedError, ValueError)
_REPACK = "Unpack it, look at what it holds, and pack the files again as a plain zip."
_UTF8_FLAG, _PASSWORD_FLAG = 0x800, 0x1
_DRAINED_BYTES = 2**16


def zip_members(file: IO[bytes], shown: str, wanted: Wanted, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a zip, sorted by name, unpacked one after the other; raises as `archives.read_members`."""
    with _breakage_explained(shown):
        archive = zipfile.ZipFile(file)
    with archive:
        found: dict[str, zipfile.ZipInfo] = {}
        unpacked = 0
        for number, info in enumerate(archive.infolist(), start=1):
            # Where the flag is not set zipfile reads CP437, in which every byte is a character.
            encoding = "utf-8" if info.flag_bits & _UTF8_FLAG else "cp437"
            member = member_name(info.orig_filename.encode(encoding))
            _refuse_tricks(shown, member)
            if not member.endswith("/") and wanted(member):
                _refuse_second(shown, member, found)
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise _refused(shown, member, "is a link")
                if info.flag_bits & _PASSWORD_FLAG:
                    raise _refused(shown, member, "has a password")
                found[member] = info
                # A size that lies gains nothing: no more than it says is unpacked, and then the checksum is wrong.
                unpacked += info.file_size
            refuse_excess(shown, unpacked, max_bytes, number)
        for member in sorted(found):
            with _breakage_explained(shown, member):
                raw = archive.read(found[member])
            yield member, raw


def tar_members(file: IO[bytes], shown: str, wanted: Wanted, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The wanted files of an uncompressed tar stream, sorted by name; raises as `archives.read_members`."""
    found: dict[str, bytes] = {}
    unpacked = 0
    stream = _Bounded(file, shown, max_bytes)
    # As a stream ("|"): going back in a compressed file would mean to unpack it again from its start.
    with _breakage_explained(shown), tarfile.open(fileobj=stream, mode="r|", encoding="utf-8") as archive:
        for number, info in enumerate(archive, start=1):
            member = member_name(info.name.encode("utf-8", "surrogateescape"))
            _refuse_tricks(shown, member)
            refuse_excess(shown, unpacked, max_bytes, number)
            if not info.isdir() and wanted(member):
                _refuse_second(shown, member, found)
                if not info.isreg():
                    raise _refused(shown, member, "is a link or a device")
                unpacked += info.size  # of a sparse file more than the stream holds
                refuse_excess(shown, unpacked, max_bytes, number)
                content = archive.extractfile(info)
                found[member] = content.read() if content else b""
        # tarfile takes a header that makes no sense for the end; so look whether it was, and let gzip check its sum.
        while rest := archive.fileobj.read(_DRAINED_BYTES):  # type: ignore[union-attr]
            if rest.count(0) != len(rest):
                raise tarfile.ReadError("no sense in the middle of it")
        if stream.last_block.count(0) != tarfile.BLOCKSIZE:
            raise tarfile.ReadError("its end is missing")
    for member in sorted(found):
        yield member, found.pop(member)


def member_name(raw: bytes) -> str:
    """A name from UTF-8, else CP932, else what DOS had; with "/" between folders, also where Windows wrote it.

    >>> member_name("話題\\\\表.txt".encode("cp932")), member_name(b"./a/b.txt")
    ('話題/表.txt', 'a/b.txt')
    """
    text = raw.decode("cp437")
    for encoding in ("cp932", "utf-8"):
        with suppress(UnicodeDecodeError):
            text = raw.decode(encoding)
    # Only now: in CP932 the second byte of 表 is a backslash.
    parts = unicodedata.normalize("NFC", text).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part != ".")


def is_hidden(member: str) -> bool:
    """Whether a file is one that a system keeps for itself."""
    parts = member.split("/")
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)


def refuse_excess(shown: str, unpacked: int, max_bytes: int, n_members: int) -> None:
    """Raise InputError for more bytes than `max_bytes` or more members than MAX_MEMBERS."""
    if unpacked > max_bytes:
        raise InputError(f"{shown} unpacks to more than {max_bytes / 2**20:,.0f} MiB, the most that is read of one "
                         "archive. Leave out what is not needed, or split it.")
    if n_members > MAX_MEMBERS:
        raise InputError(f"{shown} holds more than {MAX_MEMBERS:,} files, the most that are read of one archive. "
                         "Leave out what is not needed, or split it.")


class _Bounded(io.RawIOBase):
    """A stream that gives no more than so many bytes, so that a header cannot hide a bomb, and knows its last block."""

    def __init__(self, file: IO[bytes], shown: str, max_bytes: int) -> None:
        self._file, self._shown, self._max_bytes = file, shown, max_bytes
        self._left = max_bytes + 2 * MAX_MEMBERS * tarfile.BLOCKSIZE  # headers and padding are no content
        self.last_block = b""

    def read(self, size: int = -1) -> bytes:
        """As of any file, until there were too many bytes."""
        raw = self._file.read(size)
        self._left -= len(raw)
        if self._left < 0:
            refuse_excess(self._shown, self._max_bytes + 1, self._max_bytes, 0)
        self.last_block = (self.last_block + raw)[-tarfile.BLOCKSIZE:]
        return raw


def _refuse_tricks(shown: str, member: str) -> None:
    has_drive = member[1:2] == ":" and member[:1].isascii() and member[:1].isalpha()
    if member.startswith("/") or has_drive or ".." in member.split("/") or "\0" in member:
        raise _refused(shown, member, "would lie outside of it")


def _refuse_second(shown: str, member: str, found: Container[str]) -> None:
    if member in found:
        raise _refused(shown, member, "stands in it twice")


def _refused(shown: str, member: str, why: str) -> InputError:
    return InputError(f"{shown} is not read: its member {member!r} {why}. {_REPACK}")


@contextmanager
def _breakage_explained(shown: str, member: str = "") -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        where = f"{member} in {shown}" if member else shown
        raise InputError(f"{where} cannot be unpacked: it is damaged, or packed in a way that is not read "
                         f"({str(error) or type(error).__name__}). {_REPACK}") from error
