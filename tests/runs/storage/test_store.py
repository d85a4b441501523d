from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DataError, IntegrityError

from engine.errors import InputError, RunError
from engine.runs.storage.database import database_url
from engine.runs.storage.processes import ProcessIdentity, this_process
from engine.runs.storage.run_record import Progress
from engine.runs.storage.schema import UtcDateTime
from engine.runs.storage.searching import Search
from engine.runs.storage.store import MAX_ATTEMPTS, Store
from tests.support.database import sqlite_only

HERE = this_process()
THERE = replace(this_process(), id="there")
DEAD = replace(this_process(), id="dead", started=HERE.started - 3600)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "hakari.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(database_url(path.parent))
    store.heartbeat(HERE)
    yield store
    store.close()


def add(store: Store, name: str = "run", process: ProcessIdentity = HERE, **changes: Any) -> str:
    fields = {
        "owner": "local",
        "kind": "clusters",
        "settings": {"models": ["a"], "layer": None},
        "key": "k",
        "dataset_name": "d.csv",
        "dataset_hash": "0" * 64,
        "dataset_notices": ["2 rows repeat."],
        **changes,
    }
    return store.add(name=name, process_id=process.id, **fields)


def state(store: Store, run_id: str) -> str:
    run = store.get(run_id)
    assert run is not None
    return run.state


def test_a_new_run_is_queued_and_says_what_it_is(store: Store) -> None:
    before = datetime.now(UTC)
    run = store.get(add(store, "my run"))
    assert run is not None
    assert (run.name, run.owner, run.kind, run.state) == ("my run", "local", "clusters", "queued")
    assert run.dataset_name == "d.csv" and run.settings == {"models": ["a"], "layer": None}
    assert run.dataset_notices == ("2 rows repeat.",)
    assert before <= run.created <= datetime.now(UTC) and run.created.utcoffset() == timedelta(0)
    assert (run.started, run.finished, run.eta_seconds, run.seconds) == (None, None, None, None)
    assert (run.done, run.total) == (0, 0)


def test_ids_cannot_be_guessed_and_unknown_ones_are_none(store: Store) -> None:
    ids = {add(store) for _ in range(50)}
    assert len(ids) == 50 and all(len(run_id) == 22 for run_id in ids)  # 62^22 > 2^128
    # A component whose key holds "__" is refused by Streamlit; a link that ends in "-" or "_" is cut by mail programs.
    assert all(run_id.isascii() and run_id.isalnum() for run_id in ids)
    assert store.get("1") is None and store.get("") is None and store.get("' OR 1=1 --") is None


def test_a_run_from_queue_to_end(store: Store) -> None:
    run_id = add(store)
    claimed = store.claim(HERE.id)
    assert claimed is not None and claimed.id == run_id and claimed.state == "running" and claimed.started is not None
    store.progress(HERE.id, [Progress(run_id, 3, 10, "Sentence vectors: a", 7.0)])
    run = store.get(run_id)
    assert run is not None and (run.done, run.total, run.label) == (3, 10, "Sentence vectors: a")
    assert run.eta_seconds == pytest.approx(7, abs=1) and run.seconds is not None and run.seconds < 5
    assert store.finish(run_id, HERE.id, "done")
    run = store.get(run_id)
    assert run is not None and run.state == "done" and run.done == run.total == 10 and run.eta_seconds is None
    assert run.finished is not None and run.started is not None
    assert run.seconds == pytest.approx((run.finished - run.started).total_seconds())


def test_an_overdue_run_has_no_known_end(store: Store) -> None:
    run_id = add(store)
    store.claim(HERE.id)
    store.progress(HERE.id, [Progress(run_id, 9, 10, "", -1.0)])
    run = store.get(run_id)
    assert run is not None and run.eta_seconds is None


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_what_has_ended_stays_so(store: Store, end: str) -> None:
    run_id = add(store)
    store.claim(HERE.id)
    assert store.finish(run_id, HERE.id, end, "why")
    for next_state in ("done", "failed", "cancelled"):
        assert not store.finish(run_id, HERE.id, next_state)
    assert not store.cancel(run_id) and store.claim(HERE.id) is None
    store.progress(HERE.id, [Progress(run_id, 1, 2, "late", None)])
    run = store.get(run_id)
    assert run is not None and (run.state, run.label, run.message) == (end, "", "why")


