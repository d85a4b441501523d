from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import AccessError, InputError, RunError
from engine.evaluations.shared import dictionaries
from engine.measures.idf import count_documents
from engine.runs.access.access import MAX_NOTE_CHARACTERS, RunAccess
from engine.runs.access.configuration import DEFAULT_BIN_DAYS, Configuration, configuration
from engine.runs.access.limits import GIGABYTE, Limits
from engine.runs.access.model_policy import model_policy
from engine.runs.access.viewers import Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.operation.retention import delete_expired
from engine.runs.queue import RunQueue
from engine.runs.storage.searching import Search
from engine.runs.storage.usage import usage_of
from tests.support.fake_runs import FakeGateway, Settings, queues, words

ANN, BEN = Viewer("ann@lab.example"), Viewer("ben@lab.example")


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[RunQueue]:
    with queues(tmp_path, FakeGateway()) as open_one:
        yield open_one()


def run_access(queue: RunQueue, viewer: Viewer, **options: object) -> RunAccess:
    return RunAccess(queue, queue._store, viewer, **options)  # type: ignore[arg-type]


def finished(access: RunAccess, n: int = 3, name: str | None = None) -> str:
    run_id = access.submit("weights", Settings(), words(n), name).run_id
    assert access.queue.wait(run_id, 10).state == "done"
    return run_id


READS = ("settings", "dataset", "result")


def test_a_private_run_does_not_exist_for_anybody_else(queue: RunQueue) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    run_id = finished(ann)
    assert ann.get(run_id) is not None and ben.get(run_id) is None
    assert [run.id for run in ann.mine()] == [run_id] and ben.mine() == ben.team() == ann.team() == []
    assert ben.mine(Search(owner=ANN.id)) == []  # asking for another's is asking for one's own
    unknown = ""
    for call in (*READS, "cancel", "delete"):
        with pytest.raises(RunError) as hidden:
            getattr(ben, call)(run_id)
        with pytest.raises(RunError) as guessed:
            getattr(ben, call)("guessed")
        unknown = str(guessed.value)
        assert str(hidden.value).replace(run_id, "guessed") == unknown  # no difference to be seen
    for change in (
        lambda: ben.rename(run_id, "x"),
        lambda: ben.share(run_id, True),
        lambda: ben.annotate(run_id, "x"),
        lambda: ben.describe(run_id, {"mine": 1}, 3),
    ):
        with pytest.raises(RunError):
            change()
    assert ann.get(run_id) is not None


def test_a_run_is_new_to_the_team_from_when_it_is_shared(queue: RunQueue) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    old, _private = finished(ann), finished(ann)
    for _ in range(3):
        ann.share(finished(ann), True)
    since = datetime.now(UTC)
    assert ben.team(Search(new_since=since)) == []
    ann.share(old, True)  # the oldest one, and the last to be seen
    assert [run.id for run in ben.team(Search(new_since=since, limit=1))] == [old]
    assert ann.team(Search(new_since=since, but_owners=ann.own)) == []
    ann.share(old, False)
    assert ben.team(Search(new_since=since)) == []


def test_a_shared_run_may_be_read_and_repeated_but_not_changed(queue: RunQueue) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    run_id = finished(ann)
    ann.share(run_id, True)
    run = ben.get(run_id)
    assert run is not None and run.shared and not ben.may_change(run) and [run.id for run in ben.team()] == [run_id]
    assert ben.result(run_id).settings == ben.settings(run_id) == Settings()
    assert list(ben.result(run_id).weights.columns) == ["model", "row", "text", "weight"]
    for change in (
        lambda: ben.rename(run_id, "x"),
        lambda: ben.share(run_id, False),
        lambda: ben.delete(run_id),
        lambda: ben.annotate(run_id, "x"),
        lambda: ben.cancel(run_id),
    ):
        with pytest.raises(AccessError, match="belongs to another user"):
            change()
    submission = ben.submit("weights", ben.settings(run_id), ben.dataset(run_id))
    assert submission.run_id != run_id and [run.id for run in ben.mine()] == [submission.run_id]
    ann.share(run_id, False)
    assert ben.get(run_id) is None and ben.team() == []
    with pytest.raises(RunError, match="no run"):
        ben.result(run_id)


def test_deleting_removes_the_data_unless_another_run_needs_it(queue: RunQueue, tmp_path: Path) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    ann_run, ben_run = finished(ann), finished(ben)  # the same content, uploaded by both
    assert ann_run != ben_run and len(list((tmp_path / "datasets").iterdir())) == 1
    ann.delete(ann_run)
    assert ben.result(ben_run) is not None and ben.dataset(ben_run).n == 3
    ben.delete(ben_run)
    assert list((tmp_path / "datasets").iterdir()) == list((tmp_path / "results").iterdir()) == []


def test_two_files_of_one_name_are_two_datasets(queue: RunQueue) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    ann_run, ben_run = finished(ann, 3), finished(ben, 5)
    assert ann.dataset(ann_run).n == 3 and ben.dataset(ben_run).n == 5
    assert ann.get(ann_run).dataset_name == ben.get(ben_run).dataset_name == "words.csv"  # type: ignore[union-attr]


