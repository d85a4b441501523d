from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ModelError
from engine.models.sources.allowed_models import allowed_models
from engine.models.sources.model_location import locate
from engine.models.sources.pickled_weights import require_allowed


@pytest.fixture
def model(tmp_path: Path) -> Path:
    for name in ("config.json", "vocab.txt", "pytorch_model.bin"):
        (tmp_path / name).write_text("{}" if name == "config.json" else "x\n")
    return tmp_path


HOSTED = {
    "HAKARI_MEMBERS_FILE": "/etc/hakari/members",
    "HAKARI_ALLOWED_EMAILS": "a@lab.example",
    "HAKARI_ALLOWED_DOMAINS": "lab.example",
    "HAKARI_ADMINS": "a@lab.example",
}


def test_ones_own_machine_reads_both(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in HOSTED:
        monkeypatch.delenv(variable, raising=False)
    assert locate(str(model)).path == model


@pytest.mark.parametrize("variable", HOSTED)
def test_a_hosted_instance_reads_safetensors_unless_told_otherwise(
    variable: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in HOSTED:
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(variable, HOSTED[variable])
    assert not allowed_models().any_path  # nor may the base of an adapter be a directory of the server
    with pytest.raises(ModelError, match=r"pytorch_model\.bin only.*HAKARI_ALLOWED_BIN_MODELS"):
        locate(str(model))
    monkeypatch.setenv("HAKARI_ALLOWED_BIN_MODELS", f"someone/*, {model}")
    assert locate(str(model)).path == model
    require_allowed("someone/bert@main", ["pytorch_model.bin.index.json"])
    with pytest.raises(ModelError):
        require_allowed("somebody/bert", ["pytorch_model-00001-of-00002.bin"])
    monkeypatch.delenv("HAKARI_ALLOWED_BIN_MODELS")
    (model / "model.safetensors").write_bytes(b"s")
    assert locate(str(model)).path == model  # what is not read does no harm
