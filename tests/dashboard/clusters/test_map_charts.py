"""Figures of maps and of what explains a score, and figures as files: pure functions on synthetic results."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.clusters import coloring
from dashboard.clusters import explanation_charts as why
from dashboard.clusters import map_charts as maps
from dashboard.clusters.explanation import explanation_figures
from dashboard.shared import theme
from dashboard.shared.exports.signing import digest
from dashboard.shared.exports.standalone import figure_html
from engine.messages.languages import in_language, translated
from tests.support.cluster_results import result_of

FIRST = "owner/first"


@pytest.mark.parametrize(("dimensions", "kind"), [(2, "scatter"), (3, "scatter3d")])
def test_each_sentence_is_once_on_its_models_map(dimensions: int, kind: str) -> None:
    result = result_of(dimensions=dimensions)
    figure = maps.maps_figure(result)
    assert {trace.type for trace in figure.data} == {kind}
    points = [trace for trace in figure.data if trace.name]
    assert [trace.name for trace in points] == [*coloring.class_order(result.points)] * 2
    assert [trace.showlegend for trace in points] == [True] * 3 + [False] * 3  # one legend for all maps
    drawn = {
        int(custom[1]): (x, y)
        for trace in points[3:]
        for custom, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    second = result.points[result.points["model"] == "owner/second"]
    assert drawn == {line.row: (line.x, line.y) for line in second.itertuples()}


def test_each_class_has_its_centroid_in_its_colour() -> None:
    result = result_of()
    figure = maps.maps_figure(result)
    for k, name in enumerate(coloring.class_order(result.points)):
        points, centroid = figure.data[2 * k], figure.data[2 * k + 1]
        of_model = result.centroids[result.centroids["model"] == FIRST]
        wanted = of_model[of_model["class"] == name].iloc[0]
        assert (centroid.x[0], centroid.y[0]) == (wanted["x"], wanted["y"])
        assert points.marker.color == centroid.marker.color == theme.PALETTES["light"][k]
        assert centroid.marker.size > points.marker.size


def test_a_class_keeps_its_colour_where_another_is_missing() -> None:
    result = result_of()
    without = result.points[~((result.points["model"] == "owner/second") & (result.points["label"] == "組1"))]
    figure = maps.maps_figure(replace(result, points=without))
    colours = {(trace.legendgroup, trace.marker.color) for trace in figure.data}
    assert len(colours) == 3


def test_many_points_are_drawn_on_a_canvas() -> None:
    result = result_of()
    many = replace(result, points=pd.concat([result.points] * 100, ignore_index=True))
    assert {trace.type for trace in maps.maps_figure(many).data} == {"scattergl"}


@pytest.mark.parametrize("dimensions", [2, 3])
def test_points_that_would_cover_each_other_are_small(dimensions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of(dimensions=dimensions)
    n = int((result.points["model"] == FIRST).sum())
    few = maps.maps_figure(result).data[0].marker
    monkeypatch.setattr(maps, "DENSE_POINTS", n)
    assert maps.maps_figure(result).data[0].marker == few
    monkeypatch.setattr(maps, "DENSE_POINTS", n - 1)
    many = maps.maps_figure(result).data[0].marker
    assert many.size < few.size and many.opacity < few.opacity and many.color == few.color


def test_without_coordinates_there_is_no_map() -> None:
    assert maps.has_map(result_of().points, FIRST)
    result = result_of(mapped=False)
    assert not maps.has_map(result.points, FIRST)
    assert not maps.maps_figure(result).data


def test_typed_text_is_escaped() -> None:
    texts = ["<b>太字</b> & <script>", *(f"文{i}" for i in range(23))]
    result = result_of(classes=["a<i>%{x}", "b", "c"], texts=texts, models=["<m>"])
    figure = maps.maps_figure(result)
    first = figure.data[0]
    assert first.name == "a&lt;i&gt;%{x}"
    assert first.customdata[0][0] == "&lt;b&gt;太字&lt;/b&gt; &amp; &lt;script&gt;"
    assert "<i>" not in first.hovertemplate and "%{x}" not in first.hovertemplate
    assert figure.layout.annotations[0].text == "&lt;m&gt;"


def test_classes_keep_the_order_of_their_first_sentence() -> None:
    points = result_of(classes=["料理", "技術", "スポーツ"]).points
    assert coloring.class_order(points.sample(frac=1, random_state=1)) == ["料理", "技術", "スポーツ"]


def test_fifty_classes_have_distinct_colours_or_shapes() -> None:
    looks = {(k % theme.N_COLORS, coloring.class_symbol(k)) for k in range(50)}
    assert len(looks) == 50
    # No two neighbours in the legend are distinguished by colour alone.
    assert all(coloring.class_symbol(k) != coloring.class_symbol(k + 1) for k in range(8))


def test_a_figure_of_maps_is_drawn_as_the_page_shows_them() -> None:
    result = result_of()
    by_length = coloring.by_column(result.points, "length", {row: str(row) for row in range(1, 25)})
    figure = maps.maps_figure(result, look=maps.Look(by_length, hidden=(by_length.groups[0],), alone="owner/second"))
    assert [trace.name for trace in figure.data] == list(by_length.groups[1:])  # no centroids: those are of classes
    assert [trace.marker.color for trace in figure.data] == list(by_length.ramps["light"][1:])
    assert [note.text for note in figure.layout.annotations] == ["owner/second"]
    assert sum(len(trace.x) for trace in figure.data) == 24 - 3  # the lowest of eight steps holds rows 1 to 3
    assert all(trace.name for trace in maps.maps_figure(result, look=maps.Look(centroids=False)).data)


def test_centroids_have_the_names_of_their_classes() -> None:
    result = result_of(classes=["<料理>", "技術", "スポーツ"])
    named = [trace.text[0] for trace in maps.maps_figure(result, FIRST).data if trace.mode == "markers+text"]
    assert named == ["&lt;料理&gt;", "技術", "スポーツ"]


def test_the_bars_of_classes_are_their_variances_the_widest_first() -> None:
    # sigma^2 / n: 12 / 4 = 3 and 10 / 2 = 5; shares of A_m = 22: 12 / 22 and 10 / 22.
    classes = pd.DataFrame(
        {"model": "m", "class": ["a", "b"], "n": [4, 2], "dispersion": [12.0, 10.0], "centroid_distance": [1.0, 2.0]}
    )
    bar = why.class_bars(classes).data[0]
    assert list(bar.x) == [5.0, 3.0] and [custom[0] for custom in bar.customdata] == ["b", "a"]
    assert [custom[3] for custom in bar.customdata] == pytest.approx([10 / 22, 12 / 22])


def test_classes_without_any_spread_have_bars_of_length_zero() -> None:
    classes = pd.DataFrame(
        {"model": "m", "class": ["a", "b"], "n": [1, 1], "dispersion": [0.0, 0.0], "centroid_distance": [1.0, 1.0]}
    )
    figure = why.class_bars(classes)
    assert list(figure.data[0].x) == [0.0, 0.0] and np.isfinite(figure.layout.xaxis.range).all()


def test_the_heat_map_is_symmetric_in_the_order_of_classes_with_an_empty_diagonal() -> None:
    result = result_of(n_classes=4)
    classes = ["組3", "組1", "組4", "組2"]
    of_model = result.centroid_distances[result.centroid_distances["model"] == FIRST].sample(frac=1, random_state=0)
    figure = why.centroid_map(of_model, classes)
    matrix = np.asarray(figure.data[0].z)
    assert np.isnan(np.diag(matrix)).all() and np.allclose(matrix, matrix.T, equal_nan=True)
    wanted = of_model.set_index(["class", "other"])["distance"]
    assert matrix[0, 1] == wanted["組3", "組1"] and matrix[2, 3] == wanted["組4", "組2"]
    assert list(figure.layout.xaxis.ticktext) == classes


def test_a_class_that_a_model_left_out_is_an_empty_line() -> None:
    distances = pd.DataFrame(
        {"model": "m", "class": ["a", "a", "b", "b"], "other": ["a", "b", "a", "b"], "distance": [0.0, 1.0, 1.0, 0.0]}
    )
    matrix = np.asarray(why.centroid_map(distances, ["a", "b", "c"]).data[0].z)
    assert np.isnan(matrix[2]).all() and matrix[0, 1] == 1.0


def points_of(*lines: tuple[str, float, str, float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"row": i, "label": label, "own_distance": own, "nearest_class": nearest, "nearest_distance": distance}
            for i, (label, own, nearest, distance) in enumerate(lines, 1)
        ]
    )


def test_misplaced_sentences_are_sorted_by_ratio() -> None:
    points = points_of(("a", 2.0, "a", 2.0), ("a", 4.0, "b", 3.0), ("b", 4.0, "a", 1.0), ("b", 9.0, "b", 9.0))
    sentences = why.misplaced(points)
    assert list(sentences["row"]) == [3, 2] and list(sentences["ratio"]) == [0.25, 0.75]
    assert why.misplaced(points.head(1)).empty


def test_the_farthest_sentences_come_first_and_are_not_too_many() -> None:
    points = points_of(*[("a", float(i), "a", float(i)) for i in range(80)])
    assert list(why.farthest(points)["row"]) == list(range(80, 30, -1))


def test_a_figure_as_html_needs_no_network_and_carries_its_signature() -> None:
    result = result_of(models=["</script><!--<script><b>"])
    page = figure_html(maps.maps_figure(result), "<maps>", result.signature)
    assert "Plotly.newPlot" in page and 'src="http' not in page and len(page) > 1_000_000
    assert "<title>&lt;maps&gt;</title>" in page and digest(result.signature) in page
    full = re.search(r'<script type="application/json" id="signature">(.*?)</script>', page, re.DOTALL)
    assert full and json.loads(full[1]) == result.signature and "<" not in full[1]


def test_in_a_file_of_many_points_each_tells_its_class_and_row(monkeypatch: pytest.MonkeyPatch) -> None:
    result = result_of()
    plain = maps.maps_figure(result).data[0]
    monkeypatch.setattr(maps, "HOVERED_POINTS", 23)
    many = maps.maps_figure(result).data[0]
    assert plain.hovertemplate == f"%{{customdata[0]}}<br>{many.hovertemplate}"
    assert [custom[1:] for custom in plain.customdata] == [custom[1:] for custom in many.customdata]
    assert {custom[0] for custom in many.customdata} == {""} and plain.customdata[0][0] == "1番目の文"


def test_captions_of_figures_under_a_model_are_joined_as_the_language_joins() -> None:
    ranked = SimpleNamespace(models=pd.DataFrame({"model": ["a/b"], "rank": [1]}))
    captions = list(explanation_figures(ranked))  # type: ignore[arg-type]
    assert captions[0] == "Variance of each class, a/b"
    with in_language("ja"):
        assert translated(captions[0]) == "各クラスの分散、a/b"
