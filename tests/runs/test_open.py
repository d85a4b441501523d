from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from engine.datasets import sample_data
from engine.errors import InputError
from engine.evaluations.alignment import records as alignment
from engine.evaluations.clusters import records as clusters
from engine.evaluations.metric_study import records as metric_study
from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.runs.open import Engine, open_engine
from tests.support.database import sqlite_only
from tests.support.fakes import FakeBackend

ROOT = Path(__file__).parents[2]
QUESTIONS: dict[str, tuple[Any, Any]] = {
    "clusters": (clusters.Settings(("a", "b"), projection="pca", normalize=("nfkc",)), sample_data.labelled_sentences),
    "alignment": (alignment.Settings(("a", "b/c")), sample_data.sentence_pairs),
    "metric-study": (
        metric_study.Settings(("a", "b/c"), idfs=("none", "references"), all_layers=True),
        sample_data.scored_pairs,
    ),
    "minimal-pairs": (minimal_pairs.Settings(("a", "gpt")), sample_data.minimal_pairs),
}


def finished(engine: Engine, kind: str, reuse: bool = True) -> str:
    settings, sample = QUESTIONS[kind]
    run = engine.runs.wait(engine.runs.submit(kind, settings, sample(), reuse=reuse).run_id, 30)
    assert run.state == "done", run.message
    return run.id


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_evaluation_of_the_catalog_runs_and_its_result_comes_back(tmp_path: Path, kind: str) -> None:
    settings, sample = QUESTIONS[kind]
    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        run_id = finished(engine, kind)
    backend = FakeBackend()
    with open_engine(tmp_path, backend=backend) as engine:
        assert finished(engine, kind) == run_id  # it was answered before
        again = engine.runs.result(finished(engine, kind, reuse=False))
        assert backend.calls == []  # and every piece of it was kept
        result = engine.runs.result(run_id)
        assert result.settings == settings == engine.runs.settings(run_id)
        assert engine.runs.dataset(run_id) == sample() and result.dataset_name == sample().name
        assert result.signature == again.signature and result.notices == again.notices
        for field in vars(result):
            if isinstance(getattr(result, field), pd.DataFrame):
                pd.testing.assert_frame_equal(getattr(result, field), getattr(again, field))


def test_a_directory_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "hakari"
    with open_engine(directory, backend=FakeBackend()) as engine:
        assert engine.data_dir == directory
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {path.name for path in directory.iterdir()} >= {"datasets", "results"}


def test_the_environment_names_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_DATA_DIR", str(tmp_path / "named"))
    with open_engine(backend=FakeBackend()) as engine:
        assert engine.data_dir == tmp_path / "named"
    monkeypatch.setenv("HAKARI_DATA_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    with open_engine(backend=FakeBackend()) as engine:
        assert engine.data_dir == tmp_path / ".local/share/hakari"


def test_the_cache_may_lie_elsewhere(tmp_path: Path) -> None:
    with open_engine(tmp_path / "data", cache_dir=tmp_path / "cache", backend=FakeBackend()) as engine:
        finished(engine, "minimal-pairs")
    assert (tmp_path / "cache/cache.sqlite").exists() and not (tmp_path / "data/cache.sqlite").exists()


def test_a_directory_that_cannot_be_written_is_said_with_what_would_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    directories = [tmp_path / "file", tmp_path / "file" / "below"]
    directories += [Path("/proc/hakari"), Path("/proc")] if Path("/proc/self").exists() else []
    if os.geteuid() != 0:  # root writes anywhere
        read_only = tmp_path / "read-only"
        read_only.mkdir(mode=0o500)
        directories.append(read_only)
    for directory in directories:
        with pytest.raises(InputError, match=r"Cannot write to .*HAKARI_DATA_DIR=/some/where"):
            open_engine(directory, backend=FakeBackend())


def test_a_file_in_the_way_of_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("")
    with pytest.raises(InputError, match=r"results cannot be made.*HAKARI_DATA_DIR"):
        open_engine(tmp_path, backend=FakeBackend())


@sqlite_only
def test_a_file_that_is_no_list_of_runs_is_said(tmp_path: Path) -> None:
    (tmp_path / "hakari.sqlite").write_bytes(b"not a database at all " * 100)
    with pytest.raises(InputError, match=r"hakari\.sqlite cannot be opened"):
        open_engine(tmp_path, backend=FakeBackend())


@pytest.mark.parametrize("value", ["many", "0", "-1", "nan", "inf"])
def test_a_cache_size_that_is_none_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HAKARI_CACHE_GB", value)
    with pytest.raises(InputError, match="HAKARI_CACHE_GB"):
        open_engine(tmp_path, backend=FakeBackend())


@pytest.mark.parametrize(("sharing", "n_computed"), [("", 40), ("shared", 40), ("private", 80)])
def test_whether_members_share_the_cache_is_the_operators_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sharing: str, n_computed: int
) -> None:
    monkeypatch.setenv("HAKARI_CACHE_SHARING", sharing)
    backend, texts = FakeBackend(), [f"文{number}" for number in range(40)]
    with open_engine(tmp_path, backend=backend) as engine:
        for owner in ("ann", "ben", "ann"):
            engine.gateway.session("run", owner=owner).sentence_vectors("a/b", texts)
    assert backend.n_items("sentence_vectors") == n_computed


def test_a_sharing_of_the_cache_that_is_none_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAKARI_CACHE_SHARING", "Private")
    with pytest.raises(InputError, match="'shared' or 'private'; got 'Private'"):
        open_engine(tmp_path, backend=FakeBackend())


def test_an_opened_engine_holds_nothing_heavy_and_no_worker(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from engine.runs.open import open_engine\n"
        "with open_engine(pathlib.Path(sys.argv[1])) as engine:\n"
        "    print(*{'torch', 'transformers', 'umap', 'numba', 'streamlit'} & set(sys.modules))\n"
        "    print(engine.backend.pids())"
    )
    assert said_by(code, tmp_path) == "\n[]\n"


@pytest.mark.parametrize("resume", [True, False])
def test_a_server_empties_the_bin_and_a_command_leaves_it(tmp_path: Path, resume: bool) -> None:
    before = set(threading.enumerate())
    with open_engine(tmp_path, backend=FakeBackend(), resume=resume):
        assert ("retention" in {thread.name for thread in set(threading.enumerate()) - before}) == resume


def test_a_process_that_leaves_without_closing_puts_its_runs_back(tmp_path: Path) -> None:
    code = "import sys, pathlib\nfrom tests.runs.test_open import leave\nleave(pathlib.Path(sys.argv[1]))"
    run_id = said_by(code, tmp_path).strip()
    with open_engine(tmp_path, backend=FakeBackend(), resume=False) as engine:
        run = engine.runs.get(run_id)
        assert run is not None and (run.state, run.message) == ("queued", "")


def said_by(code: str, directory: Path) -> str:
    """What a Python of its own prints that runs `code` with the directory as its argument."""
    command = [sys.executable, "-c", code, str(directory)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def leave(directory: Path) -> None:
    """Submit a run of which nothing is ever computed, and go."""
    engine = open_engine(directory, backend=SilentBackend())
    settings, sample = QUESTIONS["minimal-pairs"]
    run_id = engine.runs.submit("minimal-pairs", settings, sample()).run_id
    while getattr(engine.runs.get(run_id), "state", None) != "running":
        time.sleep(0.01)
    time.sleep(0.2)
    print(run_id)


class SilentBackend(FakeBackend):
    """Takes every chunk and never answers."""

    def run(self, operation: str, request: Any, run_id: str) -> Future[Any]:
        return Future()
