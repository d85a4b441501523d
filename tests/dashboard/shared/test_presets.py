"""Presets at the head of the forms: a form begins with one, one's own are kept, and no address names one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.faces import FACES
from dashboard.shared import session
from engine.datasets import sample_data
from engine.evaluations.alignment.records import Scoring, Settings
from engine.evaluations.presets import PRESETS, Preset
from engine.runs.storage import kept
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
EVERY = [(kind, known) for kind, presets in PRESETS.items() for known in presets]


def in_force(app: AppTest) -> str:
    """The name on the button of the presets."""
    labels = [str(block.proto.popover.label) for block in app.get("popover")]  # type: ignore[union-attr]
    return next(label for label in labels if label.startswith("Preset: ")).removeprefix("Preset: ")


def submitted(app: AppTest, kind: str) -> Any:
    """The settings of the run that the form submits."""
    app.button(key=f"{kind}-submit").click()
    run_id = str(drawn(app).query_params["run"])
    session.engine().runs.cancel(run_id)
    return session.engine().runs.settings(run_id)


@pytest.mark.parametrize(("kind", "known"), EVERY, ids=lambda value: value.name if isinstance(value, Preset) else value)
def test_a_form_begins_with_the_settings_of_a_preset(backend: FakeBackend, kind: str, known: Preset) -> None:
    app = visit(FACES[kind].page.name)
    if kind == "alignment":
        app.get_by_key("alignment-extent").set_value("dataset")
        drawn(app)
    app.button(key=f"presets-{kind}-begin-{known.name}").click()
    assert in_force(drawn(app)) == known.title
    assert "run" not in app.query_params and known.name not in str(dict(app.query_params))
    settings = submitted(app, kind)
    assert settings.models and replace(settings, models=()) == known.settings


def test_a_changed_setting_is_no_preset_until_it_is_kept_and_chosen_again(backend: FakeBackend) -> None:
    app = visit("clusters")
    first = in_force(app)
    app.get_by_key("clusters-pooling").set_value("weighted-mean")
    app.get_by_key("clusters-seed").set_value(7)
    assert in_force(drawn(app)) == "own settings"
    app.get_by_key("presets-clusters-name").set_value("weighted *7*")
    drawn(app).button(key="presets-clusters-keep").click()
    assert in_force(drawn(app)) == "weighted \\*7\\*"
    other = visit("clusters")  # another visit of the same owner
    assert in_force(other) == first
    other.button(key="presets-clusters-own-weighted *7*").click()
    assert in_force(drawn(other)) == "weighted \\*7\\*"
    settings = submitted(other, "clusters")
    assert (settings.pooling, settings.seed) == ("weighted-mean", 7)


def test_a_preset_of_ones_own_is_deleted(backend: FakeBackend) -> None:
    kept.keep_settings(session.engine().store, "local", "clusters", "mine", {"seed": 5})
    app = visit("clusters")
    app.button(key="presets-clusters-delete-mine").click()
    assert not [button for button in drawn(app).button if "mine" in str(button.key)]
    assert kept.settings_by_name(session.engine().store, "local", "clusters") == {}


def test_a_preset_that_cannot_be_used_says_why_and_can_be_deleted(backend: FakeBackend) -> None:
    kept.keep_settings(session.engine().store, "local", "clusters", "old", {"pooling": "unheard of"})
    app = visit("clusters")
    button = app.button(key="presets-clusters-own-old")
    assert button.disabled and "pooling" in button.help
    assert not app.button(key="presets-clusters-delete-old").disabled


def test_a_taken_name_is_an_error_of_the_form(backend: FakeBackend) -> None:
    app = visit("clusters")
    app.get_by_key("presets-clusters-name").set_value("shibayama-2020")
    drawn(app).button(key="presets-clusters-keep").click()
    assert "built-in preset" in words(drawn(app))


def test_a_result_is_shown_with_the_scoring_of_a_preset_and_its_link_has_the_settings(backend: FakeBackend) -> None:
    runs = session.engine().runs
    run_id = runs.submit(
        "alignment",
        Settings(("owner/bert",), scoring=Scoring("references", penalty="reading")),
        sample_data.sentence_pairs(),
    ).run_id
    assert runs.wait(run_id, SECONDS).state == "done"
    kept.keep_settings(
        session.engine().store,
        "local",
        "alignment",
        "by names of words",
        {"scoring": {"penalty": "reading", "criterion": "proper-nouns"}},
    )
    app = visit("alignment", run=run_id, order="lowest F1 first")
    n_calls = len(backend.calls)
    app.button(key="presets-alignment-shown-begin-bertscore").click()
    drawn(app)
    assert {name: app.query_params[name] for name in app.query_params} in (
        {"run": run_id, "order": "lowest F1 first", "idf": "none", "penalty": "none"},
        {"run": [run_id], "order": ["lowest F1 first"], "idf": ["none"], "penalty": ["none"]},
    )
    app.button(key="presets-alignment-shown-own-by names of words").click()
    drawn(app)
    assert "criterion proper-nouns" in words(app) and "by names" not in str(dict(app.query_params))
    # The link shows the same to somebody who has no such preset.
    kept.remove_settings(session.engine().store, "local", "alignment", "by names of words")
    query = {name.replace("_", "-"): app.query_params[name] for name in app.query_params}
    linked = page_visits.visit("alignment", **query)
    assert [metric.value for metric in linked.metric] == [metric.value for metric in app.metric]
    assert "criterion proper-nouns" in words(linked) and len(backend.calls) == n_calls


def test_the_presets_speak_japanese(backend: FakeBackend) -> None:
    app = page_visits.at("minimal_pairs")
    app.session_state["language"] = "ja"
    drawn(app)
    assert app.button(key="presets-minimal-pairs-begin-ueda-2024").label == "論文のとおり（Ueda 2024）"


@pytest.mark.parametrize(("rescale", "is_on"), [("own", True), ("", False), ("FILE", False)])
def test_no_preset_or_link_has_a_file_of_the_server_read(
    backend: FakeBackend, tmp_path: Path, rescale: str, is_on: bool
) -> None:
    path = tmp_path / "baseline.csv"
    path.write_text("LAYER,P,R,F\n" + "".join(f"{layer},0.1,0.1,0.1\n" for layer in range(30)), encoding="utf-8")
    kept.keep_settings(
        session.engine().store, "local", "alignment", "mine", {"rescale": rescale.replace("FILE", str(path))}
    )
    app = visit("alignment", rescale=str(path))
    app.get_by_key("alignment-extent").set_value("dataset")
    drawn(app).button(key="presets-alignment-own-mine").click()
    assert drawn(app).toggle(key="alignment-rescale-1").value is is_on
    assert submitted(app, "alignment").rescale == ("own" if is_on else "")
