"""A database of its own for each test: SQLite in the test's directory, or a schema on a PostgreSQL server.

HAKARI_TEST_DATABASE=postgresql chooses the latter (`make test DATABASE=postgresql`).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, inspect, make_url, text

from engine.runs.storage import database
from tests.support import postgres

MIGRATE = database._migrate
_made: list[str] = []  # the statements that make a migrated file

ON_POSTGRESQL = os.environ.get("HAKARI_TEST_DATABASE", "sqlite") == "postgresql"
sqlite_only = pytest.mark.skipif(
    ON_POSTGRESQL, reason="this concerns the file of SQLite, and the tests run on PostgreSQL"
)


def url_for(folder: Path, server: postgres.Server | None) -> str:
    """The database that belongs to a folder, the same at every call; "" for the SQLite file in the folder."""
    if server is None:
        return ""
    schema = "folder_" + hashlib.sha256(str(folder).encode()).hexdigest()[:20]
    url = make_url(server.url).set(drivername="postgresql+psycopg")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {schema}"))
    engine.dispose()
    return url.update_query_dict({"options": f"-csearch_path={schema}"}).render_as_string(hide_password=False)


def migrated_from_memory(connection: Connection) -> None:
    """What the migrations make of an empty SQLite file, written at once from the second such file of a process on.

    Alembic takes a fifth of a second for each, and most tests open an engine on a directory of their own.
    """
    if connection.dialect.name != "sqlite" or inspect(connection).get_table_names():
        MIGRATE(connection)
    elif _made:
        for statement in _made:
            connection.exec_driver_sql(statement)
    else:
        MIGRATE(connection)
        driver: Any = connection.connection.driver_connection
        _made.extend(line for line in driver.iterdump() if line not in ("BEGIN TRANSACTION;", "COMMIT;"))
