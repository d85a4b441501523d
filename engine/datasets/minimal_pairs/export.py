"""Export of some pairs of a dataset, such as a fair subset, in the format of the file they came from."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from engine.datasets.formats.formulas import DIGEST_DIGITS, SIGNATURE_COLUMN, escape_formula
from engine.datasets.formats.tabbed import TAB, tabbed_text
from engine.datasets.formats.workbook import escaped
from engine.datasets.further_columns import PREFIX
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError
from engine.language.quantities import count
from engine.messages.message import Message

SUFFIX_BY_FORMAT = {
    "jsonl": ".jsonl",
    "json": ".json",
    "csv": ".csv",
    "tsv": ".tsv",
    "excel": ".xlsx",
    "pasted": ".tsv",
}
MIME_BY_SUFFIX = {
    ".jsonl": "application/jsonl",
    ".json": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".zip": "application/zip",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
# The name given to the first column of English CrowS-Pairs, which was published without one.
UNNAMED = {"CrowS-Pairs": "column 1"}
_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same pairs give the same bytes


@dataclass(frozen=True)
class ExportedFile:
    """A file for download."""

    name: str
    content: bytes
    mime: str


def export_pairs(dataset: MinimalPairs, rows: Collection[int], label: str = "subset") -> ExportedFile:
    """The pairs with these row numbers, in the format of their file: "passive.jsonl" becomes "passive-subset.jsonl".

    Without a label the file keeps its name. Pairs of several files become a zip with a file for each that has any. Rows
    of a JSON file are unchanged, with all keys and values; those of a table are its columns and texts, in UTF-8,
    separated by commas (.csv) or tabs (.tsv, pasted text), of a workbook one sheet of texts. A table with a text that a
    spreadsheet would run as a formula is escaped, and signed, so that reading it takes the apostrophes off. Pairs from
    no file become CSV: acceptable, unacceptable, category and fields. Raises InputError when the dataset has none of
    the rows.
    """
    chosen = dataset.subset(rows)
    if not chosen.n:
        raise InputError(
            Message("None of the {n} is in the subset, so there is nothing to export.", n=count(dataset.n, "pair"))
        )
    if not chosen.originals:
        return _file(dataset.name, "csv", label, _own_rows(chosen))
    files = []
    kept = range(chosen.n)
    for (source, *_), indices_of_file in groupby(kept, key=lambda i: _file_of(chosen, i)):
        indices = list(indices_of_file)
        first = indices[0]
        originals = [chosen.originals[i] for i in indices]
        if not all(originals):  # joined with pairs from no file
            part = chosen.subset([chosen.rows[i] for i in indices])
            files.append(_file(source, "csv", label, _own_rows(part)))
        else:
            files.append(
                _file(
                    source, chosen.file_formats[first], label, originals, unnamed=UNNAMED.get(chosen.formats[first], "")
                )
            )
    return files[0] if len(files) == 1 else _zipped(_of_different_names(files), label)


def _file_of(pairs: MinimalPairs, index: int) -> tuple[Any, ...]:
    """What the pairs of one exported file share: source, layout, format, and of a table the columns."""
    original, file_format = pairs.originals[index], pairs.file_formats[index]
    is_json = SUFFIX_BY_FORMAT.get(file_format) in (".json", ".jsonl")
    columns = () if is_json or not original else tuple(json.loads(original))
    return pairs.sources[index], pairs.formats[index], file_format, bool(original), columns


def _of_different_names(files: Sequence[ExportedFile]) -> list[ExportedFile]:
    """The files, with a number in each name that an earlier one has."""
    names: set[str] = set()
    renamed = []
    for file in files:
        path, name, number = PurePosixPath(file.name), file.name, 1
        while name in names:
            number += 1
            name = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
        names.add(name)
        renamed.append(replace(file, name=name))
    return renamed


def _own_rows(pairs: MinimalPairs) -> list[str]:
    columns = {
        "acceptable": pairs.acceptable,
        "unacceptable": pairs.unacceptable,
        "category": pairs.categories,
        **pairs.fields,
    }
    return [
        json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False)
        for values in zip(*columns.values(), strict=True)
    ]


def _file(source: str, file_format: str, label: str, originals: Sequence[str], unnamed: str = "") -> ExportedFile:
    suffix = SUFFIX_BY_FORMAT.get(file_format, ".csv")
    path = PurePosixPath(source)
    name = f"{path.stem if path.suffix else path.name}{f'-{label}' if label else ''}{suffix}"
    if suffix == ".jsonl":
        content = "".join(f"{row}\n" for row in originals).encode()
    elif suffix == ".json":
        content = ("[\n" + ",\n".join(originals) + "\n]\n").encode()
    else:
        rows: list[dict[str, str]] = [json.loads(row) for row in originals]
        header = list(dict.fromkeys(name for row in rows for name in row))
        shown = ["" if name == unnamed and not position else name for position, name in enumerate(header)]
        cells = [shown, *([row.get(name, "") for name in header] for row in rows)]
        content = _workbook(cells) if suffix == ".xlsx" else _delimited(cells, "," if suffix == ".csv" else "\t")
    return ExportedFile(str(path.with_name(name)), content, MIME_BY_SUFFIX[suffix])


def _delimited(cells: Sequence[Sequence[str]], separator: str) -> bytes:
    def written(rows: Sequence[Sequence[str]]) -> bytes:
        if separator == TAB:
            return tabbed_text(rows).encode()
        sink = io.StringIO(newline="")
        csv.writer(sink, delimiter=separator, lineterminator="\n").writerows(rows)
        return sink.getvalue().encode()

    content = written(cells)
    if not any(escape_formula(value) != value for row in cells for value in row):
        return content
    header, *rows = cells
    digest = sha256(content).hexdigest()[:DIGEST_DIGITS]
    names = [f"{PREFIX}{name}" if name == SIGNATURE_COLUMN else name for name in header]
    return written(
        [
            [*map(escape_formula, row), last]
            for row, last in zip((names, *rows), (SIGNATURE_COLUMN, *[digest] * len(rows)), strict=True)
        ]
    )


def _workbook(cells: Sequence[Sequence[str]]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    book = Workbook(write_only=True)
    sheet = book.create_sheet("pairs")

    def as_text(value: str) -> Any:
        cell = WriteOnlyCell(sheet, escaped(value))
        cell.data_type = "s"  # "=1+1" is a sentence here, not a formula
        return cell

    for row in cells:
        sheet.append([as_text(value) for value in row])
    book.save(sink := io.BytesIO())
    return sink.getvalue()


def _zipped(files: Sequence[ExportedFile], label: str) -> ExportedFile:
    with zipfile.ZipFile(sink := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(zipfile.ZipInfo(file.name, _FIXED_DATE), file.content, zipfile.ZIP_DEFLATED)
    return ExportedFile(f"minimal-pairs-{label or 'data'}.zip", sink.getvalue(), MIME_BY_SUFFIX[".zip"])
