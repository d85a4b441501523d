"""`import engine`: the same numbers as a command gives, from a frame, a file, rows or a dataset."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from datasets import Dataset, DatasetDict

import engine
from engine import notebook
from engine.__main__ import main
from engine.datasets import sample_data
from engine.errors import InputError
from engine.evaluations.catalog import CLUSTERS
from engine.runs import computing as opening
from tests.support.fakes import FakeBackend

ROOT = Path(__file__).parents[1]
SAMPLES = {
    "clusters": "labelled_sentences",
    "classification": "labelled_sentences",
    "fill-mask": "masked_sentences",
    "alignment": "sentence_pairs",
    "metric-study": "scored_pairs",
    "minimal-pairs": "minimal_pairs",
}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBackend:
    """No models behind the call, nor behind the command."""
    backend = FakeBackend(max_tokens=300)
    opened: Callable[..., opening.Computing] = opening.open_computing

    def open_computing(data_dir: Path | None = None, **settings: object) -> opening.Computing:
        return opened(tmp_path / "data", backend=backend, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(notebook, "open_computing", open_computing)
    monkeypatch.setattr("engine.commands.shared.common.open_computing", open_computing)
    return backend


@pytest.mark.parametrize("kind", sorted(notebook.KINDS))
def test_the_tables_are_those_of_the_command(kind: str, fake: FakeBackend, tmp_path: Path) -> None:
    path = sample_data.path(SAMPLES[kind])  # type: ignore[arg-type]
    model = "builtin/gpt2-mini-ja" if kind == "minimal-pairs" else "builtin/bert-mini-ja"
    result = engine.evaluate(kind, path, model)
    assert main([kind, "--data", str(path), "--model", model, "--out", str(tmp_path / "out")]) == 0
    written = {file.stem for file in (tmp_path / "out").glob("*.csv")}
    assert written <= set(result.tables)
    for name in written:
        expected = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8")
        columns = pd.read_csv(tmp_path / "out" / f"{name}.csv", nrows=0).columns
        assert result.tables[name][list(columns)].to_csv(index=False) == expected, name


def test_data_come_as_a_frame_as_rows_or_as_a_dataset(fake: FakeBackend) -> None:
    rows = [("猫がいる。", "動物"), ("犬がいる。", "動物"), ("雨が降る。", "天気"), ("雪が降る。", "天気")]
    settings = {"projection": "pca", "resamples": 100}
    tables = [
        engine.evaluate("clusters", data, ["builtin/bert-mini-ja"], **settings).tables["models"]
        for data in (
            rows,
            pd.DataFrame(rows, columns=["text", "label"]),
            CLUSTERS.from_table(
                notebook.Table(
                    "data",
                    pd.DataFrame(rows, columns=["text", "label"], index=pd.RangeIndex(1, 5, name="row"), dtype="str"),
                    "csv",
                    None,
                )
            ),
        )
    ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


ROWS = [{"reference": "猫がいる。", "candidate": "犬がいる。"}, {"reference": "猫がいる。", "candidate": "雨だ。"}]


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        {name: [row[name] for row in ROWS] for name in ROWS[0]},
        pa.Table.from_pylist(ROWS),
        Dataset.from_list(ROWS),
        [np.array(list(row.values())) for row in ROWS],
    ],
    ids=["dicts", "columns", "pyarrow", "datasets", "arrays"],
)
def test_a_table_of_any_library_gives_what_the_frame_gives(data: object, fake: FakeBackend) -> None:
    """A row of names and values once gave the score of the names of its columns."""
    expected, given = (
        engine.evaluate("alignment", of, "builtin/bert-mini-ja").tables["pairs"] for of in (pd.DataFrame(ROWS), data)
    )
    assert len(given) == len(ROWS)
    pd.testing.assert_frame_equal(given, expected)


def test_cells_that_hold_lists_are_read_as_those_of_a_json_file(tmp_path: Path, fake: FakeBackend) -> None:
    rows = [{**row, "human": 3 + place, "references": ["猫だ。", "猫が、いる。"]} for place, row in enumerate(ROWS)]
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    from_file, *others = (
        engine.evaluate("alignment", data, "builtin/bert-mini-ja")
        for data in (path, rows, pd.DataFrame(rows), Dataset.from_list(rows))
    )
    for other in others:
        assert other.signature["dataset"] == from_file.signature["dataset"]
        pd.testing.assert_frame_equal(other.tables["pairs"], from_file.tables["pairs"])


def test_a_model_is_named_by_its_directory(tmp_path: Path, fake: FakeBackend) -> None:
    result = engine.evaluate("alignment", ROWS, [Path("builtin/bert-mini-ja")])
    assert set(result.tables["pairs"]["model"]) == {"builtin/bert-mini-ja"}


def test_the_signature_has_what_the_tables_depend_on(fake: FakeBackend) -> None:
    of_page = {"alpha": 1.3, "unigrams": "these sentences"}
    found = engine.evaluate("minimal-pairs", [("猫がいる。", "猫はいる。")], "builtin/gpt2-mini-ja", alpha=1.3)
    assert {name: found.signature[name] for name in of_page} == of_page
    assert {"subset", "format", "rules"} <= set(found.signature)  # as the command's settings.json has them


def test_settings_stand_side_by_side_or_in_their_record(fake: FakeBackend) -> None:
    pair = [("斉藤は笑った", "尾崎は笑った")]
    flat = engine.evaluate("alignment", pair, "builtin/bert-mini-ja", idf="references", criterion="either")
    assert flat.result.settings.scoring.criterion == "either" and len(flat.tables["tokens"])
    assert flat.signature["dictionaries"] and flat.signature["thresholds"]  # as the command's settings.json has them
    nested = engine.evaluate("alignment", pair, "builtin/bert-mini-ja", scoring=flat.result.settings.scoring)
    pd.testing.assert_frame_equal(nested.tables["pairs"], flat.tables["pairs"])


@pytest.mark.parametrize(
    ("settings", "prefix"), [({"bos": True}, "bos"), ({"bos": False}, "none"), ({"prefix": "eos"}, "eos")]
)
def test_a_setting_under_its_former_name_is_taken(settings: dict[str, Any], prefix: str, fake: FakeBackend) -> None:
    evaluated = engine.evaluate("minimal-pairs", [("猫がいる。", "猫はいる。")], "builtin/gpt2-mini-ja", **settings)
    assert evaluated.result.settings.prefix == prefix


@pytest.mark.parametrize(
    ("kind", "data", "settings", "message"),
    [
        ("bertscore", [], {}, "An evaluation is one of clusters, classification"),
        ("clusters", [("a", "b", "c")], {}, r"Rows of clusters hold text, label, in this order"),
        ("clusters", ["ab", "cd"], {}, r"got 2 rows of nothing"),
        ("clusters", None, {}, r"got 0 rows of nothing"),
        ("clusters", [{"text": "a", "label": "b"}, ("c", "d")], {}, "all of one length"),
        (
            "clusters",
            pd.DataFrame({"text": [], "label": []}),
            {},
            r"The data have columns \('text', 'label'\) but no rows",
        ),
        (
            "clusters",
            DatasetDict({"train": Dataset.from_dict({"text": ["a"]})}),
            {},
            "several tables; choose one: 'train'",
        ),
        ("clusters", [("a", "b"), ("c",)], {}, "all of one length"),
        ("clusters", [("a", "b"), ("c", "d")], {"epochs": 3}, "no setting 'epochs' here. There are: layer, pooling"),
        ("clusters", [("a", "b"), ("c", "d")], {"resamples": 3}, "resamples"),
        (
            "alignment",
            pd.DataFrame({"reference": ["a", None], "candidate": ["b", "c"]}),
            {},
            "row 2: 'reference' is empty",
        ),
    ],
)
def test_bad_input_is_explained(
    kind: str, data: object, settings: dict[str, object], message: str, fake: FakeBackend
) -> None:
    with pytest.raises(InputError, match=message):
        engine.evaluate(kind, data, "builtin/bert-mini-ja", **settings)


@pytest.mark.parametrize("models", [object(), [object()], 5])
def test_a_model_that_is_an_object_is_refused(models: Any) -> None:
    with pytest.raises(InputError, match="by its name or directory, not as an object"):
        engine.evaluate("alignment", ROWS, models)


def test_importing_the_engine_imports_nothing_heavy() -> None:
    code = "import sys, engine; print(*{'torch', 'pandas', 'numpy', 'engine.notebook'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        engine.no_such_thing  # noqa: B018


def test_vectors_are_an_array_a_frame_or_a_file(tmp_path: Path, fake: FakeBackend) -> None:
    array = np.random.default_rng(0).normal(size=(180, 4)).astype(np.float32)
    np.save(tmp_path / "c.npy", array)
    frame = sample_data.labelled_sentences().to_frame()[["text"]].assign(vector=list(array))
    given = {"A": array, "B": frame.iloc[::-1], "C": tmp_path / "c.npy", "D": torch.from_numpy(array)}
    found = notebook.evaluate("clusters", "sample/labelled-sentences", vectors=given, projection="pca", resamples=100)
    assert found.tables["models"]["model"].tolist() == [f"{label}=vectors/{label}" for label in given]
    assert found.tables["models"]["score"].nunique() == 1
    with pytest.raises(InputError, match="Vectors are of labelled sentences"):
        notebook.evaluate("alignment", "sample/sentence-pairs", vectors=array)
