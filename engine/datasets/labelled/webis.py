"""Webis-CLS-10 as published: product reviews in XML, a file for each language, domain and split.

    cls-acl10-unprocessed/jp/{books,dvd,music}/{train,test,unlabeled}.review
    <items><item><category>…</category><rating>…</rating><text>…</text><summary>…</summary> …</item> … </items>

Source: Prettenhofer and Stein 2010 (Cross-Language Text Classification using Structural Correspondence Learning).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.datasets.formats.archives import is_archive, read_members
from engine.datasets.formats.files import max_file_bytes
from engine.datasets.labelled.domain_sentences import DomainSentences, split_into_sentences
from engine.datasets.rows import empty_reason
from engine.errors import InputError, reason_of
from engine.language.quantities import count
from engine.messages.message import Message, list_of
from engine.options import option

SPLITS = ("test", "train", "unlabeled")
LANGUAGES = ("jp", "de", "en", "fr")
SUFFIXES = (".review", ".xml")
# The whole corpus is one tar; members that are not wanted are unpacked to skip them.
MAX_UNPACKED_BYTES = 8 * 2**30

_EXPECTED_LAYOUT = Message(
    "Needed: Webis-CLS-10's layout, …/jp/books/test.review and so on, in a folder, a zip or a tar.gz."
)
_SPLIT_IN_NAME = re.compile(rf"(^|[._\s-])({'|'.join(SPLITS)})(?=$|[._\s-])")


@dataclass(frozen=True)
class Reviews:
    """Which part of Webis-CLS-10 is read."""

    split: str = option("test", "Split of Webis-CLS-10; the paper used the test data.", choices=SPLITS)
    language: str = option("jp", "Language of Webis-CLS-10.", choices=LANGUAGES)


def is_review_file(name: str) -> bool:
    """Whether a file of that name may hold reviews: .review, .xml, or an archive of them.

    >>> is_review_file("test.review"), is_review_file("cls-acl10-unprocessed.tar.gz"), is_review_file("a.csv")
    (True, True, False)
    """
    return name.lower().endswith(SUFFIXES) or is_archive(name)


def read_reviews(
    source: Path | bytes, name: str = "", *, split: str = Reviews.split, language: str = Reviews.language
) -> DomainSentences:
    """The sentences of reviews with their domains, from one XML file, an archive or a folder.

    `split`: which files of an archive or folder are read, one of SPLITS; of one XML file all reviews are. `language`:
    one of LANGUAGES, where the names of folders distinguish them. The domain is that in the file's own name
    (books.test.review), else its folder's name (books), else each review's category. Raises InputError: as
    `archives.read_members`; no such file in it; XML that is malformed, has a document type (which could define an
    entity bomb) or holds no review; a review without a domain.
    """
    if split not in SPLITS:
        raise InputError(Message("The split is one of {SPLITS}; got {split!r}.", SPLITS=list_of(SPLITS), split=split))
    shown = name or (source.name if isinstance(source, Path) else "") or Message("The reviews")
    if is_archive(shown) or (isinstance(source, Path) and source.is_dir()):
        file_suffixes = [f"{split}{suffix}" for suffix in SUFFIXES]
        members = read_members(source, shown, suffixes=file_suffixes, max_bytes=MAX_UNPACKED_BYTES)
        files = _of_language([(member, raw) for member, raw in members if _is_split(member, split)], language)
        if not files:
            raise InputError(
                Message(
                    "{shown} holds no {split}.review of language {language}. {_EXPECTED_LAYOUT}",
                    shown=shown,
                    split=split,
                    language=language,
                    _EXPECTED_LAYOUT=_EXPECTED_LAYOUT,
                )
            )
    else:
        # With its folder, which gives the domain of a test.review.
        path = shown if isinstance(source, bytes) else "/".join(source.absolute().parts[-2:])
        files = [(path, source if isinstance(source, bytes) else _bytes_of(source))]
    return sentences_of(files, shown)


def sentences_of(files: Iterable[tuple[str, bytes]], name: str) -> DomainSentences:
    """The sentences of review files, given as (path, content); reviews are numbered across all files."""
    texts: list[tuple[int, str, str]] = []
    n_reviews = n_empty = 0
    for path, raw in files:
        domain = _domain(path)
        for category, text in _reviews(path, raw):
            n_reviews += 1
            if empty_reason(text):
                n_empty += 1
            elif not (domain or category):
                raise InputError(
                    Message(
                        "{path}: the domain of review {n_reviews} is not given. Name the file after "
                        "it, such as books.test.review. {_EXPECTED_LAYOUT}",
                        path=path,
                        n_reviews=n_reviews,
                        _EXPECTED_LAYOUT=_EXPECTED_LAYOUT,
                    )
                )
            else:
                texts.append((n_reviews, text, domain or category))
    if not texts:
        raise InputError(
            Message(
                "{name} holds no review with a text. {_EXPECTED_LAYOUT}", name=name, _EXPECTED_LAYOUT=_EXPECTED_LAYOUT
            )
        )
    notices = (Message("{n_empty} without a text left out.", n_empty=count(n_empty, "review")),) if n_empty else ()
    return split_into_sentences(name, texts, notices)


def _reviews(path: str, raw: bytes) -> Iterator[tuple[str, str]]:
    """Category and text of each item of a file; the memory of an item is released after it was read."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, iterparse

    has_item = False
    try:
        for _, element in iterparse(io.BytesIO(raw), events=("end",), forbid_dtd=True):
            if element.tag == "item":
                has_item = True
                yield (element.findtext("category") or "").strip(), (element.findtext("text") or "").strip()
                element.clear()
    except DefusedXmlException as error:
        raise InputError(
            Message(
                "{path} is not read: it has a document type or entities of its own, which reviews do "
                "not need and which can make a small file fill the memory. Remove its <!DOCTYPE …>.",
                path=path,
            )
        ) from error
    except ParseError as error:
        line, column = error.position
        raise InputError(
            Message(
                "{path} is no well-formed XML: line {line}, character {column}: {fault}. "
                "Download it again, or correct that line.",
                path=path,
                line=line,
                column=column + 1,
                fault=str(error).partition(":")[0],
            )
        ) from error
    except (LookupError, ValueError) as error:  # an encoding that does not exist, or not in XML
        raise InputError(
            Message("{path} cannot be read as XML: {error}. Save it as UTF-8.", path=path, error=error)
        ) from error
    if not has_item:
        raise InputError(
            Message(
                "{path} holds no review: there is no <item> in it. {_EXPECTED_LAYOUT}",
                path=path,
                _EXPECTED_LAYOUT=_EXPECTED_LAYOUT,
            )
        )


