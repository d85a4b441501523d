"""Nothing of a Japanese page is English: its texts, figures, tables, help and choices, of every kind of run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import pages
from dashboard.faces import FACES
from dashboard.minimal_pairs.view import SECTIONS
from dashboard.shared import session
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from tests.dashboard.shown_texts import english, shown_texts
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import at, drawn

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def _japanese(page: str, **query: str) -> AppTest:
    app = at(page)
    app.session_state["language"] = "ja"
    app.query_params.update(query)
    return drawn(app)


def _english(app: AppTest, of_data: str = "") -> list[str]:
    """What is English on a page and not in the texts of the data."""
    return sorted(
        {f"{where}: {found}" for where, text in shown_texts(app) if (found := english(text)) and found not in of_data}
    )


@pytest.mark.parametrize("version", stored_runs.VERSIONS)
def test_no_text_of_a_stored_run_is_english_on_a_japanese_page(
    backend: FakeBackend, tmp_path: Path, version: str
) -> None:
    stored_runs.copied(version, tmp_path / "data")
    runs = session.engine().store.search(Search())
    own, found = _of_data(runs), {}
    for run in runs:
        for section in SECTIONS if run.kind == "minimal-pairs" else ("",):
            app = _japanese(FACES[run.kind].page.name, run=run.id, **({"section": section} if section else {}))
            found[run.name, section] = _english(app, own)
    assert {name: texts for name, texts in found.items() if texts} == {} and len(found) > len(FACES)


def test_no_text_of_runs_side_by_side_is_english(backend: FakeBackend, tmp_path: Path) -> None:
    stored_runs.copied(stored_runs.VERSIONS[-1], tmp_path / "data")
    runs = session.engine().store.search(Search())
    own = _of_data(runs)
    found = {run.name: _english(_japanese("compare", **{"a-run": run.id, "b-run": run.id}), own) for run in runs}
    found |= {"card": _english(_japanese("model_card", model="builtin/bert-mini-ja"), own)}
    found |= {name: _english(_japanese(name), own) for name in ("agreement", "runs")}
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.parametrize("name", [card.name for section in pages.SECTIONS.values() for card in section])
def test_no_text_of_a_japanese_page_is_english(backend: FakeBackend, name: str) -> None:
    assert _english(_japanese(name)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("リンクの値は無視しました（cannot be: it is one of these）。", "cannot be: it is one of these"),
        ("モデルmの設定: idf references", "idf references"),
        ("Left out: 3 rows.", "Left out: 3 rows."),
        ("**3行**を除きました。 `python -m engine a long command`", ""),
        ("owner/bert-base-japanese: Williams 1959; Graham and Baldwin 2014 (EMNLP)", ""),
    ],
)
def test_english_within_a_japanese_text_is_seen(text: str, found: str) -> None:
    assert english(text) == found


def _of_data(runs: Iterable[RunRecord]) -> str:
    """The texts of the data of runs, and what their owners wrote of them."""
    access, texts = session.engine().runs, []
    for run in runs:
        dataset = access.dataset(run.id)
        frame = dataset.to_frame() if hasattr(dataset, "to_frame") else {}
        texts += [run.name, run.dataset_name, run.note]
        texts += [cell for name in frame for cell in frame[name] if isinstance(cell, str)]
    return "\n".join(texts)
