"""`--track`: the numbers of each model as a run of Weights & Biases or Trackio, by a package that notes what it is given."""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands.shared.tracking import numbers
from engine.evaluations.shared.on_card import Headline

MODELS = ("builtin/bert-mini-ja", "builtin/gpt2-mini-ja")
ROWS = "acceptable,unacceptable\n" + "".join(f"猫が{n}匹いる。,猫を{n}匹いる。\n" for n in range(1, 8))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    (path := tmp_path / "pairs.csv").write_text(ROWS, encoding="utf-8")
    return path


def arguments(pairs: Path, out: Path, track: str) -> list[str]:
    models = [word for model in MODELS for word in ("--model", model)]
    cache = ["--cache", str(out.parent / "cache")]
    return ["minimal-pairs", "--data", str(pairs), *models, "--out", str(out), *cache, "--track", track]


@pytest.mark.usefixtures("commands_share_workers")
def test_a_run_for_each_model_with_its_numbers(pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, Any]] = []
    noting = SimpleNamespace(
        init=lambda **given: calls.append(("init", given)),
        log=lambda given: calls.append(("log", given)),
        finish=lambda: calls.append(("finish", None)),
    )
    monkeypatch.setitem(sys.modules, "wandb", noting)
    out = tmp_path / "out"
    assert main(arguments(pairs, out, "wandb:study")) == 0
    assert [name for name, _ in calls] == ["init", "log", "finish"] * 2
    accuracies = pd.read_csv(out / "summary.csv").query("stratum == 'A=U'").set_index(["model", "normalization"])
    signature = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    for model, (_, begun), (_, logged) in zip(MODELS, calls[::3], calls[1::3], strict=True):
        assert (begun["project"], begun["name"]) == ("study", f"{model} · minimal-pairs")
        assert begun["group"] == "minimal-pairs: pairs.csv"
        assert begun["config"]["signature"]["models"] == signature["models"]
        assert logged["minimal-pairs/accuracy/LP"] == accuracies.loc[(model, "LP"), "accuracy"]
        assert logged["minimal-pairs/accuracy/LP/n"] == accuracies.loc[(model, "LP"), "n"]
        assert "猫" not in json.dumps([begun, logged], ensure_ascii=False)

    def refuse(**given: Any) -> None:
        raise ValueError("no such project")

    monkeypatch.setattr(noting, "init", refuse)
    assert main(arguments(pairs, tmp_path / "again", "wandb")) == 2
    assert (tmp_path / "again" / "summary.csv").exists()


@pytest.mark.parametrize(("word", "message"), [("mlflow", "wandb or trackio"), ("trackio:x", "cannot be imported")])
def test_a_package_that_is_not_there_is_said_before_anything_is_computed(
    word: str, message: str, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, "trackio", None)  # an import of it fails
    with pytest.raises(SystemExit) as refused:
        main(arguments(pairs, tmp_path / "out", word))
    assert refused.value.code == 2 and message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_undefined_and_infinite_numbers_are_not_logged() -> None:
    infinite = Headline("length_slope", float("inf"), 9, "pairs", setting="LP")
    half = Headline("score", 0.5, 9, "sentences", ci_low=0.4, ci_high=float("inf"))
    assert numbers("kind", [infinite, half]) == {"kind/score": 0.5, "kind/score/low": 0.4, "kind/score/n": 9.0}


@pytest.mark.parametrize("package", ["wandb", "trackio"])
def test_the_packages_themselves_take_a_run_offline(
    package: str, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))  # read when it is imported
    pytest.importorskip(package)
    assert main(arguments(pairs, tmp_path / "out", f"{package}:study")) == 0
    if package == "wandb":
        assert len(list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))) == len(MODELS)
        return
    with sqlite3.connect(tmp_path / "trackio" / "study.db") as database:
        logged = [json.loads(metrics) for (metrics,) in database.execute("select metrics from metrics")]
    assert len(logged) == len(MODELS) and all("minimal-pairs/accuracy/LP" in metrics for metrics in logged)
