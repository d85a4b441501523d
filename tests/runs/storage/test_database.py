from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from engine.__main__ import main
from engine.errors import InputError, RunError
from engine.runs.storage import database
from engine.runs.storage.database import MIGRATIONS, database_url, file_url, open_database
from engine.runs.storage.processes import this_process
from engine.runs.storage.schema import Base
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store
from engine.version import VERSION
from tests.support import postgres
from tests.support.database import MIGRATE, ON_POSTGRESQL, migrated_from_memory, sqlite_only


@pytest.fixture(autouse=True)
def every_database_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its steps, here."""
    monkeypatch.setattr(database, "_migrate", MIGRATE)


def steps() -> Config:
    """The migrations, for a connection that a test puts into `attributes`."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def test_the_steps_lead_to_the_tables_that_the_code_knows(tmp_path: Path) -> None:
    for _ in range(2):  # empty, and as it is
        engine = open_database(database_url(tmp_path))
        with engine.connect() as connection:
            assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
            # Alembic compares no primary keys.
            for name, table in Base.metadata.tables.items():
                key = inspect(connection).get_pk_constraint(name)["constrained_columns"]
                assert set(key) == {column.name for column in table.primary_key}, name
        engine.dispose()


@sqlite_only
def test_what_other_tests_migrate_from_memory_is_what_the_steps_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for number, migrate in enumerate((MIGRATE, migrated_from_memory, migrated_from_memory)):
        monkeypatch.setattr(database, "_migrate", migrate)
        path = tmp_path / f"{number}.sqlite"
        open_database(file_url(path)).dispose()
        with closing(sqlite3.connect(path)) as file:
            # Alembic puts the constraints of a table that it makes anew in no order of its own.
            made.append(
                sorted(sorted(line.strip("\t, ") for line in statement.splitlines()) for statement in file.iterdump())
            )
            assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert made[0] == made[1] == made[2] and any("alembic_version" in line for lines in made[0] for line in lines)


def test_every_step_says_what_it_does_and_can_be_taken_back(tmp_path: Path) -> None:
    engine, config = open_database(database_url(tmp_path)), steps()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
        command.upgrade(config, "head")
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


def test_scores_given_before_there_were_questions_keep_what_was_asked(tmp_path: Path) -> None:
    engine, config = open_database(database_url(tmp_path)), steps()
    run = {
        "owner": "local",
        "name": "n",
        "settings": "{}",
        "dataset_name": "d",
        "dataset_hash": "h",
        "key": "k",
        "dataset_notices": "[]",
        "state": "done",
        "label": "",
        "message": "",
        "created": "2026-01-01 00:00:00",
    }
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0008")
        for run_id, kind in (("pairs", "minimal-pairs"), ("study", "metric-study")):
            values = {**run, "id": run_id, "kind": kind}
            connection.execute(
                text(
                    f"INSERT INTO runs ({', '.join(values)}, done, total, stop_requested, attempts) "
                    f"VALUES ({', '.join(f':{name}' for name in values)}, 1, 1, FALSE, 1)"
                ),
                values,
            )
            for item in (0, 1):
                connection.execute(
                    text(
                        "INSERT INTO ratings (run_id, rater, item, score, created) "
                        "VALUES (:run_id, 'ann', :item, :score, '2026-01-02 00:00:00')"
                    ),
                    {"run_id": run_id, "item": item, "score": item - 1.5},
                )
        command.upgrade(config, "head")
        every = "SELECT run_id, rater, question, item, score FROM ratings ORDER BY run_id, question, item"
        assert [tuple(row) for row in connection.execute(text(every))] == [
            ("pairs", "ann", "preference", 0, -1.5),
            ("pairs", "ann", "preference", 1, -0.5),
            ("study", "ann", "similarity", 0, -1.5),
            ("study", "ann", "similarity", 1, -0.5),
        ]
        connection.execute(
            text(
                "INSERT INTO ratings (run_id, rater, question, item, score, created) VALUES "
                "('pairs', 'ann', 'acceptability', 0, 7, '2026-01-02 00:00:00')"
            )
        )
        command.downgrade(config, "0008")  # which knows of no sentences
        assert [
            tuple(row)
            for row in connection.execute(text("SELECT run_id, item, score FROM ratings ORDER BY run_id, item"))
        ] == [("pairs", 0, -1.5), ("pairs", 1, -0.5), ("study", 0, -1.5), ("study", 1, -0.5)]
        command.upgrade(config, "head")
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


