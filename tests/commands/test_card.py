"""`card`: a model's evaluations as runs, its tables, the JSON and the README for the Hub."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from huggingface_hub import ModelCard

from engine.__main__ import main
from engine.commands import card as command
from engine.commands.equivalent import card_line
from engine.errors import ModelError
from engine.evaluations.model_card.card import FILES
from engine.runs.access.viewers import LOCAL
from engine.runs.open import open_engine
from engine.runs.storage.searching import Search
from tests.support.fakes import FakeBackend

PAIRS = "acceptable,unacceptable,category\n猫が魚を食べた。,猫が魚に食べた。,格\n犬が走る。,犬を走る。,格\n"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBackend]:
    fake = FakeBackend()
    monkeypatch.setattr(fake, "close", lambda: None)  # the next command has the same one
    monkeypatch.setattr(command, "open_engine", partial(open_engine, backend=fake))
    yield fake


def carried_out(tmp_path: Path, *words: str) -> int:
    return main(["card", "--directory", str(tmp_path / "data"), "--out", str(tmp_path / "out"), *words])


def test_two_models_one_after_the_other(tmp_path: Path, backend: FakeBackend) -> None:
    kinds = ["--evaluation", "minimal-pairs", "--evaluation", "fill-mask"]
    assert carried_out(tmp_path, "--model", "owner/bert", *kinds) == 0
    assert pd.read_csv(tmp_path / "out" / "others.csv").empty
    assert carried_out(tmp_path, "--model", "owner/second", *kinds) == 0
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {
        *(f"{table.name}.csv" for table in FILES),
        "settings.json",
        "card.json",
        "README.md",
        ".eval_results",
    }
    for table in FILES:
        assert pd.read_csv(out / f"{table.name}.csv").columns.tolist() == table.headers
    others = pd.read_csv(out / "others.csv")
    assert set(others["other"]) == {"owner/bert"} and set(others["evaluation"]) == {"minimal-pairs", "fill-mask"}
    value = json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert value["facts"]["kind"] == "masked" and value["checks"]["loading"]["batching"] == "equal lengths"
    assert value["signature"] == json.loads((out / "settings.json").read_text(encoding="utf-8"))
    read = ModelCard((out / "README.md").read_text(encoding="utf-8"), ignore_metadata_errors=False)
    assert read.data.model_name == "owner/second" and len(read.data.eval_results or []) == 5
    # They are runs as any other, listed, and not computed twice.
    with open_engine(tmp_path / "data", backend=backend, resume=False) as engine:
        runs = engine.access(LOCAL).mine(Search())
        assert sorted(run.kind for run in runs) == ["fill-mask"] * 2 + ["minimal-pairs"] * 2
        assert {run["run"] for run in value["signature"]["runs"]} <= {run.id for run in runs}
    calls = backend.n_items("token_log_likelihoods")
    assert carried_out(tmp_path, "--model", "owner/second", *kinds) == 0
    assert backend.n_items("token_log_likelihoods") == calls
    with open_engine(tmp_path / "data", backend=backend, resume=False) as engine:
        assert len(engine.access(LOCAL).mine(Search())) == 4


def test_data_of_ones_own(tmp_path: Path, backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, encoding="utf-8")
    assert carried_out(tmp_path, "--model", "owner/bert", "--data", f"minimal-pairs={file}") == 0
    table = pd.read_csv(tmp_path / "out" / "headlines.csv")
    assert set(table["evaluation"]) == {"minimal-pairs"} and set(table["dataset"]) == {"pairs.csv"}
    assert table["n"].max() == 2
    for words in (
        ["--data", "pairs.csv"],
        ["--data", f"idf={file}"],
        ["--data", f"minimal-pairs={file}", "--evaluation", "clusters"],
        ["--data", f"minimal-pairs={file}"] * 2,
    ):
        assert carried_out(tmp_path, "--model", "owner/bert", *words) == 2, words
    assert "KIND=FILE" in capsys.readouterr().err


def test_the_card_of_stored_runs(tmp_path: Path, backend: FakeBackend, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, encoding="utf-8")
    assert (
        carried_out(
            tmp_path,
            "--model",
            "owner/bert",
            "--evaluation",
            "minimal-pairs",
            "--data",
            f"minimal-pairs={file}",
            "--evaluation",
            "fill-mask",
        )
        == 0
    )
    with open_engine(tmp_path / "data", backend=backend, resume=False) as engine:
        ids = {run.kind: run.id for run in engine.access(LOCAL).mine(Search())}
        calls = len(backend.calls)
    evaluated = pd.read_csv(tmp_path / "out" / "headlines.csv")
    words = shlex.split(card_line("owner/bert", list(ids.values()), str(tmp_path / "again")))[3:]
    assert main([*words, "--directory", str(tmp_path / "data")]) == 0
    assert pd.read_csv(tmp_path / "again" / "headlines.csv").equals(evaluated) and len(backend.calls) == calls
    # one that is damaged is left out and named; nothing else is lost
    for part in (tmp_path / "data" / "results" / ids["fill-mask"]).iterdir():
        part.write_bytes(b"damaged")
    assert main([*words, "--directory", str(tmp_path / "data")]) == 0
    assert f"The run {ids['fill-mask']} (fill-mask, " in (err := capsys.readouterr().err) and "is left out" in err
    assert set(pd.read_csv(tmp_path / "again" / "headlines.csv")["evaluation"]) == {"minimal-pairs"}
    assert carried_out(tmp_path, "--model", "owner/bert", "--run", ids["fill-mask"]) == 2
    assert carried_out(tmp_path, "--model", "owner/bert", "--run", "0000") == 1
    assert carried_out(tmp_path, "--model", "owner/bert", "--run", ids["fill-mask"], "--evaluation", "clusters") == 2
    assert "leave out --evaluation" in capsys.readouterr().err


def test_what_fails_is_said_and_the_rest_is_written(
    tmp_path: Path, backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(PAIRS, encoding="utf-8")
    backend._errors["犬が走る。"] = ModelError("No weights for this.")
    assert (
        carried_out(
            tmp_path,
            "--model",
            "unloadable/bert",
            "--evaluation",
            "fill-mask",
            "--evaluation",
            "minimal-pairs",
            "--data",
            f"minimal-pairs={file}",
        )
        == 0
    )
    assert "left out" in (err := capsys.readouterr().err) and "No weights for this." in err
    value = json.loads((tmp_path / "out" / "card.json").read_text(encoding="utf-8"))
    assert {row["evaluation"] for row in value["headlines"]} == {"fill-mask"}
    assert "config.json does not count" in value["checks"]["refusal"] and value["checks"]["loading"] is None
    assert carried_out(tmp_path, "--model", "unloadable/bert", "--data", f"minimal-pairs={file}") == 1
    assert "No evaluation of the card succeeded" in capsys.readouterr().err
