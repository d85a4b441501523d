"""`python -m engine classify`, and labelled sentences from a table, a folder and an archive alike."""

from __future__ import annotations

import argparse
import csv
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.__main__ import main
from engine.commands.shared import common
from engine.commands.shared.labelled import add_labelled_arguments, read_labelled
from engine.datasets.sample_data import path as sample_path
from engine.errors import InputError
from tests.support.fakes import FakeBackend
from tests.support.layouts.livedoor import files, tar_gz, unpacked, zipped

BERT = "builtin/bert-mini-ja"
pytestmark = pytest.mark.usefixtures("commands_share_workers")


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    """In place of the workers: what a command does with its options needs no model."""
    fake = FakeBackend()
    monkeypatch.setattr(common, "open_computing", partial(common.open_computing, backend=fake))
    return fake


def classify(data: Path, out: Path, *options: str) -> int:
    cache = str(out.parent / "cache")
    return main(["classification", "--data", str(data), "--model", BERT, "--out", str(out), "--cache", cache, *options])


def table(path: Path) -> list[dict[str, str]]:
    raw = path.read_bytes()
    assert not raw.startswith(b"\xef\xbb\xbf")  # plain UTF-8
    return list(csv.DictReader(raw.decode("utf-8").splitlines()))


def test_the_tables_have_the_promised_columns_and_every_run(tmp_path: Path) -> None:
    tmp_path = tmp_path / "out"
    assert classify(sample_path("labelled_sentences"), tmp_path, "--normalize", "nfkc,lower") == 0
    (line,) = table(tmp_path / "models.csv")
    assert list(line)[:6] == ["model", "n_train", "n_test", "accuracy_min", "accuracy_max", "accuracy_mean"]
    assert (line["n_train"], line["n_test"]) == ("144", "36")  # 9 topics of 20, the last 4 of each
    runs = table(tmp_path / "runs.csv")
    assert list(runs[0])[:3] == ["model", "seed", "accuracy"] and [run["seed"] for run in runs] == list("01234")
    accuracies = [float(run["accuracy"]) for run in runs]
    assert float(line["accuracy_mean"]) == pytest.approx(sum(accuracies) / 5)
    assert (float(line["accuracy_min"]), float(line["accuracy_max"])) == (min(accuracies), max(accuracies))
    # nine classes are guessed at 1/9; the built-in model knows something of them
    assert float(line["baseline"]) == pytest.approx(1 / 9) and float(line["accuracy_mean"]) > 1 / 9
    confusion = table(tmp_path / "confusion.csv")
    assert list(confusion[0]) == ["model", "class", "predicted", "n"]
    assert sum(int(cell["n"]) for cell in confusion) == 5 * 36
    settings = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert settings["settings"]["split"] == "tail" and settings["run_seeds"] == [0, 1, 2, 3, 4]
    assert settings["layers"] == {BERT: 4} and "scikit-learn" in settings["versions"]


