"""Ratings of the pairs of a run: who may give and see them, which pairs are drawn, what becomes of them as data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import func, select

from dashboard.shared.exports.bundle.data import data_file
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import labelled_sentences
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs, from_table
from engine.errors import AccessError, InputError, RunError
from engine.evaluations.alignment.records import Settings as AlignmentSettings
from engine.evaluations.clusters.records import Settings as ClusterSettings
from engine.evaluations.minimal_pairs.judgements import preferences, ratings
from engine.evaluations.minimal_pairs.records import Settings as PairSettings
from engine.runs.access.viewers import Viewer
from engine.runs.open import Engine, open_engine
from engine.runs.ratings import rows
from engine.runs.ratings.access import RatingAccess
from engine.runs.ratings.datasets import rated_dataset
from engine.runs.ratings.questions import QUESTIONS, is_turned, items_to_rate, texts
from engine.runs.storage import members
from engine.runs.storage.schema import RatingRow
from engine.runs.storage.store import Store
from tests.support.fakes import FakeBackend

ANN, BEN, EVE = Viewer("ann@lab.example"), Viewer("ben@lab.example"), Viewer("eve@lab.example")
SIMILAR = from_table(
    read_table(
        "reference,candidate,score,source\n雨が降る,雨だ,4,a\n雪が積もる,雪だ,3,b\n雨が降る,雨だ,2,c\n風が吹く,風だ,1,d\n".encode(),
        "s.csv",
    )
)
MINIMAL = minimal_pairs.from_table(
    read_table(
        b"sentence_good,sentence_bad,UID\nHe runs.,He run.,sva\nShe sings.,She sing.,sva\nIt rains.,It rain.,sva\n",
        "m.csv",
    )
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


def submitted(engine: Engine, kind: str = "alignment", *, shared: bool = True) -> str:
    runs = engine.access(ANN)
    settings = AlignmentSettings(("owner/name",)) if kind == "alignment" else PairSettings(("owner/name",))
    run_id = runs.submit(kind, settings, SIMILAR if kind == "alignment" else MINIMAL).run_id
    runs.share(run_id, shared)
    return run_id


def of(engine: Engine, viewer: Viewer) -> RatingAccess:
    return RatingAccess(engine.access(viewer))


def test_others_scores_are_seen_when_ones_own_are_complete(engine: Engine) -> None:
    run_id, items = submitted(engine), [0, 1, 3]
    for item, score in zip(items, (4, 3, 0), strict=True):
        of(engine, ANN).rate(run_id, item, score)
    of(engine, BEN).rate(run_id, 0, 5)
    of(engine, BEN).rate(run_id, 1, 3)
    assert of(engine, BEN).mine(run_id) == {0: 5.0, 1: 3.0}
    with pytest.raises(AccessError, match=r"Rate the pairs that are left first \(1\)"):
        of(engine, BEN).rated(run_id, items)
    of(engine, BEN).rate(run_id, 3, 2)
    of(engine, BEN).rate(run_id, 3, 0)  # in place of the 2
    rated = of(engine, BEN).rated(run_id, items)
    assert rated.scores.to_numpy().tolist() == [[5.0, 4.0], [3.0, 3.0], [0.0, 0.0]]  # one's own first
    names = engine.access(BEN).owner_names([ANN.id, BEN.id])
    assert list(rated.scores.columns) == [names[BEN.id], names[ANN.id]]
    assert rated.alpha.n == 3 and 0 < rated.alpha.value < 1
    assert of(engine, BEN).n_raters(run_id) == 2


def test_scores_that_are_withdrawn_while_the_results_are_read_have_to_be_given_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = submitted(engine)
    of(engine, ANN).rate(run_id, 0, 4)
    of(engine, BEN).rate(run_id, 0, 5)
    of_all = rows.of_all

    def withdrawn_before(store: Store, run: str, question: str) -> dict[str, dict[int, float]]:
        of(engine, BEN).withdraw(run_id)  # in another tab
        return of_all(store, run, question)

    monkeypatch.setattr(rows, "of_all", withdrawn_before)
    with pytest.raises(AccessError, match=r"Rate the pairs that are left first \(1\)"):
        of(engine, BEN).rated(run_id, [0])


def test_who_may_not_read_the_run_may_neither_rate_nor_see(engine: Engine) -> None:
    run_id = submitted(engine, shared=False)
    for attempt in (
        lambda: of(engine, EVE).rate(run_id, 0, 3),
        lambda: of(engine, EVE).mine(run_id),
        lambda: of(engine, EVE).rated(run_id, []),
        lambda: of(engine, EVE).n_raters(run_id),
        lambda: of(engine, EVE).withdraw(run_id),
    ):
        with pytest.raises(RunError, match="There is no run"):
            attempt()


@pytest.mark.parametrize(("item", "score"), [(0, 6), (0, 2.5), (0, math.nan), (-1, 3), (4, 3)])
def test_only_scores_of_the_scale_and_pairs_of_the_data_are_kept(engine: Engine, item: int, score: float) -> None:
    run_id = submitted(engine)
    with pytest.raises(InputError):
        of(engine, ANN).rate(run_id, item, score)
    assert of(engine, ANN).mine(run_id) == {}


def test_sentences_by_themselves_cannot_be_rated(engine: Engine) -> None:
    dataset = labelled_sentences.from_table(read_table(b"text,label\na,x\nb,x\nc,y\nd,y\n", "c.csv"))
    run_id = engine.access(ANN).submit("clusters", ClusterSettings(("owner/name",)), dataset).run_id
    with pytest.raises(InputError, match="Only the pairs"):
        of(engine, ANN).question(run_id)


def test_everybody_gets_the_same_pairs_and_a_larger_set_goes_on() -> None:
    assert items_to_rate(SIMILAR, 2) == items_to_rate(SIMILAR, 500)[:2]
    assert len(items_to_rate(SIMILAR, 500)) == 3  # one of the two equal pairs
    assert sorted(texts(SIMILAR, item) for item in items_to_rate(SIMILAR, 500)) == sorted(
        {("雨が降る", "雨だ"), ("雪が積もる", "雪だ"), ("風が吹く", "風だ")}
    )


def test_the_side_of_a_sentence_is_drawn_for_each_rater_and_pair() -> None:
    turned = [[is_turned(rater, "hash", item) for item in range(400)] for rater in ("a", "b")]
    assert all(150 < sum(sides) < 250 for sides in turned) and turned[0] != turned[1]
    assert turned[0] == [is_turned("a", "hash", item) for item in range(400)]


def test_rated_pairs_are_data_with_a_column_for_each_rater(engine: Engine) -> None:
    run_id = submitted(engine)
    for viewer, scores in ((ANN, (4, 3)), (BEN, (5, 1))):
        for item, score in zip((3, 0), scores, strict=True):
            of(engine, viewer).rate(run_id, item, score)
    rated = of(engine, ANN).rated(run_id, [3, 0])
    data = rated_dataset(SIMILAR, rated.scores, "rated")
    assert isinstance(data, SentencePairs)
    ann, ben = rated.scores.columns
    assert data.references == ("雨が降る", "風が吹く") and data.rows == (1, 4)
    assert data.human[ann] == (3.0, 4.0) and data.human[ben] == (1.0, 5.0)
    assert data.human["score"] == (4.0, 1.0) and data.further == {"source": ("a", "d")}
    assert SentencePairs.from_frame(data.to_frame(), "rated") == data  # as a kept data set is read


def test_preferences_point_to_the_acceptable_sentence_and_keep_the_columns_of_the_file(engine: Engine) -> None:
    run_id = submitted(engine, "minimal-pairs")
    assert of(engine, ANN).question(run_id) is QUESTIONS["preference"]
    assert texts(MINIMAL, 0) == ("He run.", "He runs.")  # a positive score is for the second
    of(engine, ANN).rate(run_id, 2, -1)
    scores = of(engine, ANN).rated(run_id, [2]).scores
    data = rated_dataset(MINIMAL, scores, "rated")
    assert isinstance(data, MinimalPairs)
    column = f"preference:{scores.columns[0]}"
    assert data.rows == (3,) and data.fields["UID"] == ("sva",) and data.further[column] == ("-1",)
    assert column not in data.fields  # which would sort the pairs by what they are to be held against
    assert MinimalPairs.from_frame(data.to_frame(), "rated") == data  # as a kept data set is read


@pytest.mark.parametrize("dataset", [MINIMAL, MinimalPairs("typed", ("a b", "c d"), ("b a", "d c"), ("", ""), (1, 2))])
def test_preferences_are_judgements_of_the_difference_also_in_the_downloaded_file(dataset: MinimalPairs) -> None:
    scores = pd.DataFrame({"Ann": [2.0, -1.0], "Ben": [1.0, math.nan]}, index=[1, 0])
    data = rated_dataset(dataset, scores, "rated")
    assert isinstance(data, MinimalPairs)
    file = data_file(data)
    again = minimal_pairs.from_table(read_table(file.content, file.name))
    assert not any(column.startswith("preference:") for column in (*again.fields, *data.fields))
    for read in (data, again):
        preferred = preferences(read)
        assert preferred is not None and preferred.tolist() == [-1.0, 1.5]  # in the order of the data, mean of both
        assert ratings(read) is None


def test_ratings_go_with_their_run_and_with_their_rater(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, ANN).rate(run_id, 0, 1)
    of(engine, BEN).rate(run_id, 0, 2)
    of(engine, BEN).rate(run_id, 1, 2)
    with engine.store.session() as session:
        members._transfer(session, {ANN.id}, BEN.id)  # the same person, under a former address
    assert of(engine, BEN).mine(run_id) == {0: 2.0, 1: 2.0}  # of two scores the later one
    of(engine, BEN).withdraw(run_id)
    assert of(engine, BEN).mine(run_id) == {}
    of(engine, BEN).rate(run_id, 1, 2)
    engine.access(BEN).delete(run_id)  # whose run it is by now
    with engine.store.session() as session:
        assert session.scalar(select(func.count()).select_from(RatingRow)) == 0