@sqlite_only
def test_a_list_made_before_the_steps_were_kept_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "hakari.sqlite"
    open_database(database_url(tmp_path)).dispose()
    with sqlite3.connect(path) as old:  # as the first release left it
        old.execute("DROP TABLE alembic_version")
        for table in Base.metadata.tables.keys() - {"runs", "processes"}:
            old.execute(f"DROP TABLE {table}")
        for index in ("runs_shared", "runs_deleted"):
            old.execute(f"DROP INDEX {index}")
        for column in (
            "shared",
            "note",
            "models",
            "stored_bytes",
            "deleted",
            "tags",
            "n_rows",
            "headline",
            "per_second",
            "comments_closed",
            "shared_at",
        ):
            old.execute(f"ALTER TABLE runs DROP COLUMN {column}")
        old.execute(
            "INSERT INTO runs (id, owner, kind, name, settings, dataset_name, dataset_hash, dataset_notices, key, "
            "state, done, total, label, message, created, stop_requested, attempts) VALUES ('abc', 'local', "
            "'clusters', 'n', ?, 'd', 'h', '[]', 'k', 'done', 1, 1, '', '', '2026-01-01 00:00:00', 0, 1)",
            [json.dumps({"models": ["builtin/bert-mini-ja", "b"], "layer": None})],
        )
    old.close()
    store = Store(database_url(tmp_path))
    (run,) = store.search(Search(model="b"))
    assert (run.id, run.shared, run.note, run.models) == ("abc", False, "", ("builtin/bert-mini-ja", "b"))
    assert (run.deleted, run.tags, run.n_rows, run.headline) == (None, (), None, None)
    store.close()


def test_a_list_that_a_newer_version_has_opened_is_refused_in_words(tmp_path: Path) -> None:
    newest = max(path.name[1:5] for path in MIGRATIONS.glob("versions/v*.py"))
    engine = open_database(database_url(tmp_path))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9901'"))
    engine.dispose()
    for _ in range(2):
        with pytest.raises(InputError, match="schema 9901") as caught:
            open_database(database_url(tmp_path))
        assert f"version of Hakari, {VERSION}, knows those up to {newest}" in str(caught.value)
        assert "restore the backup" in str(caught.value)


def test_a_step_that_fails_is_said_with_both_schemas_and_changes_nothing(tmp_path: Path) -> None:
    engine, config = open_database(database_url(tmp_path)), steps()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0006")
        connection.execute(text("CREATE TABLE presets (a INTEGER)"))  # which 0007 makes
    engine.dispose()
    with pytest.raises(InputError, match=r"from schema 0006 to \d{4}, which this version .*presets.* already exists"):
        open_database(database_url(tmp_path))
    engine = create_engine(database_url(tmp_path))
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "0006"
        assert "ratings" not in inspect(connection).get_table_names()
    engine.dispose()


@sqlite_only
@pytest.mark.parametrize("command_line", [["members"], ["clean", "--older-than", "9"], ["adopt"]])
def test_a_command_says_that_a_list_is_newer(
    command_line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_database(file_url(tmp_path / "hakari.sqlite")).dispose()
    with closing(sqlite3.connect(tmp_path / "hakari.sqlite")) as file, file:
        file.execute("UPDATE alembic_version SET version_num = '9901'")
    monkeypatch.setenv("HAKARI_DATA_DIR", str(tmp_path))
    assert main(command_line) == 2
    assert "schema 9901" in capsys.readouterr().err


def test_the_address_of_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_DATABASE_URL", raising=False)
    assert database_url(tmp_path).database == str(tmp_path / "hakari.sqlite")
    for url in ("postgres://ann:pw@db/hakari", "postgresql://ann:pw@db/hakari"):
        monkeypatch.setenv("HAKARI_DATABASE_URL", url)
        assert database_url(tmp_path).render_as_string(False) == "postgresql+psycopg://ann:pw@db/hakari"
    monkeypatch.setenv("HAKARI_DATABASE_URL", "mysql://db/hakari")
    with pytest.raises(InputError, match="mysql"):
        database_url(tmp_path)
    monkeypatch.setenv("HAKARI_DATABASE_URL", "no url, but pw secret")
    with pytest.raises(InputError, match="postgresql://") as caught:
        database_url(tmp_path)
    assert "secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_said_without_its_password() -> None:
    with pytest.raises(InputError, match=r"ann:\*\*\*@127.0.0.1:1/.*cannot be opened.*HAKARI_DATABASE_URL") as caught:
        open_database("postgresql+psycopg://ann:geheim@127.0.0.1:1/hakari")
    assert "geheim" not in str(caught.value)


@pytest.mark.skipif(not ON_POSTGRESQL, reason="needs the tests to run on PostgreSQL: make test DATABASE=postgresql")
def test_a_server_that_goes_away_and_comes_back() -> None:
    with postgres.running() as server:
        store = Store(server.url.replace("postgresql:", "postgresql+psycopg:"))
        identity = this_process()
        store.heartbeat(identity)
        fields = {
            "owner": "local",
            "kind": "k",
            "name": "n",
            "settings": {},
            "dataset_name": "d",
            "dataset_hash": "h",
            "dataset_notices": [],
            "key": "k",
            "process_id": identity.id,
        }
        run_id = store.add(**fields)  # type: ignore[arg-type]
        server.stop()
        for _ in range(2):
            with pytest.raises(RunError, match="at the moment"):
                store.get(run_id)
        server.start()
        run = store.get(run_id)
        assert run is not None and run.state == "queued"
        store.close()


@pytest.mark.skipif(not ON_POSTGRESQL, reason="needs the tests to run on PostgreSQL: make test DATABASE=postgresql")
def test_the_tests_run_where_they_were_asked_to(tmp_path: Path) -> None:
    with open_database(database_url(tmp_path)).connect() as connection:
        assert "PostgreSQL" in str(connection.scalar(text("SELECT version()")))
