"""The page of running text: corpus, categories, tests, documents, checkpoints, the form, the printed command."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.benchmark.checkpoints import checkpoint_figure
from dashboard.minimal_pairs.benchmark.running_text import corpus_figure, curve_of
from dashboard.minimal_pairs.face import FACE
from dashboard.shared import session
from dashboard.shared.exports.signing import digest
from engine.datasets import sample_data
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.running_text.tables import checkpoints, comparisons, corpus, documents
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished, finished_result, given_files
from tests.dashboard.printed_commands import Exported
from tests.evaluations.minimal_pairs.running_text.test_running_text import texts
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_the_corpus_takes_the_place_of_pairs() -> None:
    run_id = finished(texts(), GPT, "somebody/gpt-other")
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and not app.error and not app.metric
    assert [tab.label for tab in app.tabs] == ["Running text", "Scoring"]
    result = session.engine().runs.result(run_id)
    whole, tests, each = [frame.value for frame in app.dataframe][:3]
    expected = corpus(result).query("category == ''")
    assert whole["bits_per_byte"].tolist() == pytest.approx(expected["bits_per_byte"].tolist())
    assert whole["perplexity_low"].tolist() == pytest.approx(expected["perplexity_low"].tolist())
    assert tests["p_value"].tolist() == pytest.approx(comparisons(result)["p_value"].tolist())
    of_first = documents(result).query("model == @GPT", local_dict={"GPT": GPT})
    assert each["perplexity"].tolist() == pytest.approx(of_first["perplexity"].tolist())
    keys = {button.key for button in app.download_button}
    assert {"download-corpus", "download-documents", "download-corpus_comparisons"} <= keys
    assert "download-summary" not in keys and "prefers the acceptable sentence" not in words(app)
    assert "bits per byte" in words(app)
    best = FACE.headlines(result)[0]
    assert best.measure == "bits_per_byte" and best.value == f"{expected['bits_per_byte'].min():.3f}"
    drawn(app)
    assert f"minimal-pairs-tabs-{run_id}" in app.session_state
    assert f"minimal-pairs-tabs-{run_id}-2" not in app.session_state  # another drawing is no other opening


def test_a_measure_and_a_column_are_chosen_and_kept_in_the_address() -> None:
    run_id = finished(texts(), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, measure="perplexity", by="category")
    assert not app.exception and not app.error
    shown = app.dataframe[0].value
    assert shown["category"].tolist() == ["a", "b"] and shown["ci_low"].isna().all()
    assert "fewer than 5 documents" in words(app)
    assert app.query_params["measure"] == "perplexity"
    result = session.engine().runs.result(run_id)
    figure = corpus_figure(corpus(result).query("category != ''"), "perplexity", by_category=True)
    assert list(figure.data[0].x) == corpus(result).query("category != ''")["perplexity"].tolist()
    assert list(figure.layout.yaxis.ticktext) == ["a", "b"] and "Perplexity" in figure.layout.xaxis.title.text


def test_files_are_uploaded_with_windows_to_choose() -> None:
    app = given_files(
        ("a.txt", "雨の朝、駅まで歩いた。\n\n誰もいなかった。\n".encode()), ("b.txt", "二つ目の文書。".encode())
    )
    said = words(app)
    assert "2 documents" in said and "running text" in said
    app.number_input(key="minimal-pairs-window").set_value(10)
    app.number_input(key="minimal-pairs-stride").set_value(4)
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    result = finished_result(str(app.query_params["run"]))
    assert result.signature["windows"] == {GPT: [10, 4]} and result.documents["title"].tolist() == ["a", "b"]
    pairs = given_files(("pairs.csv", "good,bad\n猫がいる,猫をいる\n".encode()))
    assert not [box for box in pairs.number_input if str(box.key).endswith("window")]


def test_checkpoints_have_a_curve_beside_that_of_pairs() -> None:
    models = ("owner/gpt@step1000", "owner/gpt@step10")
    run_id = finished(texts(), *models)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Checkpoints", measure="perplexity")
    assert not app.exception and not app.error
    assert [tab.label for tab in app.tabs] == ["Running text", "Checkpoints", "Scoring"]
    points = checkpoints(session.engine().runs.result(run_id)).query("category == ''")
    figure, n_left_out = checkpoint_figure(points, curve_of("perplexity"))
    line, band = figure.data
    assert list(line.x) == [10, 1000] and list(line.y) == points["perplexity"].tolist() and not n_left_out
    assert list(band.y) == [*points["perplexity_high"], *points["perplexity_low"][::-1]]
    assert not figure.layout.shapes  # no level of chance
    assert list(figure.layout.xaxis.ticktext) == ["10", "100", "1,000"]  # powers alone on a logarithmic axis
    assert "download-corpus_checkpoints" in {button.key for button in app.download_button}


def test_windows_are_signed_and_in_the_printed_command(exported: Exported) -> None:
    signed = []
    for settings in ({}, {"window": 64}, {"window": 64, "stride": 8}, {"window": 64, "window_prefix": "first"}):
        run_id = finished(texts(), GPT, **settings)
        app = page_visits.visit("minimal_pairs", run=run_id)
        assert not app.exception
        signed.append(digest(exported.signature))
        command = " ".join(code.value for code in app.code)
        assert ("--window 64" in command) is ("window" in settings)
        assert ("--stride 8" in command) is ("stride" in settings)
    assert len(set(signed)) == 4
    assert exported.signature["windows"] == {GPT: [64, 32]}


def test_a_single_document_and_a_masked_model_beside_a_causal_one_are_told() -> None:
    dataset: MinimalPairs = texts(1)
    app = page_visits.visit("minimal_pairs", run=finished(dataset, BERT, GPT))
    assert not app.exception and not app.error
    assert "pseudo-perplexities" in words(app) and "The corpus is small" in words(app)
    assert len(app.dataframe) == 2  # no test of the two


def test_the_sample_of_running_text_is_a_choice_of_the_source_and_stands_in_the_address() -> None:
    app = page_visits.visit("minimal_pairs")
    assert not [box for box in app.number_input if str(box.key).endswith("window")]
    app.segmented_control(key="minimal-pairs-sample").set_value("running-text")
    drawn(app)
    assert app.query_params["data"] in ("sample:running-text:ja", ["sample:running-text:ja"])
    linked = page_visits.visit("minimal_pairs", data="sample:running-text")
    assert not linked.exception and "6 rows" in words(linked) and "Short documents" in words(linked)
    linked.number_input(key="minimal-pairs-window").set_value(64)
    linked.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(linked).button(key="minimal-pairs-submit").click()
    drawn(linked)
    run_id = str(linked.query_params["run"])
    result = finished_result(run_id)
    assert result.documents["title"].tolist() == list(sample_data.running_text().fields["title"])
    shown = page_visits.visit("minimal_pairs", run=run_id)
    assert [tab.label for tab in shown.tabs] == ["Running text", "Scoring"]
    assert any("--data sample/running-text --model" in code.value for code in shown.code)
    unknown = page_visits.visit("minimal_pairs", data="sample:elsewhere")
    assert not unknown.exception and "is not offered here" in words(unknown)
