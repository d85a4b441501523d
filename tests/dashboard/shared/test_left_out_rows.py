"""A file with bad rows on a page: refused, then without these rows; the result lists them, the printed command too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.printed_commands import Exported, printed, same
from tests.support.page_visits import drawn, evaluated, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")

NAME = "mine.csv"
CONTENT = "good,bad\n猫が魚を,猫が魚に\n,犬が\n雨が降る,雨を降る\nx\n本を読む,本が読む\n"
LABELLED = "text,label\n雨が降る,天気\n,天気\n雪が積もる,天気\nx\n試合に負けた,試合\n試合に勝った,試合\n"


def with_file(page: str, kind: str, content: str) -> AppTest:
    app = visit(page)
    app.get_by_key(f"{kind}-source").set_value("upload")
    drawn(app)
    app.file_uploader[0].upload(NAME, content.encode())
    return drawn(app)


@pytest.mark.parametrize(
    ("page", "kind", "content", "tables"),
    [("minimal_pairs", "minimal-pairs", CONTENT, ["pairs"]), ("clusters", "clusters", LABELLED, ["models"])],
)
def test_the_result_and_the_printed_command_leave_the_same_rows_out(
    page: str,
    kind: str,
    content: str,
    tables: list[str],
    exported: Exported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
) -> None:
    app = with_file(page, kind, content)
    assert "row 4: line 5 has 1 field" in words(app) and app.button(key=f"{kind}-submit").disabled
    app.checkbox(key=f"{kind}-skip-bad-rows").check()
    assert "2 rows left out: " in words(drawn(app)) and not app.error
    evaluated(app, kind)
    left_out = next(
        frame.value
        for frame in app.dataframe
        if list(frame.value.columns[:2]) == ["model", "row"] and "reason" in frame.value
    )
    assert left_out["row"].tolist() == [2, 4] and "2 rows left out: " in words(app)
    assert "--skip-bad-rows" in printed(app)[0].split()

    (tmp_path / NAME).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    written = command(app)
    for name in tables:
        on_page = exported.csv(name)
        both = [column for column in on_page if column in written[name]]
        assert len(both) > 5 and len(on_page)
        same(on_page[both], written[name][both])
    assert written["excluded"]["row"].tolist() == ["2", "4"]


def test_the_rows_are_asked_for_again_once_they_are_not_left_out() -> None:
    app = with_file("clusters", "clusters", LABELLED)
    app.checkbox(key="clusters-skip-bad-rows").check()
    drawn(app)
    app.checkbox(key="clusters-skip-bad-rows").uncheck()
    assert "line 5 has 1 field" in words(drawn(app)) and not app.checkbox(key="clusters-skip-bad-rows").value


def test_a_file_without_bad_rows_is_offered_nothing() -> None:
    app = with_file("clusters", "clusters", "text,label\n雨,天気\n負け,試合\n")
    assert not [box for box in app.checkbox if box.key == "clusters-skip-bad-rows"]


def test_pasted_lines() -> None:
    app = visit("clusters")
    app.get_by_key("clusters-source").set_value("paste")
    drawn(app)
    app.text_area(key="clusters-text").set_value("雨\t天気\n雪\n負け\t試合")
    app.button(key="clusters-use").click()
    drawn(app)
    app.checkbox(key="clusters-skip-bad-rows").check()
    assert "1 row left out: has 1 field instead of 2 (row 2)." in words(drawn(app))
    assert not app.button(key="clusters-submit").disabled
