"""The pages in Streamlit's own test harness: the real engine, queue and store, over a backend without models."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.faces import FACES
from dashboard.home import pair
from dashboard.shared import samples, session
from engine.datasets import sample_data
from engine.errors import ModelError
from engine.evaluations.shared.dictionaries import FOLDER
from engine.evaluations.shared.idf_files import write_idf
from engine.inference.gateway import Gateway
from engine.language.quantities import decimals
from engine.measures.idf import count_documents
from engine.models.sources.cards import BUILT_IN, held_out_figures
from engine.runs.access.viewers import Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.searching import Search
from tests.support import page_visits
from tests.support.cluster_results import result_of
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, evaluated, until, words

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
NAMES = [page.name for section in pages.SECTIONS.values() for page in section]


def visit(name: str, run_id: str | None = None) -> AppTest:
    return page_visits.visit(name, run=run_id)


@pytest.mark.parametrize("name", NAMES)
def test_every_page_draws_on_an_empty_store(name: str, backend: FakeBackend) -> None:
    app = visit(name)
    assert app.title[0].value == ("Hakari" if name == "home" else pages.card(name).title)
    if name != "home":
        assert pages.card(name).question in app.markdown[0].value
    (frame,) = (part.proto for part in app.get("html") if "<script>" in part.proto.body)
    assert frame.unsafe_allow_javascript


def has_figures(app: AppTest) -> bool:
    return len(app.get("plotly_chart")) == 2


def test_home_shows_the_samples_and_submits_them_once(backend: FakeBackend) -> None:
    app = until(visit("home"), has_figures)
    for kind in ("clusters", "minimal-pairs"):  # each with the finding of its run
        result = session.engine().runs.result(samples.run_ids(FACES.values())[kind])
        assert FACES[kind].found(result) in words(app)
    calls = len(backend.calls)
    assert words(visit("home")) == words(app)
    assert len(backend.calls) == calls
    assert session.access().mine() == []  # the samples are nobody's own runs


def test_home_aligns_two_sentences_without_a_run(backend: FakeBackend) -> None:
    app = until(visit("home"), has_figures)
    first = app.metric[0].value
    reference = app.get_by_key("home-reference").value
    assert reference in sample_data.sentence_pairs().references
    app.get_by_key("home-candidate").set_value(reference)
    app.button(key="home-align").click()
    assert drawn(app).metric[0].value == "1.000" != first  # the same sentence twice
    assert session.access().mine() == []
    app.get_by_key("home-candidate").set_value(" ")
    app.button(key="home-align").click()
    assert "one of them is empty" in drawn(app).error[0].value
    app.get_by_key("home-candidate").set_value("猫" * 301)
    app.button(key="home-align").click()
    assert "301 characters, and here 300 at most" in drawn(app).error[0].value


@pytest.mark.parametrize(("is_private", "n_computed"), [(False, 1), (True, 2)])
def test_a_pair_on_the_home_page_answers_another_only_where_the_cache_is_shared(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
    is_private: bool,
    n_computed: int,
) -> None:
    opened = session.engine()
    viewers = [Viewer("ann"), Viewer("ben")]
    public_owner = SAMPLES_ID if is_private else None
    engine = replace(
        opened,
        configuration=replace(opened.configuration, private_cache=is_private),
        gateway=Gateway(backend, opened.cache, public_owner),
    )
    before = backend.n_items("token_similarities")
    for viewer in (*viewers, *viewers):
        monkeypatch.setattr(pair, "session", SimpleNamespace(engine=lambda: engine, viewer=lambda: viewer))  # noqa: B023
        pair.aligned("猫が好きだ。", "犬が好きだ。", pair._owner("猫が好きだ。", "犬が好きだ。"))
    assert backend.n_items("token_similarities") - before == n_computed
    first = pair._first_pair()  # the sample's answers everybody
    for _viewer in viewers:
        pair.aligned(*first, pair._owner(*first))
    assert backend.n_items("token_similarities") - before == n_computed + 1


def test_home_shows_the_progress_of_the_samples_at_once(backend: FakeBackend) -> None:
    visit("home")  # the pair is kept from here
    samples.forget()
    for view in session.engine().store.search(Search(owner=samples.OWNER)):
        session.engine().runs.wait(view.id)
        session.engine().runs.delete(view.id)
    backend._gate = threading.Event()
    app = visit("home")
    assert app.progress and not app.get("plotly_chart")
    backend._gate.set()
    until(app, has_figures)


def test_home_shows_the_error_of_a_failed_sample(backend: FakeBackend) -> None:
    text = FACES["clusters"].evaluation.sample().texts[0]
    backend._errors[text] = ModelError("No weights for *this*.")
    app = until(visit("home"), lambda app: app.warning and len(app.get("plotly_chart")) == 1)
    assert "No weights for \\*this\\*" in app.warning[0].value
    del backend._errors[text]
    app.button(key="sample-again-clusters").click()
    until(drawn(app), has_figures)


# Not the metric study: the built-in dictionaries, which its sample is set to, do not fit the fake model.
@pytest.mark.parametrize("kind", [kind for kind, face in FACES.items() if face.sample and kind != "metric-study"])
def test_a_page_opens_on_the_result_of_its_sample(backend: FakeBackend, kind: str) -> None:
    page = FACES[kind].page.name
    assert not visit(page).get("download_button")  # not evaluated yet
    run_id = samples.submit(session.engine().runs, FACES[kind], FACES[kind].sample)
    view = session.engine().runs.wait(run_id)
    assert view.state == "done", view.message
    app = visit(page)
    assert app.get("download_button") and "result of the sample" in words(app) and "run" not in app.query_params
    # The form is a closed drawer above it, and a link to the view is complete.
    assert not app.session_state[f"{kind}-inputs"]
    assert any(f"run={run_id}" in code.value for code in app.code)
    assert visit(page, run_id).get("download_button")


def test_a_run_closes_the_form_and_keeps_what_was_chosen_there(backend: FakeBackend) -> None:
    app = visit("fill_mask")
    assert app.session_state["fill-mask-inputs"]
    app.multiselect(key="fill-mask-models").set_value(["builtin/bert-mini-ja"])
    drawn(app).button(key="fill-mask-submit").click()
    until(drawn(app), lambda app: app.get("download_button"))
    assert not app.session_state["fill-mask-inputs"]
    assert app.multiselect(key="fill-mask-models").value == ["builtin/bert-mini-ja"]
    app.session_state["fill-mask-inputs"] = True  # as the viewer opens it
    assert drawn(drawn(app)).session_state["fill-mask-inputs"]


def test_a_choice_on_a_sample_brings_its_run_into_the_address(backend: FakeBackend) -> None:
    run_id = samples.submit(session.engine().runs, FACES["minimal-pairs"], FACES["minimal-pairs"].sample)
    session.engine().runs.wait(run_id)
    app = visit("minimal_pairs")
    choice = next(widget for widget in app.get("button_group") if run_id in widget.key)
    choice.set_value(next(option for option in choice.options if option != choice.value))
    assert drawn(app).query_params["run"] == run_id


def test_the_language_is_switched_without_losing_choices(backend: FakeBackend) -> None:
    app = visit("clusters")
    app.get_by_key("clusters-pooling").set_value("weighted-mean")
    app.get_by_key("clusters-source").set_value("paste")
    drawn(app)
    app.get_by_key("language-buttons").set_value("ja")
    assert drawn(app).title[0].value == "クラスタ"
    assert (app.get_by_key("clusters-pooling").value, app.get_by_key("clusters-source").value) == (
        "weighted-mean",
        "paste",
    )


def test_a_run_has_a_link_that_shows_the_same_to_another_session(backend: FakeBackend) -> None:
    app = evaluated(visit("clusters"), "clusters")
    run_id = app.query_params["run"]
    calls = len(backend.calls)
    other = visit("clusters", run_id)
    scores = [element.value for element in app.markdown if element.value.startswith("|")]
    assert scores and scores == [element.value for element in other.markdown if element.value.startswith("|")]
    assert len(backend.calls) == calls


def test_submitting_the_same_again_gives_the_same_run(backend: FakeBackend) -> None:
    first = evaluated(visit("clusters"), "clusters").query_params["run"]
    calls = len(backend.calls)
    assert evaluated(visit("clusters"), "clusters").query_params["run"] == first
    assert len(backend.calls) == calls


def test_a_missing_model_is_explained_and_the_run_can_be_repeated(backend: FakeBackend) -> None:
    app = visit("clusters")
    app.multiselect(key="clusters-models").set_value(["missing/*model*"])
    evaluated(app, "clusters")
    assert "missing/\\*model\\*" in app.error[0].value
    assert app.button(key="run-again")
    app.button(key="run-afresh").click()
    drawn(app)
    assert "run" not in app.query_params and not app.error


def test_a_run_can_be_watched_cancelled_and_run_again(backend: FakeBackend) -> None:
    backend._gate = threading.Event()
    app = visit("clusters")
    app.button(key="clusters-submit").click()
    drawn(app)
    assert app.progress and app.button(key="run-cancel")
    first = app.query_params["run"]
    app.button(key="run-cancel").click()
    until(drawn(app), lambda app: app.info)
    assert "cancelled" in app.info[0].value
    backend._gate.set()
    app.button(key="run-again").click()
    until(drawn(app), lambda app: app.download_button)
    assert app.query_params["run"] != first


def test_a_link_to_an_unknown_run_is_explained(backend: FakeBackend) -> None:
    app = visit("clusters", "no-such-run")
    assert "no run at this link" in app.info[0].value
    app.button(key="run-afresh").click()
    assert not drawn(app).info


def test_a_link_to_another_pages_run_leads_there(backend: FakeBackend) -> None:
    run_id = samples_done()["minimal-pairs"]
    app = visit("clusters", run_id)
    assert "Minimal pairs" in app.info[0].value and not app.download_button


def samples_done() -> dict[str, str]:
    app = until(visit("home"), lambda app: len(app.get("plotly_chart")) == 2)
    assert app
    return samples.run_ids(FACES.values())


def test_without_a_model_nothing_can_be_submitted(backend: FakeBackend) -> None:
    app = visit("clusters")
    app.multiselect(key="clusters-models").set_value([])
    assert drawn(app).button(key="clusters-submit").disabled


def test_runs_are_listed_the_newest_first(backend: FakeBackend) -> None:
    evaluated(visit("clusters"), "clusters")
    app = visit("clusters")
    app.multiselect(key="clusters-models").set_value(["missing/model"])
    evaluated(app, "clusters")
    listed = until(visit("runs"), lambda app: "…" not in list(app.dataframe[0].value["headline"]))
    assert listed.dataframe[0].value["name"].tolist() == ["Clusters"] * 2
    failed, done = listed.dataframe[0].value["headline"]
    assert failed.startswith("failed: ") and "M_m" in done
    assert "sample labelled sentences" in words(visit("home")) or visit("home").get("page_link")


def test_models_page_lists_the_figures_of_every_built_in_model_and_shows_the_chosen(backend: FakeBackend) -> None:
    """At first one of the reader's language; a link has the chosen one, also in another language."""
    app = visit("models")
    table = app.dataframe[0].value
    assert ["builtin/" + name for name in table["label"]] == list(BUILT_IN)
    for card, (_, row) in zip(BUILT_IN.values(), table.iterrows(), strict=True):
        if (card.directory / "config.json").is_file():
            found = held_out_figures(card.name)
            figures = {figure.key: (100 if figure.is_share else 1) * figure.value for figure in found}
            assert row[list(figures)].to_dict() == figures
            assert row.drop([*figures, "label", "kind", "parameters", "vocabulary"]).isna().all()
    assert [head.value for head in app.header] == ["BERT mini (English novels)"] and "model" not in app.query_params
    app.session_state["language"] = "ja"
    drawn(app)
    assert [head.value for head in app.header] == ["BERT mini（英語の小説）"]  # what is on show stays
    app = page_visits.visit("models", model="builtin/gpt2-mini-ja")
    assert [head.value for head in app.header] == ["GPT-2 mini (Japanese novels)"]
    assert app.query_params["model"] == "builtin/gpt2-mini-ja"
    app.session_state["language"] = "ja"
    assert [head.value for head in drawn(app).header] == ["GPT-2 mini（日本語小説）"]
    if BUILT_IN["builtin/gpt2-mini-ja"].directory.is_dir():
        shown = [f"{figure.value:.2f}" for figure in held_out_figures("builtin/gpt2-mini-ja")]
        assert [metric.value for metric in app.metric] == shown


