"""The map of models from results of minimal pairs: which sentences, which models, in which unit; the command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands import model_map as command
from engine.datasets import sample_data
from engine.errors import InputError
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.model_map.evaluate import CAUSAL, MASKED, map_of
from engine.messages.languages import in_language, translated
from engine.runs.open import open_engine
from tests.support.fakes import FakeBackend
from tests.support.minimal_results import from_margins


def result(log_likelihoods: Mapping[str, list[float]], texts: list[str], *, causal: bool = True) -> Result:
    """A run in which each model gives the acceptable sentences these log-likelihoods."""
    made = from_margins({model: [0.0] * len(texts) for model in log_likelihoods}, [(3, 3)] * len(texts))
    pairs = made.pairs.assign(
        acceptable=texts * len(log_likelihoods),
        acceptable_log_likelihood=np.concatenate(list(log_likelihoods.values())),
    )
    return replace(made, pairs=pairs, prefixes=dict.fromkeys(log_likelihoods, "<s>") if causal else {})


def test_by_hand_over_two_runs() -> None:
    # Common are "aaaa" and "bb": a gives -1, -3, b gives -3, -1. A variance of 4: 2 nats a sentence; 3 bytes a sentence
    # in the mean: 2 / (3 ln 2) bits a byte. "c" is in one run alone, and "bb" twice counts once.
    found = map_of(
        {
            "first": result({"a": [-1, -3, -3, -8]}, ["aaaa", "bb", "bb", "c"]),
            "second": result({"b": [-1, -3]}, ["bb", "aaaa"]),
        }
    )
    (row,) = found.distances.to_dict("records")
    assert (row["model"], row["other"], row["n"]) == ("a", "b", 2)
    assert row["squared_distance"] == pytest.approx(4) and row["kl"] == pytest.approx(2 / (3 * np.log(2)))
    assert found.models["run"].tolist() == ["first", "second"] and found.explained == pytest.approx((1, 0))
    assert found.models["log_likelihood"].tolist() == [-2, -2]
    assert found.models["bits_per_byte"].tolist() == pytest.approx([-2 / np.log(2) / 3] * 2)
    assert "2 sentences that all models scored; one scored 3" in found.notices[0]
    assert found.signature["runs"] == {"a": "first", "b": "second"} and found.signature["n"] == 2


def test_a_masked_model_has_a_place_and_no_divergence() -> None:
    results = {"run": result({"a": [-1, -3], "b": [-3, -1]}, ["x", "y"], causal=False)}
    found = map_of(results, MASKED)
    assert found.distances["squared_distance"].tolist() == pytest.approx([4]) and found.distances["kl"].isna().all()
    assert map_of(results).distances.equals(found.distances)  # the only kind with two models
    with pytest.raises(
        InputError,
        match=r"at least 2 causal models\. The runs have these causal models: none; "
        r"these masked models: a, b.*A map of the masked models is possible",
    ):
        map_of(results, CAUSAL)


def test_causal_models_come_first_and_one_of_each_kind_is_no_map() -> None:
    causal = {"run": result({"a": [-1, -3], "b": [-3, -1]}, ["x", "y"])}
    masked = {"other": result({"c": [-1, -3], "d": [-3, -1]}, ["x", "y"], causal=False)}
    assert map_of({**masked, **causal}).models["model"].tolist() == ["a", "b"]
    one_each = {"1": result({"a": [-1, -3]}, ["x", "y"]), "2": result({"c": [-1, -3]}, ["x", "y"], causal=False)}
    with pytest.raises(InputError) as refused:
        map_of(masked, CAUSAL)
    assert str(refused.value).endswith("on the same pairs. A map of the masked models is possible.")
    with in_language("ja"):
        shown = translated(str(refused.value))
    assert (
        "2つの自己回帰言語モデルが必要です" in shown and "自己回帰言語モデル: なし、マスク言語モデル: c、d、" in shown
    )
    assert shown.endswith("マスク言語モデルのマップなら作成できます。")
    with pytest.raises(
        InputError,
        match=r"at least 2 causal models.*causal models: a; these masked models: c; and these encoder-decoders: none",
    ):
        map_of(one_each)


def test_a_model_counts_once_whatever_its_label() -> None:
    found = map_of(
        {
            "new": result({"Ours=a": [-1, -3], "b": [-3, -1]}, ["x", "y"]),
            "old": result({"a": [-5, -5], "c": [-1, -1]}, ["x", "y"]),
        }
    )
    assert found.models["model"].tolist() == ["Ours=a", "b", "c"] and found.models["run"].tolist() == [
        "new",
        "new",
        "old",
    ]
    assert len(found.distances) == 3


def test_refusals() -> None:
    one = result({"a": [-1, -3]}, ["x", "y"])
    with pytest.raises(InputError, match="at least 2"):
        map_of({"one": one, "other": result({"b": [-1, -3]}, ["z", "y"])})  # one sentence in common
    other = result({"b": [-1, -3]}, ["x", "y"])
    other = replace(other, settings=replace(other.settings, leading_space=True))
    with pytest.raises(InputError, match="prefix, leading_space must be the same"):
        map_of({"one": one, "other": other})
    without = replace(result({"b": [-1, -3]}, ["x", "y"]), prefixes={"b": ""})
    assert any("b: the first token is not scored" in notice for notice in map_of({"1": one, "2": without}).notices)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fake = FakeBackend()
    monkeypatch.setattr(command, "open_engine", partial(open_engine, backend=fake))
    models = ("owner/gpt-a", "owner/gpt-b", "owner/bert")
    with open_engine(tmp_path / "data", backend=fake, resume=False) as engine:
        run = engine.runs.submit("minimal-pairs", Settings(models), sample_data.minimal_pairs()).run_id
        assert engine.runs.wait(run, 60).state == "done"
        expected = map_of({run: engine.runs.result(run)}, CAUSAL)
    words = ["model-map", "--directory", str(tmp_path / "data"), "--out", str(tmp_path / "out")]
    assert main([*words, "--run", run]) == 0
    written = pd.read_csv(tmp_path / "out" / "distances.csv", float_precision="round_trip")
    pd.testing.assert_frame_equal(written, expected.distances, check_dtype=False)
    assert pd.read_csv(tmp_path / "out" / "models.csv")["model"].tolist() == list(models[:2])
    assert main([*words, "--run", "unknown"]) == 1 and main([*words, "--run", run, "--kind", "masked"]) == 2
    assert "at least 2 masked models" in capsys.readouterr().err
