"""The clusters page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.clusters import detail_sections
from dashboard.clusters.guide import guide
from dashboard.clusters.linked_maps import map_words
from dashboard.shared import run_view, session
from dashboard.shared.exports.signing import digest
from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters.records import RANKS, Result, Settings
from engine.measures.clusters.dispersion import dispersion
from engine.models.sources.cards import built_in_models
from tests.support import page_visits
from tests.support.cluster_results import result_of
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, evaluated, words

MODEL, OTHER = "owner/first", "owner/second"
TITLES = ("Uncertainty of the ranking", "Scores by class and sentence", "Other validity indices")
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(run_id: str | None = None) -> AppTest:
    return page_visits.visit("clusters", run=run_id)


def finished(dataset: LabelledSentences | None = None, **settings: Any) -> str:
    """The id of a run that is done; without a dataset, of three sentences of each class of the sample."""
    runs = session.engine().runs
    values = {"models": (MODEL, OTHER), "projection": "pca", "resamples": 100} | settings
    run_id = runs.submit("clusters", Settings(**values), dataset or a_few()).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def a_few() -> LabelledSentences:
    frame = sample_data.labelled_sentences().to_frame()
    return LabelledSentences.from_frame(frame.groupby("label", sort=False).head(3)[["text", "label"]], "a few")


def shown(result: Result, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The page with a result that no engine made."""
    run_id = finished()
    monkeypatch.setattr(run_view, "load_result", lambda _: result)
    return visit(run_id)


def opened(app: AppTest, title: str) -> AppTest:
    name = next(name for name, text in detail_sections.TITLES.items() if text == title)
    app.session_state[f"clusters-open-{name}-{app.query_params['run']}"] = True
    return drawn(app)


def selected(app: AppTest, *rows: int) -> AppTest:
    app.session_state[f"clusters-maps-{app.query_params['run']}"] = {
        "selection": list(rows),
        "hidden": [],
        "centroids": True,
        "alone": None,
    }
    return drawn(app)


def choose(app: AppTest, key: str, line: int) -> AppTest:
    """Choose a line of the table with this key."""
    app.session_state[key] = {"selection": {"rows": [line], "columns": [], "cells": []}}
    return drawn(app)


def components(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(component.proto.json) for component in app.get("bidi_component")]


def maps_of(app: AppTest) -> dict[str, Any]:
    (data,) = [data for data in components(app) if "models" in data]
    return data


def asked(app: AppTest) -> list[int]:
    """The sentences that are to be brought out in the maps."""
    return [data["requested"] for data in components(app) if data.get("requested") is not None]


def table(app: AppTest) -> list[list[str]]:
    """The table of scores, a list of cells for each model; that of a single model has a line for each measure."""
    (text,) = [element.value for element in app.markdown if element.value.startswith(("| Rank", "| Measure"))]
    head, _, *lines = [
        [cell.strip() for cell in line.replace("\u2060", "").strip("|").split(" | ")] for line in text.splitlines()
    ]
    return lines if head[0] == "Rank" else [["1", head[1], *(value for _, value in lines)]]


def test_the_sample_is_evaluated_and_shown_as_the_engine_has_it(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="clusters-models").set_value([MODEL])
    evaluated(app, "clusters")
    dataset = sample_data.labelled_sentences()
    pieces = session.engine().gateway.session("check").sentence_vectors(MODEL, dataset.texts)
    wanted = dispersion(np.stack([piece["vectors"][0] for piece in pieces]), dataset.labels)
    (cells,) = table(app)
    assert cells[0] == "1" and cells[1] == "owner/first"
    for cell, number in zip(cells[2:5], (wanted.score, wanted.in_class, wanted.out_of_class), strict=True):
        assert float(cell.split("**")[1].replace(",", "")) == pytest.approx(number, rel=1e-3)
        assert ":small[" in cell  # the interval
    assert float(cells[5]) == pytest.approx(wanted.in_class / dataset.n, rel=1e-3)
    assert float(cells[6]) == pytest.approx(wanted.out_of_class / 9, rel=1e-3)
    assert "180 sentences of 9 classes" in words(app)
    assert len(app.get("plotly_chart")) == 3
    assert maps_of(app)["rows"] == list(dataset.rows)
    assert {button.label for button in app.download_button} >= {
        "models.csv",
        "classes.csv",
        "coordinates.csv",
        "maps.html",
        "tables.zip",
        "signature.json",
    }
    assert "pooling published" in words(app) and "hakari" in words(app)


def test_causal_models_are_offered_but_not_chosen_by_default(backend: FakeBackend) -> None:
    chooser = visit().multiselect(key="clusters-models")
    assert chooser.value == list(built_in_models("masked", language="ja")) and "builtin/gpt2-mini-ja" in chooser.options


