"""`adopt` and `clean --unlisted`: results whose rows are lost are listed again, or deleted when that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete

from engine.__main__ import main
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.open import open_engine
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.schema import RunRow
from engine.runs.storage.store import Store
from engine.runs.storage.unlisted import START_VARIABLE
from tests.runs.storage.test_unlisted import files, lose_rows
from tests.stored_runs.directories import VERSIONS, copied, kinds
from tests.support.fakes import FakeBackend


def test_results_of_the_first_version_can_be_listed_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = "0.1.0"
    directory = copied(version, tmp_path / "data")
    with open_engine(directory, backend=FakeBackend(), resume=False) as engine:
        before = {run_id: engine.runs.get(run_id) for run_id in kinds(version)}
        results = {run_id: engine.runs.result(run_id).signature for run_id in before}
    lose_rows(directory)
    stored = files(directory)
    command = ["adopt", "--directory", str(directory)]
    assert main(command) == 1  # it did not write whose a result is
    captured = capsys.readouterr()
    assert captured.err.count("Name the owner: --owner") == len(before)
    assert "8 results could not be listed" in captured.err
    assert files(directory) == stored
    assert main([*command, "--owner", "Local", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "8 results would be listed again.",
        "runs in the list before: 0, after: 0",
    ]
    assert main([*command, "--owner", "Local"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "8 results were listed again.",
        "runs in the list before: 0, after: 8",
    ]
    with open_engine(directory, backend=FakeBackend()) as engine:
        for run_id, former in before.items():
            run = engine.runs.get(run_id)
            assert run is not None and former is not None
            assert (run.kind, run.owner, run.dataset_hash, run.dataset_name, run.models, run.state) == (
                former.kind,
                "local",
                former.dataset_hash,
                former.dataset_name,
                former.models,
                "done",
            )
            assert engine.runs.settings(run_id) == engine.runs.result(run_id).settings
            assert engine.runs.result(run_id).signature == results[run_id]
            assert engine.runs.dataset(run_id).content_hash == former.dataset_hash
    assert main(command) == 0 and "0 results were listed again" in capsys.readouterr().out


def test_an_owner_that_is_none_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for owner in (" ", "a" * 301):
        assert main(["adopt", "--owner", owner, "--directory", str(tmp_path)]) == 2
        assert "--owner is an address" in capsys.readouterr().err


def test_clean_deletes_what_is_unlisted_when_asked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    directory = copied(VERSIONS[0], tmp_path / "data")
    lost, kept = sorted(kinds(VERSIONS[0]))[:2]
    store = Store(database_url(directory))
    run = store.get(lost)
    assert run is not None
    with store.session() as session:
        session.execute(delete(RunRow).where(RunRow.id == lost))
    lose_rows(directory, lost)
    clean = ["clean", "--cache", str(directory)]
    stored = files(directory)
    assert main(clean) == 2 and "--unlisted" in capsys.readouterr().err
    assert main([*clean, "--unlisted", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert f"result {lost}" in out and "1 result and 1 dataset" in out and "would be deleted" in out
    assert files(directory) == stored
    assert main([*clean, "--unlisted"]) == 0
    assert "1 result and 1 dataset" in (out := capsys.readouterr().out) and "were deleted" in out
    assert files(directory) == [path for path in stored if lost not in path and run.dataset_hash not in path]
    assert Artifacts(directory).has_result(kept)

    # With a list that lacks all results, the list is most likely the wrong one: refused, unless told otherwise.
    with store.session() as session:
        session.execute(delete(RunRow))
    left = files(directory)
    assert main([*clean, "--unlisted"]) == 2 and START_VARIABLE in capsys.readouterr().err
    assert files(directory) == left
    lose_rows(directory)
    monkeypatch.setenv(START_VARIABLE, "yes")
    assert main([*clean, "--unlisted"]) == 0 and "7 results" in capsys.readouterr().out
    assert files(directory) == []
    store.close()


def test_every_kind_has_an_entry_that_names_it(tmp_path: Path) -> None:
    """What a new result says of its run is enough without --owner."""
    from tests.runs.test_open import QUESTIONS, finished

    with open_engine(tmp_path, backend=FakeBackend()) as engine:
        ids = {finished(engine, kind): kind for kind in QUESTIONS}
    lose_rows(tmp_path)
    assert main(["adopt", "--directory", str(tmp_path)]) == 0
    with open_engine(tmp_path, backend=FakeBackend(), resume=False) as engine:
        for run_id, kind in ids.items():
            run = engine.runs.get(run_id)
            assert run is not None and run.kind == kind and kind in EVALUATIONS
            assert engine.runs.result(run_id).dataset_name == engine.runs.dataset(run_id).name
