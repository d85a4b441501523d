"""The page of single judged sentences: its tab, what is offered to download, what is not there."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.benchmark.judgements import reliability_figure
from dashboard.minimal_pairs.face import FACE
from dashboard.shared import session
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from engine.evaluations.minimal_pairs.single_sentences import judgements, reliability_curves
from tests.dashboard.faults import faults
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished
from tests.dashboard.shown_texts import english, shown_texts
from tests.evaluations.minimal_pairs.test_single_sentences import judged
from tests.support import page_visits
from tests.support.page_visits import words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_the_tab_of_judgements_takes_the_place_of_pairs() -> None:
    run_id = finished(judged(), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and not app.error and faults(app) == []
    result = session.engine().runs.result(run_id)
    expected = judgements(result)
    overall, categories, sentences = [frame.value for frame in app.dataframe][:3]
    every = expected[expected["field"] == ""]
    assert sorted(overall["auc"].tolist()) == pytest.approx(sorted(every["auc"]))
    assert set(categories["field"]) == {"simple", "binding"} and set(categories["normalization"]) == {"LP"}
    assert len(sentences) == 60 and {"label", "probability", "predicted"} <= set(sentences)
    assert [tab.label for tab in app.tabs] == ["Judgements", "Scores", "Scoring"]
    assert not app.metric and "prefers the acceptable sentence" not in words(app)
    keys = {button.key for button in app.download_button}
    assert {"download-judgements", "download-reliability"} <= keys and "download-summary" not in keys
    scores, scoring = (
        page_visits.visit("minimal_pairs", run=run_id, section=section) for section in ("Scores", "Scoring")
    )
    assert not scores.exception and not scoring.exception and "sampled" not in words(scores)
    figure = reliability_figure(reliability_curves(result, ["LP"]))
    titles = figure.layout.xaxis.title.text, figure.layout.yaxis.title.text
    assert titles == ("Predicted probability", "Share acceptable") and figure.layout.showlegend
    assert len(figure.data) == 2 and sum(figure.data[0].customdata[:, 0]) == 60
    (best, _) = FACE.headlines(result)
    assert best.measure == "judgement_auc"
    assert best.value == f"{every[every['normalization'] == 'LP']['auc'].max():.3f}"
    page_visits.drawn(app)
    assert f"minimal-pairs-tabs-{run_id}" in app.session_state
    assert f"minimal-pairs-tabs-{run_id}-2" not in app.session_state  # another drawing is no other opening


def test_too_few_sentences_to_fit_are_told_and_have_no_part_and_no_curve() -> None:
    sentences = [f"{'猫' * (i + 1)}が鳴く,{i % 2}" for i in range(7)]
    few = from_table(read_table("\n".join(["sentence,label", *sentences]).encode(), "few.csv"))
    app = page_visits.visit("minimal_pairs", run=finished(few, GPT))
    assert not app.exception and not app.error
    (shown,) = [frame.value for frame in app.dataframe if "part" in frame.value]
    assert len(shown) == 7 and shown["part"].isna().all()
    said = words(app)
    reason = "5 parts need 5 sentences of each judgement; there are 3 of one"
    assert said.count(f"A number that is shown as – is undefined: {reason}.") == 1
    assert "There is no curve: no probabilities were fitted" in said
    assert not any("reliability" in str(chart.proto.id) for chart in app.get("plotly_chart"))


def test_no_text_of_judged_sentences_is_english_on_a_japanese_page() -> None:
    app = page_visits.at("minimal_pairs")
    app.session_state["language"] = "ja"
    app.query_params["run"] = finished(judged(), BERT, GPT)
    shown = list(shown_texts(page_visits.drawn(app)))
    assert {text for where, text in shown if where == "dataframe.normalization"} >= {"文字あたり", "ビット/バイト"}
    assert [text for where, text in shown if where == "markdown.body" and english(text)] == []
