"""idf dictionaries on disk: JSON, gzipped when the name ends in .gz."""

from __future__ import annotations

import gzip
import json
import os
import secrets
import zlib
from pathlib import Path
from typing import Any

from engine.errors import InputError, reason_of
from engine.measures.idf import IdfDictionary
from engine.messages.message import Message

FORMAT = "hakari-idf-2"
# The first had no token_counts.
FORMATS = ("hakari-idf-1", FORMAT)
SUFFIXES = (".json", ".json.gz")
# No dictionary comes near: a vocabulary of a million pieces takes some 30 MB, and two million commas.
MAX_BYTES = 64 * 2**20
MAX_COMMAS = 2_200_000
MAX_COUNT = 2**53  # exact as a float, and beyond any corpus

_GZIP_SIGN = b"\x1f\x8b"
# Where the entries of a file begin, and how one ends that counts no occurrences.
_ENTRIES, _WITHOUT_OCCURRENCES = b',"document_counts":', b'"token_counts":[]}'


def write_idf(dictionary: IdfDictionary, path: Path) -> None:
    """The dictionary in a file, gzipped when the name ends in .gz; it is seen whole or not at all.

    Raises InputError when it cannot be written there.
    """
    raw = idf_bytes(dictionary, compressed=path.name.endswith(".gz"))
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            aside.write_bytes(raw)  # with the permissions that the user's other files have
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            Message("The dictionary cannot be written to {path}: {error}.", path=path, error=reason_of(error))
        ) from error


def idf_bytes(dictionary: IdfDictionary, *, compressed: bool = True) -> bytes:
    """The dictionary as JSON, gzipped or not; the same dictionary gives the same bytes."""
    content = {
        "format": FORMAT,
        "name": dictionary.name,
        "tokenizer": dictionary.tokenizer,
        "unit": dictionary.unit,
        "n_documents": dictionary.n_documents,
        "document_counts": dict(dictionary.document_counts),
        # in the order of the pieces above, which need not be written twice
        "token_counts": [dictionary.token_counts[piece] for piece in dictionary.document_counts]
        if dictionary.token_counts
        else [],
    }
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return gzip.compress(raw, mtime=0) if compressed else raw


def read_idf(source: Path | bytes, name: str | None = None) -> IdfDictionary:
    """The dictionary that `write_idf` wrote, from a file or from an upload's bytes called `name`; of either format.

    Raises InputError when the file is missing or another thing.
    """
    shown = name or (str(source) if isinstance(source, Path) else Message("The file"))
    try:
        raw = source if isinstance(source, bytes) else _read(source)
        content = json.loads(_bounded(raw, shown), object_pairs_hook=_object)
    except FileNotFoundError as error:
        raise InputError(Message("There is no idf dictionary {shown}.", shown=shown)) from error
    except (json.JSONDecodeError, UnicodeDecodeError):
        content = None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(
            Message("{shown} cannot be read as an idf dictionary: {error}.", shown=shown, error=error)
        ) from error
    if not isinstance(content, dict) or content.get("format") not in FORMATS:
        raise InputError(
            Message(
                "{shown} is not an idf dictionary (no format '{FORMAT}' in it). Make one with: "
                "python -m engine idf --model M --corpus FILE --out FILE.",
                shown=shown,
                FORMAT=FORMAT,
            )
        )
    documents, n_documents = content.get("document_counts"), content.get("n_documents")
    occurrences = content.get("token_counts", [])
    texts = [content.get(key) for key in ("name", "tokenizer", "unit")]
    # bool is an int to isinstance, but no count.
    if not (
        isinstance(documents, dict)
        and isinstance(occurrences, list)
        and all(
            type(count) is int and 0 <= count <= MAX_COUNT for count in [n_documents, *documents.values(), *occurrences]
        )
        and len(occurrences) in (0, len(documents))
        and all(isinstance(text, str) for text in texts)
    ):
        raise InputError(Message("{shown} is an idf dictionary with damaged entries; make it again.", shown=shown))
    return IdfDictionary(
        content["name"],
        content["n_documents"],
        documents,
        content["tokenizer"],
        content["unit"],
        dict(zip(documents, occurrences, strict=True)) if occurrences else {},
        sum(occurrences),
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(Message("an object in it names a key twice"))
    return values


def idf_facts(path: Path) -> tuple[str, int, str, bool]:
    """Tokenizer, number of documents, unit, and whether occurrences are counted, of a file as `idf_bytes` writes it.

    Its entries are not made objects of, which takes a twentieth of a second and megabytes for each file. Raises InputError.
    """
    content = _bounded(_read(path), str(path))
    head, found, counts = content.partition(_ENTRIES)
    if not found:
        dictionary = read_idf(path)
        return dictionary.tokenizer, dictionary.n_documents, dictionary.unit, bool(dictionary.token_counts)
    facts = json.loads(head + b"}")
    return facts["tokenizer"], facts["n_documents"], facts["unit"], not counts.endswith(_WITHOUT_OCCURRENCES)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _bounded(raw: bytes, shown: str) -> bytes:
    """The JSON in a file, of which no more is decoded than a dictionary has: little text may become many objects."""
    content = _unpacked(raw, shown) if raw.startswith(_GZIP_SIGN) else raw
    if len(content) > MAX_BYTES or content.count(b",") > MAX_COMMAS:
        raise InputError(
            Message(
                "{shown} is larger than any idf dictionary: at most {MAX_BYTES} MiB and a million pieces are read.",
                shown=shown,
                MAX_BYTES=MAX_BYTES // 2**20,
            )
        )
    return content


def _unpacked(raw: bytes, shown: str) -> bytes:
    """The content of a gzip file; a small one may unpack to more than memory holds, so no more than MAX_BYTES."""
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    content = reader.decompress(raw, MAX_BYTES)
    if reader.unconsumed_tail:
        raise InputError(
            Message(
                "{shown} unpacks to more than {MAX_BYTES} MiB, which no idf dictionary does.",
                shown=shown,
                MAX_BYTES=MAX_BYTES // 2**20,
            )
        )
    if not reader.eof:
        raise EOFError(Message("it ends too early"))
    return content
