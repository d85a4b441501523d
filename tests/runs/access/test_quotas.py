"""Quotas of storage: checked before anything is written, shared things counted once, others' corpora left alone."""

from __future__ import annotations

import hashlib
import io
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.errors import InputError, RunError
from engine.evaluations.dictionary.records import Settings as DictionarySettings
from engine.runs.access.access import RunAccess
from engine.runs.access.limits import GIGABYTE, Limits
from engine.runs.access.quotas import Quotas
from engine.runs.access.viewers import Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.open import Engine, open_engine
from engine.runs.queue import RunQueue
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.runs.storage.usage import corpora_in_use, usage_of
from tests.support.fake_runs import FakeGateway, Settings, queues, words
from tests.support.fakes import FakeBackend

ANN, BEN = Viewer("ann@lab.example"), Viewer("ben@lab.example")
MODEL = "somebody/bert"


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[RunQueue]:
    with queues(tmp_path, FakeGateway()) as open_one:
        yield open_one()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


def access_of(queue: RunQueue, viewer: Viewer, n_bytes: float | None = None, **limits: int) -> RunAccess:
    gigabytes = None if n_bytes is None else n_bytes / GIGABYTE
    return RunAccess(queue, queue._store, viewer, Limits(storage_gb=gigabytes, **limits))  # type: ignore[arg-type]


def total(queue: RunQueue, viewer: Viewer) -> int:
    return usage_of(queue._store, queue.artifacts, viewer.id).total


def finished(access: RunAccess, n: int, **settings: float) -> str:
    submission = access.submit("weights", Settings(**settings), words(n))  # type: ignore[arg-type]
    assert access.queue.wait(submission.run_id, 10).state == "done"
    return submission.run_id


def on_disk(folder: Path) -> int:
    return sum(
        path.stat().st_size
        for name in ("datasets", "results", "corpora")
        for path in (folder / name).rglob("*")
        if path.is_file()
    )


def test_a_dataset_of_several_runs_is_counted_once(queue: RunQueue, tmp_path: Path) -> None:
    ann = access_of(queue, ANN)
    runs = [finished(ann, 300, factor=float(n)) for n in range(3)]
    usage = usage_of(queue._store, queue.artifacts, ANN.id)
    assert usage.total == on_disk(tmp_path) and len(usage.datasets) == 1 and usage.corpora == {}
    assert sum(run.stored_bytes for run in ann.mine()) == usage.total + 2 * usage.datasets[words(300).content_hash]
    ann.delete(runs[0])
    assert total(queue, ANN) == on_disk(tmp_path)
    # Another member with the same dataset has it in the account too, and Ann's stays as it is.
    finished(access_of(queue, BEN), 300)
    assert total(queue, BEN) + total(queue, ANN) == on_disk(tmp_path) + usage.datasets[words(300).content_hash]


def test_a_dataset_is_refused_before_it_is_written(queue: RunQueue, tmp_path: Path) -> None:
    first = finished(access_of(queue, ANN), 3)
    used = total(queue, ANN)
    before = sorted(tmp_path.rglob("*.parquet"))
    full = access_of(queue, ANN, used + 10)
    with pytest.raises(
        RunError,
        match=r"This dataset takes [\d.]+ kB\. Your runs take [\d.]+ kB \(results [\d.]+ kB, "
        r"datasets [\d.]+ kB, corpora 0 bytes\) of the [\d.]+ kB .*Delete runs .*"
        r"the largest are: 'Weights: words\.csv' \([\d.]+ kB\)",
    ):
        full.submit("weights", Settings(), words(4))
    assert sorted(tmp_path.rglob("*.parquet")) == before and len(full.mine()) == 1
    full.submit("weights", Settings(), words(3))  # the same run again writes nothing
    assert full.submit("weights", Settings(factor=2.0), words(3)).reused is False  # nor does the same dataset
    full.delete(first)


