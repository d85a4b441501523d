"""A frozen record to the bytes of a few files, and back: tables, arrays, and JSON for everything else.

    record.json        the version of Hakari and the JSON-able fields; size and CRC-32 of every file beside it, and its
                       own CRC-32
    <field>.parquet    a field that is a table
    arrays.npz         all arrays of all fields

Nothing is pickled, and a file that is not what was written is noticed before anything is made of it. Tables that the
record's type declares (`engine.evaluations.shared.declared_tables`) are held to their declaration when they are packed;
what a later version declares beside is filled with missing values when an earlier version's files are opened, and said
in the record's notices.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from engine.errors import InputError, RunError
from engine.evaluations.shared.declared_tables import MESSAGE, Table, tables_of
from engine.evaluations.shared.stored_table import StoredTable
from engine.messages.earlier_texts import Earlier, read_message
from engine.messages.message import Message, as_text, is_stored, of_text, together
from engine.processes.freed_memory import give_back_freed_memory
from engine.runs.storage.json_codec import record_from_json, to_json_value
from engine.version import FIRST_VERSION, VERSION, precedes

SCHEMA = 1
OF_MESSAGES = {b"messages": b"1"}  # metadata of a column
RECORD, ARRAYS, NOTICES = "record.json", "arrays.npz", "notices"

ROWS_IN_MEMORY = 100_000  # a large table of more rows stays in its file
ROWS_READ = 2**17  # of a large table that are read at once, such as those around the tokens of a pair

Record = TypeVar("Record")
Read = Callable[[str], bytes]
Stored = Callable[[str], StoredTable]


def pack(record: Any) -> dict[str, bytes]:
    """The files of a frozen record, by name; `record.json` comes last.

    Raises TypeError for a field that is no table, no array of numbers, no dict of them and not JSON-able, and for a
    declared table whose columns are not the declared ones.
    """
    declared = tables_of(type(record))
    files: dict[str, bytes] = {}
    arrays: dict[str, np.ndarray] = {}
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, pd.DataFrame):
            frame = declared[field.name].arranged(value) if field.name in declared else value
            is_large = field.name in declared and declared[field.name].is_large
            files[f"{field.name}.parquet"] = to_parquet(frame, ROWS_READ if is_large else None)
            fields[field.name] = {"as": "table"}
            if len(frame) > ROWS_IN_MEMORY:  # what writing it took would stand beside what the next one takes
                give_back_freed_memory()
        elif isinstance(value, np.ndarray):
            arrays[field.name] = value
            fields[field.name] = {"as": "array"}
        elif isinstance(value, dict) and value and all(isinstance(item, np.ndarray) for item in value.values()):
            # Keys may be any text (model names with slashes): they stay in the record, numbers name the members.
            arrays |= {f"{field.name}.{i}": item for i, item in enumerate(value.values())}
            fields[field.name] = {"as": "arrays", "keys": [_key(key, record, field.name) for key in value]}
        else:
            try:
                fields[field.name] = {"as": "value", "value": to_json_value(value)}
            except TypeError as error:
                raise TypeError(f"{type(record).__qualname__}.{field.name}: {error}") from error
    if arrays:
        files[ARRAYS] = _to_npz(arrays, record)
    description = {
        "schema": SCHEMA,
        "version": VERSION,
        "type": type(record).__qualname__,
        "fields": fields,
        "files": {name: [len(content), zlib.crc32(content)] for name, content in files.items()},
    }
    description["checksum"] = _checksum(description)
    return files | {RECORD: json.dumps(description, ensure_ascii=False, indent=1, allow_nan=False).encode()}


def unpack(record_type: type[Record], read: Read, what: str, stored: Stored | None = None) -> Record:
    """The record whose files `read` returns by name, equal to the one packed in every field.

    stored: what opens a file by name where its large tables may stay in it, as those of more than ROWS_IN_MEMORY then do.

    A type may have a method `reopened`, which takes back what today's version would not say of an earlier one's result.
    Declared tables and columns that the version which stored it did not have yet come as missing values, and the
    record's notices say so. Raises RunError, starting with `what`, when a file is damaged or of another version, and
    when it lacks a table or column that its version had; what `read` raises when a file is not there goes through.
    """
    description = description_of(read, what)
    try:
        values, apart = _parts(description, read, what, tables_of(record_type), stored)
        later = _complete(record_type, apart, description.get("version"), what)
        if NOTICES in values:
            said = [value if is_stored(value) else Earlier(value) for value in values[NOTICES]]
            values[NOTICES] = [*said, *([_missing(later, description.get("version"))] if later else [])]
    except (KeyError, TypeError, AttributeError, ValueError) as error:  # its checksum is right: written by other means
        raise RunError(
            Message(
                "{what} is damaged: {RECORD} does not fit its files ({class_name}: {error}).",
                what=what,
                RECORD=RECORD,
                class_name=type(error).__name__,
                error=error,
            )
        ) from error
    try:
        record = record_from_json(record_type, values, "result", extra_fields=apart)
    except InputError as error:
        raise RunError(Message("{what} was made by another version: {error}", what=what, error=error)) from error
    reopened: Callable[[], Record] | None = getattr(record, "reopened", None)
    return record if reopened is None else reopened()


def _parts(
    description: Mapping[str, Any], read: Read, what: str, declared: Mapping[str, Table], open_stored: Stored | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values in a description, and the tables and arrays in the files beside it, both by field."""
    arrays = _from_npz(_sound(read, description, ARRAYS, what), what) if ARRAYS in description["files"] else {}
    apart: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, stored in description["fields"].items():
        if stored["as"] == "table":
            is_large = name in declared and declared[name].is_large
            table = (
                _left_in_file(open_stored, description, name, declared[name], what)
                if open_stored and is_large
                else None
            )
            apart[name] = (
                _from_parquet(_sound(read, description, f"{name}.parquet", what), what) if table is None else table
            )
        elif stored["as"] == "array":
            apart[name] = arrays[name]
        elif stored["as"] == "arrays":
            apart[name] = {key: arrays[f"{name}.{i}"] for i, key in enumerate(stored["keys"])}
        else:
            values[name] = stored["value"]
    return values, apart


