"""Moving the list of runs into another database: SQLite files everywhere, PostgreSQL where the tests run on it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import URL, make_url, select

from engine.__main__ import main
from engine.errors import InputError, RunError
from engine.runs.open import open_engine
from engine.runs.storage import kept, listing, members, moving
from engine.runs.storage.database import URL_VARIABLE, file_url
from engine.runs.storage.moving import Move, move_runs
from engine.runs.storage.processes import ProcessIdentity, this_process
from engine.runs.storage.schema import RunRow
from engine.runs.storage.store import Store
from tests.runs.storage.test_unlisted import files, finished_runs
from tests.support import database, postgres
from tests.support.fake_runs import EVALUATIONS
from tests.support.fakes import FakeBackend

SETTINGS = {"models": ["a", "b"], "text": '秤 "x"\n', "x": {"float": "nan"}, "y": 0.1 + 0.2, "big": 2**60}


def urls(folder: Path) -> dict[str, URL]:
    """Two SQLite files, and an empty PostgreSQL database of the test's own where there is a server."""
    given = {"file": file_url(folder / "hakari.sqlite"), "other file": file_url(folder / "other.sqlite")}
    if database.ON_POSTGRESQL:
        given["server"] = make_url(database.url_for(folder / "server", postgres.current))
    return given


def fill(url: URL, n: int = 7) -> list[dict[str, object]]:
    """Runs of every state, written through the store; their rows."""
    dead = ProcessIdentity("dead", this_process().host, 2**22 + 1, 0.0)
    with closing(Store(url)) as store:
        store.heartbeat(dead)
        for i in range(n):
            run_id = store.add(
                owner=f"{i % 2}@lab.example",
                kind="weights",
                name=f"run {i} 😀",
                settings=SETTINGS,
                dataset_name="ä.csv",
                dataset_hash="a" * 64,
                dataset_notices=["n"],
                key=f"{i}",
                process_id="dead",
                stored_bytes=2**40 + i,
            )
            if i < n - 1:
                store.claim("dead")
            if i < n - 2:
                store.finish(run_id, "dead", ("done", "failed", "cancelled")[i % 3], "why", 10)
    return rows(url)


def fill_beside(url: URL, run_id: str) -> None:
    with closing(Store(url)) as store:
        listing.set_star(store, "ann", run_id, starred=True)
        listing.set_viewer_name(store, "browser:a", "Ann 斉藤")
        account = members.Account("member:1", "https://a.example", "1", "ann@lab.example", "Ann@lab.example")
        members.bind(store, account, ())
        kept.add(
            store,
            owner="ann",
            name="titles",
            dataset_type="LabelledSentences",
            dataset_hash="ab",
            n_rows=3,
            notices=["1 row left out"],
        )
        kept.keep_settings(store, "ann", "clusters", "mine", {"layer": 3})


def beside(url: URL) -> list[dict[str, object]]:
    """The rows of the tables beside the runs."""
    with closing(Store(url)) as store, store.session() as session:
        return [dict(row) for table in moving.BESIDE_RUNS for row in session.execute(select(table)).mappings()]


def rows(url: URL) -> list[dict[str, object]]:
    with closing(Store(url)) as store, store.session() as session:
        return [
            {column.key: getattr(row, column.key) for column in RunRow.__mapper__.columns}
            for row in session.query(RunRow).order_by(RunRow.number)
        ]


