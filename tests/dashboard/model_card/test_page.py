"""The model card in Streamlit's own test harness: the real queue, a backend without models."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from huggingface_hub import ModelCard
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.model_card import downloads
from dashboard.shared import session
from dashboard.shared.exports.report import report_html
from dashboard.shared.samples import OWNER
from engine.datasets import sample_data
from engine.evaluations.alignment.records import Settings as Alignment
from engine.evaluations.clusters.records import Settings as Clusters
from engine.evaluations.fill_mask.records import Settings as FillMask
from engine.evaluations.minimal_pairs.records import Settings as Pairs
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.files import readme, to_json_value
from engine.evaluations.model_card.headlines import headlines
from engine.models.sources.cards import built_in_models
from engine.runs.card_runs import card_run
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, at, drawn, until, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
MODEL, OTHER = "owner/bert", "owner/second"
MODELS = (MODEL, OTHER)


def finished(kind: str, settings: Any, dataset: Any, owner: str = "local") -> str:
    run_id = session.engine().runs.submit(kind, settings, dataset, owner=owner).run_id
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    return run_id


def four_runs() -> dict[str, str]:
    return {"minimal-pairs": finished("minimal-pairs", Pairs(MODELS), sample_data.minimal_pairs()),
            "fill-mask": finished("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences()),
            "clusters": finished("clusters", Clusters((MODEL,), projection="pca"), sample_data.labelled_sentences()),
            "alignment": finished("alignment", Alignment((MODEL,)), sample_data.sentence_pairs())}


def evaluations(app: AppTest) -> list[str]:
    return [metric.label.split("\\:")[0] for metric in app.metric]


def test_a_model_without_runs_has_the_form_alone(backend: FakeBackend) -> None:
    app = visit("model_card")
    assert app.selectbox[0].value == built_in_models()[0] and "No finished evaluation" in words(app)
    assert not app.metric and not app.download_button


def test_the_menu_does_not_name_it_and_the_models_page_leads_to_it(backend: FakeBackend) -> None:
    hidden = [page for section in pages.SECTIONS.values() for page in section if not page.in_menu]
    assert {page.name for page in hidden} == {"model_card", "rating"}
    links = [link for link in visit("models").get("page_link") if link.label == "Card of this model"]
    assert len(links) == len(built_in_models())


def test_the_card_of_the_newest_runs(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    finished("fill-mask", FillMask((OTHER,)), sample_data.masked_sentences())  # of the same settings, another model
    app = visit("model_card", model=MODEL)
    assert not app.error
    results = {kind: session.engine().runs.result(run_id) for kind, run_id in ids.items()}
    shown = {metric.label.replace("\\", ""): metric for metric in app.metric}
    assert list(shown) == ["Minimal pairs: accuracy ↑", "Fill-mask: p ↑", "Clusters: M_m ↓", "Alignment: F1"]
    own = headlines("minimal-pairs", results["minimal-pairs"], MODEL)[0]
    assert shown["Minimal pairs: accuracy ↑"].value == f"{own.value:.1%}"
    assert "of 2" in shown["Minimal pairs: accuracy ↑"].delta and "of 2" in shown["Fill-mask: p ↑"].delta
    assert "place" not in shown["Clusters: M_m ↓"].delta
    table = next(frame.value for frame in app.dataframe if "This model is" in frame.value)
    assert set(table["Other model"]) == {OTHER} and len(table) == 3  # LP, PenLP, masks


@pytest.mark.parametrize(("part", "told"), [("length", "favours the shorter sentence"), ("map", "Signature"),
                                            ("readings", "sample sentence pairs"), ("checks", "once for each version")])
def test_each_part_is_an_address(backend: FakeBackend, part: str, told: str) -> None:
    visit("model_card")
    four_runs()
    app = visit("model_card", model=MODEL, part=part)
    assert not app.error and (told in words(app) or part == "map")
    assert len(app.get("plotly_chart")) == (part == "map")
    if part == "readings":
        assert any(metric.label == "Names that are one token" for metric in app.metric)
    if part == "checks":
        app.button(key="model-card-check").click()
        app = until(drawn(app), lambda app: "Weights" in words(app))
        assert "only texts of one length share a batch" in words(app)


def test_the_runs_of_the_address_and_no_others(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    app = visit("model_card", model=MODEL, runs=[ids["alignment"], ids["clusters"]])
    assert evaluations(app) == ["Clusters", "Alignment"]
    assert app.query_params["runs"] == [ids["alignment"], ids["clusters"]]


def test_one_press_runs_what_is_chosen(backend: FakeBackend) -> None:
    app = visit("model_card", model=MODEL)
    finished("minimal-pairs", Pairs(("owner/sample",)), sample_data.minimal_pairs(), OWNER)
    app.get_by_key("model-card-kinds").set_value(["minimal-pairs", "fill-mask"])
    app.button(key="model-card-submit").click()
    app = until(drawn(app), lambda app: len(app.metric) == 2)
    assert evaluations(app) == ["Minimal pairs", "Fill-mask"]
    assert "of 2" in app.metric[0].delta  # the sample's model beside
    assert sorted(run.kind for run in session.access().mine()) == ["fill-mask", "minimal-pairs"]
    # what loading found was asked for by the same press
    app.get_by_key("model_card-part-card").set_value("checks")
    assert "only texts of one length share a batch" in words(drawn(app))


def test_downloads(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    app = visit("model_card", model=MODEL)
    keys = {button.key for button in app.download_button}
    assert {"download-report", "download-card-json", "download-readme", "download-signature"} <= keys
    assert all(f"--model {MODEL}" in code.value for code in app.code if "minimal-pairs --data" in code.value)
    assert any("python -m engine clusters --data sample/labelled-sentences" in code.value for code in app.code)
    access = session.access()
    card = card_of(MODEL, [card_run(access, access.get(run_id), MODEL, access.result)  # type: ignore[arg-type]
                           for run_id in ids.values()])
    text = report_html(downloads._report(card, {}, "the commands"))
    assert f"Card of {MODEL}" in text and "the commands" in text and "<h2>headlines</h2>" in text
    assert re.search(r"<td>Minimal pairs</td>", text)
    assert json.loads(json.dumps(to_json_value(card), allow_nan=False))["model"] == MODEL
    assert ModelCard(readme(card)).data.model_name == MODEL


def test_in_japanese(backend: FakeBackend) -> None:
    visit("model_card")
    four_runs()
    app = at("model_card")
    app.query_params["model"] = MODEL
    app.session_state["language"] = "ja"
    drawn(app)
    assert not app.error and app.title[0].value == "モデルカード"
