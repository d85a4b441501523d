"""Data directories that earlier versions wrote, one folder for each version, with a finished run of every kind."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, Table, create_engine

from engine.runs.storage.database import MIGRATIONS, URL_VARIABLE, open_database
from tests.support import database

FOLDER = Path(__file__).parents[1] / "stored_runs"
VERSIONS = sorted(path.name for path in FOLDER.iterdir())


def copied(version: str, target: Path) -> Path:
    """A copy of the data directory of a version, as `target`; its runs are in the database of the test."""
    shutil.copytree(FOLDER / version, target)
    if database.ON_POSTGRESQL:
        _into_postgresql(target / "hakari.sqlite", os.environ[URL_VARIABLE])
    return target


def _into_postgresql(file: Path, url: str) -> None:
    """The runs of a SQLite file in a PostgreSQL database, at the schema of the file."""
    with sqlite3.connect(file) as source:
        source.row_factory = sqlite3.Row
        revision = source.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        runs = [dict(row) for row in source.execute("SELECT * FROM runs")]
    source.close()
    open_database(url).dispose()
    target = create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with target.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)
    with target.begin() as connection:
        # Of the file's own types, SQLite knows neither JSON nor booleans nor times.
        table = Table("runs", MetaData(), autoload_with=connection)
        connection.execute(table.insert(), [_typed(row, table) for row in runs])
    target.dispose()


def _typed(row: dict[str, object], table: Table) -> dict[str, object]:
    import json
    from datetime import datetime

    values = {}
    for name, value in row.items():
        kind = table.columns[name].type.python_type
        if value is not None and kind in (dict, list):
            value = json.loads(str(value))
        elif value is not None and kind is datetime:
            value = datetime.fromisoformat(str(value))
        elif value is not None and kind is bool:
            value = bool(value)
        values[name] = value
    return values
