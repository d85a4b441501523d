"""The model card in Streamlit's own test harness: the real queue, a backend without models."""

from __future__ import annotations

import json
import re
import threading
from typing import Any
from urllib.parse import quote

import pytest
from huggingface_hub import ModelCard
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.model_card import downloads
from dashboard.model_card.sections import checks_table
from dashboard.model_card.tables import length_heads, number, numbers_heads, others_heads
from dashboard.shared import session
from dashboard.shared.exports.report import report_html
from dashboard.shared.samples import OWNER
from engine.datasets import sample_data
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from engine.errors import ModelError
from engine.evaluations.alignment.records import Settings as Alignment
from engine.evaluations.clusters.records import Settings as Clusters
from engine.evaluations.fill_mask.records import Settings as FillMask
from engine.evaluations.minimal_pairs.kinds.on_card import headlines
from engine.evaluations.minimal_pairs.records import Settings as Pairs
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.card import CardOfModel
from engine.evaluations.model_card.files import readme, to_json_value
from engine.messages.languages import in_language
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
    return {
        "minimal-pairs": finished("minimal-pairs", Pairs(MODELS), sample_data.minimal_pairs()),
        "fill-mask": finished("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences()),
        "clusters": finished("clusters", Clusters((MODEL,), projection="pca"), sample_data.labelled_sentences()),
        "alignment": finished("alignment", Alignment((MODEL,)), sample_data.sentence_pairs()),
    }


def evaluations(app: AppTest) -> list[str]:
    return [metric.label.split("\\:")[0] for metric in app.metric]


def test_a_model_without_runs_has_the_form_alone(backend: FakeBackend) -> None:
    app = visit("model_card")
    assert app.selectbox[0].value == built_in_models()[0] and "No finished evaluation" in words(app)
    assert not app.metric and not app.download_button


def test_the_menu_does_not_name_it_and_the_models_page_leads_to_it(backend: FakeBackend) -> None:
    hidden = [page for section in pages.SECTIONS.values() for page in section if not page.in_menu]
    assert {page.name for page in hidden} == {"model_card", "rating", "lessons"}
    for name in built_in_models():
        links = visit("models", model=name).get("page_link")
        (link,) = (link for link in links if link.label == "Card of this model")
        assert link.proto.page == "model_card" and link.proto.query_string in (
            f"model={quote(name, safe='')}",
            f"model={name}",
        )


def test_the_card_of_the_newest_runs(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    finished("fill-mask", FillMask((OTHER,)), sample_data.masked_sentences())  # of the same settings, another model
    app = visit("model_card", model=MODEL)
    assert not app.error
    results = {kind: session.engine().runs.result(run_id) for kind, run_id in ids.items()}
    shown = {metric.label.replace("\\", ""): metric for metric in app.metric}
    assert list(shown) == ["Minimal pairs: accuracy ↑", "Fill-mask: p ↑", "Clusters: M_m ↓", "Alignment: F1"]
    own = headlines(results["minimal-pairs"], MODEL)[0]
    assert shown["Minimal pairs: accuracy ↑"].value == f"{own.value:.1%}"
    assert "of 2" in shown["Minimal pairs: accuracy ↑"].delta and "of 2" in shown["Fill-mask: p ↑"].delta
    assert "place" not in shown["Clusters: M_m ↓"].delta
    table = next(frame.value for frame in app.dataframe if "outcome" in frame.value)
    assert set(table["other"]) == {OTHER} and len(table) == 3  # LP, PenLP, masks


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("length", "favours the shorter sentence"),
        ("map", "Signature"),
        ("readings", "sample sentence pairs"),
        ("checks", "once for each version"),
    ],
)
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