def test_a_result_is_refused_before_it_is_written(tmp_path: Path) -> None:
    refusing = Limits(storage_gb=5_000 / GIGABYTE)
    with queues(tmp_path, FakeGateway()) as open_one:
        plain = open_one()
        quotas = Quotas(plain._store, plain.artifacts, refusing)
        plain.close()
        queue = open_one(room=quotas.check_result)
        ann = access_of(queue, ANN)
        run = queue.wait(ann.submit("weights", Settings(), words(400)).run_id, 10)
        assert run.state == "failed" and "The result takes" in run.message and "of the 4.9 kB" in run.message
        assert "Then start the run again; what was computed is kept." in run.message
        assert not queue.artifacts.has_folder(run.id)
        samples = queue.submit("weights", Settings(), words(400), owner=SAMPLES_ID).run_id
        assert queue.wait(samples, 10).state == "done"  # the instance's own


def test_results_of_runs_that_end_together_share_what_is_left(tmp_path: Path) -> None:
    asked, both = [], threading.Barrier(2, timeout=10)
    with queues(tmp_path, FakeGateway()) as open_one:
        first = open_one()
        finished(access_of(first, ANN), 300)
        size = first._store.search(Search(owner=ANN.id))[0].stored_bytes
        first.close()
        quotas = Quotas(first._store, first.artifacts, Limits(storage_gb=(total(first, ANN) + 1.5 * size) / GIGABYTE))

        def room(run: RunRecord, n_bytes: int) -> None:
            both.wait()  # neither result is written, or counted, when the room for the other is asked
            asked.append(n_bytes)
            quotas.check_result(run, n_bytes)

        queue = open_one(room=room)
        ann = access_of(queue, ANN)
        ids = [ann.submit("weights", Settings(factor=factor), words(300)).run_id for factor in (2.0, 3.0)]
        runs = [queue.wait(run_id, 20) for run_id in ids]
        assert len(asked) == 2 and sum(asked) > 1.5 * size  # either alone would fit
        assert sorted(run.state for run in runs) == ["done", "failed"]
        assert total(queue, ANN) <= int(quotas._limits.storage_gb * GIGABYTE)  # type: ignore[operator]
        refused = next(run for run in runs if run.state == "failed")
        quotas._limits = Limits(storage_gb=1.0)
        both.reset()
        quotas.check_result(refused, 10)  # what was reserved for a run that has ended is free again
        assert set(quotas._reserved) == {refused.id}


def test_the_engine_asks_before_a_result_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.runs.test_open import QUESTIONS

    monkeypatch.setenv("HAKARI_USER_STORAGE_GB", "0.00002")
    settings, sample = QUESTIONS["minimal-pairs"]
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        run = engine.runs.wait(engine.runs.submit("minimal-pairs", settings, sample()).run_id, 30)
        assert run.state == "failed" and "The result takes" in run.message


def uploads(*texts: str) -> list[tuple[str, io.BytesIO]]:
    return [(f"{n}.txt", io.BytesIO(text.encode())) for n, text in enumerate(texts)]


def counted(access: RunAccess, *texts: str, name: str = "mine") -> str:
    submission = access.submit_corpus("dictionary", DictionarySettings(MODEL, name, "line"), uploads(*texts), "corpus")
    run = access.queue.wait(submission.run_id, 30)
    assert run.state == "done", run.message
    return run.id


def corpora(folder: Path) -> set[str]:
    return {path.name for path in (folder / "corpora").glob("*")}


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_corpus_goes_with_the_last_run_that_uses_it(engine: Engine, tmp_path: Path) -> None:
    ann, ben = access_of(engine.runs, ANN), access_of(engine.runs, BEN)
    first, second = counted(ann, "猫", "犬", name="a"), counted(ann, "猫", "犬", name="b")
    third = counted(ben, "犬", "猿")
    assert corpora(tmp_path) == {sha("猫"), sha("犬"), sha("猿")}
    ann.delete(first)
    assert corpora(tmp_path) == {sha("猫"), sha("犬"), sha("猿")}
    ann.delete(second)
    assert corpora(tmp_path) == {sha("犬"), sha("猿")}  # one file of Ann's is in Ben's corpus too
    ben.delete(third)
    assert corpora(tmp_path) == set()


