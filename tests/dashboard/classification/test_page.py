"""The classification page in Streamlit's own test harness: the real queue, a backend without models."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from engine.evaluations.classification import records as classification
from tests.support.fakes import FakeBackend
from tests.support.layouts.livedoor import files, tar_gz, zipped
from tests.support.page_visits import drawn, evaluated, visit, words

THREE = ("somebody/one", "somebody/two", "somebody/three")
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def uploaded(name: str, content: bytes, page: str = "classification", kind: str = "classification") -> AppTest:
    app = visit(page)
    app.get_by_key(f"{kind}-source").set_value("upload")
    drawn(app)
    app.file_uploader[0].upload(name, content)
    return drawn(app)


def test_the_sample_is_classified_and_the_page_shows_the_engines_numbers(backend: FakeBackend) -> None:
    app = visit("classification")
    app.multiselect(key="classification-models").set_value(["builtin/bert-mini-ja"])
    evaluated(app, "classification")
    result = session.engine().runs.result(app.query_params["run"])
    (line,) = result.models.to_dict("records")
    assert f"**{line['accuracy_mean']:.2%}**" in words(app)
    assert f"{line['accuracy_min']:.2%}" in words(app) and f"{line['accuracy_max']:.2%}" in words(app)
    assert "144 training sentences and 36 test sentences of 9 classes; 5 runs of 20 epochs" in words(app)
    assert len(app.get("plotly_chart")) == 1 + 1
    assert {button.label for button in app.download_button} >= {"models.csv", "runs.csv", "confusion.csv"}
    assert "split tail" in words(app) and backend.n_items("classify") == 5


def test_the_page_in_japanese(backend: FakeBackend) -> None:
    app = visit("classification")
    app.multiselect(key="classification-models").set_value(["builtin/bert-mini-ja"])
    evaluated(app, "classification")
    app.session_state["language"] = "ja"
    text = words(drawn(app))
    assert "9クラス、訓練文144文、テスト文36文。学習5回、各20エポック。" in text and "混同行列" in text
    captions, findings = zip(*(chart.proto.alt.split("。", 1) for chart in app.get("plotly_chart")), strict=True)
    assert captions == ("各モデルの学習ごとの正解率とその平均", "builtin/bert-mini-jaの混同行列")
    assert "点、" in findings[0] and "平均" in findings[0] and findings[1].startswith("最大")


def test_settings_reach_the_run(backend: FakeBackend) -> None:
    app = visit("classification")
    app.multiselect(key="classification-models").set_value(["builtin/bert-mini-ja"])
    app.get_by_key("classification-split").set_value("stratified")
    app.get_by_key("classification-pooling").set_value("mean")
    app.get_by_key("classification-normalize").set_value(["nfkc"])
    for key, value in (("seeds", 2), ("seed", 9), ("epochs", 3), ("width", 8), ("depth", 1), ("layer", 1)):
        app.number_input(key=f"classification-{key}").set_value(value)
    app.toggle(key="classification-standardize").set_value(True)
    evaluated(app, "classification")
    settings = session.engine().runs.settings(app.query_params["run"])
    assert settings == classification.Settings(
        ("builtin/bert-mini-ja",),
        layer=1,
        pooling="mean",
        normalize=("nfkc",),
        split="stratified",
        seeds=2,
        seed=9,
        epochs=3,
        hidden=(8,),
        standardize=True,
    )


def test_several_models_have_a_confusion_matrix_each_and_are_compared(backend: FakeBackend) -> None:
    app = visit("classification")
    app.multiselect(key="classification-models").set_value(list(THREE))
    evaluated(app, "classification")
    assert len(app.get("plotly_chart")) == 1 + 3
    result = session.engine().runs.result(app.query_params["run"])
    by_class = next(table.value for table in app.dataframe if "n_train" in table.value.columns)
    assert {f"accuracy:{model}" for model in THREE} <= set(by_class.columns) and len(by_class) == 9
    assert any("separable" in table.value.columns and len(table.value) == 3 for table in app.dataframe)
    missed = next(table.value for table in app.dataframe if "predicted" in table.value.columns)
    best = result.models.sort_values("rank")["model"].iloc[0]
    own = result.sentences[(result.sentences["model"] == best) & (result.sentences["n_correct"] == 0)]
    assert set(missed["row"]) == set(own["row"])
    app.get_by_key(f"classification-missed-{app.query_params['run']}").set_value(THREE[2])
    drawn(app)


def test_classes_too_small_are_explained(backend: FakeBackend) -> None:
    app = evaluated(uploaded("mine.csv", "text,label\n一,甲\n二,乙\n三,丙\n".encode()), "classification")
    assert "2 classes of at least 2 sentences" in words(app) and app.button(key="run-again")


@pytest.mark.parametrize(("page", "kind"), [("classification", "classification"), ("clusters", "clusters")])
def test_a_livedoor_archive_is_sampled_as_chosen(backend: FakeBackend, page: str, kind: str) -> None:
    app = uploaded("ldcc.tar.gz", tar_gz(files()), page, kind)
    assert "36 articles in 3 categories: it-life-hack 12 · movie-enter 12 · sports-watch 12" in words(app)
    assert app.get_by_key(f"{kind}-livedoor-part").value == "title"
    assert app.number_input(key=f"{kind}-livedoor-seed").disabled  # all are taken, none is drawn
    next(element for element in app.number_input if element.label == "Articles per category").set_value(6)
    app.get_by_key(f"{kind}-livedoor-part").set_value("body")
    drawn(app)
    app.number_input(key=f"{kind}-livedoor-seed").set_value(3)
    evaluated(drawn(app), kind)
    dataset = session.engine().runs.dataset(app.query_params["run"])
    assert dataset.name == "ldcc.tar.gz (bodies, 6 per category, seed 3)"
    assert dataset.n == 18 and all("についての記事である。" in text for text in dataset.texts)


def test_bad_articles_are_listed_and_a_hostile_archive_is_refused(backend: FakeBackend) -> None:
    app = uploaded("mine.zip", zipped(files() | {f"text/smax/smax-{i}.txt": b"one line" for i in range(7)}))
    expander = next(expander for expander in app.expander if expander.label.startswith("Articles that cannot be read"))
    assert expander.label.endswith("7") and len(expander.dataframe[0].value) == 7
    assert "7 articles could not be read and were left out" in words(app) and not app.error
    app = uploaded("mine.zip", zipped({"../../up/up-1.txt": b"a\nb\nc\n"}))
    assert "would lie outside of it" in words(app) and app.button(key="classification-submit").disabled
    app.get_by_key("classification-source").set_value("sample")
    assert not drawn(app).error and not app.button(key="classification-submit").disabled