def test_the_files_of_a_card_say_why_the_model_cannot_be_loaded(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards: list[CardOfModel] = []
    monkeypatch.setattr(downloads, "card_downloads", lambda card, figures, commands: cards.append(card))
    visit("model_card")
    finished("fill-mask", FillMask(("owner/unloadable",)), sample_data.masked_sentences())
    app = visit("model_card", model="owner/unloadable", part="checks")
    assert to_json_value(cards[-1])["checks"]["refusal"] == ""  # not tried yet
    app.button(key="model-card-check").click()
    until(drawn(app), lambda app: cards[-1].facts is not None)
    refusal = "Its weights hold layers that its config.json does not count."
    assert to_json_value(cards[-1])["checks"]["refusal"] == refusal
    assert refusal in checks_table(cards[-1])["Checks"].tolist()


def test_the_runs_of_the_address_and_no_others(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    app = visit("model_card", model=MODEL, runs=[ids["alignment"], ids["clusters"]])
    assert evaluations(app) == ["Clusters", "Alignment"]
    assert app.query_params["runs"] == [ids["alignment"], ids["clusters"]]


def pairs_of(n: int, name: str) -> Any:
    rows = "".join(f"猫が{i}匹いる。,猫を{i}匹いる。\n" for i in range(n))
    return from_table(read_table(f"acceptable,unacceptable\n{rows}".encode(), name))


def tiles(app: AppTest) -> dict[str, str]:
    """What a tile says of its data, by evaluation, of evaluations with one tile."""
    captions = [text for caption in app.caption if " · n = " in (text := caption.value.replace("\\", ""))]
    return dict(zip(evaluations(app), captions, strict=True))


def test_no_run_of_others_and_none_on_other_data_is_on_a_card_unless_it_is_chosen(backend: FakeBackend) -> None:
    visit("model_card")
    sample, own_data = sample_data.minimal_pairs(), pairs_of(40, "own.csv")
    finished("minimal-pairs", Pairs((MODEL,)), pairs_of(20, "theirs.csv"), "browser:theirs")
    theirs = finished("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences(), "browser:theirs")
    own = finished("minimal-pairs", Pairs((MODEL,)), own_data)
    app = visit("model_card", model=MODEL)
    assert not app.metric and not app.error
    assert "3 runs on other data or of others can be chosen" in words(app)
    prepared = finished("minimal-pairs", Pairs((MODEL, OTHER)), sample, OWNER)
    finished("minimal-pairs", Pairs((MODEL,), words="mecab"), sample)  # newer, of one's own
    app = visit("model_card", model=MODEL)
    assert tiles(app) == {"Minimal pairs": f"sample minimal pairs · n = {sample.n}"}
    assert "of 2" in app.metric[0].delta  # beside the other model of the samples' run
    assert any(f"card --model {MODEL} --run {prepared} --out" in code.value for code in app.code)
    app = visit("model_card", model=MODEL, runs=[own, theirs])
    assert tiles(app) == {
        "Minimal pairs": "own.csv · n = 40",
        "Fill-mask": f"sample masked sentences · n = {sample_data.masked_sentences().n}",
    }
    assert not any("place" in (metric.delta or "") for metric in app.metric)  # nobody else has these data
    assert any(f"--run {own} --run {theirs} --out" in code.value for code in app.code)
    (choice,) = app.multiselect
    assert any("theirs.csv (n = 20)" in option and "Browser" in option for option in choice.options)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_damaged_run_is_left_out_and_named(backend: FakeBackend, language: str) -> None:
    visit("model_card")
    ids = four_runs()
    folder = session.engine().artifacts.directory / "results" / ids["clusters"]
    for file in folder.iterdir():
        file.write_bytes(b"damaged")
    app = at("model_card")
    app.query_params["model"] = MODEL
    app.query_params["runs"] = list(ids.values())
    app.session_state["language"] = language
    drawn(app)
    assert len(app.metric) == 3 and not app.error
    (warning,) = app.warning
    assert ids["clusters"] in warning.value and ("left out" in warning.value) == (language == "en")
    assert any(
        f"--run {ids['minimal-pairs']} " in code.value and ids["clusters"] not in code.value.splitlines()[0]
        for code in app.code
    )
    app = visit("model_card", model=MODEL, runs=ids["clusters"])  # nothing is left
    assert not app.metric and ids["clusters"] in app.error[0].value and app.button(key="model-card-submit")


def test_a_link_names_runs_that_are_not_there_and_the_others_are_shown(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    hidden = finished("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences(), "member:other")
    app = visit("model_card", model=MODEL, runs=[ids["alignment"], hidden, "0000"])
    assert evaluations(app) == ["Alignment"] and "names 2 runs that are left out" in app.warning[0].value
    assert hidden in app.warning[0].value


def test_a_damaged_run_of_another_model_is_named_and_takes_no_rank(backend: FakeBackend) -> None:
    visit("model_card")
    run_id = finished("minimal-pairs", Pairs((MODEL,)), sample_data.minimal_pairs())
    other = finished("minimal-pairs", Pairs((OTHER,)), sample_data.minimal_pairs())
    for file in (session.engine().artifacts.directory / "results" / other).iterdir():
        file.write_bytes(b"damaged")
    app = visit("model_card", model=MODEL)
    assert not app.error and "place" not in app.metric[0].delta
    assert f"The run {other} (minimal-pairs, sample minimal pairs) is left out" in words(app).replace("\\", "")
    assert run_id not in " ".join(warning.value for warning in app.warning)


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
    app.get_by_key("model_card-part-card-2").set_value("checks")  # the press led to another address
    assert "only texts of one length share a batch" in words(drawn(app))


def bars(app: AppTest) -> list[str]:
    return [bar.proto.text for bar in app.get("progress")]


def test_what_one_press_runs_is_one_job_in_every_browser_until_the_card_is_there(backend: FakeBackend) -> None:
    backend._gate = threading.Event()
    app = visit("model_card", model=MODEL)
    run_ids = [
        session.access().submit(kind, settings, data).run_id
        for kind, settings, data in (
            ("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences()),
            ("minimal-pairs", Pairs((MODEL,)), sample_data.minimal_pairs()),
            ("alignment", Alignment((MODEL,)), sample_data.sentence_pairs()),
        )
    ]
    for _ in range(2):  # and after a reload
        app = visit("model_card", model=MODEL)
        assert len(bars(app)) == 1 and bars(app)[0].startswith("0 of 3 evaluations have ended · Fill-mask")
        assert [button.label for button in app.button].count("Cancel") == 1
        assert "No finished evaluation" in words(app)
    session.access().cancel(run_ids[2])
    app = until(app, lambda app: bars(app) and bars(app)[0].startswith("1 of 3"))
    (states,) = [caption.value for caption in app.caption if "Alignment" in caption.value]
    assert states.split("&ensp;")[2] == ":material/close: Alignment" and states.count("check") == 0
    backend._gate.set()
    app = until(app, lambda app: not bars(app) and len(app.metric) == 2)
    assert evaluations(app) == ["Minimal pairs", "Fill-mask"] and not app.error


def test_one_cancel_for_the_job(backend: FakeBackend) -> None:
    backend._gate = threading.Event()
    visit("model_card", model=MODEL)
    for kind, settings, data in (
        ("fill-mask", FillMask((MODEL,)), sample_data.masked_sentences()),
        ("minimal-pairs", Pairs((MODEL,)), sample_data.minimal_pairs()),
    ):
        session.access().submit(kind, settings, data)
    app = visit("model_card", model=MODEL)
    app.button(key="model-card-cancel").click()
    drawn(app)
    backend._gate.set()
    app = until(app, lambda app: not bars(app))
    assert {run.state for run in session.access().mine()} == {"cancelled"} and not app.error


def test_a_part_that_failed_is_named_with_its_reason_and_run_again(backend: FakeBackend) -> None:
    refused = sample_data.minimal_pairs().acceptable[0]
    backend._errors = {refused: ModelError("The weights are damaged.")}
    app = visit("model_card", model=MODEL)
    app.get_by_key("model-card-kinds").set_value(["minimal-pairs", "fill-mask"])
    app.button(key="model-card-submit").click()
    app = until(drawn(app), lambda app: app.error and len(app.metric) == 1)
    assert "Minimal pairs" in app.error[0].value and "The weights are damaged" in app.error[0].value
    assert evaluations(app) == ["Fill-mask"]
    assert visit("model_card", model=OTHER).error == []  # not of another model
    backend._errors = {}
    (again,) = [button for button in app.button if button.label == "Run again"]
    again.click()
    app = until(drawn(app), lambda app: len(app.metric) == 2)
    assert not app.error and not bars(app)


def test_downloads(backend: FakeBackend) -> None:
    visit("model_card")
    ids = four_runs()
    app = visit("model_card", model=MODEL)
    keys = {button.key for button in app.download_button}
    assert {"download-report", "download-card-json", "download-readme", "download-signature"} <= keys
    assert all(f"--model {MODEL}" in code.value for code in app.code if "minimal-pairs --data" in code.value)
    assert any("python -m engine clusters --data sample/labelled-sentences" in code.value for code in app.code)
    access = session.access()
    card = card_of(
        MODEL,
        [
            card_run(access, access.get(run_id), MODEL, access.result)  # type: ignore[arg-type]
            for run_id in ids.values()
        ],
    )
    text = report_html(downloads._report(card, {}, "the commands"))
    assert f"Card of {MODEL}" in text and "the commands" in text and "<h2>All numbers</h2>" in text
    heads = re.findall("<th>(.*?)</th>", text)
    assert "The other" in heads and not any("_" in head for head in heads)
    assert "judgement_auc" not in text and "{&#x27;name" not in text
    assert re.search(r"<td>Minimal pairs</td>", text)
    assert json.loads(json.dumps(to_json_value(card), allow_nan=False))["model"] == MODEL
    assert ModelCard(readme(card)).data.model_name == MODEL


def test_clusters_of_two_models_have_the_interval_of_the_run(backend: FakeBackend) -> None:
    visit("model_card")
    run_id = finished("clusters", Clusters(MODELS, projection="pca"), sample_data.labelled_sentences())
    (bootstrap,) = session.engine().runs.result(run_id).comparisons.to_dict("records")
    app = visit("model_card", model=OTHER)
    (row,) = next(frame.value for frame in app.dataframe if "outcome" in frame.value).to_dict("records")
    sign = 1 if bootstrap["model"] == OTHER else -1
    ends = sorted(sign * bootstrap[name] for name in ("ci_low", "ci_high"))
    assert row["interval"] == " to ".join(number(end, "dispersion_score") for end in ends)
    assert row["reason"] and not app.error


def test_clusters_of_two_runs_say_why_there_is_no_interval(backend: FakeBackend) -> None:
    visit("model_card")
    for model in MODELS:
        finished("clusters", Clusters((model,), projection="pca"), sample_data.labelled_sentences())
    app = visit("model_card", model=MODEL)
    (row,) = next(frame.value for frame in app.dataframe if "outcome" in frame.value).to_dict("records")
    assert (row["interval"], row["outcome"]) == ("–", "–") and "keep no vectors" in row["reason"]


def test_judged_sentences_are_said_to_have_no_test_and_no_length_bias(backend: FakeBackend) -> None:
    visit("model_card")
    content = "sentence,label\n" + "".join(f"猫が{i}匹いる,{i % 2}\n" for i in range(20))
    run_id = finished("minimal-pairs", Pairs(MODELS), from_table(read_table(content.encode(), "judged.csv")))
    app = visit("model_card", model=MODEL, runs=run_id)
    assert "of 2" in app.metric[0].delta and not app.error
    assert "not tested against each other" in words(app) and OTHER in words(app).replace("\\", "")
    assert "No other model" not in words(app)
    app = visit("model_card", model=MODEL, runs=run_id, part="length")
    assert "the data of this card hold none" in words(app) and "needs a run" not in words(app)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_two_columns_of_a_table_have_one_head(language: str) -> None:
    with in_language(language):
        for heads in (numbers_heads(), others_heads(), length_heads()):
            assert len(set(heads.values())) == len(heads)


def test_in_japanese(backend: FakeBackend) -> None:
    visit("model_card")
    four_runs()
    app = at("model_card")
    app.query_params["model"] = MODEL
    app.session_state["language"] = "ja"
    drawn(app)
    assert not app.error and app.title[0].value == "モデルカード"
