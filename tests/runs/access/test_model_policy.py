from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import AccessError, InputError, ModelError
from engine.evaluations.catalog import FILE_SETTINGS
from engine.runs.access.model_policy import model_policy


def allowed(policy: object, **settings: object) -> bool:
    try:
        policy.check(settings)  # type: ignore[attr-defined]
    except AccessError:
        return False
    return True


def test_ones_own_machine_allows_everything(tmp_path: Path) -> None:
    policy = model_policy({}, hosted=False)
    assert allowed(policy, models=["builtin/bert-mini-ja", "owner/name@main", str(tmp_path)], idf=str(tmp_path / "x"))


def test_a_hosted_instance_allows_names_and_no_path(tmp_path: Path) -> None:
    policy = model_policy({}, hosted=True)
    assert allowed(policy, models=["builtin/bert-mini-ja", "owner/name@main", "gpt2"], scoring={"idf": "novel"})
    for path in (
        str(tmp_path),
        "/etc/passwd",
        "../x",
        "~/m",
        "./m",
        "a/b/c",
        "C:\\m",
        "builtin/../../x",
        "tests",
        f"card={tmp_path}",
        "file\0name",
    ):
        assert not allowed(policy, models=[path]), path
        assert not allowed(policy, models=["builtin/bert-mini-ja"], scoring={"idf": path}), path
        assert not allowed(policy, model=path), path


def test_a_text_that_names_no_file_may_look_like_one() -> None:
    policy = model_policy({}, hosted=True)
    models = ["builtin/bert-mini-ja"]
    for prompt in ("Q: ", "A/B/C: ", "...", "/", "C:\\ ", "../x ", "tests"):
        assert allowed(policy, models=models, prompt=prompt, class_columns=[prompt], scoring={"idf": "wiki"}), prompt
    assert allowed(policy, models=models, scoring={"idf": "novel", "readings": "TCP/IP=ティーシーピー;./a=エー"})
    assert not allowed(policy, models=models, idfs=["novel", "../x"])
    assert {"idf", "idfs"} == FILE_SETTINGS


def test_a_list_allows_what_it_names_and_no_more(tmp_path: Path) -> None:
    inside = tmp_path / "models"
    (inside / "bert").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (inside / "way-out").symlink_to(tmp_path / "secret")
    policy = model_policy({"HAKARI_ALLOWED_MODELS": f"cl-tohoku/*, gpt2, {inside}"}, hosted=True)
    for name in ("cl-tohoku/bert-base", "cl-tohoku/x@v1", "gpt2", "builtin/gpt2-mini-ja", str(inside / "bert")):
        assert allowed(policy, models=[name]), name
    for name in ("other/model", "gpt2-large", str(tmp_path), str(inside / ".." / "secret"), str(inside / "way-out")):
        assert not allowed(policy, models=[name]), name
    with pytest.raises(AccessError, match=r"'other/model' is not among.*cl-tohoku/\*, gpt2"):
        policy.check({"models": ["other/model"]})


def test_a_label_allows_nothing_and_forbids_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused or allowed without a label is so with one: ids, directories, cards, endpoints, built-in ones."""
    inside = tmp_path / "models"
    (inside / "bert").mkdir(parents=True)
    (tmp_path / "a=b").mkdir()
    monkeypatch.chdir(tmp_path)
    listed = {"HAKARI_ALLOWED_MODELS": f"cl-tohoku/*, gpt2, {inside}"}
    names = (
        "cl-tohoku/bert-base",
        "cl-tohoku/x@v1",
        "gpt2",
        "gpt2-large",
        "other/model",
        "builtin/gpt2-mini-ja",
        "endpoint/llama",
        str(inside / "bert"),
        str(inside / ".." / ".."),
        str(tmp_path),
        "/etc/passwd",
        "../x",
        "~/m",
        "./m",
        "models/bert",
        "a=b",
        "builtin/../../x",
        f"paper/nict={tmp_path}",
        "paper/nict=other/model",
        f"paper/nict={inside}/bert",
        "paper/nict=cl-tohoku/x",
        "paper/tohoku-univ",
    )
    decided = []
    for policy in (model_policy(listed, hosted=True), model_policy({}, hosted=True), model_policy({}, hosted=False)):
        for name in names:
            plain = allowed(policy, models=[name])
            assert allowed(policy, models=[f"gpt2={name}"]) == plain, name
            assert allowed(policy, models=[f"BERT v3={name}"]) == plain, name
            assert allowed(policy, model=f"Ours={name}") == plain, name
            decided.append(plain)
    assert 10 < sum(decided) < len(decided) - 10


def test_a_label_may_not_hide_a_path_behind_another_label(tmp_path: Path) -> None:
    policy = model_policy({}, hosted=True)
    for name in (f"A=B={tmp_path}", "A=B=/etc", f"A=B=paper/nict={tmp_path}"):
        with pytest.raises(ModelError, match="has two labels"):
            policy.check({"models": [name]})
        with pytest.raises(ModelError, match="has two labels"):
            policy.check({"model": name})


def test_models_that_are_not_distinct_are_refused_before_a_run_is_queued() -> None:
    with pytest.raises(InputError, match="more than one: A"):
        model_policy({}, hosted=False).check({"models": ["A=gpt2", "A=owner/name"]})


def test_the_tokenizer_of_scores_from_a_file_is_checked_as_models_are() -> None:
    policy = model_policy({}, hosted=True)
    models = {"models": ["GPT=scores/GPT"]}
    policy.check({**models, "tokenizer": ["builtin/gpt2-mini-ja", "GPT=owner/name"]})
    with pytest.raises(AccessError, match="The directory '/srv/models/x' is not among the models"):
        policy.check({**models, "tokenizer": ["GPT=/srv/models/x"]})
