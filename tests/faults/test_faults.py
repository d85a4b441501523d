"""A fault of each cheap kind every night, under a server with the real models; `python -m tests.faults` has 200."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.minimal_pairs import records as minimal_pairs
from engine.runs.storage.json_codec import to_json_value
from engine.runs.storage.processes import this_process
from engine.runs.storage.store import Store
from tests.faults import checks, disks
from tests.faults.checks import Ledger, Reference, differences
from tests.faults.jobs import ON_PAGES, SETTINGS, Job, csv_file, dataset
from tests.faults.kinds import BY_STORAGE, KINDS
from tests.faults.running import Plan, draw_fault
from tests.faults.site import Site

ROOT = Path(__file__).parents[2]
SEED = 1035  # its first eight draw each of these kinds once
CHEAP = (
    "run-killed",
    "worker-killed",
    "reader-killed",
    "disk-full",
    "damaged-result",
    "damaged-dataset",
    "damaged-piece",
    "clock-back",
)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes and disks are looked at as Linux shows them")


@on_linux
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_a_fault_of_each_cheap_kind() -> None:
    """Pages alone submit: what another program submits, a server takes over within 15 seconds, which is long here."""
    kinds = [argument for kind in CHEAP for argument in ("--kind", kind)]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.faults",
            "--faults",
            "8",
            "--seed",
            str(SEED),
            "--storage",
            "sqlite",
            "--clients",
            "2",
            "--pages",
            "2",
            *kinds,
        ],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^8 faults in \d+ s, seed {SEED}: 0 findings$", done.stdout, re.MULTILINE), done.stdout


def test_a_fault_depends_on_seed_and_number_alone(tmp_path: Path) -> None:
    plan = Plan(3, tmp_path, can_mount=False)
    assert draw_fault(plan, 17) == draw_fault(plan, 17)
    drawn = [draw_fault(plan, number) for number in range(400)]
    assert {fault.kind for fault in drawn} == set(KINDS)
    assert all(fault.kind in BY_STORAGE[fault.storage] for fault in drawn)


def test_the_file_of_a_page_holds_the_rows_of_the_job() -> None:
    for kind in ON_PAGES:
        job = Job(kind, 1)
        assert len(csv_file(job).decode().splitlines()) == dataset(job).n + 1
        assert csv_file(job) != csv_file(Job(kind, 2))


def test_a_result_with_another_number_text_or_row_is_seen() -> None:
    @dataclasses.dataclass
    class Result:
        table: pd.DataFrame
        numbers: dict[str, np.ndarray]

    result = Result(pd.DataFrame({"text": ["a", None], "score": [0.5, np.nan]}), {"x": np.array([1.0, 2.0])})
    assert not differences(result, result)
    other_score = dataclasses.replace(result, table=result.table.assign(score=[0.51, np.nan]))
    other_text = dataclasses.replace(result, table=result.table.assign(text=["a", "b"]))
    other_rows = dataclasses.replace(result, table=result.table.iloc[:1])
    other_numbers = dataclasses.replace(result, numbers={"x": np.array([1.0, 2.1])})
    for other in (other_score, other_text, other_rows, other_numbers):
        assert len(differences(other, result)) == 1


def test_a_damaged_file_is_put_back_unless_it_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for seed in range(6):
        path.write_bytes(b"x" * 100)
        with disks.damaged(path, Random(seed)):
            assert path.read_bytes() != b"x" * 100
        assert path.read_bytes() == b"x" * 100
    with disks.damaged(path, Random(0)):
        path.write_bytes(b"new")
    assert path.read_bytes() == b"new"


def test_what_is_lost_or_does_not_open_is_seen(tmp_path: Path) -> None:
    site = Site(tmp_path, "sqlite", can_mount=False)
    site.data.mkdir(parents=True)
    process = this_process()
    with site.store() as store:
        store.heartbeat(process)
        without_result, failed = _run(store, process.id, "no result"), _run(store, process.id, "failed")
        store.claim(process.id)
        store.claim(process.id)
        store.finish(without_result, process.id, "done")
        store.finish(failed, process.id, "failed", "Traceback (most recent call last)")
    ledger, reference = Ledger(), Reference(tmp_path / "reference")
    ledger.done = {"gone": "an old run", failed: "one that was finished"}
    ledger.keys = {"a piece"}
    try:
        findings = checks.nothing_lost(
            site, ledger, reference, Random(0), acknowledged=["unknown"], may_fail=True, lost_keys=set()
        )
    finally:
        reference.close()
    for words in (
        "the run unknown was submitted and is not in the list",
        r"an old run \(gone\) is lost",
        "one that was finished .* is failed",
        "no result .* is listed as finished and does not open",
        "failed: Traceback",
        "1 finished pieces are no longer in the cache",
    ):
        assert any(re.search(words, finding) for finding in findings), (words, findings)
    assert len(findings) == 6


def _run(store: Store, process_id: str, name: str) -> str:
    settings = to_json_value(SETTINGS["minimal-pairs"])
    assert isinstance(SETTINGS["minimal-pairs"], minimal_pairs.Settings)
    return store.add(
        owner="anybody",
        kind="minimal-pairs",
        name=name,
        settings=settings,
        dataset_name="data",
        dataset_hash="0" * 64,
        dataset_notices=(),
        key=name,
        process_id=process_id,
    )
