"""The metric study page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.metric_study.labels import cell_key
from dashboard.shared import session
from dashboard.shared.theme import short_names
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.metric_study.cases import cases, method_cases
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

A, B = "somebody/first", "somebody/second"
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(run_id: str | None = None) -> AppTest:
    return page_visits.visit("metric_study", run=run_id)


@pytest.fixture(autouse=True)
def built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: FakeBackend) -> None:
    """Both dictionaries for the fake's tokenizer; the characters of some names are rare in them."""
    common = sorted(set("".join(sample_data.scored_pairs().references)) - set("斉藤渡辺田中大塚"))
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    tokenizer = backend._facts(A, None).tokenizer_fingerprint
    for name, rare in (("novel", "斉藤"), ("wiki", "渡辺")):
        write_idf(
            count_documents([*[common] * 9, list(rare)], name, tokenizer, "file"),
            tmp_path / f"{name}.bert-mini-ja.json.gz",
        )


def finished(dataset: SentencePairs | None = None, *models: str, **settings: Any) -> str:
    """The id of a study that is done."""
    runs = session.engine().runs
    run_id = runs.submit(
        "metric-study", Settings(models or (A,), **settings), dataset or sample_data.scored_pairs()
    ).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def result_of(run_id: str) -> Result:
    result: Result = session.engine().runs.result(run_id)
    return result


def settings_table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "setting" in frame.value)


def test_the_page_speaks_japanese(backend: FakeBackend) -> None:
    app = page_visits.at("metric_study")
    app.query_params["run"] = finished(idfs=("none", "novel"))
    app.session_state["language"] = "ja"
    drawn(app)
    assert [metric.label for metric in app.metric] == ["最良の設定、ピアソンのr", "最良と有意差なし", "評価者間の一致"]
    assert {"個々の文対", "論文の数値"} <= {part.label for part in app.expander}
    assert set(settings_table(app)["penalty"]) == {"ペナルティなし", "ペナルティあり", "–"}
    assert {"なし", "novel"} <= set(settings_table(app)["idf"])
    assert "人手評価との相関と95%区間" in words(app)


def test_the_sample_is_studied_from_the_page(backend: FakeBackend) -> None:
    app = visit()
    assert app.multiselect(key="metric-study-idfs").value == ["novel", "wiki"]  # which fit the built-in model
    app.multiselect(key="metric-study-models").set_value([A, B])
    # No dictionary is known to fit these: the weights that need none, and the way to build one beside it.
    assert drawn(app).multiselect(key="metric-study-idfs").value == ["none", "references"]
    assert "Build a dictionary for this model" in {link.label for link in app.get("page_link")}
    app.multiselect(key="metric-study-idfs").set_value(["novel", "wiki"])
    drawn(app).button(key="metric-study-submit").click()
    drawn(app)
    run_id = str(app.query_params["run"])
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    assert session.engine().runs.settings(run_id) == Settings((A, B))  # the paper's grid is what is proposed
    app = visit(run_id)
    grid = result_of(run_id).correlations
    assert len(grid) == 2 * 4 + 2 + 2 and len(settings_table(app)) == len(grid) + 1  # the human ceiling
    ours = grid[grid["kind"] == "bertscore"]
    assert app.metric[0].value == f"{ours['pearson'].max():.3f}".replace("-", "−")
    assert app.metric[1].value == f"{int((~ours['separable']).sum()) - 1} of 7 other settings"
    assert app.metric[2].value == f"{result_of(run_id).mean_agreement:.3f}"
    assert "on the scale 0-100" in words(app)
    keys = {button.key for button in app.download_button}
    assert keys >= {"download-settings", "download-pairs", "download-cases", "download-tables-zip"}
    assert "criterion idf" in words(app) and "hakari" in words(app)


def test_settings_of_the_page_reach_the_run(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="metric-study-models").set_value([A])
    app.multiselect(key="metric-study-idfs").set_value(["none", "references"])
    app.get_by_key("metric-study-score").set_value("recall")
    app.get_by_key("metric-study-pairing").set_value("joined")
    app.get_by_key("metric-study-pooling").set_value("none")
    app.toggle(key="metric-study-layers").set_value(True)
    app.slider(key="metric-study-quantile").set_value(60)
    drawn(app).button(key="metric-study-submit").click()
    settings = session.engine().runs.settings(drawn(app).query_params["run"])
    assert settings == Settings(
        (A,),
        all_layers=True,
        idfs=("none", "references"),
        score="recall",
        pooling="none",
        scoring=Scoring(threshold=0.6, pairing="joined"),
    )


