"""The page of words in contexts: the order of learning, the curve of a word, and models that are no checkpoints."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.acquisition.sections import age_figure, curve_figure
from dashboard.minimal_pairs.face import FACE
from dashboard.shared import session
from engine.evaluations.minimal_pairs.acquisition.curves import acquisition_ages, learned_words, word_curves
from tests.dashboard.minimal_pairs.test_page import BERT, finished
from tests.evaluations.minimal_pairs.acquisition.test_acquisition import DATASET, STEPS, WORDS, curves_fake
from tests.support import page_visits
from tests.support.page_visits import words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]
CHECKPOINTS = tuple(f"somebody/gpt2@step{number}000" for number in (1, 2, 4, 8, 16))


def test_the_order_of_learning_takes_the_place_of_pairs() -> None:
    run_id = finished(DATASET, *CHECKPOINTS)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and not app.error and not app.metric
    assert [tab.label for tab in app.tabs] == ["Acquisition", "Words", "Scoring"]
    result = session.engine().runs.result(run_id)
    ages = acquisition_ages(result)
    shown = app.dataframe[0].value
    assert shown["n_checkpoints"].tolist() == [5] and shown["n"].tolist() == ages["n"].tolist()
    assert shown["challenge"].tolist() == pytest.approx(ages["challenge"].tolist(), nan_ok=True)
    keys = {button.key for button in app.download_button}
    assert {"download-acquisition", "download-learned_words", "download-word_curves"} <= keys
    assert "download-summary" not in keys and len(FACE.headlines(result)) == 1
    again = page_visits.visit("minimal_pairs", run=run_id, section="Words", word="jump")
    assert not again.exception and not again.error
    box = again.selectbox(key=f"minimal-pairs-word-{run_id}")
    assert box.value == "jump" and len(again.dataframe[0].value) == len(WORDS)
    box.set_value("milk")
    assert page_visits.drawn(again).query_params["word"] == "milk"
    page_visits.drawn(app)
    assert f"minimal-pairs-tabs-{run_id}" in app.session_state
    assert f"minimal-pairs-tabs-{run_id}-2" not in app.session_state  # another drawing is no other opening


def test_models_that_are_no_checkpoints_have_surprisals_alone() -> None:
    run_id = finished(DATASET, BERT)
    for section in ("Acquisition", "Words"):
        app = page_visits.visit("minimal_pairs", run=run_id, section=section)
        assert not app.exception and not app.error and "checkpoints of one, with their steps" in words(app)
    assert "download-context_surprisals" in {button.key for button in app.download_button}


def test_the_figures_are_of_the_tables() -> None:
    result = curves_fake(tuple(f"owner/babygpt@{step}" for step in STEPS))
    learned, curves = learned_words(result), word_curves(result)
    (points,) = age_figure(learned).data
    assert len(points.x) == len(learned.dropna(subset=["child_age", "model_age"]))
    (line,) = curve_figure(curves[curves["word"] == "dog"]).data
    assert len(line.x) == len(STEPS) and list(line.y) == sorted(line.y, reverse=True)
    assert not age_figure(learned.iloc[:0]).data
