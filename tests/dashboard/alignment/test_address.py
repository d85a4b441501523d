"""What the alignment page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from dashboard.shared.exports import run_exports
from dashboard.shared.exports.bundle.data import data_csv
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.dashboard.drawn_sources import sample_from_anywhere
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, address, linked, printed, same
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

MODELS = ("somebody/bert", "somebody/other")
N_DRAWN = 24
# Widgets and the choices that they offer; the first two decide which of the others are disabled.
DECIDING = {"idf": ("none", "references", "novel"), "penalty": ("none", "reading", "names")}
SEGMENTS = {
    "criterion": ("idf", "proper-nouns", "either", "both", "names"),
    "threshold-kind": ("quantile", "value"),
    "unit": ("subword", "word"),
    "engine": ("pykakasi", "unidic"),
    "scope": ("piece", "word"),
    "pairing": ("token", "joined"),
    "special-tokens": ("as-bert-score", "left-out"),
    "sounds": ("auto", "apart", "merged"),
}
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.fixture
def run_id(
    backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> str:
    """A run of the sample, from anywhere in a test with a seed, under two models,
    every layer kept, with a dictionary of novels for their tokenizer.
    """
    common_characters = sorted(set("".join(sample_data.sentence_pairs().references)) - set("斉藤尾崎"))
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    write_idf(
        count_documents(
            [*[common_characters] * 9, list("斉藤")],
            "novel",
            backend._facts(MODELS[0], None).tokenizer_fingerprint,
            "file",
        ),
        tmp_path / "novel.fake.json.gz",
    )
    monkeypatch.chdir(tmp_path)
    return finished(sample_from_anywhere("sentence_pairs", request))


def finished(dataset: SentencePairs, scoring: Scoring = Scoring()) -> str:  # noqa: B008 (it is frozen)
    runs = session.engine().runs
    run_id = runs.submit("alignment", Settings(MODELS, all_layers=True, scoring=scoring), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def visit(**query: Any) -> AppTest:
    return page_visits.visit("alignment", **query)


def set_at_random(app: AppTest, run_id: str, seed: int) -> None:
    """Set every choice of the page at random, as a reader would: none that is disabled."""
    draws = random.Random(seed)
    for widgets in (DECIDING, SEGMENTS):
        for name, values in widgets.items():
            widget = app.segmented_control(key=f"alignment-{name}-{run_id}")
            if not widget.disabled:
                widget.set_value(draws.choice(values))
        drawn(app)
    if not (toggle := app.toggle(key=f"alignment-special-{run_id}")).disabled:
        toggle.set_value(draws.random() < 0.5)
    kind = app.segmented_control(key=f"alignment-threshold-kind-{run_id}").value
    slider = app.slider(key=f"alignment-threshold-{run_id}" + ("-value" if kind == "value" else ""))
    if not slider.disabled:
        slider.set_value(draws.choice((0, 15, 35, 85)) if kind == "quantile" else draws.choice((0.1, 0.3, 2.0, 2.5)))
    drawn(app)
    for model in draws.sample(MODELS, draws.randrange(len(MODELS) + 1)):
        app.pills(key=f"alignment-model-{run_id}").set_value(model)
        drawn(app).slider(key=f"alignment-shown-layer-{run_id}-{model}").set_value(draws.randrange(5))
        drawn(app)


@pytest.mark.parametrize("seed", seeds(N_DRAWN))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, run_id: str, exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]
) -> None:
    app = visit(run=run_id)
    set_at_random(app, run_id, seed)
    shown = {name: exported.csv(name) for name in ("pairs", "tokens")}
    signature, metrics = exported.signature, [metric.value for metric in app.metric]
    written = command(app)
    for name, table in shown.items():
        same(written[name], table)
    other = visit(**address(app))  # another session
    assert exported.signature == signature and [metric.value for metric in other.metric] == metrics
    for name, table in shown.items():
        pd.testing.assert_frame_equal(exported.csv(name), table)
    assert address(other) == address(app) and printed(other) == printed(app)
    assert "ignored" not in words(other)


def test_page_and_command_have_the_same_defaults(
    run_id: str, exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]
) -> None:
    app = visit(run=run_id)
    [line] = printed(app)
    models = " ".join(f"--model {model}" for model in MODELS)
    assert line == f"python -m engine alignment --data sample/sentence-pairs {models} --out out"
    assert list(address(app)) == ["run"]
    written = command(app)
    for name in ("pairs", "tokens"):
        same(written[name], exported.csv(name))


def test_the_command_of_a_typed_pair_reads_the_download(
    run_id: str,
    exported: Exported,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = SentencePairs(
        "typed pair", ("斉藤は笑った",), ("尾崎は笑った",), ("",), {"b": (0.5,)}, (1,), (("尾崎が笑った",),)
    )
    typed = finished(pairs, scoring=Scoring("novel", penalty="reading"))
    monkeypatch.setattr(run_exports.st, "download_button", button := Mock(wraps=st.download_button))
    app = visit(run=typed)
    assert "--data data.csv" in printed(app)[0]
    assert [call.kwargs["mime"] for call in button.call_args_list if call.args[0] == "data.csv"] == ["text/csv"]
    view = session.access().get(typed)
    assert view is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_bytes(data_csv(session.access().dataset(view.id)))
    written = command(app)
    for name in ("pairs", "tokens"):
        same(written[name], exported.csv(name))


def test_order_search_category_and_row_are_in_the_address(run_id: str) -> None:
    app = visit(run=run_id)
    app.selectbox(key=f"alignment-order-{run_id}").set_value("lowest F1 first")
    app.multiselect(key=f"alignment-categories-{run_id}").set_value(["名前の入れ替え", "言い換え"])
    app.text_input(key=f"alignment-search-{run_id}").set_value("斉藤")
    drawn(app)
    assert address(app) == {
        "run": [run_id],
        "order": ["lowest F1 first"],
        "search": ["斉藤"],
        "category": ["名前の入れ替え", "言い換え"],
    }
    before = [caption.value for caption in app.caption if "of 60 pairs" in caption.value]
    other = visit(**address(app))
    assert [caption.value for caption in other.caption if "of 60 pairs" in caption.value] == before
    assert [metric.value for metric in other.metric] == [metric.value for metric in app.metric]

    first = visit(run=run_id)
    chosen = visit(run=run_id, row="7")
    assert [metric.value for metric in chosen.metric] != [metric.value for metric in first.metric]
    assert address(chosen)["row"] == ["7"]


def test_what_the_link_cannot_ask_for_is_ignored_with_words(run_id: str) -> None:
    app = visit(
        run=run_id,
        idf="/etc/passwd",
        penalty="much",
        threshold="7",
        layer="9",
        row="1000",
        **{"match-special": "perhaps"},
    )
    said = words(app)
    for name, value in (
        ("idf", "/etc/passwd"),
        ("penalty", "much"),
        ("threshold", "7"),
        ("layer", "9"),
        ("row", "1000"),
        ("match-special", "perhaps"),
    ):
        assert f"The link asks for {name} '{value}', which " in said
    assert app.segmented_control(key=f"alignment-idf-{run_id}").value == "none"
    assert linked(app) == {"run": [run_id]}
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("references")
    assert "The link asks for" not in words(drawn(app))
    assert address(app) == linked(app) == {"run": [run_id], "idf": ["references"]}


def test_an_opened_page_leaves_its_address_as_it_is(run_id: str) -> None:
    # "none" is the run's own idf, and no penalty is called much: a clean address would be another one.
    opened_with = {"run": [run_id], "idf": ["none"], "penalty": ["much"], "unit": ["word"]}
    app = visit(**opened_with)
    assert address(app) == opened_with and linked(app) == {"run": [run_id], "unit": ["word"]}
    for _ in range(2):  # neither does drawing it again, which is not taken for another opening
        assert address(drawn(app)) == opened_with and "The link asks for penalty 'much'" in words(app)
    assert app.segmented_control(key=f"alignment-unit-{run_id}").value == "word"
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("novel")
    assert address(drawn(app)) == {"run": [run_id], "unit": ["word"], "idf": ["novel"]}


def test_going_back_to_an_address_with_ignored_values_leaves_it(run_id: str) -> None:
    opened_with = {"run": [run_id], "penalty": ["much"], "unit": ["word"]}
    app = visit(**opened_with)
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("novel")
    drawn(app)
    del app.query_params["idf"]  # as the browser's back does
    app.query_params["penalty"] = "much"
    assert address(drawn(app)) == opened_with and "idf none" in words(app) and "unit word" in words(app)
    assert address(drawn(app)) == opened_with  # it can go forward again


def test_a_dictionary_of_a_link_that_does_not_fit_the_model_is_not_offered(run_id: str) -> None:
    app = visit(run=run_id, idf="wiki")  # which has no dictionary for this tokenizer
    assert not app.error and "idf none" in words(app)
    box = app.segmented_control(key=f"alignment-idf-{run_id}")
    assert "wiki" not in box.options and "novel" in box.options
    box.set_value("novel")
    drawn(app)
    assert not app.error and "idf novel" in words(app) and address(app)["idf"] == ["novel"]


def test_going_back_shows_what_the_address_says(run_id: str) -> None:
    app = visit(run=run_id, unit="word")
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("novel")
    after = address(drawn(app))
    assert (after["idf"], after["unit"]) == (["novel"], ["word"])
    del app.query_params["idf"]  # as the browser's back does
    drawn(app)
    assert "idf none" in words(app) and "unit word" in words(app)
    app.segmented_control(key=f"alignment-penalty-{run_id}-2").set_value("reading")
    app.segmented_control(key=f"alignment-idf-{run_id}-2").set_value("novel")
    assert "penalty reading" in words(drawn(app)) and "idf novel" in words(app)


def test_a_click_counts_more_than_an_address_that_is_behind(run_id: str) -> None:
    app = visit(run=run_id)
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("novel")
    drawn(app)
    del app.query_params["idf"]  # the browser has not heard of it yet
    app.segmented_control(key=f"alignment-unit-{run_id}").set_value("word")
    drawn(app)
    assert "idf novel" in words(app) and "unit word" in words(app)
    assert address(app)["idf"] == ["novel"]


def test_the_link_to_copy_is_the_address(run_id: str) -> None:
    app = visit(run=run_id, idf="novel", search="斉藤")
    assert linked(app) == {"run": [run_id], "idf": ["novel"], "search": ["斉藤"]}
