from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.faces import FACES
from dashboard.shared.exports.report import CITATIONS, ROWS_SHOWN, Report, least_width, report_html
from dashboard.shared.exports.signing import digest

HOSTILE = "</script><img src=x onerror=alert(1)>"
REPORT = Report(
    title=f"Clusters: {HOSTILE}",
    papers=FACES["clusters"].papers,
    question="How far?",
    made=datetime(2026, 11, 20, 9, 30, tzinfo=UTC),
    signature={"models": [{"name": HOSTILE}], "settings": {"pooling": "cls"}},
    figures={f"Score {HOSTILE}": go.Figure(go.Scatter(x=[1, 2], y=[3, 4], text=[HOSTILE, "猫"]))},
    tables={"models": pd.DataFrame({"model": [HOSTILE, "b"], "score": [1.23456789, float("nan")], "n": [1200, 3]})},
    notices=(HOSTILE,),
    note=HOSTILE,
    command=f"python -m engine clusters --data '{HOSTILE}'",
)


def body(text: str) -> str:
    return text.partition("<body>")[2]


def test_a_report_is_complete_and_needs_no_network() -> None:
    text = report_html(REPORT)
    assert text.startswith("<!DOCTYPE html>") and text.endswith("</html>")
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", text)  # nothing is fetched
    assert text.count("<script>") >= 1 and "Plotly.newPlot" in body(text)
    assert digest(REPORT.signature) in text and "2026-11-20 09:30 UTC" in text
    assert CITATIONS["shibayama"] in text and CITATIONS["length"] not in text
    assert "&quot;name&quot;: &quot;猫&quot;" in report_html(replace(REPORT, signature={"name": "猫"}, figures={}))


def test_texts_of_users_are_escaped() -> None:
    text = body(report_html(REPORT))
    assert "<img" not in text and "onerror=alert(1)&gt;" in text
    # only Plotly's own scripts are opened and closed, and that of the search
    assert text.count("<script") == text.count("</script>") == len(REPORT.figures) * text.count("Plotly.newPlot(") + 1


def test_numbers_are_formatted_and_long_tables_count_the_other_rows() -> None:
    text = body(report_html(REPORT))
    assert '<td class="number">1.23457</td>' in text and '<td class="number">–</td>' in text
    assert '<td class="number">1200</td>' in text  # as the row numbers of files
    long = replace(REPORT, tables={"points": pd.DataFrame({"row": range(ROWS_SHOWN + 7)})}, figures={})
    ranks = replace(REPORT, tables={"items": pd.DataFrame({"rank": pd.array([1234, None], dtype="Int64")})}, figures={})
    assert re.findall('<td class="number">(.*?)</td>', report_html(ranks)) == ["1234", "–"]
    lacking = pd.DataFrame({"shown": pd.array([True, None], dtype="boolean"), "why": ["", None]})
    cells = re.findall("<td>(.*?)</td>", report_html(replace(REPORT, tables={"lacking": lacking}, figures={})))
    assert cells == ["True", "", "", ""]
    assert "and 7 more rows" in report_html(long) and body(report_html(long)).count("<tr>") == ROWS_SHOWN + 1


def test_every_kind_of_run_names_its_papers() -> None:
    assert {kind for kind, face in FACES.items() if not face.papers} == {"dictionary"}
    assert all(key in CITATIONS for face in FACES.values() for key in face.papers)


def test_a_figure_of_parts_or_of_many_columns_keeps_the_width_that_it_needs_and_titles_fit() -> None:
    maps = make_subplots(rows=2, cols=3)
    heat = go.Figure(go.Heatmap(z=[[0.1] * 17] * 4, x=["言わ"] * 17))
    bars = go.Figure(go.Bar(x=[1], y=["a"]))
    bars.update_layout(xaxis_title="Bits per byte BPB (bits per byte, smaller is better)")
    assert [least_width(figure) for figure in (maps, heat, bars, go.Figure())] == [780, 654, 0, 0]
    assert least_width(go.Figure(go.Heatmap(z=[[1, 2], [3, 4]]))) == 0
    shown = report_html(replace(REPORT, figures={"maps": maps, "bars": bars}))
    assert shown.count("min-width: 780px") == 1 and "BPB\\u003cbr\\u003e(bits" in shown
    assert bars.layout.xaxis.title.text == "Bits per byte BPB (bits per byte, smaller is better)"