def test_the_samples_are_everybodys_to_read(queue: RunQueue) -> None:
    samples, ann = run_access(queue, Viewer(SAMPLES_ID)), run_access(queue, ANN)
    run_id = finished(samples)
    assert ann.get(run_id) is not None and ann.mine() == ann.team() == []
    with pytest.raises(AccessError):
        ann.delete(run_id)


def test_names_and_notes(queue: RunQueue) -> None:
    ann = run_access(queue, ANN)
    run_id = finished(ann)
    ann.rename(run_id, "  斉藤さんの実験 ")
    ann.annotate(run_id, " see figure 2\n")
    run = ann.get(run_id)
    assert run is not None and (run.name, run.note) == ("斉藤さんの実験", "see figure 2")
    assert [run.id for run in ann.mine(Search(text="FIGURE 斉藤"))] == [run_id] and ann.mine(Search(text="table")) == []
    with pytest.raises(InputError, match="at most"):
        ann.annotate(run_id, "x" * (MAX_NOTE_CHARACTERS + 1))
    for bad in (" ", "\x00\u202e", "x" * 500):
        with pytest.raises(InputError):
            ann.rename(run_id, bad)


def test_no_name_turns_the_direction_of_a_page_or_holds_what_a_database_refuses(queue: RunQueue) -> None:
    ann = run_access(queue, ANN)
    run_id = finished(ann, name="a\x00b\u202eevil\u202c\nc")
    ann.tag(run_id, ["x\x00y\u2066z"])
    ann.annotate(run_id, "first\r\nsecond\x07\u202e")
    run = ann.get(run_id)
    assert run is not None and (run.name, run.tags, run.note) == ("a b evil  c", ("x y z",), "first\nsecond")
    data = ann.submit("weights", Settings(), replace(words(4), name="d\x00\u202e.csv"))
    of_file = ann.get(data.run_id)
    assert of_file is not None and of_file.dataset_name == "d  .csv" and of_file.name.isprintable()


def test_limits_and_models_are_asked_before_anything_is_kept(queue: RunQueue, tmp_path: Path) -> None:
    bounded = run_access(queue, ANN, limits=Limits(rows=3), models=model_policy({}, hosted=True))
    with pytest.raises(InputError, match="at most 3"):
        bounded.submit("weights", Settings(), words(4))
    with pytest.raises(AccessError, match="directory"):
        bounded.submit("weights", Settings((str(tmp_path),)), words(3))
    assert bounded.mine() == [] and list((tmp_path / "datasets").iterdir()) == []
    finished(bounded)


def test_a_dictionary_is_for_those_who_may_read_the_run_that_made_it(queue: RunQueue, tmp_path: Path) -> None:
    ann, ben = run_access(queue, ANN), run_access(queue, BEN)
    made = finished(ann)
    choice = dictionaries.save(count_documents([["猫"]], "mine", "t", "line"), tmp_path / "dictionaries", made)
    settings = Settings(idf=choice)
    for refused in (choice, "saved/guessed"):
        with pytest.raises(AccessError, match="no such idf dictionary"):
            ben.submit("weights", Settings(idf=refused), words(3))
    ann.submit("weights", settings, words(3))
    ann.share(made, True)
    ben.submit("weights", settings, words(3))
    ann.delete(made)
    assert dictionaries.saved_path(choice) is None and list((tmp_path / "dictionaries").iterdir()) == []


def test_storage_counts_datasets_and_results(queue: RunQueue, tmp_path: Path) -> None:
    finished(run_access(queue, ANN))
    on_disk = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file() and "sqlite" not in path.name)
    assert usage_of(queue._store, queue.artifacts, ANN.id).total == on_disk
    ann = run_access(queue, ANN, limits=Limits(storage_gb=(on_disk + 1) / GIGABYTE))
    with pytest.raises(RunError, match="Delete runs"):
        ann.submit("weights", Settings(), words(5))
    assert finished(run_access(queue, BEN, limits=Limits(storage_gb=1.0)))  # another's storage is not Ann's


def test_what_ended_long_ago_is_forgotten_with_its_data(queue: RunQueue, tmp_path: Path) -> None:
    ann = run_access(queue, ANN)
    run_id = finished(ann)
    ann.share(run_id, True)
    assert delete_expired(ann.store, queue, days=1) == 0 and ann.get(run_id) is not None
    assert delete_expired(ann.store, queue, days=0) == 1 and ann.get(run_id) is None
    assert list((tmp_path / "datasets").iterdir()) == list((tmp_path / "results").iterdir()) == []


def test_a_configuration_without_members_is_ones_own_machine() -> None:
    assert not Configuration().hosted and replace(Configuration(), retention_days=3).retention_days == 3


def test_a_bin_of_no_days_is_no_usual_bin() -> None:
    assert configuration({"HAKARI_BIN_DAYS": "0"}).bin_days == 0
    assert configuration({"HAKARI_BIN_DAYS": " "}).bin_days == configuration({}).bin_days == DEFAULT_BIN_DAYS
