"""Rating from a run's page to the data set: the answers, going back, two people, what each sees."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from dashboard.shared import session
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.alignment.records import Settings as AlignmentSettings
from engine.evaluations.minimal_pairs.judgements import ratings
from engine.evaluations.minimal_pairs.records import Settings as PairSettings
from engine.messages.catalogues import JAPANESE
from engine.runs.access.viewers import Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.ratings.access import RatingAccess
from engine.runs.ratings.questions import QUESTIONS, is_turned, items_to_rate, sentences_to_rate
from tests.runs.ratings.test_acceptability import JUDGED
from tests.runs.ratings.test_ratings import MINIMAL, SIMILAR
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")
ANN, BEN = (Viewer(f"browser:{letter * 32}", signed_in=False) for letter in "ab")


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    viewer = SimpleNamespace(now=ANN)
    monkeypatch.setattr(session, "viewer", lambda: viewer.now)
    return viewer


def submitted(kind: str = "alignment") -> str:
    page_visits.visit("home")  # which opens the engine
    settings = AlignmentSettings(("owner/name",)) if kind == "alignment" else PairSettings(("owner/name",))
    return session.access().submit(kind, settings, SIMILAR if kind == "alignment" else MINIMAL, "Mine").run_id


def answer(app: AppTest, position: int) -> AppTest:
    answers(app)[position].click()
    return drawn(app)


def answers(app: AppTest) -> list[Button]:
    return [button for button in app.button if str(button.key).startswith("rating-answer-")]


def test_pairs_are_rated_one_after_the_other_and_the_last_answer_is_not_final(present: SimpleNamespace) -> None:
    run_id = submitted()
    app = page_visits.visit("rating", run=run_id)
    items = items_to_rate(SIMILAR, 500)
    size = app.segmented_control(key=f"rating-pairs-{run_id}")
    assert (size.options, size.value) == (["3"], 3)  # of four pairs two are the same
    assert [button.label for button in answers(app)] == list(QUESTIONS["similarity"].answers.values())
    shown = {SIMILAR.references[items[0]], SIMILAR.candidates[items[0]]}
    assert all(text in words(app) for text in shown)
    answer(app, 4)
    assert RatingAccess(session.access()).mine(run_id) == {items[0]: 4.0}
    app.button(key="rating-previous").click()
    drawn(app)
    assert all(text in words(app) for text in shown)
    assert [button.proto.type for button in answers(app)] == ["primary" if n == 4 else "secondary" for n in range(6)]
    answer(app, 5)
    assert RatingAccess(session.access()).mine(run_id) == {items[0]: 5.0}
    assert SIMILAR.references[items[1]] in words(app)


def test_a_second_person_rates_blind_and_both_see_how_far_they_agree(present: SimpleNamespace) -> None:
    run_id = submitted()
    app = page_visits.visit("rating", run=run_id)
    for position in (4, 2, 0):
        app = answer(app, position)
    assert "You are the first" in app.info[-1].value
    present.now = BEN
    long = page_visits.visit("rating", run=run_id, pairs="1" * 5_000)
    assert not long.exception and long.segmented_control(key=f"rating-pairs-{run_id}").value == 3
    other = page_visits.visit("rating", run=run_id, pairs="3")
    assert "1 person has begun" in words(other) and not other.dataframe and not other.metric
    for position in (5, 2, 1):
        other = answer(other, position)
    assert other.metric[0].label == "Krippendorff's alpha" and other.metric[0].value.startswith("0.")
    assert len(other.dataframe[0].value) == 3
    other.text_input(key="rating-keep-name").set_value("titles, rated")
    other.button(key="rating-keep-submit").click()
    drawn(other)
    (known,) = session.datasets().readable()
    assert len(session.datasets().dataset(known.id).human) == 3  # the file's own, and two raters'
    other.button(key="rating-withdraw-sure").click()
    assert answers(drawn(other)) and RatingAccess(session.access()).mine(run_id) == {}


def test_run_and_raters_are_called_in_the_readers_language(present: SimpleNamespace) -> None:
    """As in lists of runs and comments; both were English on the Japanese page."""
    page_visits.visit("home")
    run_id = session.access().submit("alignment", AlignmentSettings(("owner/name",)), SIMILAR, "").run_id
    for present.now, positions in ((ANN, (4, 2, 0)), (BEN, (0, 2, 4))):
        app = page_visits.visit("rating", run=run_id)
        for position in positions:
            app = answer(app, position)
    app.session_state["language"] = JAPANESE
    app = drawn(app)
    assert app.get("page_link")[0].proto.label.startswith("アラインメント")
    assert list(app.dataframe[0].value.columns)[3:] == ["ブラウザ bbbb", "ブラウザ aaaa"]
    assert app.metric[0].value.startswith("−") and "-" not in app.metric[0].value  # a sign, as on other pages


def test_means_that_are_equal_on_average_are_not_called_higher(present: SimpleNamespace) -> None:
    run_id = submitted("minimal-pairs")
    app = page_visits.visit("rating", run=run_id, question="acceptability", pairs="3")
    for _ in range(6):
        app = answer(app, 3)
    assert "in 0 of 3 pairs, the same in 3; on average the means are equal." in words(app)


def test_of_minimal_pairs_the_preferred_sentence_counts_on_whichever_side_it_stands(present: SimpleNamespace) -> None:
    run_id = submitted("minimal-pairs")
    app = page_visits.visit("rating", run=run_id)
    for _ in range(3):  # the acceptable sentence, clearly, wherever it stands
        text = words(app)
        item = next(i for i, sentence in enumerate(MINIMAL.acceptable) if f"] {sentence}" in text)
        app = answer(app, 0 if f"[1] {MINIMAL.acceptable[item]}" in text else 4)
    mine = RatingAccess(session.access()).mine(run_id)
    assert mine == {0: 2.0, 1: 2.0, 2: 2.0}
    assert isinstance(session.access().dataset(run_id), MinimalPairs)
    assert {is_turned(ANN.id, MINIMAL.content_hash, item) for item in range(3)} == {True, False}


def test_sentences_are_rated_one_by_one_where_the_link_asks_for_it(present: SimpleNamespace) -> None:
    run_id = submitted("minimal-pairs")
    app = page_visits.visit("rating", run=run_id, question="acceptability", pairs="3")
    assert app.query_params["question"] == "acceptability"
    pairs = items_to_rate(MINIMAL, 3)
    order = sentences_to_rate(MINIMAL, pairs, ANN.id)
    for number, position in enumerate(order):
        shown = [text for text in MINIMAL.sentences if text in words(app)]
        assert shown == [MINIMAL.sentences[position]] and not app.dataframe
        assert f"{number} of 6 sentences rated" in app.get("progress")[0].proto.text
        app = answer(app, 6 if position < 3 else number % 4)  # 7 for each acceptable one
    mine = RatingAccess(session.access()).mine(run_id, "acceptability")
    assert list(mine) == order and {mine[position] for position in range(3)} == {7.0}
    assert "higher mean in 3 of 3 pairs, the same in 0" in words(app)
    shown_table = app.dataframe[0].value
    assert shown_table["Difference"].tolist() == sorted(7 - mine[3 + pair] for pair in pairs)
    app.text_input(key="rating-keep-name").set_value("judged")
    app.button(key="rating-keep-submit").click()
    drawn(app)
    (known,) = session.datasets().readable()
    kept = session.datasets().dataset(known.id)
    good, bad = ratings(kept) or ([], [])
    assert list(good) == [7.0] * 3 and list(bad) == [mine[3 + pair] for pair in sorted(pairs)]
    app.segmented_control(key=f"rating-question-{run_id}").set_value("preference")
    app = drawn(app)
    assert "question" not in app.query_params and "0 of 3 rated" in app.get("progress")[0].proto.text


def test_numbers_stand_beside_sentences_and_a_lower_mean_is_called_lower(present: SimpleNamespace) -> None:
    run_id = submitted("minimal-pairs")
    app = page_visits.visit("rating", run=run_id, question="acceptability", pairs="3")
    for position in sentences_to_rate(MINIMAL, items_to_rate(MINIMAL, 3), ANN.id):
        app = answer(app, 1 if position < 3 else 3)  # 2 for each acceptable one, 4 for the other
    assert "its mean is lower by 2.00 on average" in words(app)
    table = app.dataframe[0]
    assert table.value.columns[:6].tolist() == [
        "Row",
        "Unacceptable",
        "Acceptable",
        "Mean, unacceptable",
        "Mean, acceptable",
        "Difference",
    ]
    columns = json.loads(table.proto.columns)
    assert columns["Unacceptable"]["width"] == columns["Acceptable"]["width"] == 280


def test_of_single_sentences_acceptability_alone_is_asked(present: SimpleNamespace) -> None:
    page_visits.visit("home")
    run_id = session.access().submit("minimal-pairs", PairSettings(("owner/name",)), JUDGED, "Mine").run_id
    app = page_visits.visit("rating", run=run_id)
    assert "How acceptable is this sentence?" in words(app)
    assert [control.label for control in app.segmented_control] == ["Language", "Sentences to rate"]
    for position in (6, 0, 3):
        app = answer(app, position)
    table = app.dataframe[0].value
    assert sorted(table["Mean"]) == [1, 4, 7] and set(table["Sentence"]) == set(JUDGED.acceptable)
    assert "Difference" not in table and app.download_button
    linked = page_visits.visit("rating", run=run_id, question="preference")
    assert "asks for question 'preference', which is not one of acceptability" in words(linked)


def test_links_that_cannot_be_are_answered_in_words(present: SimpleNamespace) -> None:
    assert "There is no run at this link" in words(page_visits.visit("rating", run="nosuchrun"))
    assert "no run at this link" in words(page_visits.visit("rating"))
    run_id = submitted()
    app = page_visits.visit("rating", run=run_id, pairs="<script>")
    assert "asks for pairs '<script>', which is no whole number" in words(app)
    app = page_visits.visit("rating", run=run_id, question="acceptability")
    assert "asks for question 'acceptability', which is not one of similarity" in words(app)


def test_the_address_stays_as_it_is_opened_and_the_back_button_counts(present: SimpleNamespace) -> None:
    """It was completed at once, which is a step of the back button: that led to the same page for ever."""
    page_visits.visit("home")
    run_id = session.access().submit("minimal-pairs", PairSettings(("owner/name",)), MINIMAL, "Mine").run_id
    app = page_visits.visit("rating", run=run_id)
    assert "pairs" not in app.query_params and "question" not in app.query_params
    app.segmented_control(key=f"rating-question-{run_id}").set_value("acceptability")
    app = drawn(app)
    assert app.query_params["question"] == "acceptability" and "How acceptable is this sentence?" in words(app)
    del app.query_params["question"]  # back
    assert "Which sentence is more acceptable?" in words(drawn(app)) and "question" not in app.query_params


def test_what_was_refused_of_a_run_that_is_gone_is_not_said_of_the_next(present: SimpleNamespace) -> None:
    first, second = submitted(), submitted("minimal-pairs")
    app = page_visits.visit("rating", run=first)
    session.access().move_to_bin(first)
    assert "in the bin" in words(answer(app, 4))
    app.query_params["run"] = second
    app = drawn(app)
    assert answers(app) and not app.error


@pytest.mark.parametrize("shared", [False, True])
def test_only_an_unshared_run_of_ones_own_is_to_be_shared_first(
    present: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    """The run of a sample everybody may read, and nobody can share."""
    page_visits.visit("home")
    present.now = Viewer("ann@lab.example")
    monkeypatch.setattr(session, "hosted", lambda: True)
    for of_browsers in ("_follow_link", "_account_line"):
        monkeypatch.setattr(f"dashboard.sign_in.{of_browsers}", lambda _: None)
    runs = session.engine().runs
    mine = runs.submit("alignment", AlignmentSettings(("owner/name",)), SIMILAR, owner=present.now.id).run_id
    session.access().share(mine, shared)
    samples = runs.submit("alignment", AlignmentSettings(("owner/name",)), SIMILAR, owner=SAMPLES_ID).run_id
    said = ["Share the run" in words(page_visits.visit("rating", run=run_id)) for run_id in (mine, samples)]
    assert said == [not shared, False]


def test_one_can_go_back_past_a_sentence_that_waits(present: SimpleNamespace) -> None:
    """The other sentence of the pair just rated is put off; there was no way back while it stood between."""
    run_id = submitted("minimal-pairs")
    order = sentences_to_rate(MINIMAL, items_to_rate(MINIMAL, 3), ANN.id)
    waits = order[1]
    partner = waits + 3 if waits < 3 else waits - 3
    access = RatingAccess(session.access())
    for position in (order[0], partner):
        access.rate(run_id, position, 4, "acceptability")
    app = page_visits.visit("rating", run=run_id, question="acceptability", pairs="3")
    assert MINIMAL.sentences[waits] not in words(app)
    app.button(key="rating-previous").click()
    assert MINIMAL.sentences[order[0]] in words(drawn(app))
