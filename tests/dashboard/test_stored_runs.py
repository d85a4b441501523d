"""A data directory that an earlier version wrote opens: every kind of run on its page, and every page without a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.faces import FACES
from dashboard.shared import session
from engine.evaluations.clusters.records import Result
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.version import VERSION
from tests.dashboard.faults import faults
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")

# What the page of each run showed when it was stored: its name, its kind by today's names, a number.
RUNS = {
    "Clusters: a few labelled sentences": ("clusters", "**3.828** :small[:gray[2.691–4.781]]"),
    "Classification: 30 labelled sentences": ("classification", "**33.33%** :small[:gray[9.7–70.0]]"),
    "Fill-mask: 12 masked sentences": ("fill-mask", "**0.0607%** :gray[:small[rank 188]]"),
    "Alignment: 12 sentence pairs": ("alignment", "F1 0.559"),
    "Metric study: 20 scored pairs": ("metric-study", "Best setting, Pearson's r 0.637"),
    "Minimal pairs: 20 minimal pairs": ("minimal-pairs", "All · 20 pairs 65.0%"),
    "Minimal pairs: stereotypes.csv": ("minimal-pairs", "All · 5 pairs 60.0%"),
    "Dictionary: references": ("dictionary", "Entries 365"),
}
VERSION_STORED = "0.1.0"


@pytest.fixture
def data_dir(backend: FakeBackend, tmp_path: Path) -> Path:
    return stored_runs.copied(VERSION_STORED, tmp_path / "data")


def runs() -> dict[str, RunRecord]:
    return {run.name: run for run in session.engine().store.search(Search())}


def shown(app: AppTest) -> str:
    return "\n".join([words(app), *(f"{metric.label} {metric.value}" for metric in app.metric)])


@pytest.mark.usefixtures("data_dir")
def test_every_run_is_listed_under_its_kind_of_today() -> None:
    assert {name: run.kind for name, run in runs().items()} == {name: kind for name, (kind, _) in RUNS.items()}
    assert {kind for kind, _ in RUNS.values()} == set(FACES)


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", RUNS)
def test_a_stored_run_opens_on_its_page_and_shows_its_numbers(name: str) -> None:
    run, (kind, number) = runs()[name], RUNS[name]
    app = visit(FACES[kind].page.name, run=run.id)
    assert number in shown(app)
    assert not app.error, app.error[0].value
    assert faults(app) == []
    assert ("Stored by version" in words(app)) == bool(stored_runs.later_columns(kind, VERSION_STORED))
    assert any(button.key == "download-signature" for button in app.download_button)


@pytest.mark.parametrize("name", RUNS)
def test_every_notice_of_a_stored_run_is_read_in_japanese(data_dir: Path, name: str) -> None:
    run = runs()[name]
    notices = Artifacts(data_dir).load_result(run.id, FACES[RUNS[name][0]].evaluation.result_type).notices
    assert [notice for notice in notices if notice.in_language("ja") == str(notice)] == []


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", [card.name for section in pages.SECTIONS.values() for card in section])
def test_every_page_opens(name: str) -> None:
    assert not visit(name).error


def test_a_column_that_a_stored_run_cannot_have_is_said_on_its_page(data_dir: Path) -> None:
    run = runs()["Clusters: a few labelled sentences"]
    before = Artifacts(data_dir).load_result(run.id, Result)
    stored_runs.rewrite(data_dir / "results" / run.id, {"validity": before.validity.drop(columns="nmi")})
    app = visit("clusters", run=run.id, section="indices")
    assert "the column 'nmi' of the table 'validity'" in words(app) and "existed; run again to fill it." in words(app)
    table = next(frame.value for frame in app.dataframe if "silhouette" in frame.value)
    assert table["nmi"].isna().all() and sorted(table["ari"]) == sorted(before.validity["ari"])


def test_a_column_that_its_version_had_is_damage_and_explained(data_dir: Path) -> None:
    run = runs()["Clusters: a few labelled sentences"]
    before = Artifacts(data_dir).load_result(run.id, Result)
    tables = {"models": before.models, "validity": before.validity.drop(columns="nmi")}  # as this version has them
    stored_runs.rewrite(data_dir / "results" / run.id, tables, VERSION)
    app = visit("clusters", run=run.id)
    assert "is damaged: it lacks the column 'nmi' of its table 'validity'." in words(app) and app.error
