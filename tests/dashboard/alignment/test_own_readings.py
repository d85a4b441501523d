"""A list of readings of one's own: from a file, kept for new evaluations, and never mixed with that of a link."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from dashboard.shared.inputs import own_readings
from engine.evaluations.alignment.records import Scoring
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def kept() -> str:
    """The list that the viewer keeps."""
    return own_readings.access().mine()


def form_field(app: AppTest) -> str:
    """The key of the field of the page's form."""
    run = str(app.query_params.get("run", "no run")).strip("[]'")
    return next(
        str(area.key)
        for area in app.text_area
        if str(area.key).startswith(("alignment-readings-", "metric-study-readings-")) and run not in str(area.key)
    )


def upload(app: AppTest, key: str, name: str, content: bytes) -> AppTest:
    """Upload a list beside a field."""
    app.get_by_key(f"{key}-file-0").upload(name, content)
    return drawn(app)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.csv", "name,reading\n光宙,ピカチュウ\n東,ひがし/あずま\n".encode()),
        ("names.tsv", "光宙\tピカチュウ\r\n東\tひがし/あずま\r\n".encode("utf-8-sig")),
        ("names.txt", "光宙=ピカチュウ\n東=ひがし/あずま".encode("utf-16")),
    ],
)
def test_a_file_of_readings_counts_at_once_and_new_evaluations_begin_with_it(
    run_id: str, name: str, content: bytes
) -> None:
    line = "光宙=ぴかちゅう;東=ひがし/あずま"
    app = visit("alignment", run=run_id)
    upload(app, f"alignment-readings-{run_id}", name, content)
    assert app.query_params["readings"] in (line, [line]) and "光宙=ぴかちゅう" in words(app)
    assert kept() == line and app.text_area(key=form_field(app)).value == line.replace(";", "\n")
    for page in ("alignment", "metric_study"):
        assert (other := visit(page)).text_area(key=form_field(other)).value == line.replace(";", "\n")
    app = visit("alignment")
    app.button(key="alignment-submit").click()
    submitted = str(drawn(app).query_params["run"]).strip("[]'")
    assert session.engine().runs.settings(submitted).scoring == Scoring(readings=line)


def test_a_file_that_is_no_list_leaves_the_list_and_says_why(run_id: str) -> None:
    app = visit("alignment", run=run_id, readings="光宙=みつおき")
    upload(app, f"alignment-readings-{run_id}", "names.csv", b"pikachu,pikachu")
    assert "pikachu" in words(app) and app.query_params["readings"] == "光宙=みつおき" and not kept()


def test_a_file_that_the_browser_should_have_refused_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {"k-file-0": SimpleNamespace(size=2**20 + 1, name="a.csv")}
    monkeypatch.setattr(own_readings, "st", SimpleNamespace(session_state=state))
    own_readings._uploaded("k", "", 0)
    assert "at most 1 MB" in str(state["k-failed"]) and state["k-files"] == 1


def test_the_list_of_a_link_is_shown_alone_and_kept_only_when_that_is_asked(run_id: str) -> None:
    own_readings.access().keep("東=あずま")
    app = visit("alignment", run=run_id, readings="光宙=ぴか")
    assert "readings 光宙=ぴか ·" in words(app) and "東=あずま" not in words(app)
    key = f"alignment-readings-{run_id}"
    app.text_area(key=key).input("光宙=ぴか\n西=にし")
    assert drawn(app).query_params["readings"] == "光宙=ぴか;西=にし" and kept() == "東=あずま"
    app.button(key=f"{key}-use").click()
    assert drawn(app).query_params["readings"] == "東=あずま"
    app.text_area(key=key).input("東=ひがし")  # begun from the kept list
    assert drawn(app).query_params["readings"] == "東=ひがし" and kept() == "東=ひがし"
    app.text_area(key=key).input("")
    assert "readings" not in drawn(app).query_params and kept() == "東=ひがし"
    app.text_area(key=key).input("南=みなみ")
    drawn(app).button(key=f"{key}-keep").click()
    drawn(app)
    assert kept() == "南=みなみ"


def test_the_kept_list_is_removed_where_it_is_shown(backend: FakeBackend) -> None:
    own_readings.access().keep("東=あずま")
    app = visit("alignment")
    app.button(key=f"{form_field(app)}-remove").click()
    drawn(app)
    assert not kept() and app.text_area(key=form_field(app)).value == ""


def test_a_preset_is_its_own_settings_also_for_who_keeps_a_list(backend: FakeBackend) -> None:
    own_readings.access().keep("東=あずま")
    app = visit("alignment")
    app.button(key="presets-alignment-begin-novel-translation").click()
    drawn(app)
    assert app.text_area(key="alignment-readings-1").value == ""
    app.button(key="alignment-readings-1-use").click()
    assert drawn(app).text_area(key="alignment-readings-1").value == "東=あずま"
