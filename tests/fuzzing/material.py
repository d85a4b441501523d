"""The real files that are damaged: the samples in every format, and what the project itself writes."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from functools import cache

import openpyxl
import pandas as pd

from engine.datasets import sample_data
from engine.evaluations.shared.idf_files import idf_bytes
from engine.measures.idf import IdfDictionary

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "cp932", "euc_jp", "gb18030", "iso2022_jp")
ROWS = 12  # of each sample: a case takes milliseconds


@cache
def sample(kind: str) -> pd.DataFrame:
    """The first rows of a sample, as texts."""
    return pd.read_csv(sample_data.path(kind), dtype=str, keep_default_na=False).head(ROWS)


@cache
def delimited(kind: str, separator: str, encoding: str) -> bytes:
    """A sample as text of an encoding; what the encoding lacks becomes a question mark."""
    return sample(kind).to_csv(index=False, sep=separator).encode(encoding, "replace")


@cache
def json_lines(kind: str) -> bytes:
    """A sample as JSON lines, with numbers and nested values in the last column."""
    lines = [
        {**row, "n": float(number) / 7, "more": [number, {"秤": None}]}
        for number, row in enumerate(sample(kind).to_dict("records"))
    ]
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()


@cache
def json_list(kind: str) -> bytes:
    """A sample as one JSON list."""
    return json.dumps(sample(kind).to_dict("records"), indent=1, ensure_ascii=False).encode()


@cache
def workbook(kind: str) -> bytes:
    """A sample as a workbook with formulas and a second sheet."""
    book = openpyxl.Workbook()
    frame = sample(kind)
    for row in [list(frame.columns), *frame.to_numpy().tolist()]:
        book.active.append([*row, "=1+1", 1.5])
    book.create_sheet().append(["other"])
    book.save(file := io.BytesIO())
    return file.getvalue()


@cache
def livedoor(packing: str) -> bytes:
    """Articles in the layout of the livedoor corpus, as zip, tar or tar.gz."""
    articles = {
        f"text/{label}/{label}-{number}.txt": f"http://example.org/{number}\n2024-01-05\n{text}\n{text}{text}\n"
        for number, (text, label) in enumerate(
            zip(sample("labelled_sentences")["text"], ["news", "sport"] * 6, strict=True)
        )
    }
    file = io.BytesIO()
    if packing == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in articles.items():
                archive.writestr(name, text)
    else:
        with tarfile.open(fileobj=file, mode="w:gz" if packing == "tar.gz" else "w") as packed:
            for name, text in articles.items():
                info = tarfile.TarInfo(name)
                info.size = len(text.encode())
                packed.addfile(info, io.BytesIO(text.encode()))
    return file.getvalue()


@cache
def pairs_archive() -> bytes:
    """Minimal pairs of two formats in a zip, beside a text."""
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/a.csv", delimited("minimal_pairs", ",", "utf-8"))
        archive.writestr("data/b.jsonl", json_lines("minimal_pairs"))
        archive.writestr("README.txt", "Nothing to read here.")
    return file.getvalue()


@cache
def reviews() -> bytes:
    """Reviews as Webis-CLS-10 has them."""
    items = "".join(
        f"<item><category>books</category><rating>4.0</rating><text>{text}</text></item>\n"
        for text in sample("masked_sentences")["text"]
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<items>\n{items}</items>\n'.encode()


@cache
def dictionary() -> bytes:
    """An idf dictionary as JSON."""
    counts = {token: number + 1 for number, token in enumerate(["猫", "犬", "が", "を", "[UNK]", "##た", "1,000"])}
    occurrences = {token: 2 * n for token, n in counts.items()}
    return idf_bytes(
        IdfDictionary("novels", 12, counts, "ab" * 20, "file", occurrences, sum(occurrences.values())), compressed=False
    )
