"""A model whose layers accelerate has dealt out, as over several cards: here all are the CPU, with the hooks of each.

Its hooks replace the forward of every module; what the engine puts in their place must be put back.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from accelerate import dispatch_model

from engine.errors import ModelError
from engine.models.loading.devices import chosen_device, chosen_devices, device_name
from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring import causal_lm, sentence_vectors
from tests.support import tiny_models

TEXTS = [*tiny_models.ENGLISH[:3], "the cat"]


def dealt_out(loaded: LoadedModel) -> LoadedModel:
    parts = [
        "transformer.wte",
        "transformer.wpe",
        "transformer.drop",
        "transformer.ln_f",
        "lm_head",
        *(f"transformer.h.{number}" for number in range(loaded.facts.n_layers)),
    ]
    dispatch_model(loaded.model, dict.fromkeys(parts, "cpu"), main_device="cpu", force_hooks=True)
    return replace(loaded, devices=(loaded.device, loaded.device))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_numbers_are_those_of_the_model_on_one_device(tmp_path: Path, precision: str) -> None:
    path = str(tiny_models.gpt2_byte_level(tmp_path / "gpt2"))
    one, several = load(path, "causal", precision=precision), dealt_out(load(path, "causal", precision=precision))
    hooked = [name for name, module in several.model.named_modules() if hasattr(module, "_hf_hook")]
    assert "lm_head" in hooked and "transformer.h.0" in hooked
    forwards = {name: vars(module).get("forward") for name, module in several.model.named_modules()}
    for _ in range(2):  # the second time with all that was tried once
        expected, pieces = (causal_lm.token_log_likelihoods(loaded, TEXTS) for loaded in (one, several))
        for piece, other in zip(pieces, expected, strict=True):
            np.testing.assert_array_equal(piece["log_likelihoods"], other["log_likelihoods"])
        vectors = [
            sentence_vectors.sentence_vectors(
                replace(loaded, model=loaded.model.base_model), TEXTS, layers=[0, 1, 2], pooling="mean"
            )
            for loaded in (one, several)
        ]
        for piece, other in zip(*vectors, strict=True):
            np.testing.assert_array_equal(piece["vectors"], other["vectors"])
    assert {name: vars(module).get("forward") for name, module in several.model.named_modules()} == forwards


def test_devices_that_share_a_model_are_named_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_DEVICE", "cpu")
    assert chosen_devices() == (torch.device("cpu"),) and device_name() == "cpu"
    monkeypatch.setattr(torch, "empty", lambda *_, **__: None)  # cards that are not here
    monkeypatch.setenv("HAKARI_DEVICE", "cuda:0+cuda:1")
    assert chosen_devices() == (torch.device("cuda:0"), torch.device("cuda:1"))
    assert device_name() == "cuda:0+cuda:1" and chosen_device() == torch.device("cuda:0")


@pytest.mark.parametrize("value", ["cuda:0+cuda:0", "cpu+cuda:0", "cuda+cuda:1", "cuda:0+"])
def test_devices_that_cannot_share_a_model_are_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HAKARI_DEVICE", value)
    with pytest.raises(ModelError, match=r"cannot share a model: .* such as cuda:0\+cuda:1"):
        chosen_devices()
