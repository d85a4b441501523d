"""idf dictionaries on disk: JSON, gzipped when the name ends in .gz."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import zlib
from pathlib import Path

from engine.errors import InputError
from engine.measures.idf import IdfDictionary

FORMAT = "hakari-idf-1"


def write_idf(dictionary: IdfDictionary, path: Path) -> None:
    """The dictionary as JSON, gzipped when the name ends in .gz; the same dictionary gives the same bytes."""
    content = {"format": FORMAT, "name": dictionary.name, "tokenizer": dictionary.tokenizer, "unit": dictionary.unit,
               "n_documents": dictionary.n_documents, "document_counts": dict(dictionary.document_counts)}
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    if path.name.endswith(".gz"):
        raw = gzip.compress(raw, mtime=0)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def read_idf(path: Path) -> IdfDictionary:
    """The dictionary that `write_idf` wrote. Raises InputError when the file is missing or another thing."""
    try:
        raw = path.read_bytes()
        content = json.loads(gzip.decompress(raw) if path.name.endswith(".gz") else raw)
    except FileNotFoundError as error:
        raise InputError(f"There is no idf dictionary {path}.") from error
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise InputError(f"{path} cannot be read as an idf dictionary: {error}.") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f"{path} is not an idf dictionary (no format '{FORMAT}' in it). "
                         "Make one with: python -m engine idf --model M --corpus FILE --out FILE.")
    counts, n_documents = content.get("document_counts"), content.get("n_documents")
    texts = [content.get(key) for key in ("name", "tokenizer", "unit")]
    # bool is an int to isinstance, but no count.
    if not (isinstance(counts, dict) and all(type(count) is int for count in [n_documents, *counts.values()])
            and all(isinstance(text, str) for text in texts)):
        raise InputError(f"{path} is an idf dictionary with damaged entries; make it again.")
    return IdfDictionary(content["name"], content["n_documents"], counts, content["tokenizer"], content["unit"])
