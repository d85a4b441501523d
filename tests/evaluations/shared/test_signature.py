from __future__ import annotations

from dataclasses import replace

from engine.evaluations.shared.signature import signature
from tests.support.session_fake import facts


def test_a_recipe_is_signed_with_its_versions() -> None:
    plain, published = facts("owner/name"), replace(facts("paper/nict=/srv/nict"), recipe="MeCab (fugashi 1.5.2)")
    signed = signature({}, [plain, published], "d" * 64)["models"]
    assert "recipe" not in signed[0] and signed[1]["recipe"] == "MeCab (fugashi 1.5.2)"
    assert [model["fingerprint"] for model in signed] == ["f" * 12] * 2