def test_a_row_of_the_table_shows_its_pairs(backend: FakeBackend) -> None:
    run_id = finished()
    app = visit(run_id)
    lines = result_of(run_id).correlations.sort_values("pearson", ascending=False, kind="stable").to_dict("records")
    app.session_state[f"metric-table-{run_id}-0"] = {"selection": {"rows": [2], "columns": [], "cells": []}}
    chosen = words(drawn(app))
    model = lines[2]["model"]
    assert f"r = {lines[2]['pearson']:.3f}".replace("-", "−") in chosen and (model in chosen or "F-score" in chosen)


def test_the_table_keeps_the_ends_of_long_names_which_its_cells_would_cut(backend: FakeBackend) -> None:
    names = [f"/srv/experiments/2026/study/{name}/checkpoint-10000" for name in ("first", "second")]
    shown = set(settings_table(visit(finished(None, *names, idfs=("none",))))["setting"])
    short = set(short_names(names).values())
    assert short | {f"{name}, cosine" for name in short} <= shown and not any("/srv/" in name for name in shown - short)


def test_a_click_on_a_cell_shows_its_pairs_and_the_last_choice_counts(backend: FakeBackend) -> None:
    run_id = finished()
    result = result_of(run_id)
    cell = result.correlations.query("idf == 'wiki' and penalty == 'reading'").to_dict("records")[0]
    app = visit(run_id)
    point = {"customdata": [cell_key(cell), ""], "curve_number": 1, "point_index": 3}
    app.session_state[f"metric-grid-{run_id}-0"] = {"selection": {"points": [point], "point_indices": [3]}}
    assert f"{A}, idf wiki, with penalty" in words(drawn(app))
    table = cases(result, A, "wiki")
    shown = next(frame.value for frame in app.dataframe if "gain" in frame.value)
    pd.testing.assert_frame_equal(shown.reset_index(drop=True), table)
    n_nearer = int((table["nearer"] == "with penalty").sum())
    assert f"changes {len(table)} of 60 pairs: {n_nearer} nearer" in words(app)
    app.session_state[f"metric-table-{run_id}-1"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    best = result.correlations.loc[result.correlations["pearson"].idxmax()]
    assert f"r = {best['pearson']:.3f}".replace("-", "−") in words(drawn(app))


def test_pairs_furthest_from_the_humans_are_shown_of_any_method(backend: FakeBackend) -> None:
    run_id = finished()
    result = result_of(run_id)
    order = result.correlations.sort_values("pearson", ascending=False, kind="stable").index
    surface = next(place for place, row in enumerate(order) if result.correlations.loc[row, "kind"] == "surface")
    app = visit(run_id)
    assert not any("difference" in frame.value for frame in app.dataframe)  # of BERTScore those changed by the penalty
    app.segmented_control(key=f"metric-cases-{run_id}").set_value("furthest")
    assert any("difference" in frame.value for frame in drawn(app).dataframe)
    assert app.query_params["cases"] == "furthest"
    app.segmented_control(key=f"metric-cases-{run_id}").set_value("penalty")
    app.session_state[f"metric-table-{run_id}-0"] = {"selection": {"rows": [surface], "columns": [], "cells": []}}
    shown = next(frame.value for frame in drawn(app).dataframe if "difference" in frame.value)
    pd.testing.assert_frame_equal(shown.reset_index(drop=True), method_cases(result, order[surface]))


def test_the_reason_for_no_cases_is_shown(backend: FakeBackend) -> None:
    assert "has only one of the two settings" in words(visit(finished(idfs=("novel",), penalties=("none",))))
    same = pd.DataFrame(
        {
            "reference": ["雨が降る", "風が吹く", "雪が積もる", "空が青い"],
            "human:a": [1, 3, 2, 5],
            "candidate": ["雨が降る", "風が吹く", "雪が積もる", "空が青い"],
        }
    )
    without_cases = SentencePairs.from_frame(same.assign(candidate=[*same["candidate"][:3], "空が赤い"]), "alike")
    assert "the penalty changes no pair." in words(visit(finished(without_cases, idfs=("novel",))))


def test_the_measure_can_be_changed_without_running_a_model(backend: FakeBackend) -> None:
    run_id = finished(None, A, all_layers=True)
    app = visit(run_id)
    n_calls = len(backend.calls)
    charts = len(app.get("plotly_chart"))
    for measure in ("spearman", "kendall"):
        app.segmented_control(key=f"metric-measure-{run_id}").set_value(measure)
        drawn(app)
    assert len(backend.calls) == n_calls and charts == 3  # grid, scatter, layers
    app.toggle(key=f"metric-published-{run_id}").set_value(True)
    assert len(drawn(app).get("plotly_chart")) == 4


def test_a_setting_is_opened_in_alignment(backend: FakeBackend) -> None:
    run_id = finished(None, A, layer=2, idfs=("references",), scoring=Scoring(threshold=0.5))
    app = visit(run_id)
    cell = result_of(run_id).correlations.query("penalty == 'reading'").to_dict("records")[0]
    point = {"customdata": [cell_key(cell), ""]}
    app.session_state[f"metric-grid-{run_id}-0"] = {"selection": {"points": [point], "point_indices": [0]}}
    drawn(app).button(key=f"metric-align-{run_id}").click()
    drawn(app)
    runs = session.engine().runs
    (aligned,) = [view for view in runs.recent("local", 9) if view.kind == "alignment"]
    assert runs.settings(aligned.id) == alignment.Settings(
        (A,), layer=2, scoring=Scoring(idf="references", threshold=0.5, penalty="reading")
    )
    assert runs.dataset(aligned.id) == sample_data.scored_pairs()
    (link,) = (link for link in app.get("page_link") if link.label == "Open in Alignment")
    assert f"run={aligned.id}" in link.proto.query_string


def test_published_numbers_are_marked_as_published(backend: FakeBackend) -> None:
    app = visit(finished())
    published = next(frame.value for frame in app.dataframe if "novel dictionary, with penalty" in frame.value)
    assert published["model"].tolist() == ["Multilingual", "Wikipedia", "SNS", "Novel"]
    assert published.iloc[3, 1:].tolist() == ["0.451", "0.456", "0.451", "0.438"]
    assert "Not comparable: other data. The paper's 200 pairs" in words(app)
    assert "None of it was measured here" in words(app) and "0.548 to 0.657" in words(app)
    ours = settings_table(app)
    assert not set(ours["setting"]) & {"Multilingual", "Wikipedia", "SNS", "Novel"}


def test_pairs_without_human_scores_are_refused_on_the_page(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("metric-study-source").set_value("upload")
    drawn(app)
    app.file_uploader[0].upload("mine.csv", "reference,candidate\n雨だ,雪だ\n猫,犬\n".encode())
    drawn(app)
    assert "this dataset has none" in words(app) and app.button(key="metric-study-submit").disabled


def test_scores_that_are_not_numbers_are_listed_by_row(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("metric-study-source").set_value("upload")
    drawn(app)
    rows = "雨,雪,4\n猫,犬,good\n山,川,1\n風,凪,高\n"
    app.file_uploader[0].upload("mine.csv", f"reference,candidate,human\n{rows}".encode())
    drawn(app)
    assert "row 2: 'human' holds 'good'" in words(app) and "row 4: 'human' holds '高'" in words(app)
    assert app.button(key="metric-study-submit").disabled


def test_constant_scores_are_explained(backend: FakeBackend) -> None:
    pairs = pd.DataFrame(
        {
            "reference": ["雨だ", "雪が降る", "風", "猫"],
            "candidate": ["雪だ", "雨が降る", "凪", "犬"],
            "human:flat": 3.0,
        }
    )
    app = visit(finished(SentencePairs.from_frame(pairs, "flat"), A, idfs=("none",)))
    assert "no annotator's scores vary" in words(app) and "gave 3 to every pair" in words(app)
    assert not app.metric


def test_texts_are_shown_as_typed(backend: FakeBackend) -> None:
    texts = [f"<b>*雨*</b> :smile: {i}" for i in range(5)]
    pairs = pd.DataFrame({"reference": texts, "candidate": texts[::-1], "human:*who*": np.arange(5.0)})
    app = visit(finished(SentencePairs.from_frame(pairs, "odd"), A, idfs=("none",)))
    raw = "\n".join(str(element.value) for element in (*app.markdown, *app.caption))
    assert "\\*who\\*" in raw and "of *who*" not in raw


def test_a_link_to_an_unknown_run_is_explained(backend: FakeBackend) -> None:
    assert "no run at this link" in words(visit("not-a-run"))


def test_entities_without_human_scores_are_shown(backend: FakeBackend) -> None:
    pairs = SentencePairs(
        "made up",
        ("雨が降る", "風が吹く", "雪だ"),
        ("雨だ", "嵐だ", "雪だ"),
        ("",) * 3,
        {},
        (1, 2, 3),
        further={"accepted_mentions": ('["雨"]', '["風"]', '["雪"]')},
    )
    app = visit(finished(pairs, idfs=("none",)))
    shown = next(frame.value for frame in app.dataframe if "By the authors' code" in frame.value)
    assert shown["By the authors' code"].tolist() == ["0.667"]
    assert "there are no human scores" in words(app) or "undefined" in words(app)
