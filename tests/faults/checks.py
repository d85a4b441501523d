"""What holds after every fault: nothing lost, nothing half-shown, every page answers, every run ends."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.open import Engine, open_engine
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.json_codec import record_from_json
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from tests.faults.clients import Visit, look
from tests.faults.site import Site, database_of
from tests.support.in_process import InProcess

UNFINISHED = ("queued", "running")
END_SECONDS = 240.0  # for all runs of a fault, on a busy machine
LISTED = 100_000
OLD_RUNS = 5  # that are opened again after each fault, beside all new ones
PAGES = (
    "clusters",
    "fill_mask",
    "classification",
    "agreement",
    "alignment",
    "metric_study",
    "minimal_pairs",
    "models",
    "dictionary",
    "compare",
    "runs",
    "datasets",
)
PAGE_BY_KIND = {"fill-mask": "fill_mask", "metric-study": "metric_study", "minimal-pairs": "minimal_pairs"}
PREDICTIONS = 1  # of a classifier that may differ, as a mean over its seeds
# Batches differ where pieces are in the cache already, and floating-point sums with them.
RELATIVE, ABSOLUTE = 1e-3, 1e-4


class Reference:
    """The result of each run as an undisturbed engine of its own computes it, in this process."""

    def __init__(self, folder: Path) -> None:
        with database_of(""):
            self._engine: Engine = open_engine(folder, backend=InProcess(), resume=False)
        self._results: dict[str, Any] = {}

    def of(self, run: RunRecord, dataset: Any) -> Any:
        """The result of the same settings and data. RuntimeError where the reference itself fails."""
        key = f"{run.kind}/{run.dataset_hash}/{sorted(run.settings.items())}"
        if key not in self._results:
            settings = record_from_json(EVALUATIONS[run.kind].settings_type, run.settings)
            run_id = self._engine.runs.submit(run.kind, settings, dataset, "reference").run_id
            ended = self._engine.runs.wait(run_id, END_SECONDS)
            if ended.state != "done":
                raise RuntimeError(f"the reference of {run.name} {ended.state}: {ended.message}")
            self._results[key] = self._engine.runs.result(run_id)
        return self._results[key]

    def close(self) -> None:
        self._engine.close()


class Ledger:
    """What was finished so far, and may never be lost again."""

    def __init__(self) -> None:
        self.done: dict[str, str] = {}  # id -> name
        self.opened: set[str] = set()  # those that were compared with the reference
        self.keys: set[str] = set()  # of finished pieces

    def take(self, site: Site) -> None:
        """Note what is finished at the moment."""
        self.done |= {run.id: run.name for run in listed(site) if run.state == "done"}
        self.keys |= site.cache_keys()

    def restart_from(self, site: Site) -> None:
        """Note what is finished at the moment, and forget what was before: a backup was restored."""
        self.done, self.keys = {}, set()
        self.take(site)


def listed(site: Site) -> list[RunRecord]:
    """All runs of the list."""
    with site.store() as store:
        return store.search(Search(limit=LISTED))


def all_end(site: Site) -> list[str]:
    """Wait until no run is unfinished; those that remain."""
    deadline = time.monotonic() + END_SECONDS
    waiting: list[RunRecord] = []
    while time.monotonic() < deadline:
        with contextlib.suppress(EngineError):
            waiting = [run for run in listed(site) if run.state in UNFINISHED]
            if not waiting:
                return []
        time.sleep(0.25)
    return [
        f"{run.name} ({run.id}) is still {run.state} after {END_SECONDS:.0f} s: {run.label} {run.message}"
        for run in waiting
    ]


def nothing_lost(
    site: Site,
    ledger: Ledger,
    reference: Reference,
    draw: random.Random,
    *,
    acknowledged: list[str],
    may_fail: bool,
    lost_keys: set[str],
) -> list[str]:
    """Findings about runs, their results and the cache. may_fail: whether the fault may end a run, with words."""
    findings = []
    runs = {run.id: run for run in listed(site)}
    for run_id in acknowledged:
        if run_id not in runs:
            findings.append(f"the run {run_id} was submitted and is not in the list")
    for run_id, name in ledger.done.items():
        if run_id not in runs or runs[run_id].state != "done":
            state = runs[run_id].state if run_id in runs else "lost"
            findings.append(f"the finished run {name} ({run_id}) is {state}")
    done = [run for run in runs.values() if run.state == "done"]
    old = [run for run in done if run.id in ledger.opened]
    for run in [run for run in done if run.id not in ledger.opened] + draw.sample(old, min(OLD_RUNS, len(old))):
        findings += opens(site, run, reference)
        ledger.opened.add(run.id)
    for run in runs.values():
        if run.state == "failed" and run.id not in ledger.opened:
            ledger.opened.add(run.id)
            if not may_fail or not run.message or "internal error" in run.message or "Traceback" in run.message:
                findings.append(f"{run.name} ({run.id}) failed: {run.message or 'without a word'}")
    missing = ledger.keys - lost_keys - site.cache_keys()
    if missing:
        findings.append(f"{len(missing)} finished pieces are no longer in the cache")
    ledger.keys -= lost_keys
    return findings


def opens(site: Site, run: RunRecord, reference: Reference) -> list[str]:
    """Findings about a finished run: whether it opens, with the numbers of the reference."""
    artifacts, evaluation = Artifacts(site.data), EVALUATIONS[run.kind]
    try:
        result = artifacts.load_result(run.id, evaluation.result_type)
        dataset = artifacts.load_dataset(
            evaluation.dataset_type, run.dataset_hash, run.dataset_name, run.dataset_notices
        )
    except EngineError as error:
        return [f"{run.name} ({run.id}) is listed as finished and does not open: {error}"]
    expected = reference.of(run, dataset)
    found = (
        _of_classifiers(result.models, expected.models)
        if run.kind == "classification"
        else differences(result, expected)
    )
    return [f"{run.name} ({run.id}) has other numbers than undisturbed: {what}" for what in found][:1]


def differences(value: Any, expected: Any, where: str = "") -> list[str]:
    """Where two results differ, but for the signature."""
    if dataclasses.is_dataclass(expected):
        return [
            difference
            for field in dataclasses.fields(expected)
            if field.name != "signature"
            for difference in differences(
                getattr(value, field.name), getattr(expected, field.name), f"{where}.{field.name}"
            )
        ]
    if isinstance(expected, pd.DataFrame):
        if list(value.columns) != list(expected.columns) or len(value) != len(expected):
            return [f"{where}: {value.shape} instead of {expected.shape}"]
        return [
            difference
            for column in expected.columns
            for difference in _of_column(value[column], expected[column], f"{where}[{column}]")
        ]
    if isinstance(expected, np.ndarray):
        same = value.shape == expected.shape and (
            np.allclose(value, expected, RELATIVE, ABSOLUTE, equal_nan=True)
            if expected.dtype.kind in "fc"
            else np.array_equal(value, expected)
        )
        return [] if same else [where]
    if isinstance(expected, dict):
        if value.keys() != expected.keys():
            return [f"{where}: other keys"]
        return [
            difference for key in expected for difference in differences(value[key], expected[key], f"{where}[{key}]")
        ]
    if isinstance(expected, float):
        return [] if np.isclose(value, expected, RELATIVE, ABSOLUTE, equal_nan=True) else [where]
    return [] if value == expected else [f"{where}: {value!r:.80} instead of {expected!r:.80}"]


def _of_classifiers(models: pd.DataFrame, expected: pd.DataFrame) -> list[str]:
    """Where the accuracies of trained classifiers differ: the last digits of vectors, which batches decide, can change
    the prediction of a sentence or two after some epochs."""
    counts = ["model", "n_train", "n_test"]
    off = (models["accuracy_mean"] - expected["accuracy_mean"]).abs() > PREDICTIONS / expected["n_test"]
    return [
        *differences(models[counts], expected[counts], ".models"),
        *(f".models[accuracy_mean] of {model}" for model in expected["model"][off]),
    ]


def _of_column(value: pd.Series, expected: pd.Series, where: str) -> list[str]:
    if pd.api.types.is_float_dtype(expected):
        return differences(value.to_numpy(float, na_value=np.nan), expected.to_numpy(float, na_value=np.nan), where)
    value, expected = value.astype(object), expected.astype(object)
    if expected.map(lambda cell: isinstance(cell, list | tuple | np.ndarray)).any():
        return differences(
            np.concatenate([np.ravel(np.asarray(cell)) for cell in value]),
            np.concatenate([np.ravel(np.asarray(cell)) for cell in expected]),
            where,
        )
    empty, expected_empty = value.isna(), expected.isna()
    if not empty.equals(expected_empty) or list(value[~empty]) != list(expected[~expected_empty]):
        return [where]
    return []


def pages_answer(site: Site, draw: random.Random, n_pages: int, run: RunRecord | None) -> list[str]:
    """Findings about pages drawn, and the page of a run."""
    visits = [look(site.host, page) for page in draw.sample(PAGES, n_pages)]
    if run is not None:
        site.shown_runs.add(run.id)
        visits.append(look(site.host, PAGE_BY_KIND.get(run.kind, run.kind), run.id))
    return [finding for visit in visits for finding in of_visit(visit)]


def of_visit(visit: Visit, *, whole: bool = True) -> list[str]:
    """Findings about a visit: an exception on the page; with `whole`, a page that was cut off or shows an error."""
    findings = [f"the page {visit.page} shows an exception: {text}" for text in visit.exceptions]
    if whole and visit.cut_off:
        findings.append(f"the page {visit.page} does not answer: {visit.cut_off}")
    if whole and visit.alerts and not visit.run_id:
        findings.append(f"the page {visit.page} shows an error after the fault: {visit.alerts[0][:200]}")
    return findings
