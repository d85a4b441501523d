"""The fill-mask page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.fill_mask.means import ranks_of
from dashboard.shared import session
from dashboard.shared.theme import short_names
from engine.datasets import sample_data
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.evaluations.fill_mask.records import ALL, FILES, Settings
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.mask_fakes import UNKNOWN
from tests.support.page_visits import SECONDS, drawn, evaluated, until, words

MODELS = ("somebody/bert", "other/bert")
HOSTILE = '<img src=x onerror="hit()">*強い*'
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(**query: str) -> AppTest:
    return page_visits.visit("fill_mask", **query)


def finished(dataset: MaskedSentences, *models: str, **settings: Any) -> str:
    runs = session.engine().runs
    run_id = runs.submit("fill-mask", Settings(models or MODELS, **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def given(*rows: tuple[str, str, str]) -> MaskedSentences:
    texts, labels, domains = zip(*rows, strict=True)
    starts = tuple(text.find(label) for text, label in zip(texts, labels, strict=True))
    return MaskedSentences("given", texts, labels, starts, domains, tuple(range(1, len(rows) + 1)))


TWO = given(("庭に鳥がいる", "鳥", "自然"), ("図書館へ行く", "図書館", "学校"), ("机の上の本", "本", "学校"))


def test_the_sample_is_evaluated_and_shown_as_the_engine_has_it(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="fill-mask-models").set_value(["builtin/bert-mini-ja"])
    evaluated(app, "fill-mask")
    result = session.engine().runs.result(app.query_params["run"])
    overall = result.models[result.models["domain"] == ALL]
    assert app.dataframe[0].value["mean"].tolist() == pytest.approx((100 * overall["mean_probability"]).tolist())
    assert app.dataframe[0].value["n"].tolist() == [120]
    items = app.dataframe[1].value
    assert len(items) == 120
    assert items["p:builtin/bert-mini-ja"].tolist() == pytest.approx((100 * result.items["probability"]).tolist())
    assert len(app.get("plotly_chart")) == 3  # over all, each domain, the first sentence's predictions
    assert {button.label for button in app.download_button} == {
        *(f"{table.name}.csv" for table in FILES),
        "tables.zip",
        "signature.json",
        "Report (HTML)",
        "Paper bundle (zip)",
        "Download",
    }
    assert app.get_by_key("figure-chosen").options == [
        "Mean probability of the masked words",
        "In each domain",
        "Predictions of builtin/bert-mini-ja, row 1",
    ]
    assert "朝から降り続いた:primary-background[**雨**]が、昼すぎにようやくやんだ。" in words(app)


def test_the_same_link_shows_the_same_without_running_a_model(backend: FakeBackend) -> None:
    run_id = finished(TWO)
    first = visit(run=run_id)
    calls = len(backend.calls)
    other = visit(run=run_id)
    assert words(first) == words(other) and len(backend.calls) == calls


def test_every_model_has_a_card_with_its_predictions(backend: FakeBackend) -> None:
    run_id = finished(TWO)
    app = visit(run=run_id)
    assert len(app.get("plotly_chart")) == 2 + 2
    result = session.engine().runs.result(run_id)
    for model in MODELS:
        item = result.items[(result.items["model"] == model) & (result.items["row"] == 1)].iloc[0]
        assert model in words(app) and f"rank {item['rank']:,}" in words(app)
    assert "Differences between models" in [expander.label for expander in app.expander]


def test_another_language_keeps_the_sentence_and_the_mask(backend: FakeBackend) -> None:
    app = visit(run=finished(TWO))
    run_id = app.query_params["run"]
    app.session_state[f"fill-mask-items-{run_id}"] = {"selection": {"rows": [1], "columns": [], "cells": []}}
    drawn(app)
    mask = f"fill-mask-mask-{run_id}-{MODELS[0]}-2"
    app.get_by_key(mask).set_value(3)
    drawn(app)
    app.session_state["language"] = "ja"
    text = words(drawn(app))
    assert "図書館" in text and "3サブワード: 図 " in text and app.get_by_key(mask).value == 3
    assert "編集して再予測" in text and "95% interval" not in text


def test_a_word_of_several_pieces_has_a_mask_to_choose(backend: FakeBackend) -> None:
    app = visit(run=finished(given(("図書館へ行く", "図書館", "学校")), "one/bert"))
    assert "3 subwords: 図 " in words(app)
    key = f"fill-mask-mask-{app.query_params['run']}-one/bert-1"
    assert [option.replace("\\", "") for option in app.get_by_key(key).options] == ["1: 図", "2: 書", "3: 館"]
    app.get_by_key(key).set_value(3)
    assert len(drawn(app).get("plotly_chart")) == 2
    assert "20 of" not in words(app) and "1 of 1 words have several pieces" in words(app)


def test_an_edited_sentence_is_predicted_again_below(backend: FakeBackend) -> None:
    run_id = finished(TWO)
    app = visit(run=run_id)
    key = f"{run_id}-1"
    assert app.text_area(key=f"fill-mask-edit-text-{key}").value == "庭に＿＿がいる"
    app.text_area(key=f"fill-mask-edit-text-{key}").set_value("空に＿＿がいる")
    app.text_input(key=f"fill-mask-edit-word-{key}").set_value("月")
    app.button(key=f"fill-mask-edit-submit-{key}").click()
    until(drawn(app), lambda app: "空に:primary-background[**月**]がいる" in words(app))
    assert len(app.get("plotly_chart")) == 2 + 2 + 2
    edited = app.query_params["edited"]
    result = session.engine().runs.result(edited)
    assert result.settings == Settings(MODELS) and result.sentences["text"].tolist() == ["空に月がいる"]
    # The address brings both back, and closing leaves the first.
    again = visit(run=run_id, edited=edited, of=run_id)
    assert "空に:primary-background[**月**]がいる" in words(again)
    again.button(key="fill-mask-edited-close").click()
    assert "**月**" not in words(drawn(again)) and "edited" not in again.query_params


def test_an_edited_sentence_belongs_to_its_run(backend: FakeBackend) -> None:
    edited = finished(given(("空に月", "月", "")))
    run_id = finished(TWO)
    assert "**月**" not in words(visit(run=run_id, edited=edited, of="another"))
    assert "**月**" not in words(visit(run=run_id, edited="no-such-run", of=run_id))


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("空がある", "月", "neither a mask nor the label"),
        ("", "月", "is empty"),
        ("空に＿＿", " ", "is empty"),
        ("＿＿に＿＿", "月", "holds 2 masks"),
    ],
)
def test_a_sentence_that_cannot_be_masked_is_explained(
    backend: FakeBackend, text: str, word: str, message: str
) -> None:
    run_id = finished(TWO)
    app = visit(run=run_id)
    app.text_area(key=f"fill-mask-edit-text-{run_id}-1").set_value(text)
    app.text_input(key=f"fill-mask-edit-word-{run_id}-1").set_value(word)
    app.button(key=f"fill-mask-edit-submit-{run_id}-1").click()
    drawn(app)
    assert message in app.error[0].value.replace("\\", "") and "edited" not in app.query_params


def test_an_edited_word_that_no_model_can_spell_is_explained_below(backend: FakeBackend) -> None:
    run_id = finished(TWO)
    app = visit(run=run_id)
    app.text_input(key=f"fill-mask-edit-word-{run_id}-1").set_value(UNKNOWN)
    app.button(key=f"fill-mask-edit-submit-{run_id}-1").click()
    until(drawn(app), lambda app: app.error)
    assert "cannot spell" in app.error[0].value.replace("\\", "")


def test_sentences_that_no_model_could_fill_are_listed(backend: FakeBackend) -> None:
    dataset = given(*zip(TWO.texts, TWO.labels, TWO.domains, strict=True), (f"{UNKNOWN}だ", UNKNOWN, "自然"))
    app = visit(run=finished(dataset))
    assert [toggle.key for toggle in app.toggle] == ["figure-caption"]  # both left out the same
    assert "1 of 4 sentences could not be filled" in words(app)
    assert "Left out: 1 row" in [expander.label for expander in app.expander]


def test_models_that_filled_different_sentences_are_compared_on_the_common_ones(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill = backend._fill

    def choosy(model: Any, sentence: list[str], settings: dict[str, Any]) -> Any:
        chosen = model[0] == "other/bert" and sentence[1] == "鳥"
        return {"excluded": "It knows no birds.", "n_tokens": 9} if chosen else fill(model, sentence, settings)

    monkeypatch.setattr(backend, "_fill", choosy)
    app = visit(run=finished(TWO))
    assert "Only the 2 sentences" in app.toggle[0].label
    assert app.dataframe[0].value["n"].tolist() == [2, 2]
    assert "It knows no birds." in words(app)  # on its card of the first sentence
    app.toggle[0].set_value(False)
    assert sorted(drawn(app).dataframe[0].value["n"]) == [2, 3]


def test_words_are_chosen_from_domains(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("fill-mask-words").set_value("build")
    drawn(app)
    app.number_input(key="fill-mask-nouns").set_value(2)
    app.number_input(key="fill-mask-sentences").set_value(3)
    app.number_input(key="fill-mask-seed").set_value(9)
    drawn(app)
    assert "the 2 most frequent nouns of each domain" in words(app)
    evaluated(app, "fill-mask")
    dataset = session.engine().runs.dataset(app.query_params["run"])
    assert dataset.n == 18 and dataset.name == "sample sentences (2 nouns × 3, seed 9)"
    assert "Built from sample sentences" in words(app)


def test_nouns_can_be_typed_and_one_that_never_occurs_is_reported(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("fill-mask-words").set_value("build")
    drawn(app)
    app.text_input(key="fill-mask-nouns-typed").set_value("海、 音楽")
    drawn(app)
    assert "自然: never found as a common noun: 音楽." in words(app)
    app.text_input(key="fill-mask-nouns-typed").set_value("音楽")
    drawn(app)
    assert "none of the nouns 音楽 was found" in app.error[0].value
    assert app.button(key="fill-mask-submit").disabled


def reviews(**texts: str) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for domain, text in texts.items():
            archive.writestr(
                f"cls-acl10-unprocessed/jp/{domain}/test.review", f"<items><item><text>{text}</text></item></items>"
            )
    return packed.getvalue()


def test_reviews_as_published_are_read(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("fill-mask-words").set_value("webis")
    drawn(app)
    assert app.button(key="fill-mask-submit").disabled
    app.file_uploader[0].upload("cls.zip", reviews(books="この本は長い。本が好きだ。", music="声が良い。"))
    drawn(app)
    assert "domains: books, music" in words(app)
    evaluated(app, "fill-mask")
    assert set(session.engine().runs.dataset(app.query_params["run"]).domains) == {"books", "music"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cls.zip", b"PK\x03\x04 nonsense", "cannot be unpacked"),
        ("books.review", b"<items>", "no well-formed XML"),
        ("books.review", b'<!DOCTYPE x [<!ENTITY a "b">]><items/>', "document type"),
        ("cls.zip", reviews(books="Hello there."), "no common noun"),
    ],
)
def test_the_error_of_bad_reviews_is_shown_and_the_page_still_works(
    backend: FakeBackend,
    name: str,
    content: bytes,
    message: str,
) -> None:
    app = visit()
    app.get_by_key("fill-mask-words").set_value("webis")
    drawn(app)
    app.file_uploader[0].upload(name, content)
    drawn(app)
    assert message in app.error[0].value.replace("\\", "")
    app.get_by_key("fill-mask-words").set_value("ready")
    assert not drawn(app).button(key="fill-mask-submit").disabled


def test_normalisation_reaches_the_run(backend: FakeBackend) -> None:
    app = visit()
    app.get_by_key("fill-mask-normalize").set_value(["nfkc"])
    evaluated(app, "fill-mask")
    assert session.engine().runs.settings(app.query_params["run"]).normalize == ("nfkc",)


def test_markup_in_sentences_words_and_domains_is_shown_as_text(backend: FakeBackend) -> None:
    dataset = given((f"{HOSTILE}庭に鳥が", "鳥", HOSTILE), (f"これは{HOSTILE}", HOSTILE[:6], "b"))
    app = visit(run=finished(dataset))
    for element in [*app.markdown, *app.caption]:
        assert "<img" not in str(element.value).replace("\\<img", "")


def test_a_causal_model_is_explained(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="fill-mask-models").set_value(["some/gpt2"])
    evaluated(app, "fill-mask")
    assert "fills no masks" in app.error[0].value


def test_the_sample_forms_are_the_same_sentences() -> None:
    assert set(sample_data.domain_sentences().texts) == set(sample_data.masked_sentences().texts)


def test_a_model_has_the_places_that_the_tests_leave_it_over_the_same_sentences_only(backend: FakeBackend) -> None:
    result = session.engine().runs.result(finished(TWO))
    names = ["a", "b", "c", "d"]
    overall = pd.DataFrame({"model": names, "domain": ALL, "mean_probability": [0.5, 0.3, 0.3, 0.1], "n": 8})
    pairs = pd.DataFrame(
        [(one, other, {one, other} == {"a", "d"}) for one in names for other in names if one != other],
        columns=["model", "other", "separable"],
    )
    tested = replace(result, common=overall, comparisons=pairs)
    # Only a and d differ: nobody is before b and c for certain, and d is behind a.
    assert ranks_of(overall, tested) == ["1–3", "1–4", "1–4", "2–4"]
    assert ranks_of(overall.assign(n=[8, 8, 8, 7]), tested) == ["–"] * 4
    assert ranks_of(overall[:1], tested) == []


def test_the_table_of_several_models_begins_with_the_rank(backend: FakeBackend) -> None:
    app = visit(run=finished(TWO))
    assert list(app.dataframe[0].value)[:2] == ["rank", "model"]


def test_the_table_keeps_the_ends_of_long_names_which_its_cells_would_cut(backend: FakeBackend) -> None:
    names = [f"/srv/experiments/2026/masked/{name}/checkpoint-10000" for name in ("first", "second")]
    shown = visit(run=finished(TWO, *names)).dataframe[0].value["model"].tolist()
    assert sorted(shown) == sorted(short_names(names).values()) and max(map(len, shown)) < min(map(len, names))
