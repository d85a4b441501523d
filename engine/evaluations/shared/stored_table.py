"""A table of very many rows that stays in its file: what is asked of it is a few columns, or a few rows.

`ManyRows` is such a table or a data frame; the functions here read both alike.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

FEW_ROWS, MOST_KEPT = 1000, 32
BLOCK = 2**20


class StoredTable:
    """A Parquet file, which stays readable when its name is removed. Thread-safe.

    Of what was read the last selections of few rows are kept, as the tokens of a pair that is looked at.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError, and pyarrow.ArrowException for a file that is no Parquet."""
        self._source = pa.OSFile(str(path))
        self._metadata = self._file().metadata
        self._kept: dict[tuple[object, ...], pd.DataFrame] = {}
        self._lock = threading.Lock()
        self.columns = tuple(name for name in self._metadata.schema.names if not name.startswith("__"))

    def __len__(self) -> int:
        """The number of rows."""
        return int(self._metadata.num_rows)

    def size_and_checksum(self) -> list[int]:
        """The number of bytes of the file, and their CRC-32."""
        size, checksum = self._source.size(), 0
        for start in range(0, size, BLOCK):
            checksum = zlib.crc32(self._source.read_at(min(BLOCK, size - start), start), checksum)
        return [size, checksum]

    def parts(self, columns: Sequence[str], **equal: object) -> Iterator[pd.DataFrame]:
        """Some columns, a part of the rows at a time; of `equal` as in the function of this name."""
        file = self._file()
        for group in self._groups(equal):
            yield file.read_row_group(group, columns=list(columns), use_threads=False).to_pandas()
        pa.default_memory_pool().release_unused()

    def frame(self, columns: Sequence[str], **equal: object) -> pd.DataFrame:
        """Some columns of the rows whose columns named in `equal` have these values; it is not to be changed."""
        key = (*columns, *equal.items())
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        file, names = self._file(), list(dict.fromkeys([*columns, *equal]))
        tables = [file.schema_arrow.empty_table().select(names)]
        for group in self._groups(equal):
            table = file.read_row_group(group, columns=names, use_threads=False)
            for name, value in equal.items():
                column = table.column(name)
                texts = pa.types.is_dictionary(column.type)
                table = table.filter(pc.equal(column.cast(pa.string()) if texts else column, value))
            tables.append(table)
        chosen = pa.concat_tables(tables).unify_dictionaries().select(list(columns))
        frame: pd.DataFrame = chosen.to_pandas(ignore_metadata=True)
        pa.default_memory_pool().release_unused()
        if len(frame) <= FEW_ROWS:
            with self._lock:
                self._kept[key] = frame
                while len(self._kept) > MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
        return frame

    def whole(self) -> pd.DataFrame:
        """The table with its types, in memory."""
        frame: pd.DataFrame = self._file().read().to_pandas()
        pa.default_memory_pool().release_unused()
        return frame

    def _file(self) -> pq.ParquetFile:
        return pq.ParquetFile(self._source, metadata=getattr(self, "_metadata", None))

    def _groups(self, equal: Mapping[str, object]) -> list[int]:
        """The parts of the file that may hold rows with these values."""
        return [
            group
            for group in range(self._metadata.num_row_groups)
            if all(self._may_hold(group, name, value) for name, value in equal.items())
        ]

    def _may_hold(self, group: int, name: str, value: object) -> bool:
        """Whether rows of a group may have a value, by what the file says of the smallest and the largest."""
        row_group = self._metadata.row_group(group)
        column = row_group.column(self._metadata.schema.names.index(name))
        known = column.statistics
        return known is None or not known.has_min_max or bool(known.min <= value <= known.max)


ManyRows = pd.DataFrame | StoredTable


def in_memory(table: ManyRows) -> pd.DataFrame:
    """All of a table, in memory."""
    return table.whole() if isinstance(table, StoredTable) else table


def parts(table: ManyRows, columns: Sequence[str], **equal: object) -> Iterator[pd.DataFrame]:
    """Some columns, a part of the rows at a time; of a file only parts that may hold rows with the values of `equal`."""
    return table.parts(columns, **equal) if isinstance(table, StoredTable) else iter([table[list(columns)]])


def rows_where(table: ManyRows, columns: Sequence[str], **equal: object) -> pd.DataFrame:
    """Some columns of the rows whose columns named in `equal` have these values, in their order."""
    if isinstance(table, StoredTable):
        return table.frame(columns, **equal)
    kept = pd.Series(True, index=table.index).to_numpy()
    for name, value in equal.items():
        kept = kept & (table[name] == value).to_numpy()
    return table[list(columns)] if kept.all() else table.loc[kept, list(columns)]
