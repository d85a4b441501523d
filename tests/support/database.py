"""A database of its own for each test: SQLite in the test's directory, or a schema on a PostgreSQL server.

HAKARI_TEST_DATABASE=postgresql chooses the latter (`make test DATABASE=postgresql`).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from tests.support import postgres

ON_POSTGRESQL = os.environ.get("HAKARI_TEST_DATABASE", "sqlite") == "postgresql"
sqlite_only = pytest.mark.skipif(ON_POSTGRESQL, reason="this concerns the file of SQLite, and the tests run on "
                                                       "PostgreSQL")


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