def _left_in_file(
    open_stored: Stored, description: Mapping[str, Any], field: str, declared: Table, what: str
) -> StoredTable | None:
    """A table that stays in its file; None for one of few rows, or one whose missing columns are to be filled."""
    try:
        table = open_stored(f"{field}.parquet")
    except (OSError, ValueError, pa.ArrowException):  # what is wrong with it is said where it is read
        return None
    if len(table) <= ROWS_IN_MEMORY or not set(declared.headers) <= set(table.columns):
        return None
    _check(table.size_and_checksum(), description, f"{field}.parquet", what)
    return table


def to_parquet(frame: pd.DataFrame, rows_in_part: int | None = None) -> bytes:
    """A table in Parquet, index and types included; messages with what they are made of.

    rows_in_part: so many rows can be read alone; None for pyarrow's usual million.
    """
    sink = io.BytesIO()
    columns = [
        name
        for name in frame.columns
        if frame[name].dtype == object and any(isinstance(value, Message) for value in frame[name])
    ]
    table = pa.Table.from_pandas(frame.assign(**{name: frame[name].map(as_text) for name in columns}))
    for name in columns:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at).with_metadata(OF_MESSAGES), table.column(at))
    pq.write_table(table, sink, compression="lz4", row_group_size=rows_in_part)  # lz4 is the fastest to read back
    return sink.getvalue()


def from_parquet(raw: bytes) -> pd.DataFrame:
    """The table that `to_parquet` wrote. Raises pyarrow.ArrowException when it is damaged."""
    table = pq.read_table(pa.BufferReader(raw))
    frame: pd.DataFrame = table.to_pandas()
    messages = [field.name for field in table.schema if OF_MESSAGES.items() <= (field.metadata or {}).items()]
    return (
        frame.assign(
            **{name: pd.Series([of_text(text) for text in frame[name]], frame.index, dtype=object) for name in messages}
        )
        if messages
        else frame
    )


