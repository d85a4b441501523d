"""The sweep over all classes of transformers: one of them, a fault that it finds, and its table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.models.zoo import checks, references, sweep


def test_a_class_is_exact_or_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep._outcome("GPT2LMHeadModel", "causal", tmp_path / "exact") == ("exact", "as causal")
    states = references.hidden_states
    monkeypatch.setattr(references, "hidden_states", lambda *arguments: torch.tensor(states(*arguments)).numpy() + 1e-3)
    assert sweep._outcome("GPT2LMHeadModel", "causal", tmp_path / "other")[0] == "differs"


def test_what_is_within_the_rounding_of_transformers_itself_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specimen = sweep._built("GPT2LMHeadModel", "causal", tmp_path / "model", ())
    assert not isinstance(specimen, str)
    assert 0 < references.rounding(specimen, range(3)) < checks.TOLERANCE
    states = references.hidden_states
    monkeypatch.setattr(references, "hidden_states", lambda *arguments: states(*arguments) + 1.5e-5)
    with pytest.raises(AssertionError):
        checks.check_vectors(specimen)
    checks.check_vectors(replace(specimen, rounding=8e-5))
    monkeypatch.setattr(references, "rounding", lambda *_: 4e-5)
    assert sweep._compared(specimen) == ("exact", "as causal; transformers itself is 4.0e-05 from float64")


def test_the_table_is_read_again_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "TABLE", tmp_path / "SWEEP.md")
    assert sweep._read_table() == {}
    rows = {"AModel": ("encoder", "refused", "a, b / c"), "BForMaskedLM": ("masked", "exact", "as masked")}
    sweep._write_table(rows, 3)
    assert sweep._read_table() == rows
    assert "Of 3 classes" in (text := sweep.TABLE.read_text()) and "1 exact, 1 refused, 0 not built" in text


def test_classes_of_all_kinds_are_known_once() -> None:
    every = sweep.classes()
    assert (every["BertForMaskedLM"], every["GPT2LMHeadModel"], every["T5Model"]) == ("masked", "causal", "encoder")
    assert "BertModel" not in every  # as the trunk of the masked one
