from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import AccessError
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
    for path in (str(tmp_path), "/etc/passwd", "../x", "~/m", "./m", "a/b/c", "C:\\m", "builtin/../../x", "tests",
                 f"card={tmp_path}", "file\0name"):
        assert not allowed(policy, models=[path]), path
        assert not allowed(policy, models=["builtin/bert-mini-ja"], scoring={"idf": path}), path
        assert not allowed(policy, model=path), path


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
