"""The bin: what is deleted is hidden from everybody, counts on, comes back whole, and is deleted for good in time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.errors import AccessError, RunError
from engine.evaluations.shared import dictionaries
from engine.measures.idf import count_documents
from engine.runs.access.access import RunAccess
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.adoption import adopt
from engine.runs.operation.retention import RetentionThread, empty_bin, long_in_bin
from engine.runs.queue import RunQueue
from engine.runs.storage.run_entry import from_bytes
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.usage import usage_of
from tests.support.fake_runs import EVALUATIONS, FakeGateway, Settings, is_running, queues, run_record, words
from tests.waiting import wait_until

ANN, BEN = Viewer("ann@lab.example"), Viewer("ben@lab.example")


@pytest.fixture
def gateway() -> FakeGateway:
    return FakeGateway()


@pytest.fixture
def queue(tmp_path: Path, gateway: FakeGateway) -> Iterator[RunQueue]:
    with queues(tmp_path, gateway) as open_one:
        yield open_one()


def access_of(queue: RunQueue, viewer: Viewer = ANN, **options: object) -> RunAccess:
    return RunAccess(queue, queue._store, viewer, **options)  # type: ignore[arg-type]


def finished(access: RunAccess, n: int = 3) -> str:
    run_id = access.submit("weights", Settings(), words(n)).run_id
    assert access.queue.wait(run_id, 10).state == "done"
    return run_id


def files(folder: Path) -> list[Path]:
    return sorted(path for name in ("datasets", "results") for path in (folder / name).rglob("*") if path.is_file())


def test_a_run_in_the_bin_exists_for_nobody_and_comes_back_whole(queue: RunQueue, tmp_path: Path) -> None:
    ann, ben = access_of(queue), access_of(queue, BEN)
    run_id = finished(ann)
    ann.share(run_id, True)
    ann.tag(run_id, ["draft"])
    ben.star(run_id, True)
    before, on_disk = ann.get(run_id), files(tmp_path)
    ann.move_to_bin(run_id)
    for access in (ann, ben):
        assert access.get(run_id) is None and access.mine() == access.team() == []
        assert access.count(Search(), team=False) == access.count(Search(), team=True) == 0
        assert access.facets(team=True).tags == access.facets(team=False).tags == ()
        for call in ("settings", "dataset", "result", "cancel", "move_to_bin"):
            with pytest.raises(RunError, match="no run"):
                getattr(access, call)(run_id)
        with pytest.raises(RunError, match="no run"):
            access.star(run_id, True)
    assert [run.id for run in ann.binned()] == [run_id] and ann.in_bin(run_id) is not None
    assert ben.binned() == [] and ben.in_bin(run_id) is None and ben.count(Search(deleted=True), team=False) == 0
    assert ben.count(Search(deleted=True), team=True) == ann.count(Search(deleted=True), team=True) == 0
    for refused in (lambda: ben.restore(run_id), lambda: ben.delete(run_id)):
        with pytest.raises(RunError, match="no run"):
            refused()
    ann.restore(run_id)
    assert ann.get(run_id) == before and files(tmp_path) == on_disk and ann.binned() == []
    assert ann.result(run_id) is not None and [run.id for run in ben.team()] == [run_id]
    with pytest.raises(RunError, match="no run"):  # it is not in the bin any more
        ann.restore(run_id)


def test_a_shared_run_is_moved_by_its_owner_alone(queue: RunQueue) -> None:
    ann, ben = access_of(queue), access_of(queue, BEN)
    run_id = finished(ann)
    ann.share(run_id, True)
    with pytest.raises(AccessError, match="belongs to another user"):
        ben.move_to_bin(run_id)


def test_submitting_the_same_again_takes_it_out_of_the_bin(queue: RunQueue, gateway: FakeGateway) -> None:
    ann = access_of(queue)
    run_id = finished(ann)
    computed = len(gateway.computed)
    ann.move_to_bin(run_id)
    again = ann.submit("weights", Settings(), words(3))
    assert (again.run_id, again.reused, again.restored) == (run_id, True, True)
    assert ann.get(run_id) is not None and len(gateway.computed) == computed and len(gateway.runs) == 1
    # One that is not in the bin is taken before an older or newer one that is.
    newer = ann.submit("weights", Settings(), words(3), reuse=False).run_id
    queue.wait(newer, 10)
    ann.move_to_bin(newer)
    again = ann.submit("weights", Settings(), words(3))
    assert (again.run_id, again.restored) == (run_id, False) and ann.in_bin(newer) is not None


def test_the_bin_counts_to_the_storage_until_it_is_emptied(queue: RunQueue, tmp_path: Path) -> None:
    ann = access_of(queue)
    run_id = finished(ann)
    used = usage_of(queue._store, queue.artifacts, ANN.id).total
    ann.move_to_bin(run_id)
    assert usage_of(queue._store, queue.artifacts, ANN.id).total == used > 0
    ann.delete(run_id)
    assert usage_of(queue._store, queue.artifacts, ANN.id).total == 0 and files(tmp_path) == []


def test_the_bin_is_emptied_by_the_days_since_the_deletion(queue: RunQueue, tmp_path: Path) -> None:
    ann = access_of(queue)
    kept, old, recent = finished(ann, 3), finished(ann, 4), finished(ann, 5)
    for run_id, days in ((old, 31), (recent, 29)):
        ann.move_to_bin(run_id)
        queue.change(run_id, deleted=datetime.now(UTC) - timedelta(days=days))
    assert long_in_bin(queue._store, 30) == [old]
    assert empty_bin(queue._store, queue, 30) == 1
    assert queue.get(old) is None and ann.in_bin(recent) is not None and ann.get(kept) is not None
    thread = RetentionThread(queue._store, queue, None, bin_days=28, every_seconds=0.05)
    wait_until(lambda: queue.get(recent) is None)
    thread.close()
    assert ann.get(kept) is not None and [path.name for path in (tmp_path / "results").iterdir()] == [kept]
    assert len(list((tmp_path / "datasets").iterdir())) == 1


def test_a_run_that_is_restored_while_the_bin_is_emptied_stays_whole(
    queue: RunQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = access_of(queue)
    run_id = finished(ann)
    ann.move_to_bin(run_id)
    on_disk, look_up = files(tmp_path), queue._store.get

    def restored_after(of: str) -> RunRecord | None:
        run = look_up(of)
        queue._store.change(run_id, deleted=None)
        return run

    for delete in (lambda: empty_bin(queue._store, queue, 0), lambda: ann.delete(run_id)):
        queue.change(run_id, deleted=datetime.now(UTC))
        with monkeypatch.context() as patched:
            patched.setattr(queue._store, "get", restored_after)
            with suppress(RunError):
                assert delete() == 0
        assert ann.get(run_id) is not None and files(tmp_path) == on_disk


def test_without_a_bin_deletion_is_final(queue: RunQueue, tmp_path: Path) -> None:
    ann = access_of(queue, bin_days=0)
    run_id = finished(ann)
    ann.move_to_bin(run_id)
    assert queue.get(run_id) is None and files(tmp_path) == []


def test_a_run_that_has_not_ended_is_cancelled_first(queue: RunQueue, gateway: FakeGateway) -> None:
    ann = access_of(queue)
    gateway.go.clear()
    run_id = ann.submit("weights", Settings(), words(5)).run_id
    wait_until(is_running(queue, run_id))
    ann.move_to_bin(run_id)
    wait_until(lambda: run_record(queue, run_id).state == "cancelled")
    gateway.go.set()
    ann.restore(run_id)
    run = ann.get(run_id)
    assert run is not None and run.state == "cancelled"


def test_the_entry_beside_the_result_says_what_the_list_says(queue: RunQueue) -> None:
    ann = access_of(queue)
    run_id = finished(ann)
    ann.tag(run_id, ["draft", "table 2"])
    ann.move_to_bin(run_id)
    raw, run = queue.artifacts.entry(run_id), run_record(queue, run_id)
    assert raw is not None and run.deleted is not None
    entry = from_bytes(raw, "It")
    assert (entry.tags, entry.n_rows, entry.deleted) == (("draft", "table 2"), 3, run.deleted.isoformat())


def test_a_run_that_is_listed_again_is_as_it_was(queue: RunQueue) -> None:
    ann = access_of(queue)
    run_id = finished(ann)
    ann.tag(run_id, ["draft"])
    ann.move_to_bin(run_id)
    before = run_record(queue, run_id)
    queue._store.delete(run_id)  # the list is lost, the result is not
    assert [adoption.run_id for adoption in adopt(queue._store, queue.artifacts, EVALUATIONS)] == [run_id]
    again = run_record(queue, run_id)
    assert (again.deleted, again.tags, again.n_rows) == (before.deleted, ("draft",), 3)
    assert ann.get(run_id) is None and ann.in_bin(run_id) is not None


def test_a_dictionary_of_a_run_in_the_bin_cannot_be_chosen(queue: RunQueue, tmp_path: Path) -> None:
    ann = access_of(queue)
    made = finished(ann)
    choice = dictionaries.save(count_documents([["猫"]], "mine", "t", "line"), tmp_path / "dictionaries", made)
    ann.move_to_bin(made)
    with pytest.raises(AccessError, match="no such idf dictionary"):
        ann.submit("weights", Settings(idf=choice), words(3))
    ann.restore(made)
    ann.submit("weights", Settings(idf=choice), words(3))  # its file was kept


def test_the_bin_without_sign_in_holds_ones_own_and_nobodys_runs(queue: RunQueue) -> None:
    first, second = (Viewer(f"browser:{letter * 32}", signed_in=False) for letter in "ab")
    own, nobodys = finished(access_of(queue, first)), finished(access_of(queue, LOCAL))
    access_of(queue, first).move_to_bin(own)
    access_of(queue, second).move_to_bin(nobodys)  # as everybody could before there were browsers' lists
    assert {run.id for run in access_of(queue, first).binned()} == {own, nobodys}
    assert {run.id for run in access_of(queue, second).binned()} == {nobodys}
    assert access_of(queue, second).get(own) is None
    with pytest.raises(RunError, match="no run"):
        access_of(queue, second).delete(own)
