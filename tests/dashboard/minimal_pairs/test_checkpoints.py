"""The tab of checkpoints: there where a run has several of one training, with curves of all pairs or of categories."""

from __future__ import annotations

import pytest

from dashboard.minimal_pairs.benchmark.checkpoints import MOST_LINES, checkpoint_figure
from dashboard.shared import session
from engine.datasets import sample_data
from engine.evaluations.minimal_pairs.levels import checkpoints
from engine.evaluations.minimal_pairs.views import field_names, summary
from tests.dashboard.minimal_pairs.test_page import finished
from tests.support import page_visits

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]

MODELS = ("owner/gpt@step1000", "owner/gpt@step0", "owner/gpt@step32", "owner/gpt-other")


def test_the_curve_has_each_step_once_and_step_0_before_the_others() -> None:
    run_id = finished(sample_data.minimal_pairs(), *MODELS)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Checkpoints")
    assert not app.exception and not app.error
    result = session.engine().runs.result(run_id)
    points = checkpoints(result, "LP").query("stratum == 'all'")
    overall = points[points["category"] == ""]
    assert overall["step"].tolist() == [0, 32, 1000] and set(overall["series"]) == {"owner/gpt"}
    of_model = summary(result, ("LP",)).query("stratum == 'all'").set_index("model")["accuracy"]
    by_step = [of_model[f"owner/gpt@step{step}"] for step in (0, 32, 1000)]
    assert overall["accuracy"].tolist() == by_step
    figure, n_left_out = checkpoint_figure(overall)
    line, band = figure.data
    assert list(line.x) == [16, 32, 1000] and list(line.y) == overall["accuracy"].tolist() and n_left_out == 0
    assert figure.layout.xaxis.type == "log" and figure.layout.xaxis.ticktext == ("0", "100", "1,000")
    assert list(band.y) == [*overall["ci_high"], *overall["ci_low"][::-1]]
    column = field_names(result)[0]
    assert not page_visits.visit("minimal_pairs", run=run_id, section="Checkpoints", by=column).exception
    by_category, n_left_out = checkpoint_figure(points[points["category"] != ""])
    assert len([trace for trace in by_category.data if trace.mode == "lines+markers"]) == min(
        MOST_LINES, points["category"].nunique() - 1
    )
    assert "download-checkpoints" in {button.key for button in app.download_button}


def test_a_run_of_other_models_has_no_such_tab() -> None:
    app = page_visits.visit("minimal_pairs", run=finished(sample_data.minimal_pairs(), "owner/gpt", "owner/gpt-b"))
    assert "Checkpoints" not in [tab.label for tab in app.tabs]
    assert "download-checkpoints" not in {button.key for button in app.download_button}


def test_checkpoints_of_several_runs_are_joined_by_one_press() -> None:
    first, single, other = MODELS[0], MODELS[2], "owner/gpt@step7"
    finished(sample_data.minimal_pairs(), *MODELS[:2])
    finished(sample_data.minimal_pairs(), other, prefix="none")  # other settings: not the same numbers
    finished(sample_data.minimal_pairs(), "owner/gpt-other@step9")  # another training
    run_id = finished(sample_data.minimal_pairs(), single)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Checkpoints")
    assert not app.exception and any("one checkpoint of a training" in text.value for text in app.caption)
    button = app.button(key=f"minimal-join-checkpoints-{run_id}")
    assert "owner/gpt@step0, owner/gpt@step1000" in button.help and "step7" not in button.help
    button.click().run()
    assert not app.exception and not app.error
    joined = str(app.query_params["run"])
    runs = session.engine().runs
    assert joined != run_id and runs.wait(joined, page_visits.SECONDS).state == "done"
    result = runs.result(joined)
    assert result.settings.models == (single, MODELS[1], first)
    assert checkpoints(result, "LP").query("stratum == 'all' and category == ''")["step"].tolist() == [0, 32, 1000]
    again = page_visits.visit("minimal_pairs", run=joined, section="Checkpoints")
    assert f"minimal-join-checkpoints-{joined}" not in {button.key for button in again.button}