def test_every_setting_reaches_the_run(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="clusters-models").set_value([MODEL])
    for key, value in {
        "pooling": "mean",
        "normalize": ["nfkc"],
        "dimensions": 3,
        "metric": "euclidean",
        "lone": "exclude",
    }.items():
        app.get_by_key(f"clusters-{key}").set_value(value)
    app.text_input(key="clusters-prompt").set_value("検索クエリ: ")
    for key, number in {"layer": 2, "truncate-dim": 5, "seed": 7, "resamples": 200}.items():
        app.number_input(key=f"clusters-{key}").set_value(number)
    for key in ("centre", "curve"):
        app.toggle(key=f"clusters-{key}").set_value(True)
    app.slider(key="clusters-neighbors").set_value(5)
    app.slider(key="clusters-min-dist").set_value(0.5)
    evaluated(app, "clusters")
    assert session.engine().runs.settings(app.query_params["run"]) == Settings(
        models=(MODEL,),
        layer=2,
        pooling="mean",
        prompt="検索クエリ: ",
        truncate_dim=5,
        normalize=("nfkc",),
        centre=True,
        layer_curve=True,
        dimensions=3,
        n_neighbors=5,
        min_dist=0.5,
        metric="euclidean",
        seed=7,
        resamples=200,
        lone_classes="exclude",
    )
    assert len(app.get("plotly_chart")) == 4  # the layer curve too
    assert maps_of(app)["dimensions"] == 3 and "z" in maps_of(app)["models"][0]


def test_models_are_in_the_order_of_their_rank(backend: FakeBackend) -> None:
    app = visit(finished(models=("owner/a", "owner/b", "owner/c")))
    result = session.engine().runs.result(app.query_params["run"])
    order = result.models.sort_values("rank")["model"].tolist()
    assert [cells[1] for cells in table(app)] == order == [model["name"] for model in maps_of(app)["models"]]
    # Vectors of noise: nothing tells these models apart, and their labels are as good as shuffled.
    assert table(app)[0][0] == "1–3"
    assert "not distinguishable" in words(app) and "shuffled" in words(app)


def test_a_selection_is_listed_and_a_chosen_sentence_shows_its_neighbours(backend: FakeBackend) -> None:
    app = selected(visit(finished()), 3, 9, 4)
    assert app.dataframe[0].value["row"].tolist() == [3, 4, 9] and not asked(app)
    assert app.dataframe[0].value["text"].tolist() == [a_few().texts[row - 1] for row in (3, 4, 9)]
    assert "3 sentences selected" in words(app)
    run_id = app.query_params["run"]
    choose(app, f"clusters-selected-{run_id}-{digest({'rows': [3, 4, 9]})}", 1)
    assert asked(app) == [4] and len(app.dataframe) == 3
    result = session.engine().runs.result(run_id)
    best = result.models.sort_values("rank")["model"].iloc[0]
    near = result.neighbours[(result.neighbours["model"] == best) & (result.neighbours["row"] == 4)]
    assert app.dataframe[1].value["text"].tolist() == [a_few().texts[row - 1] for row in near["neighbour"]]


def test_a_clicked_sentence_shows_its_neighbours_at_once(backend: FakeBackend) -> None:
    app = selected(visit(finished()), 5)
    assert asked(app) == [5] and len(app.dataframe) == 2
    assert "share" in words(app) and f"Nearest neighbours of “{a_few().texts[4]}”" in words(app)
    assert len(selected(app).dataframe) == 0 and not asked(app)


def test_another_language_keeps_the_selection(backend: FakeBackend) -> None:
    app = selected(visit(finished()), 3, 9, 4)
    english = maps_of(app)
    app.session_state["language"] = "ja"
    drawn(app)
    assert "3文を選択中" in words(app) and app.dataframe[0].value["row"].tolist() == [3, 4, 9]
    japanese = maps_of(app)
    assert set(japanese["words"]) == set(map_words()) and japanese["words"]["lasso"] == "投げ縄選択"
    assert english["words"] == map_words()  # without a page it is English
    different = {"words", "picture"}
    assert {name: data for name, data in japanese.items() if name not in different} == {
        name: data for name, data in english.items() if name not in different
    }
    for title in TITLES:
        opened(app, title)
    assert "並べ替え検定" in words(app) and "自クラスの重心よりも" in words(app)


def test_a_selection_runs_no_model(backend: FakeBackend) -> None:
    app = visit(finished())
    calls = len(backend.calls)
    selected(app, 1, 2, 3)
    for title in TITLES:
        opened(app, title)
    assert len(backend.calls) == calls


def test_folded_sections_are_drawn_once_opened(backend: FakeBackend) -> None:
    app = visit(finished())
    assert not app.dataframe
    result = session.engine().runs.result(app.query_params["run"])
    opened(app, TITLES[0])
    assert [len(frame.value) for frame in app.dataframe] == [1, 2, 1]
    pd.testing.assert_frame_equal(app.dataframe[1].value.reset_index(drop=True), result.null, check_dtype=False)
    charts = len(app.get("plotly_chart"))
    opened(app, TITLES[1])
    assert len(app.get("plotly_chart")) == charts + 2
    opened(app, TITLES[2])
    assert app.dataframe[-1].value["model"].tolist() == result.models.sort_values("rank")["model"].tolist()


