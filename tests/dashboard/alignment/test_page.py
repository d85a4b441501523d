"""The alignment page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.alignment import pair_choice
from dashboard.alignment.pair_choice import table_key
from dashboard.shared import dictionaries as offered
from dashboard.shared import session
from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.alignment.rescoring import matrix, rescore
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

MODEL = "somebody/bert"
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(run_id: str | None = None, **choices: str) -> AppTest:
    return page_visits.visit("alignment", run=run_id, **choices)


@pytest.fixture
def novel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: FakeBackend) -> None:
    """A dictionary of novels for the fake's tokenizer, in which the characters of names are rare."""
    common = [sorted(set("".join(sample_data.sentence_pairs().references)) - set("斉藤尾崎"))] * 9
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    tokenizer = backend._facts(MODEL, None).tokenizer_fingerprint
    write_idf(count_documents([*common, list("斉藤")], "novel", tokenizer, "file"), tmp_path / "novel.fake.json.gz")


def finished(dataset: SentencePairs, **settings: Any) -> str:
    """The id of a run of the dataset that is done."""
    runs = session.engine().runs
    run_id = runs.submit("alignment", Settings(**{"models": (MODEL,)} | settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def made_of(*pairs: tuple[str, str]) -> SentencePairs:
    return SentencePairs.from_frame(pd.DataFrame(pairs, columns=["reference", "candidate"]), "given")


def view_of(app: AppTest) -> dict[str, Any]:
    """The data that the alignment view was given."""
    (data,) = [
        data
        for data in (json.loads(component.proto.json) for component in app.get("bidi_component"))
        if "penalised" in data
    ]
    return data  # type: ignore[no-any-return]


def typed(run_id: str) -> SentencePairs:
    """The dataset of a run."""
    dataset = session.engine().runs.dataset(run_id)
    assert isinstance(dataset, SentencePairs)
    return dataset


def arrived(app: AppTest) -> tuple[AppTest, str]:
    """The page of the run that the app was led to, once it is done."""
    run_id = str(app.query_params["run"])
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    return drawn(app), run_id


def test_a_typed_pair_is_evaluated_and_shown(backend: FakeBackend) -> None:
    app = visit()
    sample = sample_data.sentence_pairs()
    assert app.text_area[0].value in sample.references  # a pair of swapped names, to begin with
    app.text_area[0].set_value("斉藤は笑った")
    app.text_area[1].set_value("尾崎は笑った")
    app.multiselect(key="alignment-models").set_value([MODEL])
    app.button(key="alignment-submit").click()
    app, run_id = arrived(drawn(app))
    assert [token["text"] for token in view_of(app)["reference"]] == ["[CLS]", *"斉藤は笑った", "[SEP]"]
    result = session.engine().runs.result(run_id)
    scores = rescore(result, Scoring()).pairs.iloc[0]
    assert [metric.value for metric in app.metric] == [f"{scores[name]:.3f}" for name in ("precision", "recall", "f1")]
    assert result.layers[MODEL] == (0, 1, 2, 3, 4)  # of a typed pair every layer is kept


def test_the_two_sentences_are_exchanged_before_they_are_submitted(backend: FakeBackend) -> None:
    app = visit()
    app.text_area[0].set_value("一")
    app.text_area[1].set_value("二")
    app.button(key="alignment-exchange-new").click()
    assert [area.value for area in drawn(app).text_area[:2]] == ["二", "一"]
    assert "run" not in app.query_params


def test_the_shown_pair_is_edited_and_evaluated_again_with_its_settings(novel: None, backend: FakeBackend) -> None:
    first = finished(made_of(("雨が降る", "雪が降る"), ("斉藤は笑った", "尾崎は笑った")), all_layers=True)
    app = visit(first)
    app.selectbox(key=f"alignment-order-{first}").set_value("lowest F1 first")
    app.segmented_control(key=f"alignment-penalty-{first}").set_value("none")
    app.segmented_control(key=f"alignment-idf-{first}").set_value("none")
    app.slider(key=f"alignment-shown-layer-{first}-{MODEL}").set_value(2)
    drawn(app)
    edited = next(area for area in app.text_area if area.label == "Reference" and f"{first}-" in str(area.key))
    key_suffix = str(edited.key).removeprefix("alignment-reference-")
    assert edited.value in ("雨が降る", "斉藤は笑った")
    edited.set_value("斉藤は泣いた")
    app.button(key=f"alignment-again-{key_suffix}").click()
    app, second = arrived(drawn(app))
    assert second != first and typed(second).references == ("斉藤は泣いた",)
    # Plain BERTScore, as it was set, and the layer that was shown.
    assert app.segmented_control(key=f"alignment-idf-{second}").value == "none"
    assert session.engine().runs.result(second).settings.layer == 2
    app.button(key=f"alignment-swap-{second}-1").click()
    app, third = arrived(drawn(app))
    assert (typed(third).references, typed(third).candidates) == (typed(second).candidates, typed(second).references)


def test_an_emptied_sentence_is_an_error_of_the_edit_form(backend: FakeBackend) -> None:
    run_id = finished(made_of(("猫", "犬")))
    app = visit(run_id)
    app.text_area(key=f"alignment-candidate-{run_id}-1").set_value("  ")
    app.button(key=f"alignment-again-{run_id}-1").click()
    assert "one of them is empty" in words(drawn(app)) and app.query_params["run"] in (run_id, [run_id])


def test_a_run_that_comes_back_from_the_bin_is_told_of_on_its_page(backend: FakeBackend) -> None:
    run_id = finished(made_of(("猫", "犬")))
    app = visit(run_id)
    app.button(key=f"alignment-swap-{run_id}-1").click()
    app, swapped = arrived(drawn(app))
    assert not app.toast
    session.access().move_to_bin(swapped)
    app = visit(run_id)
    app.button(key=f"alignment-swap-{run_id}-1").click()
    assert drawn(app).query_params["run"] in (swapped, [swapped])
    assert [toast.value for toast in app.toast] == ["This run was in the bin and is restored."]
    assert not drawn(app).toast  # once


def test_the_layer_slider_runs_no_model(backend: FakeBackend) -> None:
    run_id = finished(made_of(("猫がいる", "犬がいる")), all_layers=True)
    app = visit(run_id)
    slider = app.slider(key=f"alignment-shown-layer-{run_id}-{MODEL}")
    assert (slider.min, slider.max, slider.value) == (0, 4, 4)
    n_calls, result = len(backend.calls), session.engine().runs.result(run_id)
    for layer in (4, 1):
        slider.set_value(layer)
        slider = drawn(app).slider(key=f"alignment-shown-layer-{run_id}-{MODEL}")
        scores = rescore(result, Scoring(), layer).pairs.iloc[0]
        assert app.metric[2].value == f"{scores['f1']:.3f}"
        assert view_of(app)["reference"][1]["similarity"] == pytest.approx(matrix(result, MODEL, 1, layer)[1].max())
    assert len(backend.calls) == n_calls and f"layers {MODEL} 1" in words(app)


def test_a_run_of_one_layer_has_no_slider_for_it(backend: FakeBackend) -> None:
    app = visit(finished(made_of(("猫がいる", "犬がいる"))))
    assert not any(slider.label == "Layer" for slider in app.slider)


def test_of_several_references_the_best_one_is_shown(backend: FakeBackend) -> None:
    dataset = SentencePairs.from_frame(
        pd.DataFrame(
            {
                "reference": ["斉藤は笑った", "猫"],
                "candidate": ["尾崎は笑った", "犬"],
                "reference 2": ["尾崎は笑った", ""],
            }
        ),
        "given",
    )
    app = visit(finished(dataset))
    assert "Reference 2 of 2 has the highest F1" in words(app)
    assert [token["text"] for token in view_of(app)["reference"]][1:3] == ["尾", "崎"]


def test_the_page_speaks_japanese(backend: FakeBackend) -> None:
    app = page_visits.at("alignment")
    app.query_params["run"] = finished(sample_data.scored_pairs(), scoring=Scoring("references", penalty="reading"))
    app.session_state["language"] = "ja"
    drawn(app)
    labels = {
        element.label
        for kind in ("selectbox", "slider", "button", "expander", "metric", "text_input", "toggle")
        for element in app.get(kind)
    }
    assert {"検索", "並び順", "適合率", "再現率", "低頻度のしきい値", "入れ替えて再採点"} <= labels
    assert any(label.startswith("人手評価: r = ") for label in labels)
    assert any(re.match(r"60対の平均F1 0\.\d{3}、ペナルティ適用後 ", label) for label in labels)
    assert "60対。行を選ぶとアラインメントを表示します。" in words(app)
    assert view_of(app)["texts"]["reference"] == "参照文"


def test_of_many_pairs_the_first_in_the_order_are_listed(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id = finished(sample_data.scored_pairs())
    for n, said in ((60, "60 pairs. Choose"), (59, "60 pairs; the first 59 in this order are listed")):
        monkeypatch.setattr(pair_choice, "ROWS_SENT", n)
        app = visit(run_id)
        assert said in words(app)
        assert max(len(table.value) for table in app.dataframe if "f1" in table.value) == n


def test_pairs_are_searched_and_sorted_and_human_scores_lead_to_the_study(backend: FakeBackend) -> None:
    dataset = sample_data.scored_pairs()
    run_id = finished(dataset)
    app = visit(run_id)
    assert any(part.label.startswith("Human scores: r = ") for part in app.expander) and "60 pairs" in words(app)
    app.text_input(key=f"alignment-search-{run_id}").set_value(dataset.candidates[7])
    drawn(app)
    assert "1 of 60 pairs" in words(app)
    assert "".join(token["text"] for token in view_of(app)["candidate"][1:-1]) == dataset.candidates[7]
    app.text_input(key=f"alignment-search-{run_id}").set_value("nowhere at all")
    assert "No pair matches all" in words(drawn(app)) and not app.exception
    app.text_input(key=f"alignment-search-{run_id}").set_value("")
    app.selectbox(key=f"alignment-order-{run_id}").set_value("lowest F1 first")
    drawn(app)
    scores = rescore(session.engine().runs.result(run_id), Scoring())
    assert min(scores.pairs["f1"]) == pytest.approx(float(app.metric[2].value), abs=6e-4)
    app.selectbox(key=f"alignment-order-{run_id}").set_value("farthest from the humans first")
    drawn(app)
    listed = app.dataframe[-1].value if "disagreement" in app.dataframe[-1].value else app.dataframe[0].value
    assert listed["disagreement"].abs().is_monotonic_decreasing
    assert list(visit(run_id, order="farthest from the humans first").metric[2].value) == list(app.metric[2].value)
    app.selectbox(key=f"alignment-human-scale-{run_id}").set_value("0-100")
    drawn(app)
    assert app.query_params["human-scale"] == "0-100" and not app.error
    opened = visit(run_id, **{"human-scale": "0-100"})
    assert opened.selectbox(key=f"alignment-human-scale-{run_id}").value == "0-100" and not opened.error
    app.button(key=f"alignment-study-{run_id}").click()
    drawn(app)
    study = app.session_state["alignment-studied"][run_id]
    assert session.engine().runs.wait(study, SECONDS).kind == "metric-study"


def test_names_and_words_are_choices_without_the_model(novel: None, backend: FakeBackend) -> None:
    run_id = finished(made_of(("斉藤は笑った", "尾崎は笑った"), ("猫", "犬")))
    app = visit(run_id, penalty="reading", idf="novel")
    n_calls = len(backend.calls)
    app.segmented_control(key=f"alignment-criterion-{run_id}").set_value("proper-nouns")
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("none")
    app.segmented_control(key=f"alignment-unit-{run_id}").set_value("word")
    data = view_of(drawn(app))
    assert [token["text"] for token in data["reference"]][:3] == ["[CLS]", "斉藤", "は"] and data["names"]
    assert [token["text"] for token in data["reference"] if token["counted"]] == ["斉藤"]
    assert len(backend.calls) == n_calls and "unit word" in words(app) and "criterion proper-nouns" in words(app)


@pytest.mark.parametrize(
    ("reference", "models", "message"),
    [
        ("  ", [MODEL], "one of them is empty"),
        ("猫", [], "No model"),
    ],
)
def test_missing_input_is_an_error_message(
    backend: FakeBackend, reference: str, models: list[str], message: str
) -> None:
    app = visit()
    app.text_area[0].set_value(reference)
    app.multiselect(key="alignment-models").set_value(models)
    app.button(key="alignment-submit").click()
    assert message in words(drawn(app))
    assert "run" not in app.query_params


def test_the_penalty_is_shown_and_summarised_where_there_is_a_dictionary(novel: None) -> None:
    run_id = finished(made_of(("斉藤は笑った", "尾崎は笑った")), scoring=Scoring("novel", penalty="reading"))
    app = visit(run_id)
    assert app.segmented_control(key=f"alignment-idf-{run_id}").value == "novel"
    scores = rescore(session.engine().runs.result(run_id), Scoring("novel", penalty="reading"))
    pair = scores.pairs.iloc[0]
    assert pair["penalized_f1"] < pair["f1"]
    assert [metric.delta for metric in app.metric] == [
        f"{pair[f'penalized_{name}']:.3f} with penalty" for name in ("precision", "recall", "f1")
    ]
    assert f"the penalty lowers F1 by {pair['f1'] - pair['penalized_f1']:.2f}" in words(app)
    assert {token["text"] for token in view_of(app)["reference"] if token["low"]} == set("斉藤")


def test_no_toggle_runs_the_model_again(novel: None, backend: FakeBackend) -> None:
    run_id = finished(sample_data.sentence_pairs())
    app = visit(run_id, idf="novel", penalty="reading")
    n_calls = len(backend.calls)
    before = [metric.value for metric in app.metric]
    for change in (
        lambda: app.segmented_control(key=f"alignment-idf-{run_id}").set_value("references"),
        lambda: app.slider(key=f"alignment-threshold-{run_id}").set_value(50),
        lambda: app.segmented_control(key=f"alignment-pairing-{run_id}").set_value("joined"),
        lambda: app.toggle(key=f"alignment-special-{run_id}").set_value(False),
        lambda: app.segmented_control(key=f"alignment-penalty-{run_id}").set_value("none"),
        lambda: app.segmented_control(key=f"alignment-idf-{run_id}").set_value("none"),
    ):
        change()
        drawn(app)
    assert len(backend.calls) == n_calls
    scores = rescore(session.engine().runs.result(run_id), Scoring(match_special=False)).pairs.iloc[0]
    assert [metric.value for metric in app.metric] == [f"{scores[name]:.3f}" for name in ("precision", "recall", "f1")]
    assert [metric.value for metric in app.metric] != before
    assert "penalty none" in words(app) and "match special no" in words(app)  # the signature is of what is shown


def test_a_dictionary_of_another_tokenizer_is_not_offered_and_ignored_in_a_link(
    backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    run_id = finished(made_of(("猫がいる", "犬がいる"), ("雨が降る", "雪が降る")))
    app = visit(run_id)
    assert app.segmented_control(key=f"alignment-idf-{run_id}").options == ["none", "references"]
    assert "Build a dictionary for this model" in {link.label for link in app.get("page_link")}
    app = visit(run_id, idf="wiki")
    assert app.segmented_control(key=f"alignment-idf-{run_id}").value == "none"
    assert "The link asks for" in words(app), words(app)
    assert not app.error and app.metric


def test_the_drawer_names_a_dictionary_as_its_owner_wrote_it_also_once_it_is_gone(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {"of-a-run": "*Mine* ![](http://evil.example/x.png)"}
    monkeypatch.setattr(offered, "choices", lambda *_, **__: known)
    run_id = finished(made_of(("猫がいる", "犬がいる"), ("雨が降る", "雪が降る")))
    app = visit(run_id)
    app.session_state[f"alignment-idf-{run_id}"] = "of-a-run"
    drawn(app)

    def label() -> str:
        return next(drawer.label for drawer in app.expander if drawer.label.startswith("Scoring"))

    assert label().startswith(r"Scoring: idf \*Mine\* !\[")
    known.clear()
    drawn(app)
    assert label()


def test_idf_of_a_single_reference_gives_no_weights_and_a_reason(backend: FakeBackend) -> None:
    run_id = finished(made_of(("猫がいる", "猫がいる")))
    app = visit(run_id)
    app.segmented_control(key=f"alignment-idf-{run_id}").set_value("references")
    drawn(app)
    assert "undefined" in {metric.value for metric in app.metric} and "has no score" in words(app)
    assert "every token of the reference has weight 0" in words(app)


def test_a_pair_of_only_punctuation_is_scored(novel: None) -> None:
    app = visit(finished(made_of(("。", "！？"))))
    assert not app.error and app.metric
    assert [token["text"] for token in view_of(app)["candidate"]] == ["[CLS]", "！", "？", "[SEP]"]


def test_html_is_escaped(novel: None) -> None:
    run_id = finished(made_of(("<b>斉藤</b>", "**尾崎** <script>alert(1)</script>")))
    app = visit(run_id)
    assert [token["text"] for token in view_of(app)["reference"]][1:4] == ["<", "b", ">"]
    assert not any("<script>" in str(element.value) for element in (*app.markdown, *app.warning, *app.caption))


def test_120_tokens_are_drawn(backend: FakeBackend) -> None:
    app = visit(finished(made_of(("あ" * 118, "い" * 118))))
    assert len(view_of(app)["reference"]) == len(view_of(app)["candidate"]) == 120


def test_a_pair_is_chosen_from_the_table_and_left_out_pairs_are_listed(backend: FakeBackend) -> None:
    dataset = made_of(("あ" * 400, "い"), ("猫がいる", "犬がいる"), ("雨が降る", "雪が降る"))
    run_id = finished(dataset, models=(MODEL, "another/bert"))
    app = visit(run_id)
    # The first pair that is left.
    assert [token["text"] for token in view_of(app)["reference"]] == ["[CLS]", *"猫がいる", "[SEP]"]
    assert any("Left out" in expander.label for expander in app.expander)
    app.session_state[table_key(run_id)] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    app.pills(key=f"alignment-model-{run_id}").set_value("another/bert")
    assert [token["text"] for token in view_of(drawn(app))["reference"]] == ["[CLS]", *"雨が降る", "[SEP]"]


def test_1457_pairs_are_scored_again_without_a_model(backend: FakeBackend) -> None:
    result = session.engine().runs.result(finished(sample_data.sentence_pairs()))
    tokens, shapes = (
        pd.concat([table.assign(row=table["row"] + 100 * i) for i in range(25)], ignore_index=True)
        for table in (result.tokens, result.shapes)
    )  # 24 times 60 pairs, and 17
    tokens, shapes = (table[table["row"] <= 2417] for table in (tokens, shapes))
    n_cells = int((shapes["n_reference"] * shapes["n_candidate"]).sum())
    many = replace(
        result, tokens=tokens, shapes=shapes, similarity={MODEL: np.tile(result.similarity[MODEL], 25)[:, :n_cells]}
    )
    n_calls = len(backend.calls)
    assert len(rescore(many, Scoring("references", penalty="reading")).pairs) == 1457
    assert len(backend.calls) == n_calls
