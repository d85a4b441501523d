"""Titles of axes as a page shows them: in lines for which there is room; files of a figure have them whole."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from dashboard.minimal_pairs.reading.sections import gain_figure
from dashboard.shared.exports.tables.latex import display_width
from dashboard.shared.figures.axis_titles import WIDEST, fitted_titles, in_lines
from dashboard.shared.theme import axis_title
from engine.evaluations.minimal_pairs.reading.times import GAINS, OWN
from engine.measures.cards.catalog import CARDS


@pytest.mark.parametrize("measure", CARDS)
def test_a_title_is_broken_where_its_unit_begins_and_nothing_is_lost(measure: str) -> None:
    title = axis_title(measure)
    lines = in_lines(title, WIDEST).split("<br>")
    assert " ".join(lines) == title
    assert all(display_width(line) <= WIDEST for line in lines if " " in line)
    assert len(lines) > 1 or display_width(title) <= WIDEST


def test_a_bracket_begins_a_line_in_japanese_too() -> None:
    title = "バイトあたりビット数 BPB（ビット/バイト、小さいほどよい）"
    assert in_lines(title, 34) == "バイトあたりビット数 BPB<br>（ビット/バイト、小さいほどよい）"
    assert (
        in_lines("&lt;b&gt; of a user's own column that is long", 10) == "&lt;b&gt; of a user's own column that is long"
    )


def test_titles_fit_within_and_are_whole_afterwards() -> None:
    figure = go.Figure(go.Scatter(x=[1], y=[2]))
    figure.update_layout(height=250, xaxis_title="a b", yaxis_title="Gain in held-out log-likelihood of reading times")
    with fitted_titles(figure):
        assert figure.layout.xaxis.title.text == "a b"
        upright = figure.layout.yaxis.title.text.split("<br>")
        assert len(upright) > 1 and all(7 * len(line) <= 250 for line in upright)
    assert figure.layout.yaxis.title.text == "Gain in held-out log-likelihood of reading times"


def test_a_legend_does_not_lie_over_the_names_below_an_axis() -> None:
    rows = [
        {"model": model, "measure": f"self_paced_reading_time_{n}", "baseline": OWN, "gain": 0.1, "n": 9, "n_items": 3}
        for model in ("a", "b")
        for n in range(9)
    ]
    figure = gain_figure(GAINS.frame_of_records([dict.fromkeys(GAINS.headers) | row for row in rows]))
    assert figure.layout.showlegend and figure.layout.legend.y > 1 and figure.layout.legend.yanchor == "bottom"
    assert figure.layout.yaxis.title.text == "ΔLL (nats per word)"