@pytest.fixture
def dictionary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "idf"
    folder.mkdir()
    documents = [["は", "猫"], ["は", "犬"], ["は", "斉", "##藤"], ["の"]]
    write_idf(count_documents(documents, "novel", "abc", "file"), folder / "novel.bert-mini-ja.json.gz")
    monkeypatch.setattr("engine.evaluations.shared.dictionaries.FOLDER", folder)


def test_dictionary_page_lists_searches_and_splits_a_dictionary(backend: FakeBackend, dictionary: None) -> None:
    app = visit("dictionary")
    assert [metric.value for metric in app.metric][:2] == ["4", "6"]
    assert app.dataframe[0].value["piece"].iloc[0] == "は"

    def keyed(widgets: object, name: str) -> Any:  # the keys end with how often the page was opened
        return next(widget for widget in widgets if str(widget.key).startswith(f"corpora-{name}"))  # type: ignore[attr-defined]

    keyed(app.text_input, "query").set_value("藤")
    assert list(drawn(app).dataframe[0].value["piece"]) == ["##藤"]
    keyed(app.text_input, "query").set_value("")
    keyed(app.slider, "share").set_value(0.1)
    keyed(app.toggle, "low").set_value(True)
    # the lower 10% of 6 entries, rounded down, is none: every entry is above
    assert len(drawn(app).dataframe[0].value) == 6


