"""Adapters on a shared instance: pickled weights, and the list of allowed models, which holds for the base too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForMaskedLM

from engine.errors import AccessError, ModelError
from engine.models.loading.weights import load
from engine.models.scoring.sentence_vectors import sentence_vectors
from engine.models.sources.model_location import locate
from tests.models.loading.test_adapters import TEXTS, lora, train
from tests.support import tiny_models


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    return tiny_models.bert(tmp_path / "bert")


def test_pickled_adapters(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = train(tmp_path / "adapter", bert, AutoModelForMaskedLM, lora())
    expected = sentence_vectors(load(str(folder), "encode"), TEXTS, layers=[2], pooling="mean")
    weights = load_file(folder / "adapter_model.safetensors")
    torch.save(weights, folder / "adapter_model.bin")
    (folder / "adapter_model.safetensors").unlink()
    found = sentence_vectors(load(str(folder), "encode"), TEXTS, layers=[2], pooling="mean")
    np.testing.assert_array_equal(found[0]["vectors"], expected[0]["vectors"])
    with monkeypatch.context() as patch:
        patch.setenv("HAKARI_ALLOWED_EMAILS", "ann@lab.example")
        with pytest.raises(ModelError, match="reads safetensors"):
            locate(str(folder))
    torch.save({**weights, "run": Runs(tmp_path / "was-run")}, folder / "adapter_model.bin")
    with pytest.raises(ModelError, match="are damaged, or hold Python objects or code"):
        load(str(folder), "encode")
    assert not (tmp_path / "was-run").exists()
    (folder / "adapter_model.bin").unlink()
    with pytest.raises(ModelError, match=r"holds adapter_config\.json but no adapter_model\.safetensors"):
        load(str(folder), "encode")


class Runs:
    """Unpickling it makes a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.path,)


def test_an_instance_checks_the_base_too(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = train(tmp_path / "adapter", bert, AutoModelForMaskedLM, lora())
    monkeypatch.setenv("HAKARI_ALLOWED_MODELS", str(tmp_path / "adapter"))
    with pytest.raises(AccessError, match=rf"is an adapter of {bert}.*not among the models of this instance"):
        locate(str(folder))
    monkeypatch.setenv("HAKARI_ALLOWED_MODELS", f"{tmp_path / 'adapter'}, {bert}")
    assert locate(str(folder)).base is not None
