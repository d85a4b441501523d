"""Corpora: plain or Aozora text in files, folders and archives, read document by document.

A corpus is never held in memory as a whole: `read_documents` yields documents, `read_parts` parts of long ones.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.datasets.corpora.aozora import is_aozora, strip_aozora
from engine.datasets.formats import text_stream
from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.text_stream import blocks
from engine.datasets.formats.unpacking import is_hidden, opened_zip
from engine.errors import InputError
from engine.messages.message import Message, list_of

TEXT_SUFFIXES = (".txt", ".text", ".md")
UNITS = ("file", "line", "blank-line", "page-break")

PAGE_BREAK = "\f"
_AOZORA_PAGE_BREAK = re.compile(r"［＃(改ページ|改丁|改見開き)］")
# What stands between two documents of one file; it begins and ends a line.
_BOUNDARIES = {"blank-line": re.compile(r"\n[ \t\u3000]*\n\s*"), "page-break": re.compile(r"(?<!\s)[^\S\f]*+\f\s*")}
_SENTENCE_END = re.compile(r"(?<=[。！？!?])(?![」』）)！？!?])|(?<=[。！？!?][」』）)])(?![、。とっ])")


@dataclass(frozen=True)
class Document:
    """One text of a corpus: a file, or a line of one, and its name."""

    name: str
    text: str


@dataclass(frozen=True)
class Part:
    """A document, or a part of a long one: `is_last` says whether it is the last of its document.

    `n_read`: bytes of text read so far, of all files.
    """

    name: str
    text: str
    is_last: bool
    n_read: int


def read_documents(paths: Iterable[Path], *, unit: str = "file") -> Iterator[Document]:
    """Every document below `paths`, as `read_parts` finds them, each in one piece."""
    texts: list[str] = []
    for part in read_parts(paths, unit=unit):
        texts.append(part.text)
        if part.is_last:
            yield Document(part.name, "".join(texts))
            texts = []


def read_parts(paths: Iterable[Path], *, unit: str = "file") -> Iterator[Part]:
    """Every document below `paths` (files, folders, archives), in name order, as a stream.

    In folders and archives the files that end in TEXT_SUFFIXES are texts, and a folder may hold archives; a path to a
    file is always read as text. `unit` defines a document: "file"; "line" (empty lines are skipped; of a tab-separated
    line the last field is used); "blank-line" and "page-break" (a form feed, or Aozora's ［＃改ページ］, 改丁 or
    改見開き): what stands between two of them in a file; none of its lines is dropped. A file above
    `text_stream.WHOLE_BYTES` is read as plain text, not in Aozora's notation, and in parts. Raises InputError when a
    path does not exist, when nothing below the paths is text, or when a file cannot be read or decoded.
    """
    if unit not in UNITS:
        raise InputError(
            Message("A document is one of {UNITS}; got {unit!r}.", UNITS=list_of(map(repr, UNITS)), unit=unit)
        )
    paths = [Path(path) for path in paths]
    bytes_before, found_text = 0, False
    for path in paths:
        for name, content in _texts(path):
            found_text = True
            n_lines = n_read = 0
            boundary = _Boundary(name, _BOUNDARIES[unit]) if unit in _BOUNDARIES else None
            for text, is_last_block, n_read in blocks(content, name):
                is_whole = is_last_block and not n_lines
                if boundary is not None:
                    text = _AOZORA_PAGE_BREAK.sub(PAGE_BREAK, text)
                if is_whole and is_aozora(text):
                    text = strip_aozora(text)
                if boundary is not None:
                    n_lines += not is_last_block
                    yield from boundary.parts(text, is_last_block, bytes_before + n_read)
                    continue
                if unit == "file":
                    n_lines += not is_last_block
                    yield Part(name, text, is_last_block, bytes_before + n_read)
                    continue
                for line in text.splitlines():
                    n_lines += 1
                    if line.strip():
                        yield Part(f"{name}:{n_lines}", line.rsplit("\t", 1)[-1].strip(), True, bytes_before + n_read)
            bytes_before += n_read
    if not found_text:
        raise InputError(
            Message(
                "No text file ({TEXT_SUFFIXES} or an archive of them) found in: {paths}",
                TEXT_SUFFIXES=list_of(TEXT_SUFFIXES),
                paths=list_of(map(str, paths)),
            )
        )


class _Boundary:
    """Cuts the blocks of one file into documents where `boundary` matches."""

    def __init__(self, name: str, boundary: re.Pattern[str]) -> None:
        self._name, self._boundary = name, boundary
        self._n_documents, self._open_text, self._is_begun = 1, "", False

    def parts(self, block: str, is_last_block: bool, n_read: int) -> Iterator[Part]:
        """The documents that end in the next block, and what is too long to be kept of the one that goes on."""
        *ended, self._open_text = self._boundary.split(self._open_text + block)
        if is_last_block:
            ended, self._open_text = [*ended, self._open_text], ""
        for text in ended:
            if text.strip() or self._is_begun:
                yield Part(f"{self._name}:{self._n_documents}", text, True, n_read)
                self._n_documents, self._is_begun = self._n_documents + 1, False
        if len(self._open_text) > text_stream.WHOLE_BYTES:
            # The last line stays: with the next block it may become a boundary.
            cut = self._open_text.rstrip("\n\f \t\u3000").rfind("\n") + 1
            yield Part(f"{self._name}:{self._n_documents}", self._open_text[:cut], False, n_read)
            self._open_text, self._is_begun = self._open_text[cut:], True


def text_bytes(paths: Iterable[Path]) -> int:
    """The number of bytes of text that `read_parts` will read below `paths`; 0 where it is not known in advance."""
    sizes = [_text_size(file) for path in paths for file in _files(Path(path))]
    return 0 if None in sizes else sum(size for size in sizes if size is not None)


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a text: lines, split after 。！？ and a closing bracket that follows them."""
    for line in text.splitlines():
        for sentence in _SENTENCE_END.split(line):
            sentence = sentence.strip()
            if sentence:
                yield sentence