def test_built_in_dictionaries_open(backend: FakeBackend) -> None:
    if not list(FOLDER.glob("*.json.gz")):
        pytest.skip("No idf dictionary is built in yet.")
    app = visit("dictionary")
    assert len(app.dataframe[0].value) == 1000  # as many as are listed; the dictionary has more
    assert int(app.metric[1].value.replace(",", "")) > 1000


def test_headlines_of_undefined_scores() -> None:
    models = pd.DataFrame(
        {"model": ["builtin/a", "b"], "score": [1.5, np.nan], "rank": [1, None], "n_sentences": [4, 4]}
    )
    result = replace(result_of(), models=models)
    lines = FACES["clusters"].headlines(result)
    assert [(line.label, line.value) for line in lines] == [("a", "1.500"), ("b", "undefined")]
    assert decimals([float("nan")]) == 2


@pytest.mark.nightly
def test_the_web_process_imports_no_model_library(tmp_path: Path) -> None:
    """Every page, and a run watched to its end, in a process of their own."""
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from engine.runs import open as opening
from tests.support.fakes import FakeBackend
opened = opening.open_engine
opening.open_engine = lambda: opened(Path({str(tmp_path)!r}), backend=FakeBackend())
from tests.dashboard.test_pages import NAMES, samples_done, session, visit
samples_done()
for name in NAMES:
    visit(name)
