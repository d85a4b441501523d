from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.sources.names import local_directory, recipe_state, split_card, split_revision


def test_a_card_stands_before_a_place() -> None:
    assert split_card("paper/nict=/srv/nict") == ("paper/nict", "/srv/nict")
    assert split_card("paper/nict=owner/name") == ("paper/nict", "owner/name")
    assert split_card("paper/tohoku-univ") == ("paper/tohoku-univ", "cl-tohoku/bert-base-japanese")
    for name in ("owner/name", "builtin/bert-mini-ja", "gpt2", "", "a=b"):
        assert split_card(name) == (None, name)


def test_a_revision_stands_behind_an_id_and_never_in_a_directory(tmp_path: Path) -> None:
    folder = tmp_path / "bert@2019"
    folder.mkdir()
    assert split_revision("owner/name@v1.0") == ("owner/name", "v1.0")
    assert split_revision("paper/nict=owner/name@v1.0") == ("paper/nict=owner/name", "v1.0")
    assert split_revision("owner/name@") == ("owner/name", None)
    for name in (str(folder), f"paper/nict={folder}"):
        assert split_revision(name) == (name, None)


def test_the_directory_that_a_name_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    for name in (str(tmp_path / "model"), "~/model", "paper/nict=~/model", f"anything={tmp_path}/model"):
        assert local_directory(name) == (tmp_path / "model").resolve()
    for name in ("owner/name", "paper/tohoku-univ", "", "=", "~nobody-of-that-name/x"):
        assert local_directory(name) is None


def test_the_state_of_a_recipe_is_told_for_whatever_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HAKARI_NEOLOGD_DIR", raising=False)
    assert recipe_state("umap") == recipe_state("owner/name") == recipe_state("paper/gpt2-medium") == ""
    assert "jumandic" in recipe_state("paper/nict=owner/name")
    assert "NEologd comes in no package" in recipe_state(f"paper/mecab={tmp_path}")
    (tmp_path / "hakari.json").write_text('{"segmenter": "mecab-ipadic"}')
    assert "mecab-ipadic" in recipe_state(str(tmp_path))
    (tmp_path / "hakari.json").write_text("{")
    assert "cannot be read as JSON" in recipe_state(str(tmp_path))
