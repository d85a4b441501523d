"""The minimal-pairs page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import pages, session
from engine.datasets import sample_data
from engine.datasets.minimal_pairs import MinimalPairs
from engine.evaluations.minimal_pairs import Settings, summary
from engine.measures.acceptability import NORMALIZATIONS
from tests.fakes import FakeBackend

APP = Path(__file__).parents[1] / "dashboard" / "app.py"
BERT, GPT = "somebody/bert", "somebody/gpt2"
SECONDS = 30
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(run_id: str | None = None) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=SECONDS).switch_page(pages.path("minimal_pairs"))
    if run_id:
        app.query_params["run"] = run_id
    return drawn(app)


def drawn(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def finished(dataset: MinimalPairs, *models: str, **settings: Any) -> str:
    """The id of a run of the dataset that is done."""
    runs = session.engine().runs
    run_id = runs.submit("minimal-pairs", Settings(models or (GPT,), **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def pairs(*given: tuple[str, str]) -> MinimalPairs:
    return MinimalPairs.from_frame(pd.DataFrame(given, columns=["acceptable", "unacceptable"]), "given")


def words(app: AppTest) -> str:
    parts = (app.markdown, app.caption, app.info, app.error, app.warning)
    return "\n".join(str(element.value) for elements in parts for element in elements).replace("\\", "")


def wanted(run_id: str, normalization: str, alpha: float = 0.8) -> list[str]:
    """The cards' values, in the order of the page."""
    table = summary(session.engine().runs.result(run_id), (normalization,), alpha).set_index(["model", "stratum"])
    models = table.index.get_level_values("model").unique()
    return [f"{table.loc[(model, stratum), 'accuracy']:.1%}" for model in models
            for stratum in ("all", "A<U", "A=U", "A>U")]


def values(app: AppTest) -> list[str]:
    return [metric.value.removeprefix(":orange[").removesuffix("]") for metric in app.metric]


def test_the_sample_is_weighed_from_the_page(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    run_id = str(app.query_params["run"])
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    app = visit(run_id)
    assert values(app) == wanted(run_id, "LP")
    keys = {button.key for button in app.download_button}
    assert keys >= {"download-pairs", "download-summary", "download-signature"}


def test_every_figure_follows_the_normalisation_and_no_model_is_asked(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs(), BERT, GPT)
    app = visit(run_id)
    asked = len(backend.calls)
    for normalization in NORMALIZATIONS:
        app.segmented_control(key="minimal-pairs-normalization").set_value(normalization)
        assert values(drawn(app)) == wanted(run_id, normalization)
    app.segmented_control(key="minimal-pairs-normalization").set_value("PenLP")
    drawn(app)
    app.slider(key="minimal-pairs-alpha").set_value(0.0)
    assert values(drawn(app)) == wanted(run_id, "PenLP", 0.0) == wanted(run_id, "LP")
    assert "normalization PenLP" in words(app) and "alpha 0.0" in words(app)
    assert len(backend.calls) == asked


def test_many_models_stand_in_a_table(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫をいる"), ("雨だ", "雨をだ")), BERT, GPT, "other/bert", "other/gpt2")
    app = visit(run_id)
    assert not app.metric
    assert app.dataframe[0].value["Model"].tolist() == [BERT, GPT, "other/bert", "other/gpt2"]


def test_the_table_is_filtered_by_outcome(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs())
    app = visit(run_id)
    assert len(app.dataframe[-1].value) == 200
    app.pills(key=f"minimal-pairs-outcomes-{run_id}").set_value(["wrong"])
    app.pills(key=f"minimal-pairs-lengths-{run_id}").set_value(["A>U"])
    table = summary(session.engine().runs.result(run_id), ("LP",)).set_index("stratum")
    shown = drawn(app).dataframe[-1].value
    assert len(shown) == table.loc["A>U", "n"] - table.loc["A>U", "n_correct"] - table.loc["A>U", "n_tied"]
    app.pills(key=f"minimal-pairs-outcomes-{run_id}").set_value(["tie"])
    assert "No pair is all of that at once" in words(drawn(app))


def test_a_chosen_pair_shows_its_tokens_as_typed(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫をいる"), ("<b>*雨*", "雨 :smile:")))
    app = visit(run_id)
    before = len(app.get("plotly_chart"))
    app.session_state[f"minimal-pairs-table-{run_id}-{GPT}"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    drawn(app)
    assert len(app.get("plotly_chart")) == before + 1
    (chosen,) = (element.value for element in app.markdown if element.value.startswith("Row 2"))
    assert "\\<b\\>\\*雨\\*" in chosen and ":smile:" not in chosen


def test_ties_and_left_out_pairs_are_said(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫がいる"), ("あ" * 400, "い"), ("雨が降る", "雨を降る")))
    app = visit(run_id)
    assert app.metric[0].delta.endswith("1 tie")
    assert any("Left out" in expander.label for expander in app.expander)
    assert "could not be scored" in words(app)


def test_one_category_needs_no_figure(backend: FakeBackend) -> None:
    app = visit(finished(pairs(("猫がいる", "猫をいる"), ("雨だ", "雨をだ"))))
    assert len(app.get("plotly_chart")) == 1


def test_a_link_to_another_kind_of_run_or_to_none_is_explained(backend: FakeBackend) -> None:
    assert "no run behind this link" in words(visit("not-a-run"))
