"""Prompts on the page: chosen in the form, read off under every score, exported, in the command and the address."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.minimal_pairs.face import FACE
from dashboard.minimal_pairs.view import OPTIONS
from dashboard.shared import session
from dashboard.shared.address.texts import name_of
from dashboard.shared.exports.bundle.methods import methods
from engine.datasets import sample_data
from engine.evaluations.minimal_pairs.prompts.tables import by_template
from engine.evaluations.minimal_pairs.prompts.templates import BUILT_IN, IN_TEMPLATE, YES_NO
from engine.evaluations.minimal_pairs.views import field_names
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished, values, visit, wanted
from tests.dashboard.printed_commands import Exported, address, printed, same
from tests.evaluations.minimal_pairs.test_single_sentences import judged
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

PROMPTED = (IN_TEMPLATE, YES_NO, "prompt vote")
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def submitted(app: AppTest) -> str:
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    run_id = str(drawn(app).query_params["run"])
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    return run_id


def test_prompts_of_a_language_are_chosen_and_read_off_under_each_score(
    backend: FakeBackend, exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]
) -> None:
    app = visit()
    assert "Questions in the tokenizer's chat template" not in {toggle.label for toggle in app.toggle}
    app.segmented_control(key="minimal-pairs-prompts").set_value("en")
    assert all(template.text.split("\n")[0] in words(drawn(app)) for template in BUILT_IN["en"])
    run_id = submitted(app)
    result = session.engine().runs.result(run_id)
    app = visit(run_id)
    for name in PROMPTED:
        app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value(name)
        assert values(drawn(app)) == wanted(run_id, name)
    assert "--prompts en" in printed(app)[0] and address(app)["normalization"] == ["prompt vote"]
    written = command(app)
    for table in ("summary", "templates", "prompted"):
        same(written[table], exported.csv(table))
    again = page_visits.visit("minimal_pairs", **address(app))  # type: ignore[arg-type]
    assert "prompt vote is a score of the sentence in a template" in words(
        page_visits.visit("minimal_pairs", **{**address(app), "row": "1"})  # type: ignore[arg-type]
    )
    assert values(again) == values(app) and again.segmented_control(key="minimal-pairs-prompts").value == "none"
    scoring = page_visits.visit("minimal_pairs", run=run_id, section="Scoring")
    (shown,) = [frame.value for frame in scoring.dataframe if "template" in frame.value]
    expected = by_template(result)
    assert shown["accuracy"].tolist() == expected["accuracy"].tolist() and len(shown) == 5
    assert "It is scored in templates, too" in words(scoring)
    paragraph = methods(FACE.paragraph, exported.signature, "pairs", 3).text("en")
    assert "in 5 templates" in paragraph and "ide2025" in paragraph


def test_a_table_of_templates_takes_the_place_of_what_was_typed(backend: FakeBackend) -> None:
    app = visit()
    app.segmented_control(key="minimal-pairs-prompts").set_value("own")
    drawn(app).text_area(key="minimal-pairs-in_template").set_value("Typed: {sentence}")
    table = b'score,text,answers\nin-template LP,"A:\n{sentence}",\nin-template LP,B: {sentence},\nYes/No,{sentence}?,"Ja,Nein"\n'
    app.file_uploader(key="minimal-pairs-templates-file-0").set_value([("own.csv", table, "text/csv")])
    drawn(app)
    assert (
        not app.error and app.text_area(key="minimal-pairs-in_template").value == "A:\n{sentence}\n---\nB: {sentence}"
    )
    bad = b"score,text\nin-template LP,nothing\nother,{sentence}\n"
    app.file_uploader(key="minimal-pairs-templates-file-1").set_value([("bad.csv", bad, "text/csv")])
    drawn(app)
    (error,) = app.error
    assert "2 of 2 rows" in error.value and "0 places" in words(app) and "'other'" in words(app)
    settings = session.engine().runs.settings(submitted(app))
    assert settings.in_template == ("A:\n{sentence}", "B: {sentence}") and settings.yes_no == ("{sentence}?",)
    assert settings.answers == ("Ja", "Nein")


def test_templates_of_ones_own_are_typed_and_kept(backend: FakeBackend) -> None:
    app = visit()
    app.segmented_control(key="minimal-pairs-prompts").set_value("own")
    drawn(app).text_area(key="minimal-pairs-in_template").set_value(
        "---\n良い文：\n{sentence}\n--- \n{sentence}　以上\n---"
    )
    app.text_area(key="minimal-pairs-yes_no").set_value("{sentence}\n正しいか。")
    app.text_input(key="minimal-pairs-answers").set_value("正、誤")
    run_id = submitted(app)
    settings = session.engine().runs.settings(run_id)
    assert settings.in_template == ("良い文：\n{sentence}", "{sentence}　以上") and settings.answers == ("正", "誤")
    assert settings.yes_no == ("{sentence}\n正しいか。",) and not settings.chat_template
    line = "\n".join(printed(visit(run_id)))
    assert "--prompts own" in line and line.count("--in-template") == 2 and "--answers '正,誤'" in line


def test_what_cannot_be_is_said_on_the_page(backend: FakeBackend) -> None:
    app = visit()
    app.segmented_control(key="minimal-pairs-prompts").set_value("own")
    drawn(app).text_area(key="minimal-pairs-yes_no").set_value("no place")
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    page_visits.until(drawn(app), lambda app: "'no place' has 0 places for the sentence" in words(app))


def test_a_masked_model_beside_has_none_and_a_notice_says_so(backend: FakeBackend) -> None:
    app = visit(finished(sample_data.minimal_pairs(), BERT, GPT, prompts="ja"))
    assert f"{BERT}: only causal models that are loaded here are scored in templates" in words(app)
    [scores] = [each for each in app.segmented_control if each.key.startswith("minimal-pairs-normalization-")]
    assert set(PROMPTED).isdisjoint(scores.options)


def test_judged_sentences_have_their_scores_on_the_page(backend: FakeBackend) -> None:
    run_id = finished(judged(), GPT, prompts="en")
    app = page_visits.visit("minimal_pairs", run=run_id, section="Scoring")
    (shown,) = [frame.value for frame in app.dataframe if "template" in frame.value]
    assert "accuracy" not in shown and len(shown) == 5
    assert {IN_TEMPLATE, YES_NO} <= set(
        page_visits.visit("minimal_pairs", run=run_id).dataframe[0].value["normalization"]
    )


def test_the_intervals_by_template_are_over_the_clusters_that_were_chosen(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs(), GPT, prompts="en")
    result = session.engine().runs.result(run_id)
    low, chosen_column = {}, field_names(result)[0]
    for column in ("", chosen_column):
        chosen = {name_of(OPTIONS["clustered_by"]): column} if column else {}
        app = page_visits.visit("minimal_pairs", run=run_id, section="Scoring", **chosen)  # type: ignore[arg-type]
        (shown,) = [frame.value for frame in app.dataframe if "template" in frame.value]
        low[column] = shown["ci_low"]
        pd.testing.assert_series_equal(low[column], by_template(result, column)["ci_low"])
    assert not low[""].equals(low[chosen_column])