session.engine().close()
print(sorted({{"torch", "transformers", "umap", "numba"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stderr[-2000:]


def test_the_error_of_an_unusable_data_directory_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HAKARI_DATA_DIR", str(tmp_path / "file"))
    app = visit("runs")
    assert "HAKARI\\_DATA\\_DIR" in app.error[0].value


def test_models_page_shows_the_training_record(
    backend: FakeBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"layers": 4, "hidden": 256, "vocab_size": 8000, "max_length": 128}
    figures = {
        "builtin/bert-mini-ja": {"masked_accuracy": 0.362, "mask_only_accuracy": 0.301, "mask_only_nats": 3.71},
        "builtin/gpt2-mini-ja": {"nats_per_token": 4.71, "nats_per_character": 3.02},
    }
    monkeypatch.setattr("dashboard.models.built_in.BUILT_IN", {name: BUILT_IN[name] for name in figures})
    for name, held_out in figures.items():
        folder = tmp_path / name.removeprefix("builtin/")
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "pretraining.json").write_text(
            json.dumps(
                {
                    "settings": settings,
                    "parameters": 5_500_000,
                    "train": {"documents": 900, "characters": 10**8},
                    "held_out": {"documents": 50, **held_out},
                }
            )
        )
    monkeypatch.setattr("engine.models.sources.cards.FOLDER", tmp_path)
    app = visit("models")
    assert not app.error
    assert [metric.value for metric in app.metric] == ["36.2%", "30.1%", "3.71"]
    assert "5,500,000 parameters" in app.caption[0].value and "vocabulary 8,000" in app.caption[0].value
    assert app.dataframe[0].value["nats_per_character"].fillna(0).tolist() == [0, 3.02]
    (tmp_path / "gpt2-mini-ja" / "pretraining.json").unlink()
    app = page_visits.visit("models", model="builtin/gpt2-mini-ja")
    assert len(app.error) == 1 and "nats_per_character" not in app.dataframe[0].value
