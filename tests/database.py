"""A database of its own for each test: SQLite in the test's directory, or a schema on a PostgreSQL server.

HAKARI_TEST_DATABASE=postgresql chooses the latter (`make test DATABASE=postgresql`).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine, make_url, text

from engine.runs.database import URL_VARIABLE
from tests import postgres

sqlite_only = pytest.mark.skipif(os.environ.get("HAKARI_TEST_DATABASE") == "postgresql",
                                 reason="this concerns the file of SQLite, and the tests run on PostgreSQL")
ON_POSTGRESQL = os.environ.get("HAKARI_TEST_DATABASE", "sqlite") == "postgresql"


@contextmanager
def of_its_own(server: postgres.Server | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """HAKARI_DATABASE_URL names an empty schema while this is open; without a server it is not set."""
    if server is None:
        monkeypatch.delenv(URL_VARIABLE, raising=False)
        yield
        return
    url, schema = make_url(server.url).set(drivername="postgresql+psycopg"), f"test_{secrets.token_hex(8)}"
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
    own = url.update_query_dict({"options": f"-csearch_path={schema}"})
    monkeypatch.setenv(URL_VARIABLE, own.render_as_string(hide_password=False))
    try:
        yield
    finally:
        with engine.begin() as connection:
            connection.execute(text(f"DROP SCHEMA {schema} CASCADE"))
        engine.dispose()
