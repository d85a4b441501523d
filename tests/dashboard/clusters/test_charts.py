"""Figures of the clusters page, and the theme all figures share: pure functions on synthetic results."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.clusters import charts
from dashboard.dictionary.charts import idf_histogram
from dashboard.shared import theme
from tests.support.cluster_results import result_of


@pytest.fixture
def models() -> pd.DataFrame:
    # Table 2 of Shibayama et al. 2020: the figure must rank and show what the paper prints.
    return pd.DataFrame(
        {
            "model": ["Kyoto", "Laboro", "Tohoku"],
            "in_class_dispersion": [240131.79, 153378.22, 49991.31],
            "out_of_class_dispersion": [337.83, 273.83, 65.64],
            "score": [710.81, 560.13, 761.58],
            "rank": pd.array([2, 1, 3], dtype="Int64"),
        }
    )


@pytest.fixture
def intervals() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"model": model, "measure": "dispersion_score", "value": value, "ci_low": value - 10, "ci_high": value + 20}
            for model, value in (("Kyoto", 710.81), ("Laboro", 560.13), ("Tohoku", 761.58))
        ]
    )


def numbers(figure: go.Figure) -> list[str]:
    """What stands beside the bars, from the top."""
    return [note.text for note in figure.layout.annotations][1::2]


def names(figure: go.Figure) -> list[str]:
    return [note.text for note in figure.layout.annotations][::2]


def test_bars_follow_the_rank_and_print_the_papers_digits(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    figure = charts.bars(models, intervals, "dispersion_score")
    assert names(figure) == ["Laboro", "Kyoto", "Tohoku"]
    assert list(figure.data[0].x) == [560.13, 710.81, 761.58]
    assert [number.split(" ")[0] for number in numbers(figure)] == ["560.13", "710.81", "761.58"]
    in_class = charts.bars(models, intervals, "in_class_dispersion")
    assert numbers(in_class) == ["153,378.22", "240,131.79", "49,991.31"]  # no interval is given for it


def test_bars_carry_their_intervals(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    figure = charts.bars(models, intervals.sample(frac=1, random_state=0), "dispersion_score")
    line = figure.data[1]  # each value less 10 to value and 20: the middle is value and 5, and 15 to either side
    assert list(line.x) == pytest.approx([565.13, 715.81, 766.58])
    assert list(line.error_x.array) == pytest.approx([15] * 3)
    assert "550.1–580.1" in numbers(figure)[0] and "751.6–781.6" in numbers(figure)[2]
    # The axis reaches beyond the longest interval, and numbers follow it.
    assert figure.layout.xaxis.range[1] > 781.58
    assert figure.layout.annotations[5].x == pytest.approx(781.58)


def test_an_interval_without_an_upper_end_is_drawn_to_the_edge_and_labelled(
    models: pd.DataFrame, intervals: pd.DataFrame
) -> None:
    endless = intervals.assign(ci_high=[np.inf, 580.13, 781.58])
    figure = charts.bars(models, endless, "dispersion_score")
    assert "700.8–∞" in numbers(figure)[1]
    drawn = [*figure.data[1].x, *figure.data[1].error_x.array, *figure.layout.xaxis.range]
    assert np.isfinite(drawn).all()
    assert figure.data[1].x[1] + figure.data[1].error_x.array[1] > 781.58


def test_bars_show_the_better_end_of_the_card(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    for measure, words in (("in_class_dispersion", "smaller"), ("out_of_class_dispersion", "larger")):
        assert charts.bars(models, intervals, measure).layout.title.subtitle.text.endswith(f"{words} is better")


def test_an_undefined_score_is_labelled_and_not_drawn(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    models.loc[1, ["score", "rank"]] = [np.nan, pd.NA]
    intervals.loc[1, ["value", "ci_low", "ci_high"]] = np.nan
    figure = charts.bars(models, intervals, "dispersion_score")
    assert names(figure)[-1] == "Laboro" and numbers(figure)[-1] == "undefined"
    assert np.isfinite(figure.layout.xaxis.range).all() and np.isfinite(figure.layout.annotations[-1].x)


def test_bars_of_nothing_but_undefined_values_have_an_axis(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    models["score"], models["rank"] = np.nan, pd.array([pd.NA] * 3, dtype="Int64")
    assert numbers(charts.bars(models, intervals.head(0), "dispersion_score")) == ["undefined"] * 3


def test_a_models_name_is_escaped(models: pd.DataFrame, intervals: pd.DataFrame) -> None:
    figure = charts.bars(models.assign(model=["<b>", "%{x}", "&"]), intervals, "dispersion_score")
    assert names(figure) == ["%{x}", "&lt;b&gt;", "&amp;"]
    assert "%{x}" not in figure.data[0].hovertemplate


def test_the_curve_has_a_line_for_each_model_and_marks_the_chosen_layer() -> None:
    layers = result_of(layers=4).layers
    figure = charts.layer_curve(layers.sample(frac=1, random_state=0), {"owner/first": 3, "owner/second": 0})
    lines = {trace.name: trace for trace in figure.data}
    assert list(lines["owner/first"].x) == [0, 1, 2, 3]
    wanted = layers[layers["model"] == "owner/second"].set_index("layer")["score"]
    assert list(lines["owner/second"].y) == wanted.loc[[0, 1, 2, 3]].tolist()
    assert [int(np.argmax(lines[name].marker.size)) for name in ("owner/first", "owner/second")] == [3, 0]


def test_the_curve_leaves_a_gap_where_the_score_is_undefined() -> None:
    layers = result_of(layers=3).layers
    layers.loc[layers["layer"] == 1, "score"] = np.nan
    assert [np.isnan(y) for y in charts.layer_curve(layers).data[0].y] == [False, True, False]


def test_a_hover_breaks_wide_text_at_its_width_and_cuts_long_text() -> None:
    # 44 columns are 22 kanji.
    assert theme.wrapped("漢" * 30) == "漢" * 22 + "<br>" + "漢" * 8
    assert theme.wrapped("a" * 44) == "a" * 44
    assert theme.wrapped("漢" * 500).endswith(" …")
    assert theme.wrapped("") == ""


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (0, "circle"),
        (9, "circle"),
        (10, "diamond"),
        (49, "cross"),
        (50, "circle"),
    ],
)
def test_repeated_colours_have_another_shape(index: int, shape: str) -> None:
    assert theme.symbol(index) == shape


def test_the_threshold_is_an_edge_of_the_bars_of_a_dictionary() -> None:
    idf = np.array([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
    bar = idf_histogram(idf, 1.0).data[0]
    warm = np.array([color == theme.WARM for color in bar.marker.color])
    assert sum(bar.y) == 6
    assert np.asarray(bar.y)[warm].sum() == 2  # 2.0 and 3.0; what ties with the threshold is not above it


def test_a_threshold_below_everything_draws_no_line() -> None:
    assert not idf_histogram(np.array([0.0, 1.0]), -np.inf).layout.shapes


def test_the_palettes_are_those_of_the_configuration() -> None:
    config = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    for ground, palette in theme.PALETTES.items():
        assert tuple(config["theme"][ground]["chartCategoricalColors"]) == palette
        assert len(palette) == theme.N_COLORS
        assert len(config["theme"][ground]["chartSequentialColors"]) == 10


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_colour_has_enough_contrast_with_its_background(ground: str) -> None:
    """WCAG 1.4.11 asks 3:1 of graphics."""
    config = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    background = config["theme"][ground]["backgroundColor"]
    for color in (*theme.PALETTES[ground], theme.ACCENT, theme.WARM, theme.GREY):
        assert _contrast(color, background) >= 2.9, (color, round(_contrast(color, background), 2))


def _contrast(first: str, second: str) -> float:
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
