"""The Models page in Streamlit's own test harness, over a backend without models."""

from __future__ import annotations

import io
import re
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.models import memory
from dashboard.shared import session
from engine.errors import ModelError
from engine.inference.worker_state import ModelInMemory, WorkerState
from engine.messages.message import Message
from engine.models.sources.hub.search import Match
from engine.models.sources.paper_cards import CLUSTERS, PAPER_CARDS
from engine.runs.access.viewers import Viewer
from tests.models.pretraining.test_pretrain import TINY, sentences
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, at, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def part(name: str) -> AppTest:
    return visit("models", part=name)


def looked(app: AppTest, name: str, sentence: str | None = None) -> AppTest:
    app.text_input(key="models-look-name").set_value(name)
    if sentence is not None:
        app.text_input(key="models-look-sentence").set_value(sentence)
    app.button(key="models-look-submit").click()
    return drawn(app)


def test_a_sentence_too_long_to_cut_is_refused(backend: FakeBackend) -> None:
    assert (
        "2,001 characters, and 2,000 at most"
        in looked(part("inspect"), "builtin/bert-mini-ja", "猫" * 2001).error[0].value
    )


def test_only_the_chosen_part_is_drawn(backend: FakeBackend) -> None:
    choice = visit("models").get_by_key("models-part-page")
    assert choice.value == "built-in" and [str(title) for title in choice.options] == [
        "Built-in",
        "Models of the papers",
        "Find and inspect",
        "Pretrain",
        "In memory",
        "Add a model",
    ]
    assert len(visit("models").dataframe) == 1 and not (part("add").metric or part("add").dataframe)
    assert "hakari.json" in words(part("add"))


def test_the_chosen_part_stands_in_the_address_in_every_language(backend: FakeBackend) -> None:
    app = visit("models")
    app.get_by_key("models-part-page").set_value("papers")
    assert drawn(app).query_params["part"] == "papers"
    app.session_state["language"] = "ja"
    drawn(app)
    assert app.query_params["part"] == "papers" and app.get_by_key("models-part-page").value == "papers"
    assert "論文のモデル" in app.get_by_key("models-part-page").options and app.code[0].value.startswith("paper/")


@pytest.mark.parametrize(
    ("name", "text"),
    [("built-in", "マスク言語モデル"), ("memory", "メモリ上にモデルはありません"), ("add", "Hugging FaceのID")],
)
def test_every_part_in_japanese(name: str, text: str, backend: FakeBackend) -> None:
    app = at("models")
    app.query_params["part"] = name
    app.session_state["language"] = "ja"
    assert text in words(drawn(app))


def test_an_inspection_stays_in_another_language(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "owner/bert")
    app.session_state["language"] = "ja"
    text = words(drawn(app))
    assert "パラメータ数" in [metric.label for metric in app.metric] and "7個の重みはこのタスクで使いません" in text


def test_every_model_of_the_papers_is_listed_with_the_name_to_type(backend: FakeBackend) -> None:
    app = part("papers")
    table = app.dataframe[0].value
    assert list(table["type"]) == [card.model_name for card in PAPER_CARDS.values()]
    assert app.code[0].value == "paper/kyoto-univ=DIRECTORY"
    app.selectbox(key="models-paper").set_value(CLUSTERS)
    table = drawn(app).dataframe[0].value
    assert list(table["label"]) == [
        "Kyoto Univ. Ver.",
        "MeCab Ver.",
        "SP Ver.",
        "Tohoku Univ. Ver.",
        "NICT Ver.",
        "Laboro Ver.",
    ]