def _with_messages(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """A stored table whose columns of messages may hold the texts alone."""
    return frame.assign(
        **{
            name: pd.Series(
                [
                    read_message(text) if isinstance(text, str) and text and not isinstance(text, Message) else text
                    for text in frame[name]
                ],
                frame.index,
                dtype=object,
            )
            for name in names
            if name in frame
        }
    )


def _complete(record_type: type[Any], tables: dict[str, Any], stored: str | None, what: str) -> list[Message]:
    """Fill in what the declarations have and the stored tables, by field, have not; which tables and columns.

    `stored`: the version that wrote the record, None for the first, whose records do not name it.
    """
    later = []
    for name, table in tables_of(record_type).items():
        if name not in tables:
            _refuse_damage(
                [Message("the table {name!r}", name=name)] if _had(stored, table.since) else [], stored, what
            )
            tables[name] = table.frame()
            later.append(Message("the table {name!r}", name=name))
        elif isinstance(tables[name], pd.DataFrame):
            tables[name], missing = table.completed(tables[name])
            tables[name] = _with_messages(
                tables[name], [column.name for column in table.columns if column.dtype == MESSAGE]
            )
            _refuse_damage(
                [
                    Message("the column {name!r} of its table {name_!r}", name=column.name, name_=name)
                    for column in missing
                    if _had(stored, column.since) and _had(stored, table.since)
                ],
                stored,
                what,
            )
            if missing:
                columns = ", ".join(repr(column.name) for column in missing)
                later.append(
                    Message("the columns {columns} of the table {name!r}", columns=columns, name=name)
                    if len(missing) > 1
                    else Message("the column {columns} of the table {name!r}", columns=columns, name=name)
                )
    return later


def _had(stored: str | None, since: str) -> bool:
    """Whether the version that wrote a record had what came with `since`; of one that names no version none must.

    Nor must a record of today's version have what is new in it: the version may have come to have it later.
    """
    return stored is not None and not precedes(stored, since) and since != VERSION


def _refuse_damage(lacking: Sequence[str], stored: str | None, what: str) -> None:
    if not lacking:
        return
    if stored is not None and precedes(VERSION, stored):
        raise RunError(Message("{what} was written by a newer version of Hakari; update to see it.", what=what))
    raise RunError(Message("{what} is damaged: it lacks {lacking}.", what=what, lacking=together(", ", lacking)))


def _missing(later: Sequence[Message], stored: str | None) -> Message:
    version = stored or Message("{FIRST_VERSION} or earlier", FIRST_VERSION=FIRST_VERSION)
    return Message(
        "Stored by version {version}, before {part} existed; run again to fill it.",
        version=version,
        part=together("; ", later),
    )


def description_of(read: Read, what: str) -> dict[str, Any]:
    """The content of `record.json` without its checksum. Raises RunError, starting with `what`, when it is damaged."""
    raw = read(RECORD)
    try:
        description: dict[str, Any] = json.loads(raw)
        checksum = description.pop("checksum")
        schema = int(description["schema"])
        sound = checksum == _checksum(description)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RunError(
            Message("{what} is damaged: {RECORD} is no record ({error}).", what=what, RECORD=RECORD, error=error)
        ) from error
    if not sound:
        raise RunError(Message("{what} is damaged: {RECORD} is not as it was written.", what=what, RECORD=RECORD))
    if schema > SCHEMA:
        raise RunError(Message("{what} was written by a newer version of Hakari; update to see it.", what=what))
    return description


def _sound(read: Read, description: Mapping[str, Any], name: str, what: str) -> bytes:
    raw = read(name)
    _check([len(raw), zlib.crc32(raw)], description, name, what)
    return raw


def _check(size_and_checksum: list[int], description: Mapping[str, Any], name: str, what: str) -> None:
    if size_and_checksum != description["files"][name]:
        raise RunError(Message("{what} is damaged: {name} is not as it was written.", what=what, name=name))


def _from_parquet(raw: bytes, what: str) -> pd.DataFrame:
    try:
        return from_parquet(raw)
    except pa.ArrowException as error:
        raise RunError(Message("{what} is damaged: {error}.", what=what, error=error)) from error


def _to_npz(arrays: Mapping[str, np.ndarray], record: Any) -> bytes:
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"{type(record).__qualname__}.{name}: an array of Python objects cannot be kept.")
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:  # the layout of np.savez, for any member name
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return sink.getvalue()


def _from_npz(raw: bytes, what: str) -> dict[str, np.ndarray]:
    try:
        with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
            return dict(archive)
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise RunError(
            Message("{what} is damaged: {ARRAYS}: {error}.", what=what, ARRAYS=ARRAYS, error=error)
        ) from error


def _key(key: Any, record: Any, field: str) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{type(record).__qualname__}.{field}: keys are str; got {key!r}.")
    return key


def _checksum(description: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(description, sort_keys=True).encode())
