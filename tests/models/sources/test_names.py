from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import InputError, ModelError
from engine.models.sources.names import (
    local_directory,
    recipe_state,
    require_distinct,
    shown_name,
    split_card,
    split_label,
    split_revision,
    without_label,
)


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


@pytest.mark.parametrize(
    ("name", "label", "model"),
    [
        ("BERT v3=tohoku-nlp/bert-base-japanese-v3", "BERT v3", "tohoku-nlp/bert-base-japanese-v3"),
        ("Ours=/srv/models/ours", "Ours", "/srv/models/ours"),
        ("Novel=paper/novel=/srv/novel", "Novel", "paper/novel=/srv/novel"),
        ("東北大 v3=gpt2@main", "東北大 v3", "gpt2@main"),
        ("x" * 40 + "=gpt2", "x" * 40, "gpt2"),
        ("Ours=/srv/lr=0.1", "Ours", "/srv/lr=0.1"),
        ("paper/nict=/srv/nict", "", "paper/nict=/srv/nict"),
        ("KU-NLP/deberta-v2-base-japanese=/srv/copy", "", "KU-NLP/deberta-v2-base-japanese=/srv/copy"),
        ("/srv/lr=0.1", "", "/srv/lr=0.1"),
        ("owner/name", "", "owner/name"),
        ("", "", ""),
    ],
)
def test_a_label_stands_before_a_model(name: str, label: str, model: str) -> None:
    assert split_label(name) == (label, model)
    assert without_label(name) == model
    assert shown_name(name) == (label or name)


def test_a_directory_whose_name_contains_an_equals_sign_has_no_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lr=0.1").mkdir()
    assert split_label("lr=0.1") == ("", "lr=0.1")
    assert split_label("Ours=lr=0.1") == ("Ours", "lr=0.1")
    assert split_label(f"{tmp_path}/lr=0.1") == ("", f"{tmp_path}/lr=0.1")


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("=gpt2", "1 to 40 characters, not 0"),
        ("x" * 41 + "=gpt2", "1 to 40 characters, not 41"),
        (" Ours=gpt2", "begins or ends with a blank"),
        ("Ours =gpt2", "begins or ends with a blank"),
        ("\u3000Ours=gpt2", "begins or ends with a blank"),
        ("a\nb=gpt2", "cannot be seen"),
        ("a\x00b=gpt2", "cannot be seen"),
        ("a\u202eb=gpt2", "cannot be seen"),
        ("Ours=", "a label without a model"),
        ("Ours= ", "a label without a model"),
        ("Ours=Theirs=gpt2", "has two labels"),
    ],
)
def test_a_label_that_cannot_be_is_refused_with_words(name: str, fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        split_label(name)
    assert without_label(name) == shown_name(name) == name


@pytest.mark.parametrize(
    ("names", "refusal"),
    [
        (("gpt2", "gpt2"), "named more than once: gpt2"),
        (("A=gpt2", "gpt2"), "named more than once: gpt2"),
        (("A=gpt2", "B=gpt2"), "named more than once: gpt2"),
        (("A=gpt2", "A=owner/name"), "more than one: A"),
        (("gpt2=owner/name", "gpt2"), "label gpt2 is also the name of another model"),
        (("bert-mini-ja=owner/name", "builtin/bert-mini-ja"), "label bert-mini-ja is also the name"),
    ],
)
def test_two_models_of_a_run_are_distinct_to_a_reader(names: tuple[str, ...], refusal: str) -> None:
    with pytest.raises(InputError, match=refusal):
        require_distinct(names)
    with pytest.raises(InputError, match=refusal):
        require_distinct(names[::-1])


def test_models_with_labels_of_their_own_are_distinct() -> None:
    require_distinct(("A=gpt2", "B=gpt2@v1", "owner/name", "bert-mini-ja=builtin/bert-mini-ja"))
