"""The acceptability of single sentences: the order that keeps a pair apart, who sees what, and the ratings as data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sqlalchemy import func, select

from dashboard.shared.exports.bundle.data import data_file
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.kinds import CONDITIONS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import AccessError, InputError
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.judgements import preferences, ratings
from engine.evaluations.minimal_pairs.linking import linking
from engine.evaluations.minimal_pairs.records import Settings
from engine.runs.open import Engine, open_engine
from engine.runs.ratings.datasets import pair_means, pair_scores, with_acceptability
from engine.runs.ratings.questions import (
    items_to_rate,
    next_sentence,
    questions_about,
    sentences_of_pairs,
    sentences_to_rate,
)
from engine.runs.storage import members
from engine.runs.storage.schema import RatingRow
from tests.runs.ratings.test_ratings import ANN, BEN, EVE, MINIMAL, of, submitted
from tests.support.fakes import FakeBackend
from tests.support.session_fake import SessionFake, likelihoods

JUDGED = from_table(read_table("sentence,label\n猫が鳴く,1\n猫を鳴く,0\n犬が鳴く,1\n".encode(), "judged.csv"))
ASKED = "acceptability"


def pairs(n: int, shared: int = 1) -> MinimalPairs:
    """n pairs, of which each `shared` in turn have the same acceptable sentence."""
    lines = [f"猫が{i // shared}匹鳴く,猫を{i}匹鳴く" for i in range(n)]
    return from_table(read_table("\n".join(["acceptable,unacceptable", *lines]).encode(), "p.csv"))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        yield opened


@pytest.mark.parametrize("n", [2, 3, 10, 21])
def test_half_of_the_pairs_or_more_lie_between_the_sentences_of_a_pair(n: int) -> None:
    dataset = pairs(n)
    first_sides = 0
    for rater in map(str, range(20)):
        order = sentences_to_rate(dataset, range(n), rater)
        assert sorted(order) == list(range(2 * n)) and order == sentences_to_rate(dataset, range(n), rater)
        at = {position: place for place, position in enumerate(order)}
        assert min(abs(at[i] - at[n + i]) for i in range(n)) > n // 2
        first_sides += sum(at[i] < at[n + i] for i in range(n))
    assert 0.3 < first_sides / (20 * n) < 0.7  # that it comes first tells nothing
    if n > 3:
        assert sentences_to_rate(dataset, range(n), "a") != sentences_to_rate(dataset, range(n), "b")


@pytest.mark.parametrize("shared", [2, 3])
def test_a_sentence_of_several_pairs_is_asked_once_and_stands_beside_none_of_them(shared: int) -> None:
    dataset = pairs(12, shared)
    partners = {frozenset(of_pair) for of_pair in sentences_of_pairs(dataset, range(12)).values()}
    for rater in map(str, range(20)):
        order = sentences_to_rate(dataset, range(12), rater)
        assert sorted(dataset.sentences[position] for position in order) == sorted(set(dataset.sentences))
        assert not any(frozenset(two) in partners for two in pairwise(order))


def test_in_a_larger_set_no_sentence_follows_its_partner_because_others_were_rated_before() -> None:
    dataset = pairs(30)
    items = items_to_rate(dataset, 500)
    mine = list(sentences_to_rate(dataset, items[:20], "ann"))
    order = sentences_to_rate(dataset, items, "ann")
    while (position := next_sentence(dataset, items, order, mine)) is not None:
        assert abs(position - mine[-1]) != dataset.n
        mine.append(position)
    assert sorted(mine) == list(range(60))


def test_one_pair_alone_is_rated_one_sentence_after_the_other() -> None:
    dataset = pairs(1)
    order = sentences_to_rate(dataset, [0], "ann")
    assert sorted(order) == [0, 1] and next_sentence(dataset, [0], order, order[:1]) == order[1]
    assert next_sentence(dataset, [0], order, order) is None


def test_one_who_stopped_half_way_changes_no_difference_within_a_pair() -> None:
    dataset = pairs(20)
    order = sentences_to_rate(dataset, range(20), "ben")
    # Ann finds each acceptable sentence better by 1; Ben gives 7 to each, and stops after a half.
    ann = [4.0 + (position < 20) for position in range(40)]
    ben = [7.0 if position in order[:20] else np.nan for position in range(40)]
    scores = pd.DataFrame({"Ann": ann, "Ben": ben})
    frames = pair_scores(dataset, range(20), scores)
    assert sum(frame["Ben"].notna().sum() for frame in frames) == 20  # which stay in the table
    of_acceptable, of_unacceptable = pair_means(frames)
    assert (of_acceptable - of_unacceptable == 1).all()
    columns = with_acceptability(dataset, range(20), scores, "rated").further
    assert set(columns["acceptable_rating"]) == {"5"} and set(columns["unacceptable_rating"]) == {"4"}
    whole = pd.DataFrame({"Ann": ann, "Ben": [7.0] * 40})
    assert set(with_acceptability(dataset, range(20), whole, "rated").further["acceptable_rating"]) == {"6"}


def test_others_scores_are_seen_when_ones_own_are_complete_and_preferences_stay_apart(engine: Engine) -> None:
    run_id = submitted(engine, "minimal-pairs")
    for position, score in enumerate((7, 6, 5, 2, 2, 1)):
        of(engine, ANN).rate(run_id, position, score, ASKED)
    of(engine, ANN).rate(run_id, 0, -2)  # the preference, of the same pair
    assert of(engine, ANN).mine(run_id) == {0: -2.0} and of(engine, ANN).mine(run_id, ASKED)[0] == 7.0
    of(engine, BEN).rate(run_id, 0, 6, ASKED)
    with pytest.raises(AccessError, match=r"Rate the sentences that are left first \(1\)"):
        of(engine, BEN).rated(run_id, [0, 3], ASKED)
    with pytest.raises(AccessError, match="pairs"):
        of(engine, BEN).rated(run_id, [0])
    of(engine, BEN).rate(run_id, 3, 1, ASKED)
    rated = of(engine, BEN).rated(run_id, [0, 3], ASKED)
    assert rated.scores.to_numpy().tolist() == [[6.0, 7.0], [1.0, 2.0]] and rated.alpha.n == 2
    assert (of(engine, EVE).n_raters(run_id, ASKED), of(engine, EVE).n_raters(run_id)) == (2, 1)


@pytest.mark.parametrize(
    ("item", "score", "question"),
    [
        (6, 3, ASKED),
        (-1, 3, ASKED),
        (0, 0, ASKED),
        (0, 8, ASKED),
        (0, math.nan, ASKED),
        (0, 1.5, ASKED),
        (0, 1, "similarity"),
        (3, 1, "preference"),
        (0, 3, "preference"),
    ],
)
def test_only_scores_of_the_scale_and_sentences_of_the_data_are_kept(
    engine: Engine, item: int, score: float, question: str
) -> None:
    run_id = submitted(engine, "minimal-pairs")
    with pytest.raises(InputError):
        of(engine, ANN).rate(run_id, item, score, question)
    with engine.store.session() as session:
        assert session.scalar(select(func.count()).select_from(RatingRow)) == 0


def test_of_single_sentences_there_is_no_preference(engine: Engine) -> None:
    runs = engine.access(ANN)
    run_id = runs.submit("minimal-pairs", Settings(("owner/name",)), JUDGED).run_id
    assert questions_about("minimal-pairs", JUDGED) == (ASKED,)
    assert questions_about("minimal-pairs", MINIMAL) == ("preference", ASKED)
    with pytest.raises(InputError, match="no pairs to rate"):
        of(engine, ANN).rate(run_id, 0, 1)
    with pytest.raises(InputError, match="no sentence 4"):
        of(engine, ANN).rate(run_id, 3, 1, ASKED)
    assert sorted(sentences_to_rate(JUDGED, items_to_rate(JUDGED, 500), "ann")) == [0, 1, 2]


def test_sentences_in_conditions_are_drawn_as_whole_items() -> None:
    # Items of 2, 3 and 4 sentences in turn, which share the first one, in two suites that number them alike.
    lines = [
        f"{suite},{item},c{place},{'共有' if place == 0 else f'{suite}{item}文{place}'}"
        for suite in "ab"
        for item in range(9)
        for place in range(2 + item % 3)
    ]
    dataset = from_table(read_table("\n".join(["suite,item,condition,sentence", *lines]).encode(), "d.csv"))
    of_item = list(zip(dataset.fields["suite"], dataset.fields["item"], strict=True))
    largest = items_to_rate(dataset, 500)
    assert sorted(largest) == list(range(dataset.n))
    for size in range(1, dataset.n + 1):
        drawn = items_to_rate(dataset, size)
        assert drawn == largest[: len(drawn)]
        assert len(drawn) <= size or len({of_item[position] for position in drawn}) == 1  # at least one item
        assert size - len(drawn) < 4  # the next one has no room
        chosen = {of_item[position] for position in drawn}
        assert sorted(drawn) == [position for position, item in enumerate(of_item) if item in chosen]
    asked = sentences_to_rate(dataset, largest, "ann")
    assert sorted(dataset.acceptable[position] for position in asked) == sorted(set(dataset.acceptable))
    scores = pd.DataFrame({"Ann": dict.fromkeys(asked, 3.0)})
    rated = with_acceptability(dataset, items_to_rate(dataset, 10), scores, "rated")
    assert rated.data_kind is CONDITIONS and set(rated.further["acceptability:Ann"]) == {"3"}


def test_answers_go_with_the_run_and_the_rater_question_by_question(engine: Engine) -> None:
    run_id = submitted(engine, "minimal-pairs")
    for viewer, score in ((ANN, 3), (BEN, 4)):
        of(engine, viewer).rate(run_id, 0, score, ASKED)
    of(engine, ANN).rate(run_id, 0, 1)
    with engine.store.session() as session:
        members._transfer(session, {ANN.id}, BEN.id)  # the same person, under a former address
    assert (of(engine, BEN).mine(run_id), of(engine, BEN).mine(run_id, ASKED)) == ({0: 1.0}, {0: 4.0})
    of(engine, BEN).withdraw(run_id)
    assert (of(engine, BEN).mine(run_id), of(engine, BEN).mine(run_id, ASKED)) == ({}, {0: 4.0})
    engine.access(BEN).delete(run_id)
    with engine.store.session() as session:
        assert session.scalar(select(func.count()).select_from(RatingRow)) == 0


def scored(columns: dict[str, list[float]], index: list[int]) -> pd.DataFrame:
    return pd.DataFrame(columns, index=index, dtype=np.float64)


@pytest.mark.parametrize(
    "dataset", [MINIMAL.subset((1, 2)), MinimalPairs("typed", ("a b", "c d"), ("b a", "d c"), ("", ""), (1, 2))]
)
def test_the_two_columns_of_a_run_are_the_means_over_those_who_rated_both_sentences(dataset: MinimalPairs) -> None:
    # sentences 0 and 1 are acceptable, 2 and 3 their partners; Ben did not rate the sentence 3
    scores = scored({"Ann": [1, 7, 6, 3], "Ben": [math.nan, 6, 4, 1]}, [3, 0, 1, 2])
    good, bad = (frame.to_numpy().tolist() for frame in pair_scores(dataset, [1, 0], scores))
    assert good == [[6, 4], [7, 6]] and bad[1] == [3, 1]
    data = with_acceptability(dataset, [1, 0], scores, "rated")
    assert data.rows == (1, 2) and data.further["unacceptable_rating:Ben"] == ("1", "")
    file = data_file(data)
    for read in (data, from_table(read_table(file.content, file.name)), MinimalPairs.from_frame(data.to_frame(), "r")):
        rated = ratings(read)
        assert rated is not None and preferences(read) is None
        assert [side.tolist() for side in rated] == [[6.5, 6.0], [2.0, 1.0]]  # (7 + 6) / 2, Ann's 6; (3 + 1) / 2, 1
        assert not any("rating" in column for column in read.fields)  # which would sort the pairs by their judgements


def test_judgements_that_the_file_has_are_kept_and_single_sentences_get_their_means() -> None:
    table = read_table(b"acceptable,unacceptable,acceptable_rating,unacceptable_rating\na b,b a,1,0\n", "j.csv")
    again = with_acceptability(from_table(table), [0], scored({"Ann": [7, 2]}, [0, 1]), "rated")
    assert again.further["acceptable_rating"] == ("1",) and again.further["acceptable_rating (2)"] == ("7",)
    single = with_acceptability(JUDGED, [2, 0], scored({"mean": [7, 1], "Ben": [4, 2]}, [0, 2]), "rated")
    assert single.acceptable == ("猫が鳴く", "犬が鳴く") and single.labels == (True, True)
    assert single.further["acceptability:mean"] == ("5.5", "1.5")
    assert single.further["acceptability:mean (2)"] == ("7", "1")  # of the person who is called so
    assert not any(column.startswith("acceptability") for column in single.fields)


def test_a_run_of_the_rated_pairs_fits_morcela_and_holds_differences_against_those_of_people() -> None:
    dataset = pairs(40)
    levels = np.array([likelihoods("m", text).mean() for text in dataset.sentences])
    means = np.round(1 + 6 * (levels - levels.min()) / np.ptp(levels))  # a rater who hears the model, on the scale
    data = with_acceptability(dataset, range(40), scored({"Ann": list(means)}, list(range(80))), "rated")
    result = evaluate(Settings(("m",)), data, SessionFake())  # type: ignore[arg-type]
    row = linking(result, ["LP"]).iloc[0]
    difference = result.pairs["acceptable_log_likelihood"] - result.pairs["unacceptable_log_likelihood"]
    assert row["n"] == 80 and row["n_pairs"] == 40
    assert row["difference_pearson"] == pytest.approx(scipy.stats.pearsonr(difference, means[:40] - means[40:])[0])
    fitted = linking(result, ["MORCELA"]).iloc[0]
    assert np.isfinite([fitted["beta"], fitted["gamma"]]).all() and fitted["pearson"] > 0.9
