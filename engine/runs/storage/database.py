"""Opening the database of the run store, and migrating it to the newest schema.

SQLite in the data directory, or the PostgreSQL database at HAKARI_DATABASE_URL. The migrations are Alembic's, in
`migrations/versions`; every opening applies the missing ones.
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
from engine.messages.message import Message
from engine.version import VERSION

URL_VARIABLE = "HAKARI_DATABASE_URL"
SQLITE_FILE = "hakari.sqlite"  # in the data directory
BUSY_SECONDS = 30
CONNECT_SECONDS = 10
OPENING_ATTEMPTS = 10
MIGRATIONS = Path(__file__).with_name("migrations")
FIRST_REVISION = "0001"  # the schema of databases that were created before Alembic was used
MIGRATION_LOCK = 4_172_903  # any number, the same for every process that opens a PostgreSQL database
ONE_AT_A_TIME = threading.Lock()  # Alembic's `context` is global to the process
DRIVERS = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}


def database_url(data_dir: Path) -> URL:
    """The URL of the run store of `data_dir`: HAKARI_DATABASE_URL, or a SQLite file in the directory.

    Raises InputError for an invalid URL, or one of an unsupported database.
    """
    raw_url = os.environ.get(URL_VARIABLE, "").strip()
    return checked_url(raw_url, URL_VARIABLE) if raw_url else file_url(data_dir / SQLITE_FILE)


def file_url(path: Path) -> URL:
    """The URL of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def checked_url(raw_url: str, name: str) -> URL:
    """The URL of a supported database. Raises InputError, with `name` for where it stands, for any other."""
    try:
        url = make_url(raw_url)
    except ArgumentError:
        # Without the value, which may hold a password.
        raise InputError(
            Message(
                "{name} is not the URL of a database. Give one such as postgresql://user:password@host:5432/hakari.",
                name=name,
            )
        ) from None
    url = url.set(drivername=DRIVERS.get(url.drivername, url.drivername))
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(
            Message(
                "{name} names a {get_backend_name} database; SQLite and PostgreSQL are supported.",
                name=name,
                get_backend_name=url.get_backend_name(),
            )
        )
    return url


def open_database(url: str | URL) -> Engine:
    """Open the database at `url`, and create or migrate its tables.

    Raises InputError when it cannot be opened or migrated.
    """
    url = make_url(url)
    location = location_of(url)
    try:
        engine = _engine(url)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise InputError(
            Message(
                "The database {location} needs a driver that is not installed: {error}.", location=location, error=error
            )
        ) from error
    try:
        _upgrade(engine)
    except InputError:
        engine.dispose()
        raise
    except DatabaseError as error:
        engine.dispose()
        reason = _reason(error.orig)
        advice = (
            Message(
                "Choose another data directory (HAKARI_DATA_DIR), restore the file from a backup, or move "
                "it away and list the stored results again (python -m engine adopt)."
            )
            if engine.dialect.name == "sqlite"
            else Message(
                "Check that the server runs and that {URL_VARIABLE} names the right server, user and database.",
                URL_VARIABLE=URL_VARIABLE,
            )
        )
        raise InputError(
            Message(
                "The list of runs in {location} cannot be opened: {reason}. {advice}",
                location=location,
                reason=reason,
                advice=advice,
            )
        ) from error
    return engine


def location_of(url: URL) -> str:
    """Where a database is, for messages: the path of a file, or the URL without its password."""
    if url.get_backend_name() == "sqlite":
        return url.database or ":memory:"
    return url.render_as_string(hide_password=True)


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
        event.listen(engine, "connect", _set_up_sqlite)
        return engine
    # pool_pre_ping replaces a connection that the server has closed before it is used.
    return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": CONNECT_SECONDS})


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # safe with a write-ahead log


def _upgrade(engine: Engine) -> None:
    """Apply the missing migrations; concurrent processes do so one after the other."""
    for attempt in range(OPENING_ATTEMPTS):
        try:
            with ONE_AT_A_TIME, engine.connect() as connection:
                if engine.dialect.name == "sqlite":
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
                    connection.commit()
                    connection.exec_driver_sql("BEGIN IMMEDIATE")  # sqlite3 would begin too late
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
    from alembic import command  # imported here: it takes a third of a second
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    tables = inspect(connection).get_table_names()
    if "runs" in tables and "alembic_version" not in tables:
        command.stamp(config, FIRST_REVISION)
        tables.append("alembic_version")
    found = ""
    if "alembic_version" in tables:
        found = ", ".join(sorted(connection.execute(text("SELECT version_num FROM alembic_version")).scalars()))
    script = ScriptDirectory.from_config(config)
    location, newest = location_of(connection.engine.url), script.get_current_head()
    if found and found not in {step.revision for step in script.walk_revisions()}:
        raise InputError(
            Message(
                "The list of runs in {location} has schema {found}, and this version of Hakari, {VERSION}, knows those up "
                "to {newest}: a newer version has opened it. Update Hakari to that version, or restore the backup made "
                "before the update into an empty data directory (deploy/restore.sh). Nothing was changed.",
                location=location,
                found=found,
                VERSION=VERSION,
                newest=newest,
            )
        )
    try:
        command.upgrade(config, "head")
    except (CommandError, DatabaseError) as error:
        raise InputError(
            Message(
                "The list of runs in {location} cannot be brought from schema {found} to {newest}, which this version "
                "of Hakari, {VERSION}, needs: {reason}. Nothing was changed. Mend what the reason names and start again, or "
                "go on with the version that wrote the list.",
                location=location,
                found=found or Message("none"),
                newest=newest,
                VERSION=VERSION,
                reason=_reason(error.orig if isinstance(error, DatabaseError) else error),
            )
        ) from error


def _reason(error: BaseException | None) -> str:
    """What a library says, in one line and without its full stop."""
    return " ".join(str(error).split()).rstrip(".?")
