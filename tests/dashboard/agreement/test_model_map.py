"""The map of models on the page of agreement, in Streamlit's own test harness."""

from __future__ import annotations

import pytest

from dashboard.agreement.model_map_charts import map_figure
from dashboard.shared import session
from engine.datasets import sample_data
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.model_map.evaluate import MASKED, map_of
from engine.runs.access.viewers import Viewer
from tests.dashboard.agreement.test_page import finished
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
CAUSAL_MODELS, MASKED_MODELS = ("owner/gpt-a", "owner/gpt-b"), ("owner/bert-a", "owner/bert-b")


def test_without_a_run_the_map_says_what_it_needs(backend: FakeBackend) -> None:
    app = visit("agreement", part="map")
    assert "there is none yet" in words(app) and not app.get("plotly_chart") and not app.error


def test_the_map_of_runs_of_the_same_data_and_settings(backend: FakeBackend) -> None:
    visit("agreement")
    pairs = sample_data.minimal_pairs()
    first = finished("minimal-pairs", Settings((*CAUSAL_MODELS, *MASKED_MODELS)), pairs)
    second = finished("minimal-pairs", Settings(("owner/gpt-c", "owner/gpt-a")), pairs)
    finished("minimal-pairs", Settings(("owner/gpt-d",), leading_space=True), pairs)  # scored otherwise
    app = visit("agreement", part="map")
    results = {run: session.engine().runs.result(run) for run in (second, first)}
    expected = map_of(results)
    table = app.dataframe[0].value
    assert len(table) == 3 and table["kl"].tolist() == sorted(expected.distances["kl"])
    assert len(app.get("plotly_chart")) == 1 and "200 sentences" in words(app)
    assert not any("\\" in option for option in app.selectbox[0].options)  # a list shows Markdown's escapes
    (command,) = [code.value for code in app.code if "model-map" in code.value]
    assert f"--run {second} --run {first}" in command
    app.get_by_key("agreement-models-runs").set_value(MASKED)
    table = drawn(app).dataframe[0].value
    assert len(table) == 1 and set(table["model"]) | set(table["other"]) == set(MASKED_MODELS)
    assert (app.query_params["models"], app.query_params["part"]) == (MASKED, "map")
    figure = map_figure(expected, "models")
    assert list(figure.data[0].x) == expected.models["x"].tolist()
    # on a phone a name in the middle over a point at the edge would be cut
    sides = dict(zip(figure.data[0].x, (position.split()[1] for position in figure.data[0].textposition), strict=True))
    assert (sides[min(sides)], sides[max(sides)]) == ("right", "left")
    # the link alone shows the same
    again = visit("agreement", part="map", models=MASKED, pairs=first)
    assert again.dataframe[0].value.equals(table) and "ignored" not in words(again)


def test_models_of_the_other_kind_are_named_as_left_out(backend: FakeBackend) -> None:
    visit("agreement")
    finished("minimal-pairs", Settings((CAUSAL_MODELS[0], *MASKED_MODELS)), sample_data.minimal_pairs())
    app = visit("agreement", part="map")
    assert set(app.dataframe[0].value["model"]) <= set(MASKED_MODELS)
    assert f"Not on this map: {CAUSAL_MODELS[0]}. Causal models have log-likelihoods" in words(app)
    assert "{'name'" not in words(app)  # of the signature


@pytest.mark.parametrize("models", [CAUSAL_MODELS[:1], (CAUSAL_MODELS[0], MASKED_MODELS[0])])
def test_one_model_of_each_kind_is_no_map_and_no_error(backend: FakeBackend, models: tuple[str, ...]) -> None:
    visit("agreement")
    finished("minimal-pairs", Settings(models), sample_data.minimal_pairs())
    app = visit("agreement", part="map")
    assert "two causal models or two masked ones" in words(app) and not app.error and not app.get("plotly_chart")


def test_a_run_that_the_team_shares_is_mapped_without_a_model(backend: FakeBackend) -> None:
    visit("agreement")
    pairs, engine = sample_data.minimal_pairs(), session.engine()
    run = engine.runs.submit("minimal-pairs", Settings(CAUSAL_MODELS), pairs, owner="ann@lab.example")
    assert engine.runs.wait(run.run_id, 60).state == "done"
    assert "there is none yet" in words(visit("agreement", part="map"))  # hers alone
    engine.access(Viewer("ann@lab.example")).share(run.run_id, True)
    asked = len(backend.calls)
    app = visit("agreement", part="map")
    expected = map_of({run.run_id: engine.runs.result(run.run_id)})
    assert app.dataframe[0].value["kl"].tolist() == expected.distances["kl"].tolist()
    assert set(expected.models["model"]) == set(CAUSAL_MODELS)
    assert asked > 0 and len(backend.calls) == asked


def test_the_map_begins_with_ones_own_data_and_a_damaged_run_is_named(backend: FakeBackend) -> None:
    visit("agreement")
    pairs = sample_data.minimal_pairs()
    theirs = type(pairs).from_frame(pairs.to_frame().head(30), "theirs.csv")
    finished("minimal-pairs", Settings(CAUSAL_MODELS), pairs)
    session.engine().runs.wait(
        session.engine()
        .runs.submit("minimal-pairs", Settings((*CAUSAL_MODELS, "owner/gpt-c")), theirs, owner="browser:theirs")
        .run_id,
        30,
    )
    damaged = finished("minimal-pairs", Settings(("owner/gpt-d",)), pairs)
    for file in (session.engine().artifacts.directory / "results" / damaged).iterdir():
        file.write_bytes(b"damaged")
    app = visit("agreement", part="map")
    assert app.selectbox[0].value != theirs.name and "200 sentences" in words(app)
    assert len(app.get("plotly_chart")) == 1 and damaged in app.error[0].value
