"""Parquet as lines of JSON, so that its rows are read as those of any JSON file: texts, numbers, lists and objects."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from engine.datasets.formats.bounds import current_meter, report
from engine.errors import InputError
from engine.messages.message import Message

SUFFIX = ".parquet"
BATCH_ROWS = 4096


def json_lines(source: Path | bytes, name: str) -> bytes:
    """The rows of a file of Parquet, a JSON object in each line.

    Raises InputError for a file that is none, and for more cells than are read, before they are unpacked.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(source if isinstance(source, Path) else io.BytesIO(source))
        n_rows, n_columns = file.metadata.num_rows, len(file.schema_arrow.names)
        meter = current_meter()
        meter.count_cells(n_rows * n_columns, name)
        meter.n_cells -= n_rows * n_columns  # they are counted where the lines are read
        lines = io.BytesIO()
        done = 0
        for batch in file.iter_batches(BATCH_ROWS):
            for row in batch.to_pylist():
                lines.write(json.dumps(row, ensure_ascii=False, default=_text).encode("utf-8", "surrogatepass"))
                lines.write(b"\n")
            done += batch.num_rows
            report(done, n_rows)
        return lines.getvalue()
    except (pa.ArrowException, OSError) as error:
        raise InputError(
            Message("{name} is no file of Parquet that can be read ({error}).", name=name, error=type(error).__name__)
        ) from error


def _text(value: Any) -> str:
    """A value that JSON does not have: a date or a number of other kinds as it is written, bytes by their number."""
    return f"<{len(value):,} bytes>" if isinstance(value, bytes) else str(value)
