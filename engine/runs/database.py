"""Opening the database of the run store; what is particular to SQLite stands here."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DatabaseError, OperationalError

from engine.errors import InputError
from engine.runs.tables import Base

BUSY_SECONDS = 30
OPENING_ATTEMPTS = 10


def open_database(url: str | URL) -> Engine:
    """The database at `url` with all tables; what is missing is created.

    Raises InputError when it cannot be opened, or is no such database.
    """
    url = make_url(url)
    sqlite = url.get_backend_name() == "sqlite"
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS} if sqlite else {})
    if sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
    try:
        _create_tables(engine)
    except DatabaseError as error:
        engine.dispose()
        raise InputError(f"The list of runs in {url.database} cannot be opened: {error.orig}. Choose another data "
                         "directory (HAKARI_DATA_DIR), or move that file away to begin an empty list.") from error
    return engine


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # safe with a write-ahead log


def _create_tables(engine: Engine) -> None:
    """Create what is missing; two processes that do so at once get in each other's way only briefly."""
    for attempt in range(OPENING_ATTEMPTS):
        try:
            with engine.connect() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                Base.metadata.create_all(connection)
                connection.commit()
            return
        except OperationalError:
            if attempt == OPENING_ATTEMPTS - 1:
                raise
            time.sleep(0.05 * (attempt + 1))