def test_corpora_count_once_and_are_refused_before_they_are_written(engine: Engine, tmp_path: Path) -> None:
    unbounded = access_of(engine.runs, ANN)
    text = "猫犬" * 20_000
    counted(unbounded, text, name="a")
    counted(unbounded, text, name="b")
    usage = usage_of(engine.store, engine.artifacts, ANN.id)
    assert usage.corpora == {sha(text): len(text.encode())} and usage.total == on_disk(tmp_path)
    assert usage.largest[0][1] > len(text.encode())
    full = access_of(engine.runs, ANN, usage.total + 20_000)
    before = corpora(tmp_path)
    with pytest.raises(RunError, match=r"This corpus takes 29\.3 kB\. Your runs take .*corpora 117\.2 kB"):
        counted(full, "x" * 30_000)
    assert corpora(tmp_path) == before
    counted(full, text, name="c")  # what is there already takes no room
    counted(access_of(engine.runs, BEN, 200_000), "x" * 30_000)  # another's quota


def test_no_upload_pushes_another_members_corpus_off_the_disk(engine: Engine, tmp_path: Path) -> None:
    kept = counted(access_of(engine.runs, BEN), "猫")
    for n in range(5):
        counted(access_of(engine.runs, ANN), f"{n}" * 100_000, name=f"{n}")
    assert sha("猫") in corpora(tmp_path)
    assert engine.runs.dataset(kept).paths()


@pytest.mark.parametrize("limits", [{"queued": 0}, {"rows": 1}])
def test_a_corpus_whose_run_is_refused_is_not_written(engine: Engine, tmp_path: Path, limits: dict[str, int]) -> None:
    with pytest.raises((RunError, InputError)):
        counted(access_of(engine.runs, ANN, **limits), "猫", "犬")
    assert corpora(tmp_path) == set()


def test_a_corpus_whose_run_fails_to_be_listed_is_removed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = counted(access_of(engine.runs, BEN), "犬")

    def refuse(*_: object, **__: object) -> None:
        raise RunError("The queue is closed.")

    monkeypatch.setattr(engine.runs, "submit", refuse)
    with pytest.raises(RunError, match="closed"):
        counted(access_of(engine.runs, ANN), "猫", "犬")
    assert corpora(tmp_path) == {sha("犬")} and engine.runs.dataset(shared).paths()


def test_a_corpus_that_is_uploaded_while_its_last_run_goes_stays(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, ben = access_of(engine.runs, ANN), access_of(engine.runs, BEN)
    last = counted(ann, "猫")
    submit = engine.runs.submit

    def late(*arguments: object, **options: object) -> object:
        ann.delete(last)  # between Ben's upload and his run
        return submit(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.runs, "submit", late)
    run_id = counted(ben, "猫", name="his")
    assert engine.runs.dataset(run_id).paths() and corpora(tmp_path) == {sha("猫")}


def test_corpora_of_unfinished_runs_are_in_use(tmp_path: Path) -> None:
    gate = threading.Event()
    with open_engine(tmp_path, backend=FakeBackend(gate=gate)) as engine:
        ann = access_of(engine.runs, ANN)
        run_id = ann.submit_corpus("dictionary", DictionarySettings(MODEL, "mine", "line"), uploads("猫"), "c").run_id
        assert corpora_in_use(engine.store, engine.artifacts) == {sha("猫")}
        gate.set()
        assert engine.runs.wait(run_id, 30).state == "done"
        assert corpora_in_use(engine.store, engine.artifacts) == set()


def test_a_moved_directory_has_its_corpora(engine: Engine, tmp_path: Path) -> None:
    run_id = counted(access_of(engine.runs, ANN), "猫")
    content_hash = engine.runs.get(run_id).dataset_hash  # type: ignore[union-attr]
    (tmp_path / "moved").mkdir()
    for name in ("datasets", "corpora"):
        shutil.move(tmp_path / name, tmp_path / "moved" / name)
    from engine.runs.storage.artifacts import Artifacts

    corpus = Artifacts(tmp_path / "moved").load_dataset(CorpusFiles, content_hash, "c")
    assert [path.read_text(encoding="utf-8") for path in corpus.paths()] == ["猫"]
    for name in ("datasets", "corpora"):
        shutil.rmtree(tmp_path / name, ignore_errors=True)
        shutil.move(tmp_path / "moved" / name, tmp_path / name)
