"""The members of a zip or a tar stream, with checks, because an archive may come from an untrusted source."""

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
from engine.messages.message import Message

MAX_MEMBERS = 200_000

MemberFilter = Callable[[str], bool]

# RuntimeError: a password; NotImplementedError: an unsupported compression; OSError: among others, not a gzip file.
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)
_REPACK = Message("Unpack it, look at what it holds, and pack the files again as a plain zip.")
_UTF8_FLAG, _PASSWORD_FLAG = 0x800, 0x1
_TRAILER_BLOCK_BYTES, _BLOCK_BYTES = 2**16, 2**20
_LISTED = b"PK\x01\x02"  # before each member in the list at the end of a zip


def zip_members(file: IO[bytes], title: str, is_wanted: MemberFilter, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The wanted files of a zip, sorted by name, unpacked one after the other; raises as `archives.read_members`."""
    with opened_zip(file, title) as archive:
        info_by_member: dict[str, zipfile.ZipInfo] = {}
        unpacked, n_packed = 0, file.seek(0, io.SEEK_END)
        for number, info in enumerate(archive.infolist(), start=1):
            # Where the flag is not set zipfile reads CP437, in which every byte is a character.
            encoding = "utf-8" if info.flag_bits & _UTF8_FLAG else "cp437"
            member = member_name(info.orig_filename.encode(encoding))
            _refuse_unsafe_name(title, member)
            if not member.endswith("/") and is_wanted(member):
                _refuse_duplicate(title, member, info_by_member)
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise _refused(title, member, Message("its member {member} is a link"))
                if info.flag_bits & _PASSWORD_FLAG:
                    raise _refused(title, member, Message("its member {member} has a password"))
                if info.compress_size > n_packed:  # zipfile would make room for it before it reads
                    raise _refused(title, member, Message("its member {member} is said to be larger than the archive"))
                info_by_member[member] = info
                # A false size is harmless: no more than that is unpacked, and then the checksum is wrong.
                unpacked += info.file_size
            refuse_excess(title, unpacked, max_bytes, number)
        for member in sorted(info_by_member):
            with as_input_error(title, member):
                raw = archive.read(info_by_member[member])
            yield member, raw


def opened_zip(file: IO[bytes], title: str) -> zipfile.ZipFile:
    """A zip without more members than MAX_MEMBERS: zipfile makes an object of each of millions. Raises InputError."""
    with as_input_error(title):
        n_listed, before = 0, b""
        file.seek(0)
        while block := file.read(_BLOCK_BYTES):
            n_listed += (before + block).count(_LISTED)
            before = block[1 - len(_LISTED) :]
        refuse_excess(title, 0, 0, n_listed)
        return zipfile.ZipFile(file)


def tar_members(file: IO[bytes], title: str, is_wanted: MemberFilter, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """The wanted files of an uncompressed tar stream, sorted by name; raises as `archives.read_members`."""
    content_by_member: dict[str, bytes] = {}
    unpacked = 0
    stream = _BoundedStream(file, title, max_bytes)
    # As a stream ("|"): seeking backwards in a compressed file would unpack it again from its start.
    with as_input_error(title), tarfile.open(fileobj=stream, mode="r|", encoding="utf-8") as archive:
        for number, info in enumerate(archive, start=1):
            member = member_name(info.name.encode("utf-8", "surrogateescape"))
            _refuse_unsafe_name(title, member)
            refuse_excess(title, unpacked, max_bytes, number)
            if not info.isdir() and is_wanted(member):
                _refuse_duplicate(title, member, content_by_member)
                if not info.isreg():
                    raise _refused(title, member, Message("its member {member} is a link or a device"))
                unpacked += info.size  # of a sparse file more than the stream holds
                refuse_excess(title, unpacked, max_bytes, number)
                content = archive.extractfile(info)
                content_by_member[member] = content.read() if content else b""
        # tarfile takes an invalid header for the end; so check that it was, and let gzip verify its checksum.
        while rest := archive.fileobj.read(_TRAILER_BLOCK_BYTES):
            if rest.count(0) != len(rest):
                raise tarfile.ReadError(Message("an invalid header before its end"))
        if stream.last_block.count(0) != tarfile.BLOCKSIZE:
            raise tarfile.ReadError(Message("its end is missing"))
    for member in sorted(content_by_member):
        yield member, content_by_member.pop(member)


def member_name(raw: bytes) -> str:
    """A name decoded from UTF-8, else CP932, else CP437; with "/" between folders, also where Windows wrote it.

    >>> member_name("話題\\\\表.txt".encode("cp932")), member_name(b"./a/b.txt")
    ('話題/表.txt', 'a/b.txt')
    """
    text = raw.decode("cp437")
    for encoding in ("cp932", "utf-8"):
        with suppress(UnicodeDecodeError):
            text = raw.decode(encoding)
    # After decoding: in CP932 the second byte of 表 is a backslash.
    parts = unicodedata.normalize("NFC", text).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part != ".")


def is_hidden(member: str) -> bool:
    """Whether a file is hidden, or one that macOS adds to archives."""
    parts = member.split("/")
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)


def refuse_excess(title: str, unpacked: int, max_bytes: int, n_members: int) -> None:
    """Raise InputError for more bytes than `max_bytes` or more members than MAX_MEMBERS."""
    if unpacked > max_bytes:
        raise InputError(
            Message(
                "{title} unpacks to more than {max_bytes:,.0f} MiB, the most that is read of one "
                "archive. Leave out what is not needed, or split it.",
                title=title,
                max_bytes=max_bytes / 2**20,
            )
        )
    if n_members > MAX_MEMBERS:
        raise InputError(
            Message(
                "{title} holds more than {MAX_MEMBERS:,} files, the most that are read of one "
                "archive. Leave out what is not needed, or split it.",
                title=title,
                MAX_MEMBERS=MAX_MEMBERS,
            )
        )


class _BoundedStream(io.RawIOBase):
    """A stream of limited length, which a decompression bomb cannot exceed; it keeps its last block."""

    def __init__(self, file: IO[bytes], title: str, max_bytes: int) -> None:
        self._file, self._title, self._max_bytes = file, title, max_bytes
        self._remaining = max_bytes + 2 * MAX_MEMBERS * tarfile.BLOCKSIZE  # headers and padding do not count
        self.last_block = b""

    def read(self, size: int = -1) -> bytes:
        """Read as from any file. Raises InputError once there were too many bytes."""
        raw = self._file.read(size)
        self._remaining -= len(raw)
        if self._remaining < 0:
            refuse_excess(self._title, self._max_bytes + 1, self._max_bytes, 0)
        self.last_block = (self.last_block + raw)[-tarfile.BLOCKSIZE :]
        return raw


def _refuse_unsafe_name(title: str, member: str) -> None:
    has_drive = member[1:2] == ":" and member[:1].isascii() and member[:1].isalpha()
    if member.startswith("/") or has_drive or ".." in member.split("/") or "\0" in member:
        raise _refused(title, member, Message("its member {member} would lie outside of it"))


def _refuse_duplicate(title: str, member: str, earlier_members: Container[str]) -> None:
    if member in earlier_members:
        raise _refused(title, member, Message("its member {member} occurs in it twice"))


def _refused(title: str, member: str, reason: str) -> InputError:
    return InputError(
        Message(
            "{title} is not read: {member}. {_REPACK}",
            title=title,
            member=reason.format(member=repr(member)),
            _REPACK=_REPACK,
        )
    )


@contextmanager
def as_input_error(title: str, member: str = "") -> Iterator[None]:
    """Raises InputError for whatever is raised of what is damaged, in an archive or, without one, itself."""
    try:
        yield
    except _BROKEN as error:
        fault = str(error) or type(error).__name__
        raise InputError(
            Message(
                "{member} in {title} cannot be unpacked: it is damaged, or packed in a way that is not read "
                "({fault}). {_REPACK}",
                member=member,
                title=title,
                fault=fault,
                _REPACK=_REPACK,
            )
            if member
            else Message(
                "{title} cannot be unpacked: it is damaged, or packed in a way that is not read ({fault}). {_REPACK}",
                title=title,
                fault=fault,
                _REPACK=_REPACK,
            )
        ) from error