def pieces(text: str, max_characters: int) -> list[str]:
    """A text in parts of at most `max_characters` characters, split at line ends, else at sentence ends, else anywhere.

    Blank lines are dropped, all other characters are kept; an empty text has no part.

    >>> pieces("いち。\\nに。さん。\\n\\nし。", 6)
    ['いち。', 'に。さん。', 'し。']
    """
    parts: list[str] = []
    for line in text.splitlines():
        for sentence in [line] if len(line) <= max_characters else split_sentences(line):
            for part in (sentence[i : i + max_characters] for i in range(0, len(sentence), max_characters)):
                if not part.strip():
                    continue
                if parts and len(parts[-1]) + 1 + len(part) <= max_characters:
                    parts[-1] += "\n" + part
                else:
                    parts.append(part)
    return parts


def _texts(path: Path) -> Iterator[tuple[str, Path | bytes]]:
    for file in _files(path):
        if is_archive(file.name):
            yield from read_members(file, file.name, suffixes=TEXT_SUFFIXES)
        else:
            yield file.name, file


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise InputError(Message("There is no file or folder {path}.", path=path))
    if not path.is_dir():
        yield path
        return
    for child in sorted(path.rglob("*")):
        if child.is_file() and (child.name.lower().endswith(TEXT_SUFFIXES) or is_archive(child.name)):
            yield child


def _text_size(file: Path) -> int | None:
    if not is_archive(file.name):
        return file.stat().st_size
    if not zipfile.is_zipfile(file):
        return None  # the size of a compressed tar is known only at its end
    with file.open("rb") as content, opened_zip(content, file.name) as archive:
        return sum(
            info.file_size
            for info in archive.infolist()
            if info.filename.lower().endswith(TEXT_SUFFIXES) and not is_hidden(info.filename)
        )