def test_a_queued_run_is_not_finished_before_it_runs(store: Store) -> None:
    run_id = add(store)
    assert not store.finish(run_id, HERE.id, "done") and state(store, run_id) == "queued"


def test_cancel_takes_a_queued_run_off_and_asks_a_running_one(store: Store) -> None:
    running, queued = add(store), add(store)
    store.claim(HERE.id)
    assert store.cancel(queued) and state(store, queued) == "cancelled"
    assert store.stop_requested(HERE.id, [running]) == set()
    assert store.cancel(running) and state(store, running) == "running"
    assert store.stop_requested(HERE.id, [running]) == {running}
    assert not store.cancel("unknown")


def test_a_run_that_is_gone_or_anothers_is_to_stop(store: Store) -> None:
    run_id = add(store)
    store.claim(HERE.id)
    assert store.stop_requested(THERE.id, [run_id]) == {run_id}
    assert store.delete(run_id) and not store.delete(run_id)
    assert store.stop_requested(HERE.id, [run_id]) == {run_id} and store.get(run_id) is None


def test_the_oldest_goes_first_and_only_to_its_own_process(store: Store) -> None:
    store.heartbeat(THERE)
    first, foreign, second = add(store), add(store, process=THERE), add(store)
    claimed = [store.claim(HERE.id) for _ in range(3)]
    assert [run.id if run else None for run in claimed] == [first, second, None]
    assert state(store, foreign) == "queued"


def test_many_threads_claim_each_run_once(store: Store) -> None:
    ids = [add(store) for _ in range(40)]
    claimed: list[str] = []

    def work() -> None:
        while (run := store.claim(HERE.id)) is not None:
            claimed.append(run.id)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(ids)


def test_runs_of_dead_processes_are_taken_up_in_their_old_order_and_of_living_ones_not(store: Store) -> None:
    store.heartbeat(DEAD)
    store.heartbeat(THERE)
    was_running, was_queued, living = add(store, process=DEAD), add(store, process=DEAD), add(store, process=THERE)
    assert store.claim(DEAD.id) is not None
    newer = add(store)
    assert store.adopt(HERE.id) == 2
    assert [state(store, run_id) for run_id in (was_running, was_queued, living)] == ["queued"] * 3
    claimed = [store.claim(HERE.id) for _ in range(4)]
    assert [run.id if run else None for run in claimed] == [was_running, was_queued, newer, None]
    assert store.adopt(HERE.id) == 0


def test_whoever_was_thought_dead_can_no_longer_write(store: Store) -> None:
    store.heartbeat(DEAD)
    run_id = add(store, process=DEAD)
    store.claim(DEAD.id)
    store.adopt(HERE.id)
    store.claim(HERE.id)
    store.progress(DEAD.id, [Progress(run_id, 9, 9, "late", None)])
    assert not store.finish(run_id, DEAD.id, "failed", "late")
    run = store.get(run_id)
    assert run is not None and run.state == "running" and run.label == ""


def test_a_run_that_was_to_stop_is_not_taken_up_again(store: Store) -> None:
    store.heartbeat(DEAD)
    run_id = add(store, process=DEAD)
    store.claim(DEAD.id)
    store.cancel(run_id)
    assert store.adopt(HERE.id) == 0 and state(store, run_id) == "cancelled"


def test_a_run_that_kills_every_server_fails_in_the_end(store: Store) -> None:
    identities = [replace(DEAD, id=f"dead {i}") for i in range(MAX_ATTEMPTS)]
    store.heartbeat(identities[0])
    run_id = add(store, process=identities[0])
    for i, identity in enumerate(identities):
        store.heartbeat(identity)
        assert store.adopt(identity.id) == (1 if i else 0)
        assert store.claim(identity.id) is not None
    assert store.adopt(HERE.id) == 0
    run = store.get(run_id)
    assert run is not None and run.state == "failed" and "5 times" in run.message and "memory" in run.message


