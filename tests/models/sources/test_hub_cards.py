"""Models that their ids alone name a recipe for, and CARD=ID wherever CARD=DIRECTORY stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from engine.errors import AccessError, ModelError
from engine.models.loading.model_description import describe
from engine.models.sources.allowed_models import allowed_models
from engine.models.sources.hub_cards import CARDS, card_recipe, hub_card, is_card
from engine.models.sources.model_location import locate
from engine.models.sources.names import recipe_state, split_card, split_revision
from engine.models.sources.paper_cards import PAPER_CARDS
from engine.models.sources.recipes import Recipe
from engine.runs.run_key import run_key
from tests.models.sources.test_model_location import SMALL_FILES, locate_apart
from tests.support import fake_jumanpp, tiny_models
from tests.support.fake_hub import COMMIT, FakeHub

WASEDA = "nlp-waseda/roberta-base-japanese"
FILES = {**SMALL_FILES, "model.safetensors": b"s"}


@pytest.fixture
def jumanpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", fake_jumanpp.install(tmp_path / "bin") + os.pathsep + os.environ["PATH"])


def located(home: Path, *names: str) -> list[dict]:
    hub = FakeHub(FILES, {WASEDA: FILES, "ku-nlp/roberta-base-japanese-char-wwm": FILES})
    try:
        return locate_apart(home, *((name,) for name in names), endpoint=hub.endpoint)
    finally:
        hub.shutdown()
        hub.server_close()


def test_an_id_stands_on_one_card() -> None:
    ids = [name.lower() for card in CARDS for name in card.ids]
    assert len(ids) == len(set(ids)) and not set(ids) & {card.hub for card in PAPER_CARDS.values()}
    assert all(hub_card(name.upper()) and is_card(name) and name.count("/") == 1 for name in ids)
    assert card_recipe(WASEDA) == Recipe("jumanpp", (), "own") and card_recipe("paper/gpt2-medium") is None
    assert hub_card("owner/name") is None and not is_card("owner/name")


def test_the_plain_id_has_the_recipe(tmp_path: Path, jumanpp: None) -> None:
    [found, char] = located(tmp_path, WASEDA, "ku-nlp/roberta-base-japanese-char-wwm")
    assert found["recipe"] == str(Recipe("jumanpp", (), "own")) and found["fingerprint"] != COMMIT
    assert char["recipe"] == "None" and char["fingerprint"] == COMMIT


def test_without_juman_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    [refused] = located(tmp_path, WASEDA)
    assert "Juman++ is not installed. Build it from github.com/ku-nlp/jumanpp" in refused["error"]
    assert "Juman++ is not installed" in recipe_state(f"{WASEDA}@main")


def test_a_card_before_an_id(tmp_path: Path, jumanpp: None) -> None:
    [own, other, of_paper] = located(
        tmp_path, f"{WASEDA}=", f"{WASEDA}=someone/small-bert", "paper/nict=someone/small-bert"
    )
    assert own["recipe"] == other["recipe"] != of_paper["recipe"]
    assert len({answer["fingerprint"] for answer in (own, other, of_paper)} - {COMMIT}) == 2


def test_names_with_a_card_and_a_revision() -> None:
    assert split_card(f"{WASEDA}=owner/name") == (WASEDA, "owner/name")
    assert split_card(WASEDA) == (None, WASEDA)
    assert split_revision(f"{WASEDA}=owner/name@v1") == (f"{WASEDA}=owner/name", "v1")
    with pytest.raises(ModelError, match="is built in and needs no card"):
        split_card(f"{WASEDA}=builtin/bert-mini-ja")


def test_a_copy_in_a_directory_is_known_by_its_card(tmp_path: Path, jumanpp: None) -> None:
    folder = tiny_models.bert(tmp_path / "copy")
    text = "昨日、図書館で小説を読んだ"
    published = AutoTokenizer.from_pretrained(folder)
    plain, by_card = (describe(locate(name)) for name in (str(folder), f"{WASEDA}={folder}"))
    assert plain.facts.recipe == "" and "Juman++" in by_card.facts.recipe and "rhoknp" in by_card.facts.recipe
    spaced = " ".join(fake_jumanpp.words(text))
    assert by_card.tokenizer(text)["input_ids"] == published(spaced)["input_ids"]
    assert locate(f"{WASEDA}={folder}").address == f"{WASEDA}={folder}"
    assert plain.facts.fingerprint != by_card.facts.fingerprint
    (folder / "hakari.json").write_text(f'{{"card": "{WASEDA}"}}')
    assert locate(str(folder)).recipe == card_recipe(WASEDA)


def test_the_segmenter_is_part_of_a_runs_key(tmp_path: Path, jumanpp: None) -> None:
    before = run_key("clusters", {"models": [WASEDA]}, "")
    program = tmp_path / "bin" / "jumanpp"
    program.write_text(program.read_text() + "\n# another build\n")
    assert run_key("clusters", {"models": [WASEDA]}, "") != before


def test_the_published_tokenizer_that_calls_juman_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_models.bert_japanese(tmp_path / "model")
    path = folder / "tokenizer_config.json"
    path.write_text(path.read_text().replace('"word_tokenizer_type": "mecab"', '"word_tokenizer_type": "jumanpp"'))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match=r"segments its texts with Juman\+\+\. Juman\+\+ is not installed"):
        describe(locate(str(folder)))


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("owner/name", True),
        ("owner/name@v1", True),
        ("owner/name:folder", True),
        ("owner/name:a/b@v1", True),
        ("paper/nict=owner/name", True),
        (f"{WASEDA}=owner/name@v1", True),
        ("paper/tohoku-univ", True),
        ("paper/nict=other/name", False),
        (f"{WASEDA}=other/name", False),
        ("other/name:folder", False),
        (WASEDA, False),
        ("owner/name:../x", False),
        ("paper/gpt2-medium", False),
    ],
)
def test_an_instance_holds_what_follows_the_card_against_its_list(name: str, allowed: bool) -> None:
    policy = allowed_models({"HAKARI_ALLOWED_MODELS": "owner/*, cl-tohoku/bert-base-japanese, paper/nict"}, hosted=True)
    if allowed:
        policy.require(name)
    else:
        with pytest.raises(AccessError):
            policy.require(name)


def test_a_directory_with_an_equals_sign_is_a_path_on_an_instance(tmp_path: Path) -> None:
    folder = tmp_path / "lr=0.1"
    folder.mkdir()
    with pytest.raises(AccessError, match="The directory"):
        allowed_models({}, hosted=True).require(str(folder))


def test_a_card_is_described_for_readers() -> None:
    card = hub_card("nlp-waseda/gpt2-xl-japanese")
    assert card is not None and card.description == (
        "Waseda University, Kawahara Lab · Juman++, then SentencePiece · Its publisher asks for texts that Juman++ has "
        "segmented into words; Hakari does so, and changes no widths."
    )
