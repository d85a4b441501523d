"""As a user does it: a GGUF file on the command line, compared with what it was made of, and on the page of models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.commands import compare as compare_command
from engine.commands.shared import common
from engine.datasets import sample_data
from engine.evaluations.minimal_pairs.records import Settings
from engine.runs import open as opening
from engine.runs.computing import open_computing
from tests.models.loading.gguf.writing import CASES, convert, made
from tests.support.in_process import InProcess
from tests.support.page_visits import drawn, visit, words

PAIRS = [
    ("猫が庭で眠っている。", "猫は庭が眠っている。"),
    ("The scale tips.", "The scale tip."),
    ("春の雨が降る。", "春が雨の降る。"),
]


@pytest.fixture
def models(tmp_path: Path) -> tuple[str, str, str]:
    """The published directory, the file in full, and the quantised one."""
    case = CASES["qwen3"]
    specimen = made(case, tmp_path)
    paths = [tmp_path / f"model-{quantisation}.gguf" for quantisation in ("F32", "Q8_0")]
    for path in paths:
        convert(case, specimen, path, path.stem.partition("-")[2])
    return str(specimen.folder), *map(str, paths)


def test_the_command_line_takes_the_path_of_a_file(
    models: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        common,
        "open_computing",
        lambda *places, **settings: open_computing(*places, **settings, backend=InProcess()),
    )
    data, out = tmp_path / "pairs.csv", tmp_path / "out"
    pd.DataFrame(PAIRS, columns=["acceptable", "unacceptable"]).to_csv(data, index=False)
    named = [word for model in (models[0], models[1], f"Q8={models[2]}") for word in ("--model", model)]
    assert main(["minimal-pairs", "--data", str(data), *named, "--out", str(out), "--cache", str(tmp_path / "c")]) == 0
    pairs = pd.read_csv(out / "pairs.csv")
    scores = {
        model: rows[["acceptable_log_likelihood", "unacceptable_log_likelihood"]].to_numpy()
        for model, rows in pairs.groupby("model")
    }
    published, full, quantised = scores[models[0]], scores[models[1]], scores[f"Q8={models[2]}"]
    assert abs(full - published).max() < 1e-4 * len(PAIRS) and 1e-4 < abs(quantised - published).max() < 5
    signed = json.loads((out / "settings.json").read_text())["models"]
    assert [model.get("dequantised_from") for model in signed] == [None, "GGUF F32", "GGUF Q8_0"]
    assert len({model["fingerprint"] for model in signed}) == 3


def test_compare_says_what_quantising_cost(
    models: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Callable[..., opening.Engine] = opening.open_engine
    monkeypatch.setattr(compare_command, "open_engine", lambda *_, **__: opened(tmp_path / "data", backend=InProcess()))
    with opened(tmp_path / "data", backend=InProcess()) as engine:
        settings = Settings(models=(models[0], models[2]))
        run_id = engine.runs.submit("minimal-pairs", settings, sample_data.minimal_pairs()).run_id
        assert engine.runs.wait(run_id).state == "done"
    out = tmp_path / "compared"
    sides = ["--a-run", run_id, "--a-model", models[0], "--b-model", models[2]]
    assert main(["compare", *sides, "--out", str(out)]) == 0
    numbers, items = pd.read_csv(out / "numbers.csv"), pd.read_csv(out / "items.csv")
    assert len(numbers) and len(items)
    signed = json.loads((out / "settings.json").read_text())
    assert "GGUF Q8_0" in json.dumps(signed)


@pytest.mark.usefixtures("no_cache_outlives_a_test")
def test_the_page_of_models_inspects_a_file(
    models: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Callable[..., opening.Engine] = opening.open_engine
    monkeypatch.setattr(opening, "open_engine", lambda: opened(tmp_path / "data", backend=InProcess()))
    app = visit("models", part="inspect")
    app.text_input(key="models-look-name").set_value(models[2])
    app.text_input(key="models-look-sentence").set_value("猫が庭で眠っている。")
    app.button(key="models-look-submit").click()
    text = words(drawn(app)).replace("\\", "")
    assert not app.error and "Weights dequantised from GGUF Q8_0" in text and "Qwen3ForCausalLM" in text
    app.text_input(key="models-look-name").set_value(str(tmp_path))
    app.button(key="models-look-submit").click()
    text = words(drawn(app))
    assert app.error and "several models in the format GGUF" in text and "model-F32.gguf" in text