def test_released_runs_wait_for_anybody_and_their_starts_do_not_count(store: Store) -> None:
    first, second = add(store), add(store)
    store.release(HERE.id)
    for i in range(MAX_ATTEMPTS + 2):
        identity = replace(THERE, id=f"there {i}")
        store.heartbeat(identity)
        assert store.adopt(identity.id) == 2
        claimed = store.claim(identity.id)
        assert claimed is not None and claimed.id == first
        store.release(identity.id)
        assert [state(store, run_id) for run_id in (first, second)] == ["queued", "queued"]


def test_the_same_runs_are_those_of_the_owner_that_gave_or_will_give_the_result(store: Store) -> None:
    failed, done, running, queued = (add(store) for _ in range(4))
    add(store, owner="another"), add(store, key="other")
    for run_id, end in ((failed, "failed"), (done, "done")):
        claimed = store.claim(HERE.id)
        assert claimed is not None and claimed.id == run_id and store.finish(run_id, HERE.id, end)
    store.claim(HERE.id)
    assert [run.id for run in store.runs_with_key("local", "k")] == [queued, running, done]
    store.cancel(running)
    assert [run.id for run in store.runs_with_key("local", "k")] == [queued, done]


def test_recent_runs_are_the_owners_newest_first(store: Store) -> None:
    ids = [add(store, kind=kind) for kind in ("clusters", "alignment", "clusters")]
    foreign = add(store, owner="another")
    assert [run.id for run in store.search(Search(owner="local", limit=2))] == [ids[2], ids[1]]
    assert [run.id for run in store.search(Search(owner="local", kind="clusters"))] == [ids[2], ids[0]]
    assert [run.id for run in store.search(Search(owner="another"))] == [foreign]


def test_a_search_narrows_by_every_field(store: Store) -> None:
    first = add(store, "Novels", settings={"models": ["a/b", "a/b_c"]}, dataset_name="names.csv")
    other_run = add(store, "wiki 100%", settings={"model": "a/b_c"}, owner="another", kind="alignment")
    store.change(other_run, note="斉藤さんの依頼", shared=True)

    def ids(**fields: Any) -> list[str]:
        return [run.id for run in store.search(Search(**fields))]

    assert ids() == [other_run, first] and ids(limit=1) == [other_run]
    assert ids(owner="local") == [first] and ids(shared=True) == [other_run] and ids(shared=True, owner="local") == []
    assert ids(text="novel") == [first] and ids(text="依頼") == [other_run] and ids(text="NAMES csv") == [first]
    # "%" and "_" are no wildcards.
    assert ids(text="%") == [other_run] and ids(text="_c") == [other_run, first] and ids(text="b_x") == []
    assert ids(model="a/b") == [first] and ids(model="a/b_c") == [other_run, first] and ids(model="a") == []
    assert ids(kind="alignment", states=("queued",)) == [other_run] and ids(states=("done",)) == []
    assert ids(dataset="names.csv") == [first]


def test_the_next_run_is_of_the_owner_with_the_fewest_running(store: Store) -> None:
    # ann submits three, then ben one: ann's first starts, and then ben does not wait for the other two.
    ann = [add(store, owner="ann") for _ in range(3)]
    ben = add(store, owner="ben")

    def started(per_owner: int | None = None) -> str | None:
        run = store.claim(HERE.id, per_owner)
        return run.id if run else None

    assert [started(1), started(1), started(1)] == [ann[0], ben, None]  # nobody has two at once
    assert started(2) == ann[1]
    assert store.finish(ben, HERE.id, "done")
    assert started() == ann[2]


def stored_bytes(store: Store) -> int:
    return sum(run.stored_bytes for run in store.search(Search(owner="local")))


def test_what_is_stored_and_what_is_old(store: Store) -> None:
    run_id = add(store, stored_bytes=100)
    assert stored_bytes(store) == 100
    store.claim(HERE.id)
    assert store.finish(run_id, HERE.id, "done", "", 20)
    add(store)
    assert stored_bytes(store) == 120
    assert store.n_by_state() == store.n_by_state("local") == {"done": 1, "queued": 1} and store.n_by_state("x") == {}
    assert store.ended_before(datetime.now(UTC) - timedelta(minutes=1)) == []
    assert store.ended_before(datetime.now(UTC) + timedelta(minutes=1)) == [run_id]


