"""Tables of very many rows stay in their files, and what is read of them is what the whole table has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.datasets import sample_data
from engine.errors import RunError
from engine.evaluations.minimal_pairs import regions, views
from engine.evaluations.minimal_pairs.files import file_tables
from engine.evaluations.minimal_pairs.records import DIFFERING, Result, Settings
from engine.evaluations.minimal_pairs.token_contributions import token_contributions
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.shared.stored_table import StoredTable, in_memory, parts, rows_where
from engine.runs.open import open_engine
from engine.runs.storage import packing
from engine.runs.storage.artifacts import Artifacts
from tests.support.fakes import FakeBackend

MODELS = ("a", "gpt")


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data directory with a run of two models, and its id."""
    folder = tmp_path_factory.mktemp("data")
    with open_engine(folder, backend=FakeBackend()) as engine:
        run = engine.runs.submit("minimal-pairs", Settings(MODELS), sample_data.minimal_pairs())
        assert engine.runs.wait(run.run_id, 60).state == "done"
    return folder, run.run_id


@pytest.fixture
def both(stored: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> tuple[Result, Result]:
    """The result in memory, and with its tokens in their file."""
    folder, run_id = stored
    artifacts = Artifacts(folder)
    whole = artifacts.load_result(run_id, Result)
    monkeypatch.setattr(packing, "ROWS_IN_MEMORY", 0)
    return whole, artifacts.load_result(run_id, Result)


@pytest.mark.parametrize(
    "made",
    [
        regions.regions_of,
        views.without_token_scores,
        lambda result: in_memory(result.tokens),
        lambda result: regions.of_region(result, DIFFERING).pairs,
        lambda result: regions.of_region(result, DIFFERING).excluded,
        lambda result: with_unigrams(result, result.unigrams).pairs,
        lambda result: token_contributions(result, "gpt", 3),
        lambda result: token_contributions(result, "gpt", 3),  # from what was kept
        lambda result: token_contributions(result, "a", 40, "SLOR"),
        lambda result: token_contributions(result, "a", 40, "LP", region=DIFFERING),
    ],
)
def test_nothing_differs_where_the_tokens_stay_in_their_file(
    both: tuple[Result, Result], made: Callable[[Result], Any]
) -> None:
    whole, in_file = both
    assert isinstance(whole.tokens, pd.DataFrame) and isinstance(in_file.tokens, StoredTable)
    expected, found = made(whole), made(in_file)
    if isinstance(expected, pd.DataFrame):
        assert len(expected)
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found == expected


def test_the_tables_of_the_command_are_the_same(both: tuple[Result, Result]) -> None:
    expected, found = (file_tables(result, ("LP", "SLOR"), 0.8, "category", 0) for result in both)
    assert expected.keys() == found.keys() and len(expected["tokens"])
    for name, table in expected.items():
        pd.testing.assert_frame_equal(found[name], table)


def test_a_damaged_table_is_refused_where_it_stays_in_its_file(
    stored: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, run_id = stored
    files = {path.name: path.read_bytes() for path in (folder / "results" / run_id).iterdir()}
    raw = bytearray(files["tokens.parquet"])
    raw[len(raw) // 3] ^= 1
    files["tokens.parquet"] = bytes(raw)
    (tmp_path / "results" / run_id).mkdir(parents=True)
    for name, content in files.items():
        (tmp_path / "results" / run_id / name).write_bytes(content)
    monkeypatch.setattr(packing, "ROWS_IN_MEMORY", 0)
    with pytest.raises(RunError, match=r"tokens\.parquet is not as it was written"):
        Artifacts(tmp_path).load_result(run_id, Result)


def test_rows_and_columns_are_found_in_every_part_of_a_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "model": pd.Categorical(["one"] * 60 + ["two"] * 40),
            "row": np.tile(np.repeat(np.arange(20), 5), 1),
            "token": pd.Categorical(draw.choice(["a", "b", "ç", "犬"], 100)),
            "value": draw.normal(size=100).astype(np.float32),
        }
    )
    frame.loc[[3, 70], "value"] = np.nan
    path = tmp_path / "table.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=7)
    table = StoredTable(path)
    path.unlink()  # it stays readable
    assert len(table) == 100 and table.columns == tuple(frame.columns)
    pd.testing.assert_frame_equal(in_memory(table), frame)
    values = [part["value"].to_numpy() for part in parts(table, ["value"])]
    assert len(values) == 15
    np.testing.assert_array_equal(np.concatenate(values), frame["value"].to_numpy())
    for equal in (
        {"model": "one"},
        {"model": "two", "row": 13},
        {"row": 19},
        {"model": "one", "row": 19},
        {"model": "x"},
    ):
        found, expected = (rows_where(of, ["token", "value"], **equal) for of in (table, frame))
        assert found["token"].astype(str).tolist() == expected["token"].astype(str).tolist()
        np.testing.assert_array_equal(found["value"].to_numpy(), expected["value"].to_numpy())
    assert len(rows_where(table, ["row"], model="one")) == 60
