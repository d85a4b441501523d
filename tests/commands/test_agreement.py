"""`agreement`: what other commands wrote, side by side; the papers' models by their printed numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from engine.__main__ import main
from engine.evaluations.agreement.directories import FILES, published_agreement, published_models


def directory(folder: Path, name: str, values: dict[str, float | str], *, fingerprint: str = "f") -> Path:
    """A directory as a command writes it: name is table.column."""
    table, _, column = name.partition(".")
    folder.mkdir(parents=True)
    rows = [
        (model, domain, value) for model, value in values.items() for domain, value in (("books", 0.0), ("all", value))
    ]
    frame = pd.DataFrame(rows, columns=["model", "domain", column])
    if table == "models":
        frame = frame[frame["domain"] == "all"].drop(columns="domain")
    frame.to_csv(folder / f"{table}.csv", index=False)
    signature = {"models": [{"name": model, "fingerprint": fingerprint} for model in values]}
    (folder / "settings.json").write_text(json.dumps(signature))
    return folder


@pytest.fixture
def clusters(tmp_path: Path) -> Path:
    return directory(tmp_path / "clusters", "models.score", {"NA": 700.1, "b": 631.0600000000001, "c": 560.0, "d": ""})


@pytest.fixture
def fill_mask(tmp_path: Path) -> Path:
    return directory(tmp_path / "fill-mask", "common.mean_probability", {"c": 0.3, "b": 0.2, "NA": 0.1})


def test_numbers_and_ranks_side_by_side(clusters: Path, fill_mask: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["agreement", "--clusters", str(clusters), "--fill-mask", str(fill_mask), "--out", str(out)]) == 0
    models = pd.read_csv(out / "models.csv", keep_default_na=False, float_precision="round_trip")
    assert models["model"].tolist() == ["NA", "b", "c", "d"]
    assert models["clusters"].tolist() == ["700.1", "631.0600000000001", "560.0", ""]  # to the last digit
    assert models["rank clusters"].tolist() == ["3", "2", "1", ""] and set(models["classification"]) == {""}
    assert models["rank fill-mask"].tolist() == ["3", "2", "1", ""]
    (row,) = pd.read_csv(out / "agreement.csv").to_dict("records")
    # c, b, NA in this order under both, though one of them calls the smallest number best
    assert (row["first"], row["second"], row["n"], row["spearman"], row["kendall"]) == (
        "clusters",
        "fill-mask",
        3,
        1.0,
        1.0,
    )
    signature = json.loads((out / "settings.json").read_text())
    assert signature["runs"]["clusters"] == json.loads((clusters / "settings.json").read_text())
    assert sorted(path.name for path in out.iterdir()) == ["agreement.csv", "models.csv", "settings.json"]


def test_a_benchmark_beside_a_run(clusters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board, out = tmp_path / "board.csv", tmp_path / "out"
    board.write_text("model,JSTS,JSICK,other\nb,0.9,0.7,1\nNA,0.5,0.7,\nelse/c,0.6,0.6,1\n")
    assert main(["agreement", "--clusters", str(clusters), "--benchmark", str(board), "--out", str(out)]) == 0
    models = pd.read_csv(out / "models.csv", keep_default_na=False)
    # by the last part of the name c is else/c; `other` is left out, which NA has not
    assert dict(zip(models["model"], models["benchmark"], strict=True)) == {
        "NA": "0.6",
        "b": "0.8",
        "c": "0.6",
        "d": "",
    }
    assert models["rank benchmark"].tolist() == ["2", "1", "2", ""]
    (row,) = pd.read_csv(out / "agreement.csv").to_dict("records")
    assert (row["first"], row["second"], row["n"]) == ("clusters", "benchmark", 3)
    assert "the mean of 2 tasks that every model has; left out: other" in capsys.readouterr().err
    signature = json.loads((out / "settings.json").read_text())
    assert signature["benchmark"]["tasks"] == ["JSTS", "JSICK"] and list(signature["runs"]) == ["clusters"]
    assert main(["agreement", "--benchmark", str(board), "--out", str(out)]) == 2
    assert "one of them and --benchmark" in capsys.readouterr().err


def test_the_papers_models(tmp_path: Path) -> None:
    assert main(["agreement", "--published", "--out", str(tmp_path)]) == 0
    models = pd.read_csv(tmp_path / "published_models.csv")
    laboro = models[models["model"] == "Laboro Ver."].iloc[0]
    # PACLIC 34: tables 2 and 4
    assert laboro["clusters"] == 560.13 and laboro["fill-mask"] == 0.0972 and pd.isna(laboro["classification"])
    assert (laboro["rank clusters"], laboro["rank fill-mask"]) == (1, 5)
    assert len(models) == 6 + 4  # the later paper's, the forerunner's
    agreement = pd.read_csv(tmp_path / "published_agreement.csv")
    assert agreement["n"].tolist() == [6, 4]
    # By hand, ranks of table 2's scores and of table 4's means, in the order of print: 5 2 3 6 4 1 and 4 3 6 1 2 5.
    # Differences 1 1 3 5 2 4, squares 56 in all: rho = 1 - 6 * 56 / (6 * 35) = -0.6.
    assert agreement["spearman"][0] == pytest.approx(-0.6)
    for table, frame in zip(FILES[2:], (published_models(), published_agreement()), strict=True):
        table.arranged(frame)
    assert not (tmp_path / "models.csv").exists()


def test_one_name_for_two_models_is_noted(clusters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = directory(tmp_path / "classification", "models.accuracy_mean", {"b": 0.5}, fingerprint="other")
    assert (
        main(["agreement", "--clusters", str(clusters), "--classification", str(other), "--out", str(tmp_path / "out")])
        == 0
    )
    assert "note: b stands for different files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "at least two evaluations"),
        (["--clusters", "{clusters}"], "at least two evaluations"),
        (["--clusters", "{clusters}", "--published"], "at least two evaluations"),
        (["--clusters", "{clusters}", "--classification", "{clusters}"], "is no output of classification"),
        (["--clusters", "{clusters}", "--fill-mask", "{clusters}"], "common.csv cannot be read: No such file"),
        (["--clusters", "{clusters}", "--fill-mask", "nowhere"], "settings.json cannot be read: No such file"),
        (["--clusters", "{clusters}", "--fill-mask", "{broken}"], "holds no result that can be read"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: list[str],
    message: str,
    clusters: Path,
    fill_mask: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (fill_mask / "settings.json").write_text("{")
    filled = [argument.format(clusters=clusters, broken=fill_mask) for argument in arguments]
    assert main(["agreement", *filled, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()
