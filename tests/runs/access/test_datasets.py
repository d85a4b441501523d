"""Kept data sets: names, versions, who may read and change them, what stays when they are deleted, quotas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import AccessError, InputError, RunError
from engine.evaluations.clusters.records import Settings
from engine.runs.access.access import RunAccess
from engine.runs.access.datasets import DatasetAccess
from engine.runs.access.limits import GIGABYTE, Limits
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.open import Engine, open_engine
from engine.runs.storage import kept
from engine.runs.storage.kept import KeptDataset
from engine.runs.storage.unlisted import find_unlisted
from engine.runs.storage.usage import usage_of
from tests.support.fake_runs import words
from tests.support.fakes import FakeBackend

ANN, BEN = Viewer("ann@lab.example"), Viewer("ben@lab.example")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


def of(engine: Engine, viewer: Viewer = ANN) -> DatasetAccess:
    return DatasetAccess(engine.access(viewer))


def own_of(access: DatasetAccess) -> list[KeptDataset]:
    return [known for known in access.readable() if access.may_change(known)]


def sentences(n: int = 4) -> LabelledSentences:
    numbers = tuple(range(1, n + 1))
    return LabelledSentences(
        "mine.csv", tuple(f"文{i}" for i in numbers), tuple(f"類{i % 2}" for i in numbers), numbers
    )


def files(folder: Path) -> int:
    return len(list((folder / "datasets").glob("*.parquet")))


def test_a_data_set_is_kept_opened_and_named_once(engine: Engine, tmp_path: Path) -> None:
    access = of(engine)
    set_id = access.keep(sentences(), "  my  titles ")
    known = access.get(set_id)
    assert known is not None and (known.name, known.newest.number, known.newest.n_rows) == ("my titles", 1, 4)
    assert known.newest.dataset_hash == sentences().content_hash
    opened = access.dataset(set_id)
    assert opened == replace(sentences(), name="my titles")
    with pytest.raises(InputError, match="You have a data set called 'my titles' already"):
        access.keep(sentences(5), "my titles")
    assert files(tmp_path) == 1
    of(engine, BEN).keep(sentences(), "my titles")  # another owner's name
    assert files(tmp_path) == 1


def test_extending_makes_a_version_and_keeps_the_former(engine: Engine) -> None:
    access = of(engine)
    set_id = access.keep(sentences(), "titles")
    access.extend(set_id, sentences(6))
    known = access.get(set_id)
    assert known is not None and [(each.number, each.n_rows) for each in known.versions] == [(1, 4), (2, 6)]
    assert access.dataset(set_id).name == "titles (version 2)" and access.dataset(set_id, 1).n == 4
    with pytest.raises(InputError, match="Nothing new"):
        access.extend(set_id, sentences(6))
    with pytest.raises(InputError, match="another kind"):
        access.extend(set_id, sample_data.masked_sentences())
    with pytest.raises(AccessError, match="no version 3; there are 1 to 2"):
        access.dataset(set_id, 3)


@pytest.mark.parametrize(
    "dataset",
    [
        sample_data.labelled_sentences(),
        sample_data.sentence_pairs(),
        sample_data.scored_pairs(),
        sample_data.minimal_pairs(),
        sample_data.masked_sentences(),
    ],
    ids=lambda dataset: dataset.name,
)
def test_every_kind_comes_back_as_it_was_and_fits_its_pages(engine: Engine, dataset: object) -> None:
    access = of(engine)
    set_id = access.keep(dataset, "mine")
    opened = access.dataset(set_id)
    assert (opened.content_hash, opened.notices) == (dataset.content_hash, dataset.notices)  # type: ignore[attr-defined]
    assert [known.id for known in access.readable(type(dataset))] == [set_id]
    other = MaskedSentences if not isinstance(dataset, MaskedSentences) else LabelledSentences
    assert access.readable(other) == []


def test_a_private_data_set_does_not_exist_for_anybody_else(engine: Engine) -> None:
    set_id = of(engine).keep(sentences(), "titles")
    ben = of(engine, BEN)
    assert ben.get(set_id) is None and ben.readable() == [] == own_of(ben)
    for forbidden in (
        lambda: ben.dataset(set_id),
        lambda: ben.delete(set_id),
        lambda: ben.share(set_id, True),
        lambda: ben.rename(set_id, "x"),
        lambda: ben.extend(set_id, sentences(5)),
        lambda: ben.used_by(set_id),
        lambda: ben.dataset("no-such-id"),
    ):
        with pytest.raises(AccessError, match="There is no such data set"):
            forbidden()


def test_a_shared_data_set_may_be_read_but_not_changed(engine: Engine) -> None:
    ann, ben = of(engine), of(engine, BEN)
    set_id = ann.keep(sentences(), "titles")
    ann.share(set_id, True)
    ann.extend(set_id, sentences(6))  # stays shared
    own = ben.keep(sentences(3), "zero")
    assert ben.dataset(set_id).n == 6 and [known.id for known in ben.readable()] == [own, set_id]
    assert [known.id for known in own_of(ben)] == [own]
    for forbidden in (
        lambda: ben.delete(set_id),
        lambda: ben.extend(set_id, sentences(7)),
        lambda: ben.rename(set_id, "x"),
        lambda: ben.share(set_id, False),
    ):
        with pytest.raises(AccessError, match="belongs to somebody else"):
            forbidden()
    ann.share(set_id, False)
    assert ben.get(set_id) is None


def test_without_sign_in_browsers_read_each_others_and_change_their_own(engine: Engine) -> None:
    first, second = (Viewer(f"browser:{letter * 32}", signed_in=False) for letter in "ab")
    set_id = of(engine, first).keep(sentences(), "titles")
    assert of(engine, second).dataset(set_id).n == 4 and own_of(of(engine, second)) == []
    with pytest.raises(AccessError, match="belongs to somebody else"):
        of(engine, second).delete(set_id)
    nobodys = of(engine, LOCAL).keep(sentences(5), "common")
    of(engine, second).rename(nobodys, "ours")
    assert of(engine, ANN).readable() == []


def test_an_extension_takes_the_data_set_as_it_is_by_then(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    access = of(engine)
    set_id = access.keep(sentences(), "titles")
    access.share(set_id, True)
    before = access.get(set_id)
    assert before is not None
    monkeypatch.setattr(kept, "get", lambda store, of: before)  # read before the others' changes
    kept.rename(engine.store, set_id, "news")
    kept.share(engine.store, set_id, False)
    access.extend(set_id, sentences(6))
    (known,) = kept.every(engine.store)
    assert (known.name, known.shared, len(known.versions)) == ("news", False, 2)
    kept.remove(engine.store, set_id)
    with pytest.raises(InputError, match="'titles' was deleted meanwhile"):
        access.extend(set_id, sentences(7))
    assert kept.every(engine.store) == []


def test_names_are_checked_and_can_be_changed(engine: Engine) -> None:
    access = of(engine)
    set_id = access.keep(sentences(), "titles")
    other = access.keep(sentences(5), "others")
    access.rename(set_id, "news")
    assert [known.name for known in own_of(access)] == ["news", "others"]
    with pytest.raises(InputError, match="'news' already"):
        access.rename(other, "news")
    for name in ("", " ", "x" * 201, "a\x00b"):
        with pytest.raises(InputError):
            access.keep(sentences(6), name)
    with pytest.raises(InputError, match="can be kept by name"):
        access.keep(words(3), "words")


def finished(access: RunAccess, dataset: LabelledSentences) -> str:
    run_id = access.submit("clusters", Settings(("somebody/bert",), projection="pca"), dataset).run_id
    assert access.queue.wait(run_id, 30).state == "done"
    return run_id


def test_runs_keep_their_data_when_the_data_set_goes_and_the_data_set_when_runs_go(
    engine: Engine, tmp_path: Path
) -> None:
    access = of(engine)
    set_id = access.keep(sentences(8), "titles")
    access.extend(set_id, sentences(10))
    run_id = finished(access.runs, access.dataset(set_id, 1))
    assert [(run.id, numbers) for run, numbers in access.used_by(set_id)] == [(run_id, (1,))]
    assert of(engine).used_by(set_id) and files(tmp_path) == 2
    assert not find_unlisted(engine.store, engine.artifacts)
    access.delete(set_id)
    assert files(tmp_path) == 1 and access.get(set_id) is None
    assert access.runs.dataset(run_id).texts == sentences(8).texts
    again = access.keep(sentences(8), "titles")
    access.runs.delete(run_id)
    assert files(tmp_path) == 1 and access.dataset(again).n == 8
    access.delete(again)
    assert files(tmp_path) == 0


def test_runs_of_others_are_not_told(engine: Engine) -> None:
    ann, ben = of(engine), of(engine, BEN)
    set_id = ann.keep(sentences(8), "titles")
    ann.share(set_id, True)
    finished(ben.runs, ben.dataset(set_id))
    assert ann.used_by(set_id) == [] and len(ben.used_by(set_id)) == 1


def test_the_quota_counts_them_and_is_asked_first(engine: Engine, tmp_path: Path) -> None:
    access = of(engine)
    set_id = access.keep(sentences(200), "titles")
    size = sum(path.stat().st_size for path in (tmp_path / "datasets").iterdir())
    assert usage_of(engine.store, engine.artifacts, ANN.id).total == size
    limited = DatasetAccess(RunAccess(engine.runs, engine.store, ANN, Limits(storage_gb=1.5 * size / GIGABYTE)))
    with pytest.raises(RunError, match="data sets that you keep"):
        limited.keep(sentences(300), "more")
    assert [known.name for known in own_of(access)] == ["titles"] and files(tmp_path) == 1
    limited.keep(sentences(200), "the same again")  # the same content takes nothing
    access.delete(set_id)
    assert files(tmp_path) == 1 and usage_of(engine.store, engine.artifacts, ANN.id).total == size


def test_too_many_rows_are_refused(engine: Engine) -> None:
    limited = DatasetAccess(RunAccess(engine.runs, engine.store, ANN, Limits(rows=5)))
    with pytest.raises(InputError, match="6 rows; this instance takes at most 5"):
        limited.keep(sentences(6), "titles")
    assert own_of(limited) == []