@pytest.mark.parametrize(("source", "target"), [("file", "other file"), ("file", "server"), ("server", "file")])
def test_every_run_arrives_as_it_was(tmp_path: Path, source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = urls(tmp_path)
    if not {source, target} <= set(given):
        pytest.skip("needs the tests to run on PostgreSQL: make test DATABASE=postgresql")
    monkeypatch.setattr(moving, "ROWS_AT_ONCE", 3)
    before = fill(given[source])
    fill_beside(given[source], str(before[0]["id"]))
    marks = beside(given[source])
    assert len(marks) == 5
    assert [row["state"] for row in before[-2:]] == ["running", "queued"]
    assert move_runs(given[source], given[target], dry_run=True) == Move(7, 0, 0)
    assert rows(given[target]) == [] and rows(given[source]) == before
    move = move_runs(given[source], given[target])
    assert (move.n_source, move.n_before, move.n_after) == (7, 0, 7)
    expected = [{**row, "process_id": None} for row in before]
    expected[-2] |= {"state": "queued", "started": None}  # the process that ran it does not know the new list
    assert rows(given[target]) == expected and beside(given[target]) == marks
    if source == "file":  # it is not taken for the list by mistake
        assert move.kept_file == tmp_path / "hakari.sqlite.moved" and not (tmp_path / "hakari.sqlite").exists()
        assert rows(file_url(move.kept_file)) == before
    else:
        assert move.kept_file is None and rows(given[source]) == before
    with closing(Store(given[target])) as store:  # the numbers go on after the last one
        store.heartbeat(this_process())
        store.add(
            owner="o",
            kind="weights",
            name="n",
            settings={},
            dataset_name="d",
            dataset_hash="b",
            dataset_notices=[],
            key="k",
            process_id=None,
        )  # type: ignore[arg-type]
    assert rows(given[target])[-1]["number"] > before[-1]["number"]  # type: ignore[operator]


def target_of(given: dict[str, URL]) -> URL:
    return given.get("server", given["other file"])


def test_a_target_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    given = urls(tmp_path)
    before, there = fill(given["file"]), fill(target_of(given), 2)
    with pytest.raises(InputError, match=r"is not empty: it lists 2 runs.*7 runs of .*hakari\.sqlite.*Nothing was"):
        move_runs(given["file"], target_of(given))
    assert rows(given["file"]) == before and rows(target_of(given)) == there


def test_kept_data_sets_count_as_what_a_list_holds(tmp_path: Path) -> None:
    given = urls(tmp_path)
    fill(given["file"])
    fill_beside(target_of(given), "run")
    there = beside(target_of(given))
    with pytest.raises(InputError, match="is not empty: it lists 0 runs and 1 version of kept data sets"):
        move_runs(given["file"], target_of(given))
    assert beside(target_of(given)) == there
    with closing(Store(file_url(tmp_path / "third.sqlite"))):
        pass
    if "server" not in given:  # a list without runs is moved, too
        move_runs(given["other file"], file_url(tmp_path / "third.sqlite"))
        assert beside(file_url(tmp_path / "third.sqlite")) == there


def test_what_cannot_be_moved_is_refused(tmp_path: Path) -> None:
    given = urls(tmp_path)
    with pytest.raises(InputError, match=r"There is no list of runs .*hakari\.sqlite"):
        move_runs(given["file"], target_of(given))
    assert not (tmp_path / "hakari.sqlite").exists()
    with pytest.raises(InputError, match="the same database"):
        move_runs(given["file"], given["file"])
    with closing(Store(given["file"])):
        pass
    with pytest.raises(InputError, match="nothing to move"):
        move_runs(given["file"], target_of(given))


def test_a_list_that_a_server_has_open_is_refused(tmp_path: Path) -> None:
    given = urls(tmp_path)
    fill(given["file"])
    with closing(Store(given["file"])) as store:
        store.heartbeat(this_process())
        with pytest.raises(InputError, match=rf"in use \(by process {os.getpid()}\).*Stop the server"):
            move_runs(given["file"], target_of(given))
    assert rows(target_of(given)) == []


@pytest.mark.parametrize("fault", ["a row that comes back otherwise", "a row that the server refuses"])
def test_all_or_nothing_arrives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    given = urls(tmp_path)
    monkeypatch.setattr(moving, "ROWS_AT_ONCE", 3)
    before = fill(given["file"])
    released = moving._released

    def spoilt(row: dict[str, object]) -> dict[str, object]:
        copy = released(row)
        if row["number"] == 5:
            copy["name"] = None if "refuses" in fault else copy["name"]
            copy["dataset_notices"] = ("n",) if "otherwise" in fault else copy["dataset_notices"]
        return copy

    monkeypatch.setattr(moving, "_released", spoilt)
    message = "cannot be written to" if "refuses" in fault else r"does not come back .*dataset_notices"
    with pytest.raises(RunError, match=message):
        move_runs(given["file"], target_of(given))
    assert rows(target_of(given)) == [] and rows(given["file"]) == before


def test_the_command_says_the_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = urls(tmp_path)
    fill(given["file"])
    monkeypatch.setenv("HAKARI_DATA_DIR", str(tmp_path))
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    assert main(["move-database"]) == 2 and "No database to move to" in capsys.readouterr().err
    assert main(["move-database", "--to", "mysql://x/y"]) == 2 and "--to names a mysql" in capsys.readouterr().err
    monkeypatch.setenv(URL_VARIABLE, target_of(given).render_as_string(hide_password=False))
    assert main(["move-database", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "runs in the source: 7",
        "runs in the target before: 0",
        "Nothing was moved (--dry-run).",
    ]
    assert main(["move-database"]) == 0
    out = capsys.readouterr().out
    assert "runs in the source: 7\nruns in the target before: 0\nruns in the target after: 7, each compared" in out
    assert f"kept as {tmp_path / 'hakari.sqlite.moved'}" in out
    assert main(["move-database"]) == 2


def test_a_move_that_was_forgotten_stops_the_start_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As deploy's documents once advised: HAKARI_DATABASE_URL set, and the list left in its file."""
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    ids = finished_runs(tmp_path)
    before = files(tmp_path)
    target = target_of(urls(tmp_path))
    monkeypatch.setenv(URL_VARIABLE, target.render_as_string(hide_password=False))
    opening = {"backend": FakeBackend(), "evaluations": EVALUATIONS}
    with pytest.raises(InputError, match=r"move the 3 runs listed in .*hakari\.sqlite .*engine move-database"):
        open_engine(tmp_path, **opening)  # type: ignore[arg-type]
    assert files(tmp_path) == before
    assert main(["move-database", "--directory", str(tmp_path)]) == 0
    with open_engine(tmp_path, **opening) as engine:  # type: ignore[arg-type]
        assert [engine.runs.result(run_id).settings.factor for run_id in ids] == [0.0, 1.0, 2.0]
        assert not engine.unlisted.current()
    monkeypatch.delenv(URL_VARIABLE)  # forgotten at the next start: an empty list, which is refused
    with pytest.raises(InputError, match=r"hakari\.sqlite is empty"):
        open_engine(tmp_path, **opening)  # type: ignore[arg-type]


def test_two_moves_at_once_write_the_runs_once(tmp_path: Path) -> None:
    given = urls(tmp_path)
    before = fill(given["file"], 40)
    target = target_of(given).render_as_string(hide_password=False)
    code = (
        "import sys\nfrom engine.__main__ import main\n"
        "sys.exit(main(['move-database', '--directory', sys.argv[1], '--to', sys.argv[2]]))"
    )
    environment = os.environ | {URL_VARIABLE: ""}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), target],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(2)
    ]
    assert 0 in [process.wait(60) for process in both]
    arrived = rows(make_url(target))
    assert [row["id"] for row in arrived] == [row["id"] for row in before]
