"""The tab of a benchmark's table: levels, clusters, what is offered to download and what the command says."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.view import OPTIONS
from dashboard.shared import session
from dashboard.shared.address.texts import name_of
from engine.datasets import sample_data
from engine.evaluations.minimal_pairs.levels import levels
from engine.evaluations.minimal_pairs.views import field_names
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_levels_and_clusters_are_chosen_in_their_tab() -> None:
    run_id = finished(sample_data.minimal_pairs(), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Levels")
    result = session.engine().runs.result(run_id)
    column = field_names(result)[0]
    expected = levels(result, "LP", (column,))
    (shown,) = [frame.value for frame in app.dataframe if "macro_accuracy" in frame.value]
    assert shown["accuracy"].tolist() == pytest.approx((100 * expected["accuracy"]).tolist())
    assert "Intervals take the pairs as independent." in words(app)
    keys = {button.key for button in app.download_button}
    assert {"download-levels", "download-conditions"} <= keys and "download-clustered_comparisons" not in keys
    app.selectbox(key=f"minimal-pairs-clustered-by-{run_id}").set_value(column)
    app = drawn(app)
    (shown,) = [frame.value for frame in app.dataframe if "macro_accuracy" in frame.value]
    clustered = levels(result, "LP", (column,), clustered_by=column)
    assert shown["ci_low"].tolist() == pytest.approx((100 * clustered["ci_low"]).tolist())
    assert "download-clustered_comparisons" in {button.key for button in app.download_button}
    assert column in app.query_params[name_of(OPTIONS["clustered_by"])]
    assert any(f"--clustered-by {column}" in code.value for code in app.code)
