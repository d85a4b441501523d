"""Reading of the files in a zip, a tar or a folder, in memory: nothing is unpacked to the disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from engine.datasets.formats.unpacking import (
    MemberFilter,
    as_input_error,
    is_hidden,
    member_name,
    refuse_excess,
    tar_members,
    zip_members,
)
from engine.errors import InputError, reason_of
from engine.messages.message import Message, list_of

# Endings of names; the format is determined by the content.
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
COMPRESSED = (".gz", ".bz2", ".xz")  # of one file, after its own ending
MAX_UNPACKED_BYTES = 2**30

_ZIP_SIGNS = (b"PK\x03\x04", b"PK\x05\x06")  # with members, and without any
_TAR_SIGN, _TAR_SIGN_AT = b"ustar", 257
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
_HEAD_BYTES = 512


def is_archive(name: str) -> bool:
    """Whether a file of that name is an archive that `read_members` reads.

    >>> is_archive("ldcc-20140209.tar.gz"), is_archive("sentences.csv")
    (True, False)
    """
    return name.lower().endswith(SUFFIXES)


def own_name(name: str) -> str:
    """The name of a file without the ending that says how it is compressed.

    >>> own_name("pairs.csv.gz"), own_name("pairs.csv")
    ('pairs.csv', 'pairs.csv')
    """
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in COMPRESSED else name


def decompressed(source: Path | bytes, title: str, max_bytes: int) -> Path | bytes:
    """The bytes of a file that gzip, bzip2 or xz compressed, by its content; any other file as it is.

    A browser may have decompressed it already. Raises InputError: damaged, or more than `max_bytes` of them.
    """
    with as_input_error(title), _opened(source, title) as file:
        start = file.read(_HEAD_BYTES)
        file.seek(0)
        open_compressed = next((opener for sign, opener in _OPENERS.items() if start.startswith(sign)), None)
        if open_compressed is None:
            return source
        content: bytes = open_compressed(file).read(max_bytes + 1)
    refuse_excess(title, len(content), max_bytes, 1)
    return content


def read_members(
    source: Path | bytes, name: str = "", *, suffixes: Sequence[str] | None = None, max_bytes: int = MAX_UNPACKED_BYTES
) -> Iterator[tuple[str, bytes]]:
    """The files in an archive or a folder, as (name, bytes), in the order of their names.

    `source` is a zip, a tar (plain, .gz, .bz2, .xz) or a folder, distinguished by content; `name` is its name in
    messages. Only names that end in one of `suffixes` (any case; "/jp/books/test.review" is one too) are read, all by
    default. The same files give the same pairs in any packing: names are relative, with "/" between
    folders, read as UTF-8 or CP932, in Unicode's NFC. Hidden files and those that macOS adds (._name, __MACOSX)
    are left out; in a folder a link to a file is read as the file, and no link to a folder is followed.

    One file is held in memory at a time, of a tar all that are wanted. Raises InputError during iteration, before any
    wrong pair: no such file, no archive, a damaged one; a name that points outside the archive or occurs twice; a
    wanted member that is a link or a device or has a password; more than `max_bytes` unpacked (of a tar unwanted
    members count too, because they are unpacked to be skipped) or more than `unpacking.MAX_MEMBERS` members.

    >>> import zipfile
    >>> with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
    ...     archive.writestr("news/b.txt", "later")
    ...     archive.writestr("news/a.txt", "sooner")
    >>> list(read_members(packed.getvalue(), "mine.zip", suffixes=[".txt"]))
    [('news/a.txt', b'sooner'), ('news/b.txt', b'later')]
    """
    title = name or (source.name if isinstance(source, Path) else "") or Message("The archive")
    endings = None if suffixes is None else tuple(suffix.lower() for suffix in suffixes)

    def is_wanted(member: str) -> bool:
        return not is_hidden(member) and (endings is None or member.lower().endswith(endings))

    if isinstance(source, Path) and source.is_dir():
        yield from _folder(source, title, is_wanted, max_bytes)
        return
    with _opened(source, title) as file:
        start = file.read(_HEAD_BYTES)
        file.seek(0)
        open_compressed = next((opener for sign, opener in _OPENERS.items() if start.startswith(sign)), None)
        if start.startswith(_ZIP_SIGNS):
            yield from zip_members(file, title, is_wanted, max_bytes)
        elif open_compressed is not None:
            yield from tar_members(open_compressed(file), title, is_wanted, max_bytes)
        elif start[_TAR_SIGN_AT:].startswith(_TAR_SIGN):
            yield from tar_members(file, title, is_wanted, max_bytes)
        else:
            raise InputError(
                Message(
                    "{title} is neither a zip nor a tar archive. Pack its files as one of {SUFFIXES}.",
                    title=title,
                    SUFFIXES=list_of(SUFFIXES),
                )
            )


def _folder(folder: Path, title: str, is_wanted: MemberFilter, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    def refuse(error: OSError) -> None:
        raise InputError(
            Message(
                "{filename} in {title} cannot be read: {error}.",
                filename=error.filename,
                title=title,
                error=reason_of(error),
            )
        ) from error

    path_by_member: dict[str, Path] = {}
    unpacked = n_files = 0
    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [child for child in folders if not child.startswith(".")]
        n_files += len(files)
        refuse_excess(title, unpacked, max_bytes, n_files)
        for path in (Path(parent, file) for file in files):
            member = member_name(os.fsencode(path.relative_to(folder).as_posix()))
            if is_wanted(member) and path.is_file():  # no pipe, no broken link
                path_by_member[member] = path
                unpacked += path.stat().st_size
    refuse_excess(title, unpacked, max_bytes, n_files)
    for member in sorted(path_by_member):
        try:
            yield member, path_by_member[member].read_bytes()
        except OSError as error:
            refuse(error)


@contextmanager
def _opened(source: Path | bytes, title: str) -> Iterator[IO[bytes]]:
    try:
        file: IO[bytes] = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
    except OSError as error:
        raise InputError(
            Message(
                "{source!s} cannot be read: {error}. Needed: a folder or an archive ({SUFFIXES}).",
                source=source,
                error=reason_of(error),
                SUFFIXES=list_of(SUFFIXES),
            )
        ) from error
    with file:
        yield file
