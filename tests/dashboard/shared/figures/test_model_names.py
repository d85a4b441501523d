"""Names of models in figures: long ones are shortened, and no two are called the same."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.clusters.charts import layer_curve
from dashboard.fill_mask.charts import domain_bars
from dashboard.metric_study.grid_charts import grid_figure
from dashboard.minimal_pairs.charts import category_figure, difference_figure
from dashboard.shared.theme import NAME_LENGTH, last_names, short_names
from engine.evaluations.metric_study.records import BERTSCORE

END = "/checkpoints/bert-small-japanese-step-10000"  # longer than what a short name keeps
ALPHA, BETA = f"/data/run-alpha{END}", f"/data/run-beta{END}"
SHORT = ["/data/run-alpha…anese-step-10000", "/data/run-beta…anese-step-10000"]


def test_names_of_one_end_keep_where_they_differ() -> None:
    names = short_names((ALPHA, "builtin/bert-mini-ja", BETA, "Ours=/srv/ours"))
    assert list(names.values()) == [SHORT[0], "builtin/bert-mini-ja", SHORT[1], "Ours"]
    assert short_names((ALPHA,)) == {ALPHA: "…ints/bert-small-japanese-step-10000"}


def test_a_difference_far_from_either_end_is_shown() -> None:
    long = "/home/somebody/experiments/of/this/spring"
    names = short_names((f"{long}/seed-1-again{END}", f"{long}/seed-2-again{END}"))
    assert list(names.values()) == ["…pring/seed-1-again…anese-step-10000", "…pring/seed-2-again…anese-step-10000"]


@pytest.mark.parametrize(
    "models",
    [
        (f"/x/one/a/a/a/a/a/a/a/a/a/a/a/a/a/last{END}", f"/x/two/a/a/a/a/a/a/a/a/a/a/a/a/a/last{END}", f"/y{END}"),
        (ALPHA, BETA, END[1:]),
        (SHORT[0], ALPHA, BETA),
    ],
)
def test_no_two_models_are_called_the_same(models: tuple[str, ...]) -> None:
    assert len(set(short_names(models).values())) == len(models)
    assert len(set(last_names(models).values())) == len(models)


def _layers() -> go.Figure:
    table = pd.DataFrame({"model": [ALPHA, BETA], "layer": 1, "score": [2.0, 3.0]})
    return layer_curve(table.assign(in_class_dispersion=1.0, out_of_class_dispersion=1.0))


def _domains() -> go.Figure:
    table = pd.DataFrame({"model": [ALPHA, BETA], "domain": "news", "n": 4, "mean_probability": [0.1, 0.2]})
    return domain_bars(table.assign(ci_low=0.05, ci_high=0.3))


def _shares(**columns: object) -> pd.DataFrame:
    table = pd.DataFrame({"model": [ALPHA, BETA], "n": 4, "n_correct": [2, 3], "accuracy": [0.5, 0.75]})
    return table.assign(n_tied=0, ci_low=0.1, ci_high=0.9, note="", clustered_by="", n_clusters=4, **columns)


@pytest.mark.parametrize(
    "figure",
    [
        _layers,
        _domains,
        lambda: difference_figure(_shares(difference=0, merged=False)),
        lambda: category_figure(_shares(category="case", stratum="all")),
    ],
)
def test_legends_tell_models_of_one_end_apart(figure: Callable[[], go.Figure]) -> None:
    names = [trace.name for trace in figure().data if trace.showlegend is not False]
    assert names == SHORT
    assert max(map(len, names)) <= NAME_LENGTH


def test_the_blocks_of_the_grid_tell_models_of_one_end_apart() -> None:
    table = pd.DataFrame({"model": [ALPHA, BETA], "idf": "none", "penalty": "none", "pearson": [0.1, 0.2]})
    shown = grid_figure(table.assign(kind=BERTSCORE), published=True)
    assert [note.text for note in shown.layout.annotations if note.text in SHORT] == SHORT
