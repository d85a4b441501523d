"""What is on the disk without a row: never deleted for that, shown, listed again, removed when asked."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import delete, update

from engine.errors import InputError
from engine.runs.adoption import adopt
from engine.runs.computing import open_computing
from engine.runs.open import Engine, open_engine
from engine.runs.operation.health import health
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import URL_VARIABLE, database_url
from engine.runs.storage.run_entry import RunEntry, from_bytes
from engine.runs.storage.schema import RunRow
from engine.runs.storage.store import Store
from engine.runs.storage.unlisted import START_VARIABLE, delete_unlisted, find_unlisted
from tests.support import database
from tests.support.database import sqlite_only
from tests.support.fake_runs import EVALUATIONS, FakeGateway, Settings, queues, words
from tests.support.fakes import FakeBackend
from tests.waiting import SECONDS

ANN = "ann@lab.example"


@contextmanager
def storage(folder: Path) -> Iterator[tuple[Store, Artifacts]]:
    store = Store(database_url(folder))
    try:
        yield store, Artifacts(folder)
    finally:
        store.close()


def opened(folder: Path, **options: bool) -> Engine:
    return open_engine(folder, backend=FakeBackend(), evaluations=EVALUATIONS, **options)


def finished_runs(folder: Path, n: int = 3) -> list[str]:
    with queues(folder, FakeGateway()) as open_one:
        queue = open_one()
        ids = [
            queue.submit(
                "weights", Settings(factor=float(i)), words(i + 1, notices=("2 rows repeat.",)), ANN, name=f"run {i}"
            ).run_id
            for i in range(n)
        ]
        assert [queue.wait(run_id, 10).state for run_id in ids] == ["done"] * n
        queue.change(ids[0], note="a note", shared=True)
    return ids


def lose_rows(folder: Path, *run_ids: str) -> None:
    """Remove the rows (all without ids), as a lost list, and let the files look old, as they would be."""
    with storage(folder) as (store, _), store.session() as session:
        session.execute(delete(RunRow).where(RunRow.id.in_(run_ids)) if run_ids else delete(RunRow))
    two_days_ago = time.time() - 2 * 24 * 3600
    for path in (*(folder / "results").iterdir(), *(folder / "datasets").iterdir()):
        os.utime(path, (two_days_ago, two_days_ago))


def files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for name in ("results", "datasets")
        for path in (folder / name).rglob("*")
        if path.is_file()
    )


def test_an_empty_list_deletes_nothing_and_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = finished_runs(tmp_path)
    before = files(tmp_path)
    lose_rows(tmp_path)
    for options in ({}, {"resume": False}):
        with pytest.raises(
            InputError,
            match=r"3 results and 3 datasets .*is empty\. Nothing was deleted.*engine adopt"
            r".*HAKARI_START_ANYWAY=yes",
        ):
            opened(tmp_path, **options)
    assert files(tmp_path) == before
    open_computing(tmp_path, backend=FakeBackend()).close()  # a command that only computes does not care
    monkeypatch.setenv(START_VARIABLE, "maybe")
    with pytest.raises(InputError, match="HAKARI_START_ANYWAY is yes or no"):
        opened(tmp_path)
    monkeypatch.setenv(START_VARIABLE, "yes")
    with opened(tmp_path) as engine:
        assert set(engine.unlisted.current().results) == set(ids)
    assert files(tmp_path) == before


def test_the_list_of_another_directory_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        folder.mkdir()
    finished_runs(mine, 2)
    if database.ON_POSTGRESQL:
        lose_rows(mine)  # both directories have the one database of the test
    finished_runs(other, 1)
    if not database.ON_POSTGRESQL:
        monkeypatch.setenv(URL_VARIABLE, f"sqlite:///{other / 'hakari.sqlite'}")
    before = files(mine)
    with pytest.raises(InputError, match=r"2 results .* holds 1 run, none of them of this directory"):
        opened(mine)
    assert files(mine) == before
    opened(other).close()


@sqlite_only
def test_an_emptied_file_stops_the_start(tmp_path: Path) -> None:
    finished_runs(tmp_path)
    before = files(tmp_path)
    for suffix in ("-wal", "-shm"):
        (tmp_path / f"hakari.sqlite{suffix}").unlink(missing_ok=True)
    (tmp_path / "hakari.sqlite").write_bytes(b"")
    with pytest.raises(InputError, match=r"hakari\.sqlite is empty"):
        opened(tmp_path)
    assert files(tmp_path) == before


def test_a_list_with_gaps_starts_and_the_operator_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ids = finished_runs(tmp_path)
    before = files(tmp_path)
    lose_rows(tmp_path, ids[1])
    with opened(tmp_path) as engine:
        assert engine.unlisted.current().results == (ids[1],)
        status = health(engine)
        assert status.ok and "1 result and 1 dataset" in status.notices[0] and "engine adopt" in status.notices[0]
    assert "1 result and 1 dataset" in caplog.text
    assert files(tmp_path) == before


def test_a_directory_whose_files_are_all_listed_has_nothing_to_tell(tmp_path: Path) -> None:
    finished_runs(tmp_path)
    with opened(tmp_path) as engine:
        assert not engine.unlisted.current() and health(engine).notices == ()


def rows(folder: Path) -> list[dict[str, object]]:
    with storage(folder) as (store, _), store.session() as session:
        listed = [
            {column.name: getattr(row, column.key) for column in RunRow.__table__.columns}
            for row in session.query(RunRow).order_by(RunRow.number)
        ]
    return [
        {name: value for name, value in row.items() if name not in ("number", "done", "total", "attempts")}
        for row in listed
    ]


def test_results_are_listed_again_as_they_were(tmp_path: Path) -> None:
    ids = finished_runs(tmp_path)
    before = rows(tmp_path)
    lose_rows(tmp_path)
    with storage(tmp_path) as (store, artifacts):
        planned = list(adopt(store, artifacts, EVALUATIONS, dry_run=True))
        assert [adoption.run_id for adoption in planned] == ids and store.n_by_state() == {}
        assert list(adopt(store, artifacts, EVALUATIONS)) == planned
        assert list(adopt(store, artifacts, EVALUATIONS)) == []
    after = rows(tmp_path)
    times = ("finished", "stored_bytes")
    assert [{k: v for k, v in row.items() if k not in times} for row in after] == [
        {k: v for k, v in row.items() if k not in times} for row in before
    ]
    for row, former in zip(after, before, strict=True):
        # The entry is written just before the run is recorded as done.
        assert abs((row["finished"] - former["finished"]).total_seconds()) < 10  # type: ignore[operator]
        assert row["stored_bytes"] - former["stored_bytes"] in range(-100, 400)  # type: ignore[operator]
    with opened(tmp_path) as engine:
        for n, run_id in enumerate(ids):
            assert engine.runs.result(run_id).settings == Settings(factor=float(n)) == engine.runs.settings(run_id)
            assert engine.runs.dataset(run_id) == words(n + 1, notices=("2 rows repeat.",))
            # and the same question is answered by the run that was lost
            assert engine.runs.submit("weights", Settings(factor=float(n)), words(n + 1), ANN).run_id == run_id


def test_an_entry_follows_the_row_and_is_written_for_runs_that_have_none(tmp_path: Path) -> None:
    first, second, third = finished_runs(tmp_path)
    artifacts = Artifacts(tmp_path)
    others = [tmp_path / "results" / run_id / "run.json" for run_id in (first, third)]
    before = [path.stat().st_mtime_ns for path in others]

    def entry(run_id: str) -> RunEntry:
        raw = artifacts.entry(run_id)
        assert raw is not None
        return from_bytes(raw, run_id)

    assert (entry(first).note, entry(first).shared, entry(second).note) == ("a note", True, "")
    written = entry(second)
    (tmp_path / "results" / second / "run.json").unlink()
    with opened(tmp_path):
        end = time.monotonic() + SECONDS
        while not artifacts.has_entry(second):
            assert time.monotonic() < end
            time.sleep(0.01)
    assert {**vars(entry(second)), "finished": ""} == {**vars(written), "finished": ""}
    assert [path.stat().st_mtime_ns for path in others] == before


def test_a_damaged_result_or_a_forged_entry_is_not_listed_and_stays(tmp_path: Path) -> None:
    ids = finished_runs(tmp_path)
    lose_rows(tmp_path)
    arrays = tmp_path / "results" / ids[0] / "arrays.npz"
    arrays.write_bytes(arrays.read_bytes()[:-9])
    shutil.copy(tmp_path / "results" / ids[2] / "run.json", tmp_path / "results" / ids[1] / "run.json")
    shutil.rmtree(tmp_path / "datasets")
    before = files(tmp_path)
    with storage(tmp_path) as (store, artifacts):
        adoptions = {adoption.run_id: adoption for adoption in adopt(store, artifacts, EVALUATIONS)}
        assert adoptions[ids[0]].entry is None and "arrays.npz is not as it was written" in adoptions[ids[0]].reason
        assert adoptions[ids[1]].entry is None and "the entry of another run" in adoptions[ids[1]].reason
        assert adoptions[ids[2]].entry is not None and "dataset is not on the disk" in adoptions[ids[2]].reason
        assert store.n_by_state() == {"done": 1}
    assert files(tmp_path) == before


def test_unlisted_files_go_only_when_asked_and_only_those(tmp_path: Path) -> None:
    ids = finished_runs(tmp_path)
    lose_rows(tmp_path, ids[1])
    with storage(tmp_path) as (store, artifacts):
        unlisted = find_unlisted(store, artifacts)
        on_disk = sum(
            (tmp_path / name).stat().st_size
            for name in files(tmp_path)
            if ids[1] in name or words(2).content_hash in name
        )
        assert unlisted.n_bytes == on_disk > 0
        assert delete_unlisted(unlisted, store, artifacts) == (1, 1, on_disk)
        assert not find_unlisted(store, artifacts)
    with opened(tmp_path) as engine:
        for n in (0, 2):
            assert engine.runs.result(ids[n]).dataset_name == "words.csv" and engine.runs.dataset(ids[n]).n == n + 1


def test_what_is_listed_before_the_deletion_stays(tmp_path: Path) -> None:
    ids = finished_runs(tmp_path)
    lose_rows(tmp_path, ids[1])
    with storage(tmp_path) as (store, artifacts):
        unlisted = find_unlisted(store, artifacts)
        assert [adoption.run_id for adoption in adopt(store, artifacts, EVALUATIONS)] == [ids[1]]
        before = files(tmp_path)
        assert delete_unlisted(unlisted, store, artifacts) == (0, 0, 0)
    assert files(tmp_path) == before


def test_a_dataset_whose_row_is_not_written_yet_is_not_unlisted(tmp_path: Path) -> None:
    with storage(tmp_path) as (store, artifacts):
        artifacts.save_dataset(words(3))
        assert not find_unlisted(store, artifacts)


def test_two_servers_on_one_directory_never_take_each_others_files_for_unlisted(tmp_path: Path) -> None:
    """One submits, finishes and deletes runs all the time while the other looks and cleans."""
    done = threading.Event()
    seen: list[object] = []

    def look() -> None:
        with storage(tmp_path) as (store, artifacts):
            while not done.is_set():
                if unlisted := find_unlisted(store, artifacts):
                    seen.append(unlisted)
                delete_unlisted(unlisted, store, artifacts)

    with queues(tmp_path, FakeGateway()) as open_one:
        queue = open_one()
        thread = threading.Thread(target=look)
        thread.start()
        try:
            for i in range(15):
                run_id = queue.submit("weights", Settings(), words(2 + i % 2), reuse=False).run_id
                assert queue.wait(run_id, 10).state == "done"
                assert queue.result(run_id).dataset_name == "words.csv" and queue.dataset(run_id).n == 2 + i % 2
                if i % 3:
                    queue.delete(run_id)
        finally:
            done.set()
            thread.join()
    assert seen == []


def test_a_dataset_that_another_process_deletes_during_a_submission_is_written_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with queues(tmp_path, FakeGateway()) as open_one:
        queue = open_one()
        add = queue._store.add

        def add_late(**values: object) -> str:
            Artifacts(tmp_path).delete_dataset(words(3).content_hash)  # its last run was deleted just now
            return add(**values)  # type: ignore[arg-type]

        monkeypatch.setattr(queue._store, "add", add_late)
        run_id = queue.submit("weights", Settings(), words(3)).run_id
        assert queue.wait(run_id, 10).state in ("done", "failed") and queue.dataset(run_id) == words(3)


def test_unlisted_runs_of_earlier_states_are_not_made_up(tmp_path: Path) -> None:
    ids = finished_runs(tmp_path, 1)
    with storage(tmp_path) as (store, _), store.session() as session:
        session.execute(update(RunRow).values(state="running"))
    with storage(tmp_path) as (store, artifacts):
        assert list(adopt(store, artifacts, EVALUATIONS)) == []  # it is listed, and will be computed again
        assert store.n_by_state() == {"running": 1} and artifacts.has_result(ids[0])
