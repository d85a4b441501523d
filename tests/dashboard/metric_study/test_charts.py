"""The metric study's figures and words: the numbers in them are the evaluation's, the texts are only text."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dashboard.metric_study import chosen_setting
from dashboard.metric_study.charts import MAX_POINTS, layer_figure, scatter_figure
from dashboard.metric_study.grid_charts import grid_figure
from dashboard.metric_study.labels import cell_key, is_marked, mark_of, setting_name
from engine.evaluations.metric_study.grid import Cell, correlations
from engine.evaluations.metric_study.records import Settings
from engine.evaluations.paper_tables.novels import printed_correlations
from engine.messages.languages import in_language

MODELS = ("builtin/bert", "<b>x</b>")
CELLS = [
    Cell("bertscore", model, idf, penalty)
    for model in MODELS
    for idf, penalty in (("none", "none"), ("novel", "none"), ("novel", "reading"))
]


def table(n: int = 40, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    gold = random.normal(size=n)
    return correlations(CELLS, gold + random.normal(size=(len(CELLS), n)) * [[0.5], [0.6], [3], [0.7], [1], [2]], gold)


def test_the_heat_map_has_a_block_for_each_model_and_a_hole_where_there_is_no_setting() -> None:
    lines = table()
    figure = grid_figure(lines, "pearson", cell_key(lines.to_dict("records")[1]))
    values = np.asarray(figure.data[0].z, dtype=float)
    assert values.shape == (6, 2)  # name, none, novel for each model; without and with penalty
    assert np.isnan(values[0]).all() and np.isnan(values[3]).all() and np.isnan(values[1, 1])
    np.testing.assert_allclose(values[[1, 2, 2, 4, 5, 5], [0, 0, 1, 0, 0, 1]], lines["pearson"])
    assert len(figure.data[0].y) == 7 and list(figure.layout.xaxis.ticktext) == ["without penalty", "with penalty"]
    assert list(figure.layout.yaxis.ticktext) == ["none", "novel"] * 2
    assert [note.text for note in figure.layout.annotations] == ["builtin/bert", "&lt;b&gt;x&lt;/b&gt;"]
    (outline,) = figure.layout.shapes
    assert (round(outline.x0), round(outline.x1)) == (0, 1) and outline.y0 > figure.data[0].y[2] - 2


def test_cells_show_number_interval_and_the_shared_mark() -> None:
    lines = table()
    text = [cell for row in grid_figure(lines).data[0].text for cell in row if cell]
    for cell, line in zip(text, lines.to_dict("records"), strict=True):
        assert cell.startswith(f"{line['pearson']:.3f}".replace("-", "−"))
        assert ("•" in cell) == is_marked(line) == (line["best"] or not line["separable"])
        assert f"[{line['ci_low']:.2f}, {line['ci_high']:.2f}]".replace("-", "−") in cell
    assert sum("•" in cell for cell in text) >= 1
    kendall = [cell for row in grid_figure(lines, "kendall").data[0].text for cell in row if cell]
    assert kendall[0].startswith(f"{lines['kendall'][0]:.3f}")


def test_every_cell_can_be_clicked_and_has_its_key() -> None:
    lines = table()
    points = grid_figure(lines).data[1]
    keys = {cell_key(line) for line in lines.to_dict("records")}
    assert {point[0] for point in points.customdata} == keys and len(keys) == 6
    assert points.marker.opacity == 0
    assert any("&lt;b&gt;x&lt;/b&gt;" in point[1] for point in points.customdata)
    assert not any("<b>x" in point[1] for point in points.customdata)


def test_undefined_cells_are_labelled_and_never_0() -> None:
    flat = correlations(CELLS[:2], np.ones((2, 5)), np.arange(5.0))
    figure = grid_figure(flat)
    assert np.isnan(np.asarray(figure.data[0].z, dtype=float)).all()
    assert figure.data[0].text[1][0] == "undefined"
    assert any("all 5 pairs" in point[1] for point in figure.data[1].customdata)


METHODS = [
    Cell("surface", "chrf"),
    Cell("vectors", MODELS[0]),
    Cell("metric", "chrf"),
    Cell("metric", "wmt22-comet-da-v1"),
    Cell("metric", "wmt22-comet-da-v2"),
]


def with_methods(noise: tuple[float, ...] = (3, 2, 2, 0.1, 0.1)) -> pd.DataFrame:
    random = np.random.default_rng(3)
    gold = random.normal(size=40)
    scale = np.array([[0.5], [0.6], [3], [0.7], [1], [2], *([one] for one in noise)])
    scores = gold + random.normal(size=(11, 40)) * scale
    scores[9, ::3] = np.nan
    return correlations([*CELLS, *METHODS], scores, gold)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_name_of_a_measure_of_ours_is_cut(language: str) -> None:
    lines = with_methods()
    lines = lines[lines["kind"] != "metric"]
    entity = lines[lines["kind"] == "surface"].assign(kind="entity", model="entity_accuracy")
    with in_language(language):
        names = grid_figure(pd.concat([lines, entity]), "pearson").layout.yaxis.ticktext
    assert not [name for name in names if "…" in name]
    assert names[-1] == "M-ETA" and names[-2] == ("chrF" if language == "en" else "文字F値 chrF")


def test_each_method_beside_has_a_row_across_all_penalties() -> None:
    lines = with_methods()
    figure = grid_figure(lines, "pearson", cell_key(lines.to_dict("records")[9]))
    settings, points, methods = figure.data
    # the cosine belongs to its model, the others stand below; columns of one name or nearly so can be told apart
    assert list(figure.layout.yaxis.ticktext) == [
        "none",
        "novel",
        "cosine",
        "none",
        "novel",
        "Character F-score chrF",
        "chrf",
        "wmt22-c…da-v1",
        "wmt22-c…da-v2",
    ]
    assert [note.text for note in figure.layout.annotations] == [
        "builtin/bert",
        "&lt;b&gt;x&lt;/b&gt;",
        "Other methods",
    ]
    values = np.asarray(methods.z, dtype=float).ravel()
    np.testing.assert_array_equal(values[~np.isnan(values)], lines["pearson"][[7, 6, 8, 9, 10]])
    assert list(methods.x) == [0, 2] and list(methods.y) == list(settings.y)
    # the same colours for the same number in both traces
    assert (methods.zmin, methods.zmax, methods.colorscale) == (settings.zmin, settings.zmax, settings.colorscale)
    assert methods.zmax > lines["pearson"].max() and methods.zmin < lines["pearson"][:6].min()
    # every one can be clicked over its whole width, and says what it is in full
    assert {point[0] for point in points.customdata} == set(map(cell_key, lines.to_dict("records")))
    own = [x for x, point in zip(points.x, points.customdata, strict=True) if "da-v1" in point[0]]
    assert len(own) == 14 and min(own) < 0.1 and max(own) > 1.9
    assert sum("wmt22-comet-da-v1" in point[1] for point in points.customdata) == 14
    (outline,) = figure.layout.shapes
    assert (round(outline.x0), round(outline.x1)) == (0, 2) and outline.y1 - outline.y0 < 28


def test_a_method_better_than_the_best_setting_has_a_mark_of_its_own() -> None:
    lines = with_methods()
    marks = [mark_of(line) for line in lines.to_dict("records")]
    for mark, line in zip(marks, lines.to_dict("records"), strict=True):
        assert (mark == "▲") == (line["williams_p"] < 0.05 and line["williams_t"] < 0)
        assert (mark == "•") == (line["best"] or not line["separable"])
    assert marks[9] == marks[10] == "▲" and "▲" not in marks[:6]
    assert sum("▲" in row[0] for row in grid_figure(lines).data[2].text) == marks.count("▲")


def test_a_weak_method_takes_no_contrast_from_the_settings() -> None:
    lines = with_methods()
    weak = lines.assign(pearson=lines["pearson"].where(lines["kind"] == "bertscore", -0.9))
    alone = grid_figure(lines[lines["kind"] == "bertscore"]).data[0]
    beside = grid_figure(weak).data[0]
    assert (beside.zmin, beside.zmax) == (alone.zmin, alone.zmax)
    # where no setting has a correlation, the methods have the colours to themselves
    undefined = lines.assign(pearson=lines["pearson"].where(lines["kind"] != "bertscore"))
    methods = grid_figure(undefined).data[2]
    assert methods.zmin < undefined["pearson"].min() and methods.zmax > undefined["pearson"].max()


def test_the_published_grid_is_grey_and_unmarked() -> None:
    figure = grid_figure(printed_correlations(), published=True)
    assert figure.data[0].colorscale is not None and not figure.layout.shapes
    text = [cell for row in figure.data[0].text for cell in row if cell]
    assert sorted(text) == sorted(f"{value:.3f}" for value in printed_correlations()["pearson"])


def pairs(gold: Any, text: str = "文") -> pd.DataFrame:
    n = len(gold)
    return pd.DataFrame({"row": range(1, n + 1), "reference": [text] * n, "candidate": ["候補"] * n, "gold": gold})


def test_the_scatter_shows_what_the_penalty_lowered() -> None:
    gold, base = np.array([0.0, 1.0, 2.0, np.nan]), np.array([0.5, 0.6, 0.7, 0.8])
    lowered = np.array([0.5, 0.4, 0.7, 0.1])
    stems, same, moved = scatter_figure(pairs(gold), lowered, "F1", base).data
    assert list(moved.x) == [1.0] and list(moved.y) == [0.4] and list(same.x) == [0.0, 2.0]
    np.testing.assert_array_equal(stems.y, [0.6, 0.4, np.nan])
    (plain,) = scatter_figure(pairs(gold), base, "F1").data
    assert list(plain.y) == [0.5, 0.6, 0.7] and [row[0] for row in plain.customdata] == [1, 2, 3]


def test_texts_of_pairs_are_escaped() -> None:
    (points,) = scatter_figure(pairs(np.arange(3.0), "<img src=x onerror=alert(1)>"), np.arange(3.0), "F1").data
    assert points.customdata[0][1] == "&lt;img src=x onerror=alert(1)&gt;"


def test_many_pairs_are_sampled_reproducibly() -> None:
    random = np.random.default_rng(0)
    gold, scores = random.normal(size=(2, 100_000))
    figures = [scatter_figure(pairs(gold), scores, "F1") for _ in range(2)]
    assert len(figures[0].data[0].x) == MAX_POINTS
    np.testing.assert_array_equal(figures[0].data[0].x, figures[1].data[0].x)


def test_layers_are_lines_by_model_dashed_with_the_penalty() -> None:
    layers = pd.DataFrame(
        [
            (model, layer, idf, penalty, 30, 0.1 * layer, 0.0, 0.5)
            for model in MODELS
            for layer in range(3)
            for idf, penalty in (("novel", "none"), ("novel", "reading"), ("wiki", "none"))
        ],
        columns=["model", "layer", "idf", "penalty", "n", "pearson", "ci_low", "ci_high"],
    )
    lines = layer_figure(layers, "novel", {MODELS[0]: 2, MODELS[1]: 0}).data
    assert [line.line.dash for line in lines] == ["solid", "dash"] * 2
    assert lines[0].line.color == lines[1].line.color != lines[2].line.color
    assert list(lines[0].marker.size) == [6, 6, 11] and list(lines[2].marker.size) == [11, 6, 6]
    np.testing.assert_allclose(lines[0].y, [0, 0.1, 0.2])
    assert "&lt;b&gt;x" in lines[2].name


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (
            {"kind": "bertscore", "model": "m", "idf": "/data/mine.json.gz", "penalty": "none"},
            "m, idf mine.json.gz, without penalty",
        ),
        ({"kind": "surface", "model": "sentbleu", "idf": "", "penalty": ""}, "SentBLEU"),
        ({"kind": "vectors", "model": "m", "idf": "", "penalty": ""}, "Cosine of sentence vectors, m"),
    ],
)
def test_labels_of_settings(line: dict[str, str], label: str) -> None:
    assert setting_name(line) == label


def test_the_human_ceiling_is_a_line_of_both_figures() -> None:
    ceiling = {"pearson": 0.8125, "spearman": 0.75, "kendall": 0.5}
    figure, without = grid_figure(table(), "kendall", ceiling=ceiling), grid_figure(table(), "kendall")
    assert figure.layout.annotations[-1].text == "Human ceiling: 0.500" and len(figure.layout.shapes) == 1
    assert figure.layout.height > without.layout.height and not without.layout.shapes
    layers = pd.DataFrame(
        {
            "model": "m",
            "layer": [0, 1],
            "idf": "none",
            "penalty": "none",
            "n": 40,
            "pearson": [0.1, 0.2],
            "ci_low": 0.0,
            "ci_high": 0.3,
        }
    )
    assert layer_figure(layers, "none", ceiling=0.8125).layout.shapes[0].y0 == 0.8125
    assert not layer_figure(layers, "none").layout.shapes


def test_models_beyond_the_colours_have_points_of_another_shape() -> None:
    models = [f"m{number}" for number in range(12)]
    point = {"idf": "none", "layer": 1, "pearson": 0.5, "ci_low": 0.4, "ci_high": 0.6, "n": 9}
    layers = pd.DataFrame(
        [{"model": model, "penalty": how, **point} for model in models for how in ("none", "reading")]
    )
    looks = [(line.line.color, line.marker.symbol) for line in layer_figure(layers, "none").data]
    assert len(looks) == 24 and len(set(looks)) == 12  # both lines of a model look alike, but for the dashes


def test_rows_of_the_grid_lie_one_below_the_other() -> None:
    figure = grid_figure(table(), "pearson")
    edges = list(figure.data[0].y)
    assert edges[0] == 0 and edges == sorted(set(edges)) and edges[-1] == figure.layout.yaxis.range[0]
    for name in figure.layout.yaxis.tickvals:  # a row's name stands beside the middle of it
        assert any(name == pytest.approx((top + bottom) / 2) for top, bottom in pairwise(edges))


@pytest.mark.parametrize(
    ("kind", "language", "title"),
    [
        ("bertscore", "en", "Penalised F1<br>bert, idf novel, with penalty"),
        ("bertscore", "ja", "<br>bert、idf novel、ペナルティあり"),
        ("vectors", "en", "<br>bert"),
    ],
)
def test_the_axis_of_the_scores_names_the_setting(kind: str, language: str, title: str) -> None:
    """A file of the figure said nothing else of which of the settings it shows."""
    setting = {"kind": kind, "model": "bert=org/bert", "idf": "novel", "penalty": "reading"}
    with in_language(language):
        assert chosen_setting._score_title(SimpleNamespace(settings=Settings(("bert=org/bert",))), setting).endswith(
            title
        )  # type: ignore[arg-type]