def test_a_chosen_misplaced_sentence_is_highlighted_in_the_maps(backend: FakeBackend) -> None:
    app = opened(visit(finished()), TITLES[1])
    badly = app.dataframe[0].value
    assert (badly["nearest_class"] != badly["label"]).all() and len(badly)
    run_id = app.query_params["run"]
    best = session.engine().runs.result(run_id).models.sort_values("rank")["model"].iloc[0]
    assert asked(choose(app, f"clusters-why-misplaced-{run_id}-{best}", 0)) == [badly["row"].iloc[0]]


def test_excluded_sentences_are_listed_with_their_reason(backend: FakeBackend) -> None:
    rows = [("長" * 5000, "a"), ("<b>短い</b>", "a"), ("文", "b"), ("例", "b"), ("四", "b"), ("五", "a")]
    app = visit(finished(LabelledSentences.from_frame(pd.DataFrame(rows, columns=["text", "label"]), "mine")))
    expander = next(expander for expander in app.expander if expander.label.startswith("Left out"))
    assert expander.label == "Left out: 1 row"  # by both models, as the finding counts it
    assert set(expander.dataframe[0].value["row"]) == {1}
    assert maps_of(app)["rows"] == [2, 3, 4, 5, 6] and "5 sentences of 2 classes" in words(app)


def test_too_few_sentences_for_a_map_still_have_scores(backend: FakeBackend) -> None:
    frame = pd.DataFrame({"text": ["雨", "雪", "風"], "label": ["a", "a", "b"]})
    app = visit(finished(LabelledSentences.from_frame(frame, "three"), lone_classes="keep"))
    assert len(table(app)) == 2 and not [data for data in components(app) if "models" in data]
    assert "map in 2 dimensions needs at least" in words(app)
    for title in TITLES:
        opened(app, title)


def test_a_model_without_a_rank_is_said_to_have_none(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(models=("owner/first", "owner/second", "owner/third"))
    best = int(result.models["score"].argmin())
    models = result.models.assign(unknown_share=[0.8 if i == best else 0.02 for i in range(3)])
    models.loc[best, list(RANKS)] = pd.NA
    app = shown(replace(result, models=models), monkeypatch)
    rows = table(app)
    assert rows[-1][0] == "–" and rows[-1][1] == str(models.loc[best, "model"]) and rows[-1][-1] == "80%"
    assert all(row[-1] == "2%" for row in rows[:-1])
    said = " ".join(guide(replace(result, models=models)))
    assert f"Without a rank, and not counted here: {models.loc[best, 'model']}." in said


def test_html_is_escaped(backend: FakeBackend) -> None:
    hostile = '<img src=x onerror="window.hit=1"> **fett** | :red[x] $a$'
    frame = pd.DataFrame([(f"{hostile}{i}", f"<b>{hostile}{i % 2}") for i in range(12)], columns=["text", "label"])
    app = selected(visit(finished(LabelledSentences.from_frame(frame, "hostile"))), 1)
    for title in TITLES:
        opened(app, title)
    drawn_texts = (*app.markdown, *app.caption, *app.warning)
    assert not any("<img" in str(element.value).replace("\\<", "") for element in drawn_texts)
    assert maps_of(app)["texts"][0] == f"{hostile}0"


@pytest.mark.parametrize(
    "made",
    [
        {"models": ["m"]},
        {"models": [f"/a/long/directory/of/somebody/with/models/number-{k}" for k in range(6)]},
        {"n_classes": 50, "n_per_class": 2},
        {"dimensions": 3},
        {"mapped": False},
        {"layers": 13},
        {"separable": False},
    ],
    ids=lambda made: next(iter(made)),
)
def test_any_result_can_be_drawn(made: dict[str, Any], backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    app = shown(result_of(**made), monkeypatch)
    if made.get("mapped", True):
        selected(app, 2, 3)
    for title in TITLES:
        opened(app, title)
    assert len(table(app)) == len(made.get("models", (1, 2)))


def test_an_undefined_score_is_last_and_labelled(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of()
    first = result.models["model"] == "owner/first"
    models = result.models.assign(**{name: result.models[name].mask(first) for name in ("score", *RANKS)})
    of_first = result.intervals["model"] == "owner/first"
    intervals = result.intervals.assign(
        **{
            name: result.intervals[name].mask(of_first & result.intervals["measure"].eq("dispersion_score"))
            for name in ("value", "ci_low", "ci_high")
        }
    )
    app = shown(replace(result, models=models, intervals=intervals), monkeypatch)
    assert table(app)[-1][:3] == ["–", "owner/first", "**undefined**"]
