"""Corpora: plain or Aozora text in files, folders and zips, read document by document.

A corpus is never held whole: `read_documents` yields one document at a time. Aozora Bunko's files
are recognised by their colophon or notation and stripped to what a reader would read aloud once.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.datasets.encodings import decode
from engine.errors import InputError

TEXT_SUFFIXES = (".txt", ".text", ".md")
MAX_DOCUMENT_BYTES = 512 * 2**20

# The block that explains the notation stands between two lines of hyphens; the colophon starts at 底本：.
_HYPHEN_LINE = re.compile(r"^-{20,}\s*$", re.MULTILINE)
_NOTATION_BLOCK = "記号について"
_COLOPHON = re.compile(r"^底本[：:].*", re.MULTILINE | re.DOTALL)
_RUBY = re.compile(r"《[^》\n]*》")
_NOTE = re.compile(r"※?［＃[^］\n]*］")
_AOZORA_SIGN = re.compile(r"［＃|《[^》\n]+》|^底本：", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[。！？!?])(?![」』）)！？!?])|(?<=[。！？!?][」』）)])(?![、。とっ])")


@dataclass(frozen=True)
class Document:
    """One text of a corpus: a file, or a line of one, and the name it was found under."""

    name: str
    text: str


def read_documents(paths: Iterable[Path], *, unit: str = "file") -> Iterator[Document]:
    """Every document below `paths` (files, folders, zips), in name order, as a stream.

    In folders and zips the files that end in TEXT_SUFFIXES are texts; a file named itself always
    is. `unit` says what a document is: "file", or "line" (empty lines are none; of a tab-separated
    line the last field counts). Raises InputError when a path does not exist, when nothing below
    the paths is text, or when a file cannot be read or decoded.
    """
    if unit not in ("file", "line"):
        raise InputError(f"A document is a 'file' or a 'line'; got {unit!r}.")
    found = False
    for path in paths:
        for name, raw in _raw_files(Path(path)):
            found = True
            text = decode(raw, name)
            if _AOZORA_SIGN.search(text):
                text = strip_aozora(text)
            if unit == "file":
                yield Document(name, text)
            else:
                for number, line in enumerate(text.splitlines(), start=1):
                    if line.strip():
                        yield Document(f"{name}:{number}", line.rsplit("\t", 1)[-1].strip())
    if not found:
        raise InputError(f"No text file ({', '.join(TEXT_SUFFIXES)} or a .zip of them) found in: "
                         + ", ".join(map(str, paths)))


def strip_aozora(text: str) -> str:
    """An Aozora Bunko file without header, notation block, ruby, notes and colophon.

    Ruby 《》 goes and its base stays, with the bar ｜ that starts it; ［＃notes］ go, a gaiji's ※
    with them. Text without that notation comes back as it was, less outer blank lines.
    """
    text = re.sub(r"\r\n?", "\n", text)
    hyphens = [match.end() for match in _HYPHEN_LINE.finditer(text)]
    # Other lines of hyphens part scenes; nothing may be cut there.
    if len(hyphens) >= 2 and _NOTATION_BLOCK in text[hyphens[0]:hyphens[1]]:
        text = text[hyphens[1]:]
    text = _COLOPHON.sub("", text)
    text = _NOTE.sub("", _RUBY.sub("", text))
    return text.replace("｜", "").strip("\n")


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a text: lines, cut after 。！？ and a closing bracket that follows them."""
    for line in text.splitlines():
        for sentence in _SENTENCE_END.split(line):
            sentence = sentence.strip()
            if sentence:
                yield sentence


def pieces(text: str, most: int) -> list[str]:
    """A text in parts of at most `most` characters, cut at line ends, else at sentence ends, else anywhere.

    Blank lines are dropped; no other character is, and a text without any has no part.

    >>> pieces("いち。\\nに。さん。\\n\\nし。", 6)
    ['いち。', 'に。さん。', 'し。']
    """
    parts: list[str] = []
    for line in text.splitlines():
        for sentence in [line] if len(line) <= most else split_sentences(line):
            for part in (sentence[i:i + most] for i in range(0, len(sentence), most)):
                if not part.strip():
                    continue
                if parts and len(parts[-1]) + 1 + len(part) <= most:
                    parts[-1] += "\n" + part
                else:
                    parts.append(part)
    return parts


def _raw_files(path: Path) -> Iterator[tuple[str, bytes]]:
    if not path.exists():
        raise InputError(f"There is no file or folder {path}.")
    if path.is_dir():
        for child in sorted(path.rglob("*")):
            if child.is_file() and (child.suffix.lower() in (*TEXT_SUFFIXES, ".zip")):
                yield from _raw_files(child)
    elif path.suffix.lower() == ".zip":
        yield from _zip_members(path)
    else:
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
        yield path.name, raw


def _zip_members(path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"{path} is not a readable zip archive: {error}.") from error
    with archive:
        for info in sorted(archive.infolist(), key=lambda member: member.filename):
            # macOS puts a binary twin called ._name beside each file.
            is_twin = info.filename.rsplit("/", 1)[-1].startswith("._")
            if info.is_dir() or is_twin or not info.filename.lower().endswith(TEXT_SUFFIXES):
                continue
            if info.file_size > MAX_DOCUMENT_BYTES:
                raise InputError(f"{info.filename} in {path.name} unpacks to {info.file_size / 2**20:.0f} MiB; "
                                 f"at most {MAX_DOCUMENT_BYTES // 2**20} MiB are read as one document.")
            try:
                raw = archive.read(info)
            except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
                # RuntimeError: a password is needed; NotImplementedError: an unusual compression.
                raise InputError(f"{info.filename} in {path.name} cannot be unpacked: {error}. "
                                 "Unpack the archive and give the folder.") from error
            yield info.filename, raw