def test_a_run_gets_another_name(store: Store) -> None:
    run_id = add(store)
    assert store.change(run_id, name="斉藤さんの実験") and not store.change("unknown", name="x")
    run = store.get(run_id)
    assert run is not None and run.name == "斉藤さんの実験"


def test_datasets_in_use(store: Store) -> None:
    first_run, other_run = add(store, dataset_hash="a" * 64), add(store, dataset_hash="a" * 64)
    assert store.ids_and_datasets() == ({first_run, other_run}, {"a" * 64})
    store.delete(first_run)
    assert store.dataset_in_use("a" * 64)
    store.delete(other_run)
    assert not store.dataset_in_use("a" * 64)


@sqlite_only
def test_another_process_may_be_writing(store: Store, path: Path) -> None:
    writer = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    writer.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, writer.rollback).start()
    assert store.search(Search(owner="local")) == []  # reading goes on
    add(store)  # writing waits
    assert len(store.search(Search(owner="local"))) == 1
    writer.close()


def test_a_run_belongs_to_a_process_that_is_known(store: Store) -> None:
    with pytest.raises(IntegrityError):
        add(store, process=THERE)


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    for i in range(3):
        ids: list[str] = []
        errors: list[Exception] = []

        def open_and_add(path: Path, ids: list[str] = ids, errors: list[Exception] = errors) -> None:
            try:
                store = Store(f"sqlite:///{path}")
                identity = this_process()
                store.heartbeat(identity)
                ids.append(add(store, process=identity))
                store.close()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=open_and_add, args=(tmp_path / f"{i}.sqlite",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == [] and len(set(ids)) == 8


def test_a_file_that_is_no_list_of_runs_is_said(path: Path) -> None:
    path.write_bytes(b"this is no database, but a text of some length " * 50)
    with pytest.raises(InputError, match=r"hakari\.sqlite cannot be opened.*HAKARI_DATA_DIR"):
        Store(f"sqlite:///{path}")


@sqlite_only
def test_a_store_that_breaks_later_is_a_run_error(store: Store, path: Path) -> None:
    add(store)
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE runs")
    database.close()
    with pytest.raises(RunError, match="cannot be read or written"):
        store.get("x")


def test_moments_need_a_time_zone() -> None:
    tokyo = datetime.fromisoformat("2026-01-01T09:00:00+09:00")
    stored = UtcDateTime().process_bind_param(tokyo, None)  # type: ignore[arg-type]
    assert stored is not None and stored.isoformat() == "2026-01-01T00:00:00+00:00"
    with pytest.raises(ValueError, match="time zone"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), None)  # type: ignore[arg-type]


def test_how_old_a_run_is_counts_from_its_end(store: Store) -> None:
    run_id = add(store)
    began = datetime.now(UTC)
    store.claim(HERE.id)
    time.sleep(0.01)
    assert store.finish(run_id, HERE.id, "done")
    assert store.ended_before(began + timedelta(milliseconds=5)) == []
    assert store.ended_before(datetime.now(UTC)) == [run_id]


def test_a_value_that_the_database_does_not_take_is_an_error_of_the_input(store: Store) -> None:
    """As PostgreSQL refuses a NUL in the id of an address, or in what is searched."""
    with pytest.raises(InputError, match="takes no such value: text fields cannot contain NUL"), store.session():
        raise DataError("SELECT", {}, ValueError("text fields cannot contain NUL."))
    for text in ("\x00", "a\x00b"):
        with suppress(InputError):
            assert store.get(text) is None
        with suppress(InputError):
            assert store.search(Search(text=text)) == []


def test_a_search_of_many_words_is_one_query(store: Store) -> None:
    run_id = add(store, name=" ".join(f"w{n}" for n in range(40)))
    assert [run.id for run in store.search(Search(text=" ".join(f"w{n}" for n in range(40))))] == [run_id]
    assert store.search(Search(text="w1 " * 20_000)) == store.search(Search(text="w1"))