def test_options_reach_the_classifier_and_a_second_run_gives_the_same_files(
    backend: FakeBackend, tmp_path: Path
) -> None:
    options = [
        "--split",
        "stratified",
        "--seeds",
        "2",
        "--seed",
        "7",
        "--epochs",
        "3",
        "--hidden",
        "8",
        "--batch-size",
        "16",
        "--test-share",
        "0.3",
        "--standardize",
        "--pooling",
        "mean",
        "--layer",
        "2",
        "--precision",
        "as-published",
    ]
    for out in ("one", "two"):
        assert classify(sample_path("labelled_sentences"), tmp_path / out, *options) == 0
    settings = json.loads((tmp_path / "one" / "settings.json").read_text(encoding="utf-8"))
    assert settings["settings"] == {
        "layer": 2,
        "pooling": "mean",
        "prompt": None,
        "prompt_name": None,
        "truncate_dim": None,
        "precision": "as-published",
        "normalize": [],
        "split": "stratified",
        "seeds": 2,
        "seed": 7,
        "epochs": 3,
        "hidden": [8],
        "batch_size": 16,
        "test_share": 0.3,
        "standardize": True,
    }
    assert [run["seed"] for run in table(tmp_path / "one" / "runs.csv")] == ["7", "8"]
    assert backend.n_items("classify") == 2  # the second time from the cache
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_livedoor_archive_is_classified_by_its_titles(backend: FakeBackend, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    archive = tmp_path / "ldcc-20140209.tar.gz"
    archive.write_bytes(tar_gz(files() | {"text/smax/smax-1.txt": b"one line"}))
    assert classify(archive, tmp_path / "out", "--per-category", "10", "--seeds", "1") == 0
    (line,) = table(tmp_path / "out" / "models.csv")
    assert (line["n_train"], line["n_test"], line["n_classes"]) == ("24", "6", "3")
    assert backend.n_items("sentence_vectors") == 30
    assert "left out: text/smax/smax-1.txt: has 1 line" in capsys.readouterr().err


def options(data: Path, *given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--column", action="append", default=[])
    add_labelled_arguments(parser)
    return parser.parse_args(["--data", str(data), *given])


def test_a_folder_an_archive_and_a_table_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "ldcc.ZIP").write_bytes(zipped(files()))
    folder = unpacked(files(), tmp_path / "folder")
    drawn = [
        read_labelled(options(path, "--part", "body", "--per-category", "4", "--draw-seed", "9"))
        for path in (folder, tmp_path / "ldcc.ZIP")
    ]
    assert drawn[0].content_hash == drawn[1].content_hash and drawn[0].n == 12
    assert drawn[0].name == "folder (bodies, 4 per category, seed 9)"
    assert read_labelled(options(folder)).n == 36
    assert read_labelled(options(sample_path("labelled_sentences"))).n == 180


@pytest.mark.parametrize(
    ("data", "given", "message"),
    [
        ("table.csv", ["--part", "title"], "table.csv is a table"),
        ("table.csv", ["--per-category", "3"], "is a table"),
        ("table.csv", ["--draw-seed", "0"], "is a table"),
        ("x.zip", ["--column", "text=a"], "applies to a table"),
        ("x.zip", [], "x.zip cannot be read: No such file"),
        ("nowhere", [], "cannot be read"),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, data: str, given: list[str], message: str) -> None:
    (tmp_path / "table.csv").write_text("text,label\n一,甲\n二,乙\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_labelled(options(tmp_path / data, *given))


@pytest.mark.parametrize(
    ("content", "given", "expected"),
    [
        ("text,label\n猫,動物\n花,植物\n", [], "2 classes of at least 2 sentences"),
        ("text,label\n猫,甲\n犬,甲\n花,乙\n木,乙\n", ["--hidden", "200;200"], "--hidden takes whole numbers"),
        ("text,label\n猫,甲\n犬,甲\n花,乙\n木,乙\n", ["--test-share", "2"], "between 0 and 1"),
        ("text,label\n,甲\n犬,甲\n花,\n木,乙\n", [], "row 3"),
    ],
)
def test_bad_input_ends_with_2_and_leaves_nothing_behind(
    backend: FakeBackend, tmp_path: Path, capsys, content: str, given: list[str], expected: str
) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "data.csv").write_text(content, encoding="utf-8")
    assert classify(tmp_path / "data.csv", tmp_path / "out", *given) == 2
    said = capsys.readouterr().err
    assert expected in said and "Traceback" not in said and not (tmp_path / "out").exists()


def test_vectors_of_a_file_stand_beside_the_models_or_alone(tmp_path: Path, backend: FakeBackend) -> None:
    vectors = np.random.default_rng(0).normal(size=(180, 5)).astype(np.float32)
    np.save(tmp_path / "mine.npy", vectors)
    given = ("--vectors", str(tmp_path / "mine.npy"), "--vectors", f"Again={tmp_path / 'mine.npy'}")
    assert classify(sample_path("labelled_sentences"), tmp_path / "both", *given) == 0
    by_model = {line["model"]: line for line in table(tmp_path / "both" / "models.csv")}
    assert list(by_model) == [BERT, "vectors/mine", "Again=vectors/Again"]
    assert by_model["vectors/mine"]["accuracy_mean"] == by_model["Again=vectors/Again"]["accuracy_mean"]
    signed = json.loads((tmp_path / "both" / "settings.json").read_text(encoding="utf-8"))
    assert [model.get("vectors", {}).get("file") for model in signed["models"]] == [None, "mine.npy", "mine.npy"]


def test_vectors_alone_need_no_model(tmp_path: Path, backend: FakeBackend) -> None:
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).normal(size=(180, 5)))
    data = ["--data", str(sample_path("labelled_sentences")), "--vectors", str(tmp_path / "mine.npy")]
    assert main(["clusters", *data, "--resamples", "100", "--projection", "pca", "--out", str(tmp_path / "alone")]) == 0
    assert [line["model"] for line in table(tmp_path / "alone" / "models.csv")] == ["vectors/mine"]


def test_vectors_that_do_not_fit_are_refused(
    tmp_path: Path, backend: FakeBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "mine.npy", np.zeros((3, 2), dtype=np.float32))
    assert classify(sample_path("labelled_sentences"), tmp_path / "out", "--vectors", str(tmp_path / "mine.npy")) == 2
    assert "mine.npy has 3 vectors, and labelled_sentences.csv has 180 sentences" in capsys.readouterr().err
