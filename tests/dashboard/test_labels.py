"""Labels of models: pages, figures and printed tables show them, data files and the signature keep the name in full."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.faces import FACES
from dashboard.runs.table import JOINER
from dashboard.shared import session
from dashboard.shared.exports.tables.formats import table_file
from dashboard.shared.exports.tables.offered import OfferedTables
from dashboard.shared.headlines import in_a_line
from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.alignment.records import Settings as Alignment
from engine.evaluations.classification.records import Settings as Classification
from engine.evaluations.clusters.records import Settings as Clusters
from engine.evaluations.fill_mask.records import Settings as FillMask
from engine.evaluations.metric_study.records import Settings as MetricStudy
from engine.evaluations.minimal_pairs.records import Settings as MinimalPairs
from tests.dashboard.faults import faults
from tests.dashboard.printed_commands import Exported, agrees, printed
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

LABELS, MODELS = ("BERT v3", "東北大 α"), ("builtin/bert-mini-ja", "builtin/gpt2-mini-ja")
NAMED = tuple(f"{label}={model}" for label, model in zip(LABELS, MODELS, strict=True))
MASKED = (NAMED[0], f"{LABELS[1]}=owner/second")
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")


def finished(kind: str, settings: Any, dataset: Any) -> str:
    run_id = session.access().submit(kind, settings, dataset).run_id
    assert session.engine().runs.wait(run_id, SECONDS).state == "done", session.engine().runs.get(run_id)
    return str(run_id)


def a_few() -> LabelledSentences:
    frame = sample_data.labelled_sentences().to_frame()
    return LabelledSentences.from_frame(frame.groupby("label", sort=False).head(6)[["text", "label"]], "a few")


def figures(app: AppTest) -> list[dict[str, Any]]:
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def texts_of(figure: dict[str, Any]) -> Iterator[str]:
    """Legends, annotations, titles of axes and the figure, labels of ticks: all but hover texts."""
    layout = figure["layout"]
    yield from (trace["name"] for trace in figure["data"] if "name" in trace)
    yield from (note["text"] for note in layout.get("annotations", ()) if "text" in note)
    yield from (str(layout[key].get("ticktext")) + str(layout[key].get("title")) for key in layout if "axis" in key)
    yield str(layout.get("title"))


def visible(app: AppTest) -> str:
    """Tables, cards, choices, the texts of figures, and text, but not the signature and tooltips."""
    tables = [frame.value.to_csv(index=False) for frame in app.dataframe]
    heads = [str(column.get("label")) for frame in app.dataframe for column in json.loads(frame.proto.columns).values()]
    choices = [str(group.options) for group in app.button_group]
    captions = [caption.value for caption in app.caption if "hakari" not in caption.value]  # the version of a signature
    return "\n".join(
        [
            *tables,
            *heads,
            *choices,
            *captions,
            *(metric.label for metric in app.metric),
            *(str(element.value) for element in app.markdown),
            *(text for figure in figures(app) for text in texts_of(figure)),
        ]
    ).replace("\\", "")


def refusal(app: AppTest) -> str:
    return str(app.error[0].value).replace("\\", "")


@pytest.fixture
def run_id() -> str:
    return finished("minimal-pairs", MinimalPairs(NAMED), sample_data.minimal_pairs())


def test_the_page_shows_labels_alone(run_id: str) -> None:
    app = page_visits.visit("minimal_pairs", run=run_id)
    seen = visible(app)
    assert faults(app) == []
    for label, model in zip(LABELS, MODELS, strict=True):
        assert label in seen and f"{label}={model}" not in seen
        assert f"{label}={model}" in words(app)  # the signature
    assert [trace["name"] for trace in figures(app)[0]["data"] if trace.get("showlegend", True)][:2] == list(LABELS)
    (pills,) = [group for group in app.button_group if group.label == "Model" and NAMED[0] in str(group.value)]
    assert pills.options == list(LABELS)  # what is chosen stays the model


def test_printed_tables_show_labels_and_data_files_the_whole_name(run_id: str, exported: Exported) -> None:
    app = page_visits.visit("minimal_pairs", run=run_id)
    choice = app.segmented_control(key="table-format")
    assert choice.options[0] == "CSV" and "LaTeX and Markdown have significant digits" in choice.help
    tables = exported.tables
    assert isinstance(tables, OfferedTables)
    for name in ("latex", "markdown"):
        body = "\n".join(
            line
            for line in table_file(tables, "summary", name, exported.signature).decode().splitlines()
            if "ignature" not in line
        )
        assert "BERT v3" in body and "builtin" not in body, body
    for name in ("csv", "parquet"):
        assert NAMED[0].encode() in table_file(tables, "summary", name, exported.signature)
    assert exported.csv("summary")["model"].unique().tolist() == list(NAMED)
    signed = exported.signature["models"]
    assert [(model["name"], model["label"], model["model"]) for model in signed] == list(
        zip(NAMED, LABELS, MODELS, strict=True)
    )


def test_the_printed_command_and_the_link_carry_the_labels(
    exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]
) -> None:
    run_id = finished("clusters", Clusters(MASKED, projection="pca", resamples=100), sample_data.labelled_sentences())
    app = page_visits.visit("clusters", run=run_id)
    assert f"--model 'BERT v3={MODELS[0]}' --model '東北大 α=owner/second'" in printed(app)[0]
    agrees(app, "clusters", exported, command)


def test_the_numbers_and_the_cached_pieces_are_those_of_the_model_without_a_label(
    run_id: str, backend: FakeBackend
) -> None:
    n_computed = len(backend.calls)
    plain_id = finished("minimal-pairs", MinimalPairs(MODELS), sample_data.minimal_pairs())
    computed = {call.operation for call in backend.calls[n_computed:]}
    assert plain_id != run_id and computed <= {"tokenized", "token_lists"}  # the two that are never cached
    labelled, plain = (session.engine().runs.result(run).pairs for run in (run_id, plain_id))
    pd.testing.assert_frame_equal(labelled.assign(model=plain["model"]), plain)
    run = session.engine().runs.get(run_id)
    assert run is not None and run.models == NAMED


@pytest.mark.parametrize(
    ("kind", "settings", "dataset"),
    [
        ("clusters", Clusters(MASKED, projection="pca", resamples=100), a_few),
        ("classification", Classification(MASKED, seeds=2, epochs=5), a_few),
        ("fill-mask", FillMask(MASKED), sample_data.masked_sentences),
        ("alignment", Alignment(MASKED), sample_data.sentence_pairs),
        ("metric-study", MetricStudy(MASKED, idfs=("none",)), sample_data.scored_pairs),
    ],
)
def test_other_pages_show_labels_alone(kind: str, settings: Any, dataset: Callable[[], Any]) -> None:
    run_id = finished(kind, settings, dataset())
    app = page_visits.visit(kind.replace("-", "_"), run=run_id)
    seen = visible(app)
    assert faults(app) == []
    assert LABELS[0] in seen and LABELS[1] in seen
    assert [line for line in seen.splitlines() if any(name in line for name in MASKED)] == []
    if kind != "alignment":  # whose numbers are of categories of pairs
        headlines = FACES[kind].headlines(session.engine().runs.result(run_id))
        assert {headline.label for headline in headlines} == set(LABELS)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    ("kind", "settings", "dataset"),
    [
        ("minimal-pairs", MinimalPairs, sample_data.minimal_pairs),
        ("clusters", lambda models: Clusters(models, projection="pca", resamples=100), a_few),
        ("fill-mask", FillMask, sample_data.masked_sentences),
        ("metric-study", lambda models: MetricStudy(models, idfs=("none",)), sample_data.scored_pairs),
    ],
)
def test_a_label_that_is_a_word_of_ours_stays(
    kind: str, settings: Any, dataset: Callable[[], Any], language: str
) -> None:
    """A page with models called nouns and 行 is the page of models called otherwise, but for the two names."""
    models = (MODELS[0], MODELS[1] if kind == "minimal-pairs" else "owner/second")
    seen = {}
    for labels in (("nouns", "行"), ("nounz", "行z")):
        named = tuple(f"{label}={model}" for label, model in zip(labels, models, strict=True))
        run_id = finished(kind, settings(named), dataset())
        app = page_visits.at(kind.replace("-", "_"))
        app.session_state["language"], app.query_params["run"] = language, run_id
        seen[labels] = "\n".join(
            line for line in visible(drawn(app)).replace(run_id, "ID").splitlines() if ":gray[·" not in line
        )  # when the run ended and how long it took
        headlines = in_a_line(FACES[kind].headlines(session.engine().runs.result(run_id)))
        assert all(f" {label}" in headlines for label in labels), headlines
    ours, other = seen.values()
    assert "行z" in other and other.replace("nounz", "nouns").replace("行z", "行").splitlines() == ours.splitlines()


def test_the_list_of_runs_shows_labels(run_id: str) -> None:
    table = page_visits.visit("runs").dataframe[0].value
    assert [" ".join(cell.replace(JOINER, "").split()) for cell in table["models"]] == [", ".join(LABELS)]


def test_models_that_a_reader_could_not_tell_apart_are_refused_in_words() -> None:
    app = page_visits.visit("minimal_pairs")
    app.multiselect(key="minimal-pairs-models").set_value([f"A={MODELS[0]}", f"A={MODELS[1]}"])
    app.button(key="minimal-pairs-submit").click()
    assert "Labels of models must be unique; given to more than one: A." in refusal(drawn(app))
    app.multiselect(key="minimal-pairs-models").set_value([f"A ={MODELS[0]}"])
    app.button(key="minimal-pairs-submit").click()
    assert "begins or ends with a blank" in refusal(drawn(app))
    assert session.engine().runs.recent() == []
