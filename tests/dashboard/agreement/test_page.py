"""The agreement page in Streamlit's own test harness: the real queue, a backend without models."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dashboard.faces import FACES
from dashboard.shared import samples, session
from dashboard.shared.ranks import rank_labels
from engine.__main__ import main
from engine.datasets import sample_data
from engine.evaluations.agreement.evaluate import RUNS
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.clusters import records as clusters
from engine.evaluations.fill_mask import records as fill_mask
from engine.evaluations.paper_tables.sentence_clustering import TABLES
from engine.models.sources.cards import built_in_models
from tests.dashboard.classification.test_page import THREE
from tests.dashboard.faults import faults
from tests.dashboard.printed_commands import Exported, as_texts, printed
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def finished(kind: str, settings: Any, dataset: Any) -> str:
    run_id = session.engine().runs.submit(kind, settings, dataset).run_id
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    return run_id


def test_agreement_without_runs_shows_links_and_published_tables(backend: FakeBackend) -> None:
    app = visit("agreement")
    assert "at least two of the three evaluations" in words(app) and not app.error
    assert [link.label for link in app.get("page_link")] == ["No run yet: start one"] * 3
    printed = app.dataframe[0].value
    assert printed["A_m"].tolist()[0] == "240131.79" and "in the paper" in words(app)
    assert not app.download_button and not app.get("plotly_chart")
    app.file_uploader(key="agreement-benchmark-files").upload("board.csv", b"model,JSTS\na,1\n", "text/csv")
    drawn(app)
    assert "no result here whose models" in words(app) and not app.error
    app.file_uploader(key="agreement-benchmark-files").upload("board.csv", b"model,JSTS\na,good\n", "text/csv")
    drawn(app)
    assert len(app.error) == 1  # as beside runs


def test_agreement_of_the_samples_for_a_viewer_without_runs(backend: FakeBackend) -> None:
    for kind in RUNS:
        run_id = samples.submit(session.engine().runs, FACES[kind], FACES[kind].sample)
        assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    app = visit("agreement")
    table = app.dataframe[0].value
    shared = table.dropna(subset=list(RUNS))
    assert (
        len(RUNS) == 3
        and shared["model"].tolist() == list(built_in_models("masked", language="ja"))
        and len(shared) >= 2
    )
    # the viewer's own run of a kind comes in place of the sample's
    own = finished("clusters", clusters.Settings(THREE, projection="pca"), sample_data.labelled_sentences())
    assert next(box for box in visit("agreement").selectbox if box.label == "Clusters").value == own


def three_runs(models: tuple[str, ...] = THREE) -> dict[str, str]:
    labelled, masked = sample_data.labelled_sentences(), sample_data.masked_sentences()
    return {
        "clusters": finished("clusters", clusters.Settings(models, projection="pca"), labelled),
        "fill-mask": finished("fill-mask", fill_mask.Settings(models), masked),
        "classification": finished("classification", classification.Settings(models), labelled),
    }


def test_agreement_compares_the_newest_runs(backend: FakeBackend) -> None:
    visit("agreement")
    run_ids = three_runs()
    app = visit("agreement")
    table = app.dataframe[0].value
    results = {kind: session.engine().runs.result(run_id) for kind, run_id in run_ids.items()}
    assert table["model"].tolist() == list(THREE)
    assert table["clusters"].tolist() == results["clusters"].models["score"].tolist()
    assert table["classification"].tolist() == pytest.approx(
        [100 * v for v in results["classification"].models["accuracy_mean"]]
    )
    # the ranks that the evaluation's own page shows
    order = results["clusters"].models
    assert table["rank clusters"].tolist() == rank_labels(order)
    groups = results["fill-mask"].comparisons["separable"]
    assert table["rank fill-mask"].tolist() == ["1–3"] * 3 and not groups.any()
    assert faults(app) == []
    heads = json.loads(app.dataframe[0].proto.columns)
    assert {name: heads[name]["label"] for name in ("model", "clusters", "rank clusters", "rank fill-mask")} == {
        "model": "Model",
        "clusters": "Clusters: M_m ↓",
        "rank clusters": "Rank",
        "rank fill-mask": "Rank",
    }
    # your runs and, in a figure of its own, the papers' models
    assert len(app.get("plotly_chart")) == 2
    assert [metric.label for metric in app.metric] == ["Spearman ρ", "Kendall τ\\_b"]  # of the paper alone
    assert [metric.value for metric in app.metric] == ["−0.60", "−0.47"]
    assert "n = 6" in app.metric[0].delta and "3 models are too few to say" in words(app)
    app.get_by_key("agreement-pair-runs").set_value("fill-mask classification")
    drawn(app)
    assert len(app.get("plotly_chart")) == 1 and "No paper reports both" in words(app)
    assert {button.label for button in app.download_button} == {
        "models.csv",
        "agreement.csv",
        "tables.zip",
        "signature.json",
        "Download",
    }


def test_a_benchmark_is_a_further_evaluation(backend: FakeBackend, tmp_path: Path) -> None:
    visit("agreement")
    run_ids = three_runs()
    app = visit("agreement")
    board = "model,JSTS,JSICK\n" + "".join(f"{model},0.{n},0.{n}\n" for n, model in enumerate(THREE, 5))
    app.file_uploader(key="agreement-benchmark-files").upload("board.csv", board.encode(), "text/csv")
    drawn(app)
    assert not app.error and "3 models · 2 tasks" in words(app)
    table = app.dataframe[0].value
    assert table["benchmark"].tolist() == pytest.approx([0.5, 0.6, 0.7])
    assert table["rank benchmark"].tolist() == ["3", "2", "1"]
    app.get_by_key("agreement-pair-runs").set_value("clusters benchmark")
    drawn(app)
    assert not app.error and "Clusters – Benchmark" in str(app.get("plotly_chart")[0].proto)
    assert "--benchmark board.csv" in "\n".join(printed(app))
    assert set(run_ids) <= set(app.query_params) and "board" not in str(app.query_params)  # a link has the runs alone
    app.file_uploader(key="agreement-benchmark-files").upload("board.csv", b"model,JSTS\nnobody,1\n", "text/csv")
    drawn(app)
    assert "None of the benchmark's models (nobody)" in words(app) and "benchmark" not in app.dataframe[0].value


def test_another_language_keeps_the_pair_and_the_table(backend: FakeBackend) -> None:
    visit("agreement")
    three_runs()
    app = visit("agreement")
    app.get_by_key("agreement-pair-runs").set_value("fill-mask classification")
    app.selectbox(key="agreement-printed-runs").set_value(list(TABLES)[1])
    address = dict(drawn(app).query_params)
    app.session_state["language"] = "ja"
    drawn(app)
    assert app.get_by_key("agreement-pair-runs").value == "fill-mask classification"
    assert app.selectbox(key="agreement-printed-runs").value == list(TABLES)[1]
    assert dict(app.query_params) == address and "実行結果" in words(app) and "Your runs" not in words(app)


def test_published_numbers_are_never_mixed_with_computed_ones(backend: FakeBackend) -> None:
    visit("agreement")
    three_runs()
    app = visit("agreement")
    published = {cell for table in TABLES.values() for row in table.cells for cell in row[:1]}
    assert not published & set(app.dataframe[0].value["model"])
    own, printed = (str(chart.proto.spec) for chart in app.get("plotly_chart"))
    assert all(model.partition("/")[2] in own for model in THREE) and "Ver." not in own
    assert "Kyoto Univ. Ver." in printed and "somebody" not in printed
    for key in TABLES:
        app.selectbox(key="agreement-printed-runs").set_value(key)
        drawn(app)
        shown = app.dataframe[1].value
        assert list(shown.itertuples(index=False, name=None)) == list(TABLES[key].cells)


def test_two_models_give_no_correlation_and_a_reason(backend: FakeBackend) -> None:
    visit("agreement")
    three_runs(THREE[:2])
    app = visit("agreement")
    assert "No rank correlation: a correlation needs at least 3 pairs; there are 2" in words(app)
    assert [metric.value for metric in app.metric] == ["−0.60", "−0.47"]  # the papers' alone


def test_runs_can_be_chosen_and_the_address_keeps_them(backend: FakeBackend) -> None:
    visit("agreement")
    run_ids = three_runs()
    other = finished(
        "clusters", clusters.Settings(THREE, projection="pca", pooling="mean"), sample_data.labelled_sentences()
    )
    app = visit("agreement")
    assert app.selectbox(key="agreement-clusters-runs").value == other  # the newest
    app.selectbox(key="agreement-clusters-runs").set_value(run_ids["clusters"])
    drawn(app)
    assert app.query_params["clusters"] == run_ids["clusters"]
    again = visit("agreement", clusters=run_ids["clusters"])
    assert again.selectbox(key="agreement-clusters-runs").value == run_ids["clusters"]
    former = visit("agreement", clusters=run_ids["clusters"], classify=run_ids["classification"])
    assert former.selectbox(key="agreement-classification-runs").value == run_ids["classification"]
    nonsense = visit("agreement", clusters="no-such-run", classification=run_ids["clusters"])
    assert nonsense.selectbox(key="agreement-clusters-runs").value == other and not nonsense.error


def test_the_printed_commands_give_the_numbers_of_the_page(
    backend: FakeBackend,
    exported: Exported,
    command: object,
    tmp_path: Path,  # command: over the engine of the page
) -> None:
    visit("agreement")
    three_runs()
    app = visit("agreement")
    lines = printed(app)
    assert len(lines) == 4 and lines[-1].startswith("python -m engine agreement --clusters ")
    on_page = {name: exported.csv(name) for name in ("models", "agreement")}
    folder = tmp_path / "terminal"
    for line in lines:
        arguments = [str(folder / word) if word.startswith("out/") else word for word in shlex.split(line)[3:]]
        assert main(arguments) == 0
    for name, table in on_page.items():
        pd.testing.assert_frame_equal(as_texts(folder / "out" / "agreement" / f"{name}.csv"), table)
