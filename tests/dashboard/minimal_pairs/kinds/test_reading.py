"""The page of words with reading times: gains, the challenge's scores, the words, choices in the address."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

from dashboard.minimal_pairs.benchmark.checkpoints import checkpoint_figure
from dashboard.minimal_pairs.face import FACE
from dashboard.minimal_pairs.reading.checkpoints import GAIN, gains_along
from dashboard.minimal_pairs.reading.layers import layer_figure
from dashboard.minimal_pairs.reading.sections import curve_figure, gain_figure
from dashboard.shared import session
from dashboard.shared.exports import run_exports
from engine.evaluations.minimal_pairs.reading.layers import layers
from engine.evaluations.minimal_pairs.reading.times import (
    OWN,
    WITH_PREVIOUS,
    along_checkpoints,
    challenge_scores,
    gains,
    word_surprisals,
)
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished, finished_result, given_files
from tests.dashboard.printed_commands import Exported
from tests.evaluations.minimal_pairs.reading.test_reading_times import as_csv, challenge_rows, read
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


def test_gains_take_the_place_of_pairs() -> None:
    run_id = finished(read(as_csv(challenge_rows())), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and not app.error and not app.metric
    assert [tab.label for tab in app.tabs] == ["Reading times", "Words", "Scoring"]
    result = session.engine().runs.result(run_id)
    expected = gains(result)
    shown, challenge = [frame.value for frame in app.dataframe][:2]
    own = expected[expected["baseline"] == WITH_PREVIOUS]
    assert shown["gain"].tolist() == pytest.approx(own["gain"].tolist())
    assert shown["share"].tolist() == pytest.approx((100 * own["share"]).tolist())
    scores = challenge_scores(expected, result.format)
    assert sorted(challenge[["eye tracking", "self-paced reading"]].to_numpy().ravel()) == pytest.approx(
        sorted(scores["challenge"])
    )
    keys = {button.key for button in app.download_button}
    assert {"download-reading_times", "download-word_surprisals", "download-babylm_reading"} <= keys
    assert "Does the surprisal of words explain how long people read them?" in words(app)
    assert "only the shorter one?" not in words(app)
    links = {link.proto.page for link in app.get("page_link")}
    assert not any("rating" in link for link in links) and "published" not in {button.key for button in app.button}
    assert "download-summary" not in keys and "prefers the acceptable sentence" not in words(app)
    first = expected["measure"].iloc[0]
    best = own[own["measure"] == first]["gain"].max()
    assert FACE.headlines(result)[0].value == f"{best:.4f}"
    drawn(app)
    assert f"minimal-pairs-tabs-{run_id}" in app.session_state
    assert f"minimal-pairs-tabs-{run_id}-2" not in app.session_state  # another drawing is no other opening


def test_report_and_bundle_ask_what_the_page_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, Any] = {}
    draw: Callable[..., Any] = st.download_button

    def button(label: str, data: Any, **named: Any) -> Any:
        files[str(named.get("key"))] = data
        return draw(label, data, **named)

    monkeypatch.setattr(run_exports.st, "download_button", button)
    page_visits.visit("minimal_pairs", run=finished(read(as_csv(challenge_rows())), BERT, GPT))
    asked, of_pairs = "Does the surprisal of words explain how long people read them?", "only the shorter one?"
    report = files["download-report"]()
    assert asked in report and of_pairs not in report
    with zipfile.ZipFile(io.BytesIO(files["download-bundle"]())) as bundle:
        readme = bundle.read("README.md").decode()
    assert asked in readme and of_pairs not in readme


def test_baseline_and_column_are_chosen_and_kept_in_the_address() -> None:
    run_id = finished(read(as_csv(challenge_rows())), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id)
    app.segmented_control(key=f"minimal-pairs-baseline-{run_id}").set_value(OWN)
    app.run()
    assert not app.exception and app.query_params["baseline"] == OWN
    expected = gains(session.engine().runs.result(run_id)).query("baseline == @OWN")
    assert app.dataframe[0].value["gain"].tolist() == pytest.approx(expected["gain"].tolist())
    again = page_visits.visit(
        "minimal_pairs", run=run_id, section="Words", section_model=GPT, **{"time-column": "N400"}
    )
    assert not again.exception and not again.error
    of_model = word_surprisals(session.engine().runs.result(run_id)).query("model == @GPT")
    listed = again.dataframe[0].value
    assert len(listed) == len(of_model) and listed["surprisal"].is_monotonic_decreasing
    assert again.selectbox(key=f"minimal-pairs-time_column-{run_id}").value == "N400"


def test_the_figures_are_of_the_tables() -> None:
    run_id = finished(read(as_csv(challenge_rows())), BERT, GPT)
    result = session.engine().runs.result(run_id)
    own = gains(result).query("baseline == @OWN")
    figure = gain_figure(own)
    assert len(figure.data) == 2 and len(figure.data[0].y) == own["measure"].nunique()
    table = word_surprisals(result)
    curve = curve_figure(table, "N400")
    assert len(curve.data) == 2
    of_first = table[table["model"] == table["model"].iloc[0]]
    counted = curve.data[0].customdata
    assert sum(counted) == of_first["time:N400"].notna().sum() and len(counted) == 10
    assert min(curve.data[0].y) >= of_first["time:N400"].min() and list(curve.data[0].x) == sorted(curve.data[0].x)


def test_layers_have_a_tab_of_their_own_where_they_were_asked_for(exported: Exported) -> None:
    run_id = finished(read(as_csv(challenge_rows())), GPT, all_layers=True)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert not app.exception and [tab.label for tab in app.tabs] == ["Reading times", "By layer", "Words", "Scoring"]
    assert "download-layers" in {button.key for button in app.download_button}
    assert "--all-layers" in " ".join(code.value for code in app.code)
    assert exported.signature["settings"]["all_layers"] is True
    again = page_visits.visit("minimal_pairs", run=run_id, section="By layer", baseline=OWN, **{"time-column": "N400"})
    assert not again.exception and not again.error
    expected = layers(session.engine().runs.result(run_id)).query("baseline == @OWN and measure == 'N400'")
    shown = again.dataframe[0].value
    assert shown["gain"].tolist() == pytest.approx(expected["gain"].tolist())
    assert shown["over_last"].tolist() == pytest.approx(expected["over_last"].tolist(), nan_ok=True)
    (line,) = layer_figure(expected).data
    assert list(line.y) == pytest.approx(expected["gain"].tolist()) and list(line.x) == expected["layer"].tolist()


def test_the_form_offers_layers_for_reading_times_alone() -> None:
    app = given_files(("reading.csv", as_csv(challenge_rows()).encode()))
    app.toggle(key="minimal-pairs-layers").set_value(True)
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    assert len(finished_result(str(app.query_params["run"])).layers)
    pairs = given_files(("pairs.csv", "good,bad\n猫がいる,猫をいる\n".encode()))
    assert not [box for box in pairs.toggle if str(box.key).endswith("-layers")]


def test_checkpoints_have_a_curve_for_each_column_of_times() -> None:
    models = ("owner/gpt@step1000", "owner/gpt@step10", "owner/gpt@step100")
    run_id = finished(read(as_csv(challenge_rows())), *models)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Checkpoints", baseline=OWN)
    assert not app.exception and not app.error
    assert [tab.label for tab in app.tabs] == ["Reading times", "Checkpoints", "Words", "Scoring"]
    assert app.segmented_control(key=f"minimal-pairs-checkpoints-baseline-{run_id}").value == OWN
    assert "download-reading_checkpoints" in {button.key for button in app.download_button}
    result = session.engine().runs.result(run_id)
    table = along_checkpoints(result, gains(result))
    own = gains_along(table, OWN)
    figure, n_left_out = checkpoint_figure(own, GAIN)
    first = own[own["measure"] == own["measure"].iloc[0]].sort_values("step")
    assert not n_left_out and list(figure.data[0].x) == [10, 100, 1000]
    assert list(figure.data[0].y) == pytest.approx(first["gain"].tolist())
    by_model = gains(result).query("baseline == @OWN").set_index(["model", "measure"])["gain"]
    assert first["gain"].tolist() == [by_model[f"owner/gpt@step{n}", first["measure"].iloc[0]] for n in (10, 100, 1000)]
    alone = page_visits.visit("minimal_pairs", run=finished(read(as_csv(challenge_rows())), GPT))
    assert "Checkpoints" not in [tab.label for tab in alone.tabs]
