"""Columns chosen by hand on a page: the printed command reads the same columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from tests.dashboard.printed_commands import Exported, printed, same
from tests.support.page_visits import drawn, evaluated, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")

CONTENT = "text,headline,kind\n1,雨が降る,天気\n2,雪が積もる,天気\n3,試合に負けた,試合\n4,試合に勝った,試合\n"


def test_the_printed_command_reads_the_columns_that_were_chosen(
    exported: Exported,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
) -> None:
    app = visit("clusters")
    app.get_by_key("clusters-source").set_value("upload")
    drawn(app)
    app.file_uploader[0].upload("mine.csv", CONTENT.encode())
    drawn(app)
    for role, column in (("text", "headline"), ("label", "kind")):
        [box] = [box for box in app.selectbox if str(box.key).startswith(f"clusters-column-{role}-")]
        box.set_value(column)
        drawn(app)
    evaluated(app, "clusters")
    assert "Columns as chosen" in words(app)
    assert "--column text=headline --column label=kind" in printed(app)[0]

    (tmp_path / "mine.csv").write_text(CONTENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    written = command(app)
    on_page = exported.csv("models")
    both = [column for column in on_page if column in written["models"]]
    assert len(both) > 5
    same(on_page[both], written["models"][both])
