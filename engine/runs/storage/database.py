"""Opening the database of the run store, and bringing it to the newest schema.

SQLite in the data directory, or the PostgreSQL that HAKARI_DATABASE_URL names. The schema is Alembic's: the steps
lie in `migrations/versions`, and every opening takes those that are missing.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError

from engine.errors import InputError

URL_VARIABLE = "HAKARI_DATABASE_URL"
BUSY_SECONDS = 30
CONNECT_SECONDS = 10
OPENING_ATTEMPTS = 10
MIGRATIONS = Path(__file__).with_name("migrations")
FIRST_REVISION = "0001"  # the schema of databases that were made before Alembic looked after it
MIGRATION_LOCK = 4_172_903  # any number, the same for every process that opens a PostgreSQL database
ONE_AT_A_TIME = threading.Lock()  # Alembic's `context` is one for the whole process
DRIVERS = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}


def database_url(data_dir: Path) -> URL:
    """Where the runs of `data_dir` are listed: HAKARI_DATABASE_URL, or a SQLite file in the directory.

    Raises InputError for a URL that is none, or of another kind of database.
    """
    given = os.environ.get(URL_VARIABLE, "").strip()
    if not given:
        return URL.create("sqlite", database=str(data_dir / "hakari.sqlite"))
    try:
        url = make_url(given)
    except ArgumentError:
        # Without the value: it may hold a password.
        raise InputError(f"{URL_VARIABLE} is no URL of a database. It looks like "
                         "postgresql://user:password@host:5432/hakari.") from None
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(f"{URL_VARIABLE} names a {url.get_backend_name()} database; SQLite and PostgreSQL are "
                         "supported.")
    return url


def open_database(url: str | URL) -> Engine:
    """The database at `url` with all tables as they are today; what is missing is created.

    Raises InputError when it cannot be opened, or is no such database.
    """
    url = make_url(url)
    where = url.render_as_string(hide_password=True)
    try:
        engine = _engine(url)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(f"The database {where} needs a driver that is not installed: {error}.") from error
    try:
        _upgrade(engine)
    except DatabaseError as error:
        engine.dispose()
        what = " ".join(str(error.orig).split()).rstrip(".?")
        advice = ("Choose another data directory (HAKARI_DATA_DIR), or move that file away to begin an empty list."
                  if engine.dialect.name == "sqlite" else
                  f"Check that the server runs and that {URL_VARIABLE} names it, its user and its database rightly.")
        raise InputError(f"The list of runs in {url.database if engine.dialect.name == 'sqlite' else where} cannot be "
                         f"opened: {what}. {advice}") from error
    return engine


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _set_up_sqlite)
        return engine
    # A connection that the server dropped meanwhile is noticed and made anew before it is used.
    return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_SECONDS})


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # safe with a write-ahead log


def _upgrade(engine: Engine) -> None:
    """Take the missing steps; two processes that open at once do it one after the other."""
    for attempt in range(OPENING_ATTEMPTS):
        try:
            with ONE_AT_A_TIME, engine.connect() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                    connection.commit()
                    connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver's own BEGIN comes too late
                else:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": MIGRATION_LOCK})
                _migrate(connection)
                connection.commit()
            return
        except OperationalError:
            if attempt == OPENING_ATTEMPTS - 1:
                raise
            time.sleep(0.05 * (attempt + 1))


def _migrate(connection: Connection) -> None:
    from alembic import command  # a third of a second that only an opening pays
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    tables = inspect(connection).get_table_names()
    if "runs" in tables and "alembic_version" not in tables:
        command.stamp(config, FIRST_REVISION)
    command.upgrade(config, "head")
