"""Comments on the page of a run, the list of what is new, and comments in what is exported."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from dashboard.shared.comments import talk
from dashboard.shared.exports import run_exports
from engine.runs.access.viewers import Viewer
from engine.runs.comments import access, rows
from engine.runs.comments.access import CommentAccess, view_of
from engine.runs.storage.searching import Search
from tests.dashboard.test_stored_runs import VERSION_STORED
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "data_dir")
HTML = "<script>alert(1)</script> **bold** $x$ =1+1"
OTHER = Viewer("browser:" + "b" * 32, signed_in=False)


@pytest.fixture
def data_dir(backend: FakeBackend, tmp_path: Path) -> Path:
    return stored_runs.copied(VERSION_STORED, tmp_path / "data")


def run_id() -> str:
    (run,) = (run for run in session.engine().store.search(Search()) if run.kind == "alignment")
    return run.id


def opened(app: AppTest, run: str) -> AppTest:
    """The page with the popover of comments open."""
    app.session_state[f"run-comments-{run}"] = True
    return drawn(app)


def others() -> CommentAccess:
    return CommentAccess(session.engine().access(OTHER))


def test_a_comment_is_sent_shown_as_it_was_typed_and_removed() -> None:
    run = run_id()
    app = opened(visit("alignment", run=run, row="3"), run)
    app.text_area(key=f"run-comment-text-{run}").set_value(HTML)
    assert app.checkbox(key=f"run-comment-about-{run}").value  # a row is on show
    app.button(key=f"run-comment-send-{run}").click()
    drawn(app)
    assert app.text_area(key=f"run-comment-text-{run}").value == ""
    (comment,) = others().of_run(run).comments
    assert (comment.text, view_of(comment)["row"]) == (HTML, ["3"])
    assert HTML in words(app) and not any(element.allow_html for element in app.markdown if "script" in element.value)
    app.button(key=f"run-comment-remove-{comment.id}").click()
    drawn(app)
    assert others().n_of_run(run) == 0


def test_an_empty_comment_is_refused_in_words() -> None:
    run = run_id()
    app = opened(visit("alignment", run=run), run)
    app.button(key=f"run-comment-send-{run}").click()
    assert "A comment needs a text." in [error.value for error in drawn(app).error]


def test_a_text_that_is_too_long_reaches_who_says_so() -> None:
    """A field with a limit of its own drops a longer paste, and an empty field is sent."""
    run = run_id()
    app, key = opened(visit("alignment", run=run), run), f"run-comment-text-{run}"
    assert not app.text_area(key=key).max_chars and not app.text_area(key=f"run-note-text-{run}").max_chars
    app.text_area(key=key).set_value("あ" * 2001)
    app.button(key=f"run-comment-send-{run}").click()
    assert "A comment has at most 2,000 characters; got 2,001." in [error.value for error in drawn(app).error]
    assert app.text_area(key=key).value == "あ" * 2001


def test_a_refused_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MOST_A_MINUTE", 0)
    run = run_id()
    app, key = opened(visit("alignment", run=run), run), f"run-comment-text-{run}"
    app.text_area(key=key).set_value("Worth keeping")
    app.button(key=f"run-comment-send-{run}").click()
    drawn(app)
    assert others().n_of_run(run) == 0 and app.text_area(key=key).value == "Worth keeping"


def test_only_the_last_comments_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk, "MOST_DRAWN", 2)
    run = run_id()
    for number in range(5):
        others().write(run, f"number {number}")
    shown = words(opened(visit("alignment", run=run), run))
    assert "number 4" in shown and "number 3" in shown and "number 2" not in shown
    assert "Earlier comments, which are not shown: 3" in shown


def test_who_may_change_the_run_closes_its_comments() -> None:
    run = run_id()
    app = opened(visit("alignment", run=run), run)
    app.toggle(key=f"run-comments-closed-{run}").set_value(True)
    drawn(app)
    assert others().of_run(run).closed and "takes no more comments" in words(app)
    assert not [area for area in app.text_area if area.key == f"run-comment-text-{run}"]


def test_what_is_new_since_the_last_visit_is_listed_once() -> None:
    run, viewer = run_id(), session.viewer()
    rows.visit(session.engine().store, viewer.id, datetime.now(UTC) - timedelta(days=1))
    others().write(run, "Have you **seen** row 3?")
    app = visit("runs")
    assert "Have you **seen** row 3?" in words(app)
    assert "Have you **seen** row 3?" in words(drawn(app))  # until the session ends
    assert "Have you" not in words(visit("runs"))


def test_comments_are_in_the_report_and_the_bundle_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    run, files = run_id(), {}
    others().write(run, "=HYPERLINK(1) <b>x</b>\nsecond line", {"row": ["3"]})
    draw: Callable[..., Any] = st.download_button

    def button(label: str, data: Any, **named: Any) -> Any:
        files[named.get("key")] = data
        return draw(label, data, **named)

    monkeypatch.setattr(run_exports.st, "download_button", button)
    app = visit("alignment", run=run)
    assert "second line" not in files["download-report"]()
    with zipfile.ZipFile(io.BytesIO(files["download-bundle"]())) as bundle:
        assert "comments.csv" not in bundle.namelist() and b"comments" not in bundle.read("README.md")
    app.checkbox(key="export-comments").check()
    drawn(app)
    report = files["download-report"]()
    assert "=HYPERLINK(1) &lt;b&gt;x&lt;/b&gt;<br>second line" in report and "<b>x</b>" not in report
    with zipfile.ZipFile(io.BytesIO(files["download-bundle"]())) as bundle:
        assert b"`comments.csv`" in bundle.read("README.md")
        (line,) = csv.DictReader(io.StringIO(bundle.read("comments.csv").decode("utf-8-sig")))
    assert line["text"].lstrip("'") == "=HYPERLINK(1) <b>x</b>\nsecond line" and not line["text"].startswith("=")
    assert (line["row"], line["author"]) == ("3", session.access().owner_names([OTHER.id])[OTHER.id])
