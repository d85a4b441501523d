"""What must change a key. Keys of items and of arrays are also proved through the gateway."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.inference.keys import facts_key, item_keys
from engine.language.mecab import NEOLOGD_VARIABLE
from engine.models.loading.model_description import describe
from engine.models.sources.model_location import LocatedModel, locate
from tests.support import mecab_directories
from tests.support.layouts import papers as paper_layouts
from tests.support.session_fake import facts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return paper_layouts.japanese_bert(tmp_path / "model", widen=True)


def key(name: str) -> str:
    return facts_key(locate(name), ("cpu",))


def test_the_same_files_by_another_recipe_have_other_facts(folder: Path) -> None:
    names = [str(folder), f"paper/nict={folder}", f"paper/tohoku-univ={folder}"]
    assert len({key(name) for name in names}) == 3
    assert key(names[1]) == key(names[1])


def test_a_recipe_that_is_written_or_changed_has_another_key(folder: Path) -> None:
    recipe_keys = [key(str(folder))]
    for content in ('{"card": "paper/nict"}', '{"card": "paper/nict", "max_tokens": 64}'):
        (folder / "hakari.json").write_text(content)
        recipe_keys.append(key(str(folder)))
    assert len(set(recipe_keys)) == 3


def test_a_dictionary_that_is_written_again_has_another_key(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dictionary = mecab_directories.whole(tmp_path / "neologd")
    monkeypatch.setenv(NEOLOGD_VARIABLE, str(dictionary))
    name = f"paper/mecab={folder}"
    before, described = key(name), describe(locate(name)).facts
    (dictionary / "dicrc").unlink()
    (dictionary / "dicrc").write_bytes(mecab_directories.content("dicrc") + b"\n; another\n")
    after = describe(locate(name)).facts
    assert key(name) != before
    # What is computed with it is keyed by the facts, which hold the dictionary's content.
    settings = {"layers": [2], "pooling": "cls"}
    assert item_keys("sentence_vectors", described, settings, ["猫"]) != item_keys(
        "sentence_vectors", after, settings, ["猫"]
    )
    monkeypatch.delenv(NEOLOGD_VARIABLE)
    with pytest.raises(ModelError, match="NEologd comes in no package"):
        key(name)


def test_a_commit_of_the_hub_is_another_by_another_recipe() -> None:
    plain = LocatedModel("owner/name", "hub", Path("nowhere"), None, "c" * 40)
    card = locate_recipe("paper/nict")
    assert facts_key(plain, ("cpu",)) != facts_key(replace(plain, card="paper/nict", recipe=card), ("cpu",))


def test_a_chat_template_that_is_fetched_later_gives_a_commit_of_the_hub_other_facts(tmp_path: Path) -> None:
    located = LocatedModel("owner/name", "hub", tmp_path, None, "c" * 40)
    (tmp_path / "config.json").write_text("{}")
    before = facts_key(located, ("cpu",))
    (tmp_path / "generation_config.json").write_text("{}")
    assert facts_key(located, ("cpu",)) == before
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    assert facts_key(located, ("cpu",)) != before


def test_the_tokenizer_alone_changes_an_items_key() -> None:
    model_facts = facts("m")
    assert item_keys("token_lists", model_facts, {}, ["a"]) != item_keys(
        "token_lists", replace(model_facts, tokenizer_fingerprint="u" * 64), {}, ["a"]
    )


def locate_recipe(card: str):  # type: ignore[no-untyped-def]
    from engine.models.sources.paper_cards import PAPER_CARDS

    return PAPER_CARDS[card].recipe


def test_a_file_that_is_edited_in_place_has_another_key(folder: Path) -> None:
    before, file = key(str(folder)), folder / "config.json"
    state, text = file.stat(), file.read_bytes()
    assert key(str(folder)) == before
    file.write_bytes(text)  # as long as before, a moment later
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000))
    assert key(str(folder)) != before