def test_every_card_can_be_shown(backend: FakeBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_NEOLOGD_DIR", raising=False)
    app = part("papers")
    for name, card in PAPER_CARDS.items():
        app.selectbox(key="models-card-All papers").set_value(name)
        text = words(drawn(app))
        assert app.code[0].value == card.model_name
        assert card.publisher in text and (card.hub or "Needs ") in text
    app.selectbox(key="models-card-All papers").set_value("paper/mecab")
    text = words(drawn(app))
    assert "MeCab with NEologd, whole words of vocab.txt" in text
    assert "NEologd comes in no package" in text  # what is missing here, before anybody tries


def test_no_model_is_in_memory_before_a_worker_has_started(backend: FakeBackend) -> None:
    assert "no worker has started yet" in words(part("memory"))


def test_models_in_memory_are_shown_with_device_and_size(backend: FakeBackend) -> None:
    models = (
        ModelInMemory("paper/nict=/srv/*nict*", "encode", "cuda:1", 110_000_000, 440_000_000),
        ModelInMemory("builtin/bert-mini-ja", "masked", "cuda:1", 5_000_000, 20_000_000),
    )
    backend.states = (
        WorkerState("auto", 4242, 3 * 2**30, "sentence_vectors paper/nict=/srv/*nict*", 3.2, models),
        WorkerState("cuda:2", 4243, None, "", 0.0, ()),
    )
    app = part("memory")
    table = app.dataframe[0].value
    assert list(table["model"]) == ["paper/nict=/srv/*nict*", "builtin/bert-mini-ja"]
    assert list(table["memory"]) == ["420 MiB", "19 MiB"] and list(table["device"]) == ["cuda:1"] * 2
    text = words(app)
    assert "Worker on cuda:1" in text and "process 4242" in text  # "auto" has chosen
    assert "2 models, 439 MiB · 3.00 GiB in total" in text
    assert "computing sentence vectors of paper/nict=/srv/*nict*, for 3 s" in text.replace("\u2060", "")
    assert "Worker on cuda:2" in text and "no model · waiting for work" in text
    assert not backend.calls  # nobody was asked for it


@pytest.mark.parametrize(("is_private", "is_admin"), [(True, False), (True, True), (False, False)])
def test_members_who_share_no_cache_do_not_see_which_models_others_use(
    backend: FakeBackend,
    is_private: bool,
    is_admin: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = (ModelInMemory("lab/unpublished", "encode", "cpu", 1_000_000, 4_000_000),)
    backend.states = (WorkerState("cpu", 4242, None, "sentence_vectors lab/unpublished", 3.2, models),)
    opened = session.engine()
    engine = replace(opened, configuration=replace(opened.configuration, private_cache=is_private))
    viewer = Viewer("ann@lab.example", "Ann", is_admin)
    monkeypatch.setattr(
        memory, "session", SimpleNamespace(hosted=lambda: True, viewer=lambda: viewer, engine=lambda: engine)
    )
    app = part("memory")
    is_shown = is_admin or not is_private
    assert ("unpublished" in words(app)) == is_shown and len(app.dataframe) == is_shown
    assert ("only administrators" in words(app)) == (not is_shown)


def test_an_inspection_shows_facts_and_tokens(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "owner/bert", "猫は<b>龘</b>")
    assert [metric.label for metric in app.metric] == ["Parameters", "Layers", "Vocabulary", "Longest input"]
    text = words(app)
    assert "12 tokens" in text and "1 unknown" in text and "owner/bert" in text
    assert ":orange-background[龘 龘]" in text and ":gray-background[<]" in text.replace("\u2060", "")
    assert list(app.dataframe[0].value["token"]) == ["[CLS]", *"猫は<b>龘</b>", "[SEP]"]
    assert app.dataframe[0].value["word"].tolist() == pytest.approx([np.nan, *range(10), np.nan], nan_ok=True)
    assert "Text after normalisation and segmentation: 猫は<B>龘</B>" in text
    # What was looked at stays when something else on the page is used.
    assert drawn(app).metric


def test_an_inspection_begins_with_a_model_and_a_sentence_of_the_readers_language(backend: FakeBackend) -> None:
    app = part("inspect")
    assert app.text_input(key="models-look-name").value == "builtin/bert-mini-en"
    assert app.text_input(key="models-look-sentence").value.isascii()


def test_an_inspection_says_that_own_code_is_run(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "owner/own-code")
    assert "Run with code of its own, confined: owner/own-code@" in words(app)
    (said,) = (caption.value for caption in app.caption if "confined" in caption.value)
    assert re.search(r"@sha256\\:\u2060?[0-9a-f]{40}", said)  # escaped once: a second time would be seen
    assert "code of its own" not in words(looked(part("inspect"), "owner/bert"))


def test_an_inspection_says_what_was_checked(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "owner/bert")
    text = words(app)
    assert "only texts of one length share a batch" in text and "7 parts of the files are not used" in text
    assert "the files lack pooler.dense" in text
    app.toggle(key="models-look-load").set_value(False)
    assert "share a batch" not in words(looked(app, "owner/other")) and backend.n_items("loading_checks") == 1


def test_a_model_that_cannot_be_loaded_still_shows_its_facts(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "owner/unloadable")
    assert "layers that its config.json does not count" in app.error[0].value and app.metric


def test_the_error_of_a_model_that_cannot_be_inspected_is_shown(backend: FakeBackend) -> None:
    app = looked(part("inspect"), "missing/*model*")
    assert "missing/\\*model\\*" in app.error[0].value and not app.metric
    app = looked(app, "owner/bert")
    assert not app.error and app.metric
    app = looked(app, "missing/other")
    assert app.error and not app.metric  # not the one before


def test_an_inspection_without_a_name_is_an_error(backend: FakeBackend) -> None:
    assert "No model is named" in looked(part("inspect"), " ").error[0].value


def test_an_error_in_the_worker_is_shown(backend: FakeBackend) -> None:
    backend._errors["猫"] = ModelError("Juman++ is not installed.")
    assert "Juman++ is not installed" in looked(part("inspect"), "owner/bert", "猫").error[0].value


def test_a_model_that_the_instance_does_not_allow_is_not_inspected(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAKARI_ALLOWED_MODELS", "cl-tohoku/*")
    app = looked(part("inspect"), "paper/nict=/etc")
    assert "is not among the models of this instance" in app.error[0].value
    assert backend.n_located == 0


def test_a_slow_model_shows_that_it_is_being_opened(backend: FakeBackend) -> None:
    backend._gate = threading.Event()
    app = part("inspect")
    threading.Timer(1.0, backend._gate.set).start()
    begun = time.monotonic()
    looked(app, "owner/slow")
    assert 0.9 < time.monotonic() - begun < SECONDS and app.metric
    assert session.engine().backend is backend


def test_a_model_is_found_by_a_part_of_its_name_and_inspected(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def hub(query: str, _allowed: object) -> list[Match]:
        asked.append(query)
        return [Match("owner/gpt2-ja", "hub", "causal", "mit", 10**8, 4 * 10**8, 4 * 10**8)]

    monkeypatch.setattr("dashboard.models.find.on_hub", hub)
    monkeypatch.setattr("engine.models.sources.hub.search.cached_snapshots", list)
    app = part("inspect")
    assert not app.dataframe
    app.text_input(key="models-find-query").set_value("gpt2-mini")
    app.button(key="models-find-submit").click()
    table = drawn(app).dataframe[0].value
    assert asked == ["gpt2-mini"] and table["name"].tolist() == [
        "builtin/gpt2-mini-ja",
        "builtin/gpt2-mini-en",
        "owner/gpt2-ja",
    ]
    assert table["kind"].tolist() == ["causal"] * 3 and table["license"].tolist() == ["cc0-1.0", "cc0-1.0", "mit"]
    assert table["memory"].tolist()[2] == "381 MiB" and "3 models" in words(app)
    app.session_state["models-look-name"] = "builtin/gpt2-mini-ja"  # as the choice of a row does
    assert drawn(app).text_input(key="models-look-name").value == "builtin/gpt2-mini-ja"


def test_without_the_hub_the_models_of_this_machine_are_listed(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(_query: str, _allowed: object) -> list[Match]:
        raise ModelError(
            Message(
                "The Hugging Face Hub cannot be searched from here ({reason}). Models of this "
                "machine are listed; another is named by its id.",
                reason="ConnectionError: no route",
            )
        )

    monkeypatch.setattr("dashboard.models.find.on_hub", unreachable)
    monkeypatch.setattr("engine.models.sources.hub.search.cached_snapshots", list)
    app = part("inspect")
    app.session_state["language"] = "ja"
    app.text_input(key="models-find-query").set_value("bert-mini")
    app.button(key="models-find-submit").click()
    drawn(app)
    assert "検索できません" in app.info[0].value and not app.error and len(app.dataframe[0].value) >= 2
    app.text_input(key="models-find-query").set_value("no such model")
    app.get_by_key("models-find-hub").set_value(False)
    app.button(key="models-find-submit").click()
    assert not drawn(app).error and not app.dataframe and app.info


def test_a_family_is_found_with_what_it_is_read_as_before_anything_is_downloaded(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.models.sources.hub.search.cached_snapshots", list)
    app = part("inspect")
    app.get_by_key("models-find-hub").set_value(False)
    app.text_input(key="models-find-query").set_value("plamo")
    app.button(key="models-find-submit").click()
    table = drawn(app).dataframe[0].value
    assert table["family"].tolist() == ["PLaMo 2, PLaMo 3", "PLaMo Embedding"]
    assert table["outcome"].str.startswith("refused: needs code from its own repository").all()
    app.session_state["language"] = "ja"
    assert "読めません" in drawn(app).dataframe[0].value["outcome"].tolist()[0]


def test_pretraining_starts_from_the_page_and_is_stopped_there(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = part("pretrain")
    app.text_input(key="models-pretrain-name").set_value("tiny")
    app.button(key="models-pretrain-submit").click()
    assert "no text to train on" in drawn(app).error[0].value
    jobs = session.engine().pretraining
    assert jobs.list() == []
    texts = [(f"{i}.txt", io.BytesIO("\n".join(sentences()[i::3]).encode())) for i in range(12)]
    job_id = jobs.start("local", "tiny", replace(TINY, steps=60), texts, lambda _n_bytes: None)
    app = part("pretrain")
    assert "tiny" in words(app) and "vocabulary 420, 60 steps" in words(app)
    jobs.cancel(job_id)
    app = part("pretrain")
    assert "stopped" in words(app) and app.button(key=f"models-pretrain-resume-{job_id}")
    app.button(key=f"models-pretrain-delete-{job_id}").click()
    assert not drawn(app).error and jobs.list() == []


def test_where_the_operator_allows_no_pretraining_the_command_is_named(
    backend: FakeBackend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HAKARI_PRETRAINING", "0")
    app = part("pretrain")
    assert "HAKARI_PRETRAINING" in app.info[0].value and not app.text_input
