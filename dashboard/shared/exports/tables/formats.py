"""A table as a file: CSV, Parquet and Excel with all columns and digits, LaTeX and Markdown for print. Pure."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard.shared.exports.signing import csv_bytes, digest
from dashboard.shared.exports.tables import printed as print_form
from dashboard.shared.exports.tables.latex import latex
from dashboard.shared.exports.tables.markdown import markdown
from dashboard.shared.exports.tables.offered import OfferedTables
from dashboard.shared.exports.tables.workbook import too_large, workbook
from engine.evaluations.shared.declared_tables import Table
from engine.messages.languages import tr, translated

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)  # so that the same tables give the same bytes
METADATA = b"hakari_signature"

Written = Callable[[Table, pd.DataFrame, Mapping[str, Any]], bytes]


@dataclass(frozen=True)
class Format:
    """A format of tables: how it is called, the ending and type of its files, what writes them.

    for_print: the digits that mean something and no column of the input without a role, instead of everything.
    """

    name: str
    suffix: str
    mime: str
    write: Written
    for_print: bool = False


def _csv(_: Table, frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    return csv_bytes(frame, signature)


def _latex(table: Table, frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    return latex(print_form.printed(table, frame), signature).encode()


def _markdown(table: Table, frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    return markdown(print_form.printed(table, frame), signature).encode()


def _parquet(_: Table, frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    full = json.dumps(dict(signature), ensure_ascii=False, default=str).encode()
    signed = table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA: full})
    pq.write_table(signed, sink := io.BytesIO())
    return sink.getvalue()


def _workbook(_: Table, frame: pd.DataFrame, signature: Mapping[str, Any]) -> bytes:
    return workbook(frame, signature)


FORMATS: Mapping[str, Format] = {
    "csv": Format("CSV", "csv", "text/csv", _csv),
    "latex": Format("LaTeX", "tex", "application/x-tex", _latex, for_print=True),
    "markdown": Format("Markdown", "md", "text/markdown", _markdown, for_print=True),
    "parquet": Format("Parquet", "parquet", "application/vnd.apache.parquet", _parquet),
    "excel": Format("Excel", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", _workbook),
}


def refusal(tables: OfferedTables, name: str, format_name: str) -> str:
    """Why a table has no file of a format, a sentence; "" where it has one.

    The input is not read for it, and the table is not made where its format has all tables.
    """
    if not FORMATS[format_name].for_print and format_name != "excel":
        return ""
    n_rows = tables.n_rows(name)
    if FORMATS[format_name].for_print and n_rows > print_form.MOST_ROWS:
        return tr(
            "{name}: {n:,} rows are too long to print (at most {most:,}); CSV, Parquet and Excel have them.",
            name=name,
            n=n_rows,
            most=print_form.MOST_ROWS,
        )
    if FORMATS[format_name].for_print and not n_rows:
        return tr("{name}: no rows.", name=name)
    if format_name == "excel" and (reason := too_large(n_rows, len(tables.declaration(name).columns))):
        return f"{name}: {translated(reason)}"
    return ""


def table_file(tables: OfferedTables, name: str, format_name: str, signature: Mapping[str, Any]) -> bytes:
    """A table in one of FORMATS, with its signature. The same table gives the same bytes, but for Excel."""
    return FORMATS[format_name].write(tables.declaration(name), tables[name], signature)


def file_name(name: str, format_name: str, signature: Mapping[str, Any]) -> str:
    """The name of a table's file: with the digest of the signature, as those of figures."""
    return f"{name}-{digest(signature)}.{FORMATS[format_name].suffix}"


def archive(tables: OfferedTables, format_name: str, signature: Mapping[str, Any]) -> bytes:
    """A zip of all tables that have rows and a file of that format, and the signature as JSON."""
    files = {
        f"{name}.{FORMATS[format_name].suffix}": table_file(tables, name, format_name, signature)
        for name in tables
        if tables.n_rows(name) and not refusal(tables, name, format_name)
    }
    return zipped(files | {"signature.json": signature_json(signature)})


def signature_json(signature: Mapping[str, Any]) -> bytes:
    """The signature in full."""
    return json.dumps(dict(signature), indent=2, ensure_ascii=False, default=str).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of files by name; the same files give the same bytes."""
    with zipfile.ZipFile(sink := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name, _FIXED_DATE), content, zipfile.ZIP_DEFLATED)
    return sink.getvalue()
