"""Figures of the clusters page, and the theme all figures share: pure functions on synthetic results."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dashboard.charts import clusters as charts
from dashboard.charts import theme
from dashboard.charts.corpora import idf_histogram

CLASSES = ("料理", "技術", "スポーツ")


@pytest.fixture
def models() -> pd.DataFrame:
    # Table 2 of Shibayama et al. 2020: the figure must rank and show what the paper prints.
    return pd.DataFrame({
        "model": ["Kyoto", "Laboro", "Tohoku"],
        "in_class_dispersion": [240131.79, 153378.22, 49991.31],
        "out_of_class_dispersion": [337.83, 273.83, 65.64],
        "score": [710.81, 560.13, 761.58],
        "rank": pd.array([2, 1, 3], dtype="Int64"),
    })


@pytest.fixture
def points() -> pd.DataFrame:
    random = np.random.default_rng(0)
    n = 4 * len(CLASSES)
    return pd.DataFrame([
        {"model": model, "row": row + 1, "text": f"{CLASSES[row % 3]}の文 {row}", "label": CLASSES[row % 3],
         "x": x, "y": y}
        for model in ("m1", "m2") for row, (x, y) in enumerate(random.normal(size=(n, 2)))
    ])


def test_bars_follow_the_rank_and_print_the_papers_digits(models: pd.DataFrame) -> None:
    figure = charts.bars(models, "dispersion_score")
    bar = figure.data[0]
    assert [note.text for note in figure.layout.annotations] == list(bar.customdata) == ["Laboro", "Kyoto", "Tohoku"]
    assert list(bar.x) == [560.13, 710.81, 761.58]
    assert list(bar.text) == ["560.13", "710.81", "761.58"]
    assert list(charts.bars(models, "in_class_dispersion").data[0].text) == ["153,378.22", "240,131.79", "49,991.31"]


def test_bars_say_which_end_is_better_as_the_card_does(models: pd.DataFrame) -> None:
    assert charts.bars(models, "in_class_dispersion").layout.title.subtitle.text.endswith("smaller is better")
    assert charts.bars(models, "out_of_class_dispersion").layout.title.subtitle.text.endswith("larger is better")


def test_an_undefined_score_is_said_not_drawn(models: pd.DataFrame) -> None:
    models.loc[1, ["score", "rank"]] = [np.nan, pd.NA]
    figure = charts.bars(models, "dispersion_score")
    assert list(figure.data[0].customdata)[-1] == "Laboro"
    assert list(figure.data[0].text)[-1] == "undefined"
    assert np.isfinite(figure.layout.xaxis.range).all()


def test_bars_of_nothing_but_undefined_values_have_an_axis(models: pd.DataFrame) -> None:
    models["score"], models["rank"] = np.nan, pd.array([pd.NA] * 3, dtype="Int64")
    assert list(charts.bars(models, "dispersion_score").data[0].text) == ["undefined"] * 3


def test_each_sentence_stands_once_on_its_models_map(points: pd.DataFrame) -> None:
    figure = charts.class_map(points, "m2", CLASSES)
    assert [trace.name for trace in figure.data] == list(CLASSES)
    drawn = {row: (x, y) for trace in figure.data
             for (_, row), x, y in zip(trace.customdata, trace.x, trace.y, strict=True)}
    wanted = points[points["model"] == "m2"].set_index("row")
    assert drawn == {row: (line.x, line.y) for row, line in wanted.iterrows()}


def test_colours_depend_on_the_class_not_on_the_map(points: pd.DataFrame) -> None:
    """Series take the template's n-th colour, so the n-th trace must be the n-th class even where it has no point."""
    only = points[(points["model"] == "m1") & (points["label"] != CLASSES[0])]
    figure = charts.class_map(only, "m1", CLASSES)
    assert [trace.name for trace in figure.data] == list(CLASSES)
    assert [len(trace.x) for trace in figure.data] == [0, 4, 4]


def test_unchosen_classes_stay_in_grey(points: pd.DataFrame) -> None:
    figure = charts.class_map(points, "m1", CLASSES, chosen=["技術"])
    assert [trace.marker.color for trace in figure.data] == [theme.GREY, None, theme.GREY]


def test_typed_text_is_shown_letter_by_letter(points: pd.DataFrame) -> None:
    points.loc[0, "text"] = "<b>太字</b> & <script>"
    points.loc[0, "label"] = "a<i>%{x}"
    classes = charts.class_order(points)
    figure = charts.class_map(points, "m1", classes)
    first = next(trace for trace in figure.data if "&lt;i&gt;" in trace.name)
    assert first.customdata[0][0] == "&lt;b&gt;太字&lt;/b&gt; &amp; &lt;script&gt;"
    assert "<i>" not in first.hovertemplate and "%{x}" not in first.hovertemplate
    assert "&lt;m&gt;" in charts.class_map(points.assign(model="<m>"), "<m>", classes).layout.title.text


def test_classes_keep_the_order_of_their_first_sentence(points: pd.DataFrame) -> None:
    shuffled = points.sample(frac=1, random_state=1)
    assert charts.class_order(shuffled) == list(CLASSES)


def test_many_points_go_to_a_canvas(points: pd.DataFrame) -> None:
    many = pd.concat([points] * 400)
    assert {trace.type for trace in charts.class_map(many, "m1", CLASSES).data} == {"scattergl"}


def test_without_coordinates_there_is_no_map(points: pd.DataFrame) -> None:
    assert charts.has_map(points, "m1")
    assert not charts.has_map(points.assign(x=np.nan, y=np.nan), "m1")


def test_a_hover_breaks_wide_text_at_its_width_and_cuts_long_text() -> None:
    # 44 columns are 22 kanji.
    assert theme.wrapped("漢" * 30) == "漢" * 22 + "<br>" + "漢" * 8
    assert theme.wrapped("a" * 44) == "a" * 44
    assert theme.wrapped("漢" * 500).endswith(" …")
    assert theme.wrapped("") == ""


@pytest.mark.parametrize(("index", "shape"), [
    (0, "circle"), (9, "circle"), (10, "diamond"), (49, "cross"), (50, "circle"),
])
def test_when_colours_come_again_the_shape_changes(index: int, shape: str) -> None:
    assert theme.symbol(index) == shape


def test_the_bars_of_a_dictionary_part_at_the_threshold() -> None:
    idf = np.array([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
    bar = idf_histogram(idf, 1.0).data[0]
    warm = np.array([color == theme.WARM for color in bar.marker.color])
    assert sum(bar.y) == 6
    assert np.asarray(bar.y)[warm].sum() == 2  # 2.0 and 3.0; what ties with the threshold is not above it


def test_a_threshold_below_everything_draws_no_line() -> None:
    assert not idf_histogram(np.array([0.0, 1.0]), -np.inf).layout.shapes


def test_the_palettes_are_those_of_the_configuration() -> None:
    config = tomllib.loads((Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    for ground, palette in theme.PALETTES.items():
        assert tuple(config["theme"][ground]["chartCategoricalColors"]) == palette
        assert len(palette) == theme.N_COLORS
        assert len(config["theme"][ground]["chartSequentialColors"]) == 10


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_every_colour_stands_out_from_its_ground(ground: str) -> None:
    """WCAG 1.4.11 asks 3:1 of graphics."""
    config = tomllib.loads((Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    background = config["theme"][ground]["backgroundColor"]
    for color in (*theme.PALETTES[ground], theme.ACCENT, theme.WARM, theme.GREY):
        assert _contrast(color, background) >= 2.9, (color, round(_contrast(color, background), 2))


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
