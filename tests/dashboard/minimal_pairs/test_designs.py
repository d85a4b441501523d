"""The page of sentences in conditions: predictions, items, regions, formulas of one's own, what is not there."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.benchmark.predictions import region_figure
from dashboard.minimal_pairs.face import FACE
from dashboard.shared import session
from dashboard.shared.exports.signing import digest
from engine.evaluations.minimal_pairs.designs.predictions import predictions, region_surprisals, suite_scores
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished
from tests.dashboard.printed_commands import Exported
from tests.evaluations.minimal_pairs.designs.test_designs import FORMULA, ROWS, design
from tests.support import page_visits
from tests.support.page_visits import words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_predictions_take_the_place_of_pairs() -> None:
    run_id = finished(design(formula=FORMULA), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and not app.error and not app.metric
    assert [tab.label for tab in app.tabs] == ["Predictions", "Regions", "Scoring"]
    expected = predictions(session.engine().runs.result(run_id))
    scores, items = [frame.value for frame in app.dataframe][:2]
    assert scores["effect"].tolist() == pytest.approx(expected["effect"].tolist())
    assert scores["accuracy"].tolist() == pytest.approx((100 * expected["accuracy"]).tolist())
    assert len(items) == 3 and items["holds"].is_monotonic_increasing
    assert set(items["sentence"]) == {"猫が寝た", "犬が来た", "鳥が鳴く"}
    keys = {button.key for button in app.download_button}
    assert {"download-predictions", "download-surprisals", "download-item_predictions"} <= keys
    assert not any("Compare" in link.label for link in app.get("page_link"))  # that would refuse it
    assert "download-summary" not in keys and "prefers the acceptable sentence" not in words(app)
    best = suite_scores(expected)["accuracy"].max()
    assert FACE.headlines(session.engine().runs.result(run_id))[0].value == f"{100 * best:.1f}%"


def test_the_regions_are_drawn() -> None:
    run_id = finished(design(formula=FORMULA), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Regions")
    assert not app.exception and not app.error
    table = region_surprisals(session.engine().runs.result(run_id))
    figure = region_figure(table)
    assert [line.name for line in figure.data] == ["a_x", "a_y", "b_x", "b_y"]
    assert [(line.marker.symbol, line.marker.size) for line in figure.data] == [("circle", 8)] * 4
    assert [len(line.x) for line in figure.data] == [2] * 4  # not the whole sentence beside its regions


def test_formulas_are_entered_kept_in_the_address_and_refused_in_words() -> None:
    run_id = finished(design(), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert "interaction of the two factors" in words(app)
    app.text_area(key=f"minimal-pairs-predictions-{run_id}").set_value(f"{FORMULA}\n(1;%a_x%) > 0")
    app.run()
    assert not app.exception and not app.error
    assert app.dataframe[0].value["prediction"].tolist()[:2] == [FORMULA, "(1;%a_x%) > 0"]
    assert app.query_params["predictions"] == [FORMULA, "(1;%a_x%) > 0"]
    assert any("--predictions" in code.value for code in app.code)
    opened = page_visits.visit("minimal_pairs", run=run_id, predictions=[FORMULA])
    assert opened.dataframe[0].value["prediction"].tolist() == [FORMULA]
    app.text_area(key=f"minimal-pairs-predictions-{run_id}").set_value("(1;%a_x%) >")
    app.run()
    assert not app.exception and "cannot be read at character" in app.error[0].value
    assert "predictions" not in app.query_params


def test_other_formulas_have_another_signature(exported: Exported) -> None:
    run_id = finished(design(), GPT)
    page_visits.visit("minimal_pairs", run=run_id)
    assert "predictions" not in exported.signature
    signed = []
    for formula in (FORMULA, "(1;%a_x%) > 0"):
        app = page_visits.visit("minimal_pairs", run=run_id, predictions=[formula])
        assert exported.signature["predictions"] == [formula] and formula in words(app)
        signed.append(digest(exported.signature))
    assert signed[0] != signed[1]


def test_without_predictions_there_are_regions_and_an_invitation() -> None:
    run_id = finished(design([row for row in ROWS if row[1] != "b_y"]), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and "Other formulas" in app.info[0].value
    assert not page_visits.visit("minimal_pairs", run=run_id, section="Regions").exception


def test_a_suite_that_is_not_there_is_ignored_with_words() -> None:
    run_id = finished(design(formula=FORMULA), GPT)
    for section in ({}, {"section": "Regions"}):
        app = page_visits.visit("minimal_pairs", run=run_id, suite="npi", **section)
        assert not app.exception and not app.error
        assert "The link asks for suite 'npi', which" in words(app)
