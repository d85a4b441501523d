from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import ModelError
from engine.evaluations.shared.signature import require_models, signature
from tests.support.session_fake import facts


def test_a_recipe_is_signed_with_its_versions() -> None:
    plain, published = facts("owner/name"), replace(facts("paper/nict=/srv/nict"), recipe="MeCab (fugashi 1.5.2)")
    signed = signature({}, [plain, published], "d" * 64)["models"]
    assert "recipe" not in signed[0] and signed[1]["recipe"] == "MeCab (fugashi 1.5.2)"
    assert [model["fingerprint"] for model in signed] == ["f" * 12] * 2


def test_own_code_is_signed_with_its_commit() -> None:
    own = replace(facts("owner/name"), own_code=f"owner/name@{'0' * 40}")
    signed = signature({}, [own, facts("owner/other")], "d" * 64)["models"]
    assert signed[0]["own_code"] == f"owner/name@{'0' * 40}" and "own_code" not in signed[1]


def test_a_label_and_its_model_are_signed_both() -> None:
    labelled, plain = signature({}, [facts("BERT v3=owner/name"), facts("paper/nict=/srv/nict")], "d" * 64)["models"]
    assert (labelled["name"], labelled["label"], labelled["model"]) == ("BERT v3=owner/name", "BERT v3", "owner/name")
    assert plain["name"] == "paper/nict=/srv/nict" and "label" not in plain


def test_an_endpoint_is_refused_with_a_label_as_without() -> None:
    for name in ("endpoint/llama", "Llama=endpoint/llama"):
        require_models([name], endpoints=True)
        with pytest.raises(ModelError, match="behind a server"):
            require_models([name])
