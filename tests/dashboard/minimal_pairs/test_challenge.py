"""The tab of the BabyLM challenge: its numbers beside ours, and its predictions, there where the data are its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard.minimal_pairs.benchmark.challenge import _files, challenge_table
from dashboard.shared import session
from engine.datasets import sample_data
from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.minimal_pairs.babylm.predictions import prediction_files, zipped
from engine.evaluations.minimal_pairs.babylm.scores import babylm
from tests.dashboard.minimal_pairs.test_page import finished
from tests.support import page_visits
from tests.support.layouts.babylm import FILES, written

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]
MODELS = tuple(f"owner/babygpt@chck_{n}M" for n in (1, 2, 10))


def test_the_tab_has_both_numbers_and_the_files_of_the_command(tmp_path: Path) -> None:
    dataset = read_pairs([("full_eval", written(tmp_path / "full_eval"))])
    run_id = finished(dataset, *MODELS, prefix="template", pll="original")
    app = page_visits.visit("minimal_pairs", run=run_id, section="BabyLM")
    assert not app.exception and not app.error
    tabs = [tab.label for tab in app.tabs]
    assert tabs[0] == "Checkpoints" and "BabyLM" in tabs
    result, stored = session.engine().runs.result(run_id), session.engine().runs.dataset(run_id)
    expected = babylm(result, stored)
    assert challenge_table(run_id).equals(expected) and len(expected) == len(MODELS) * len(FILES)
    shown = next(table.value for table in app.dataframe if "challenge" in table.value.columns)
    assert shown["challenge"].tolist() == pytest.approx((100 * expected["challenge"]).tolist(), nan_ok=True)
    assert "minimal-babylm-download" in {button.key for button in app.download_button}
    assert _files(run_id) == zipped(prediction_files(result, stored))
    assert not [text.value for text in app.caption if "not scored as the challenge" in text.value]


def test_a_run_that_is_scored_otherwise_says_so(tmp_path: Path) -> None:
    dataset = read_pairs([("full_eval", written(tmp_path / "full_eval"))])
    app = page_visits.visit("minimal_pairs", run=finished(dataset, MODELS[0]), section="BabyLM")
    assert [text.value for text in app.caption if "not scored as the challenge" in text.value]


def test_other_data_have_no_such_tab() -> None:
    app = page_visits.visit("minimal_pairs", run=finished(sample_data.minimal_pairs(), MODELS[0]))
    assert "BabyLM" not in [tab.label for tab in app.tabs]