def _is_split(member: str, split: str) -> bool:
    """Whether the name contains this split as a word: "latest.review" is not of the split "test"."""
    return any(match[2] == split for match in _SPLIT_IN_NAME.finditer(PurePosixPath(member).stem.lower()))


def _of_language(files: list[tuple[str, bytes]], language: str) -> list[tuple[str, bytes]]:
    """The files below a folder named after the language; all of them where no folder is named after any."""

    def folders(path: str) -> set[str]:
        return set(path.lower().split("/")[:-1])

    if not any(folders(path) & set(LANGUAGES) for path, _ in files):
        return files
    return [(path, raw) for path, raw in files if language in folders(path)]


def _domain(path: str) -> str:
    """The domain in the path of a file: its own name without the split, else its folder, else ""."""
    member_path = PurePosixPath(path)
    own_name = _SPLIT_IN_NAME.sub("", member_path.stem).strip("._- ")
    folder = member_path.parent.name
    return own_name or ("" if folder.lower() in LANGUAGES else folder)


def _bytes_of(path: Path) -> bytes:
    try:
        if path.stat().st_size > max_file_bytes():
            raise InputError(
                Message(
                    "{name} is too large: {st_size:,.1f} MiB; at most {max_file_bytes:,.1f} MiB are "
                    "read. HAKARI_MAX_UPLOAD_MB raises the limit.",
                    name=path.name,
                    st_size=path.stat().st_size / 2**20,
                    max_file_bytes=max_file_bytes() / 2**20,
                )
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            Message(
                "{path} cannot be read: {error}. {_EXPECTED_LAYOUT}",
                path=path,
                error=reason_of(error),
                _EXPECTED_LAYOUT=_EXPECTED_LAYOUT,
            )
        ) from error
