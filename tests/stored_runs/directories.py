"""Data directories that earlier versions wrote, one folder for each version, with a finished run of every kind."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from alembic import command
from alembic.config import Config
from sqlalchemy import JSON, Boolean, DateTime, MetaData, Table, create_engine
from sqlalchemy.types import TypeEngine

from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.declared_tables import tables_of
from engine.runs.storage.database import MIGRATIONS, URL_VARIABLE, open_database
from engine.runs.storage.migrations.versions.v0003_kinds import KINDS
from engine.runs.storage.packing import RECORD, to_parquet
from engine.version import precedes
from tests.support import database

FOLDER = Path(__file__).parent
VERSIONS = sorted(path.parent.name for path in FOLDER.glob("*/hakari.sqlite"))


def copied(version: str, target: Path) -> Path:
    """A copy of the data directory of a version, as `target`; its runs are in the database of the test."""
    shutil.copytree(FOLDER / version, target)
    if database.ON_POSTGRESQL:
        _into_postgresql(target / "hakari.sqlite", os.environ[URL_VARIABLE])
    return target


def kinds(version: str) -> dict[str, str]:
    """The kind of each run of a version, by the name that it has today, by id."""
    with closing(sqlite3.connect(f"file:{FOLDER / version / 'hakari.sqlite'}?mode=ro", uri=True)) as source:
        return {run_id: KINDS.get(kind, kind) for run_id, kind in source.execute("SELECT id, kind FROM runs")}


def later_columns(kind: str, version: str) -> list[str]:
    """What came after a version, so that its runs cannot have it: tables, and columns of the other tables."""
    tables = tables_of(EVALUATIONS[kind].result_type).values()
    return [
        name
        for table in tables
        for name in (
            [table.name]
            if precedes(version, table.since)
            else [column.name for column in table.columns if not column.is_family and precedes(version, column.since)]
        )
    ]


def rewrite(folder: Path, tables: Mapping[str, pd.DataFrame], version: str | None = None) -> None:
    """Write tables into a stored result as a version would have (None: the first, which does not name itself)."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, content in repacked(files, tables, version).items():
        (folder / name).write_bytes(content)


def repacked(
    files: Mapping[str, bytes], tables: Mapping[str, pd.DataFrame | None], version: str | None
) -> dict[str, bytes]:
    """The files of a result with other tables (None: without that table) and of another version, sums and all."""
    changed = dict(files)
    description = json.loads(changed[RECORD])
    for name in ("checksum", "version"):
        description.pop(name, None)
    for field, table in tables.items():
        name = f"{field}.parquet"
        if table is None:
            del changed[name], description["files"][name], description["fields"][field]
        else:
            changed[name] = to_parquet(table)
            description["files"][name] = [len(changed[name]), zlib.crc32(changed[name])]
    if version is not None:
        description["version"] = version
    description["checksum"] = zlib.crc32(json.dumps(description, sort_keys=True).encode())
    return changed | {RECORD: json.dumps(description).encode()}


def _into_postgresql(file: Path, url: str) -> None:
    """The runs of a SQLite file in a PostgreSQL database, at the schema of the file."""
    with closing(sqlite3.connect(file)) as source:
        source.row_factory = sqlite3.Row
        revision = source.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        runs = [dict(row) for row in source.execute("SELECT * FROM runs ORDER BY number")]
    open_database(url).dispose()
    target = create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with target.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)
    with target.begin() as connection:
        table = Table("runs", MetaData(), autoload_with=connection)
        connection.execute(table.insert(), [_typed(row, table) for row in runs])
    target.dispose()


def _typed(row: dict[str, object], table: Table) -> dict[str, object]:
    """A row as PostgreSQL takes it: SQLite keeps JSON and times (in UTC) as texts, and booleans as numbers."""
    restore: list[tuple[type[TypeEngine[Any]], Callable[[Any], object]]] = [
        (JSON, json.loads),
        (Boolean, bool),
        (DateTime, lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC)),
    ]
    restored = {name: value for name, value in row.items() if name != "number"}  # the server counts
    for name, value in list(restored.items()):
        for kind, function in restore:
            if value is not None and isinstance(table.columns[name].type, kind):
                restored[name] = function(value)
    return restored
