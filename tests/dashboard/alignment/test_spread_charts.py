"""The figures of many aligned pairs: every pair is counted once, and the longest bar is the greatest change."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.alignment.spread import charts


def table(*losses: float) -> pd.DataFrame:
    n = len(losses)
    return pd.DataFrame(
        {
            "row": range(1, n + 1),
            "reference": [f"<b>文{i}</b>" + "長" * 40 for i in range(n)],
            "candidate": "x",
            "f1_loss": losses,
        }
    )


@pytest.mark.parametrize(("penalised", "names"), [(False, ["F1"]), (True, ["F1", "F1 with penalty"])])
def test_every_pair_is_in_the_histogram_once(penalised: bool, names: list[str]) -> None:
    pairs = pd.DataFrame({"f1": [0.2, 0.9, 0.9, np.nan], "penalized_f1": [0.1, 0.9, 0.5, np.nan]})
    figure = charts.score_histogram(pairs, penalised=penalised)
    assert [trace.name for trace in figure.data] == names
    assert [sum(trace.y) for trace in figure.data] == [3] * len(names)


def test_a_histogram_of_undefined_scores_is_empty() -> None:
    figure = charts.score_histogram(pd.DataFrame({"f1": [np.nan], "penalized_f1": [np.nan]}), penalised=False)
    assert sum(figure.data[0].y) == 0


def test_the_largest_losses_come_first_and_unchanged_pairs_are_left_out() -> None:
    changed = charts.most_changed(table(0.1, 0.0, 0.3, np.nan, 0.2))
    assert changed["row"].tolist() == [3, 5, 1]
    assert charts.most_changed(table(0.1, 0.3, 0.2), n=2)["row"].tolist() == [2, 3]


def test_a_bar_holds_its_row_and_escapes_its_text() -> None:
    figure = charts.change_figure(charts.most_changed(table(0.1, 0.3)))
    (bars,) = figure.data
    assert list(bars.x) == [0.3, 0.1] and [int(custom[0]) for custom in bars.customdata] == [2, 1]
    assert figure.layout.yaxis.ticktext[0].startswith("2 · &lt;b&gt;文1") and len(figure.layout.yaxis.ticktext[0]) < 50
    assert all("<b>" not in str(custom[1]) for custom in bars.customdata)
    assert figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange  # a page that is scrolled does not move it
    low, high = figure.layout.yaxis.range
    assert low > high  # the first bar on top


def test_no_change_is_an_empty_figure() -> None:
    assert len(charts.change_figure(charts.most_changed(table(0.0))).data[0].x) == 0
