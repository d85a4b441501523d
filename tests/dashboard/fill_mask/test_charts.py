"""The fill-mask page's figures and tables: the numbers in them are the evaluation's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.fill_mask import charts
from dashboard.fill_mask.items import item_table
from dashboard.fill_mask.predictions import sentence_line, word_summary
from dashboard.shared.theme import ACCENT, GREY
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.evaluations.fill_mask.evaluate import evaluate
from engine.evaluations.fill_mask.records import ALL, Result, Settings
from tests.support.mask_fakes import UNKNOWN
from tests.support.session_fake import SessionFake

MODELS = ("m", "<n>%{x}")


@pytest.fixture(scope="module")
def result() -> Result:
    frame = pd.DataFrame(
        {
            "text": ["庭に鳥がいる", "赤い花が咲く", "図書館へ行く", "机の上の本", "空が青い", f"{UNKNOWN}だ"],
            "label": ["鳥", "花", "図書館", "本", "空", UNKNOWN],
            "domain": ["<自然>", "<自然>", "学校", "学校", "<自然>", "学校"],
        }
    )
    return evaluate(Settings(MODELS, resamples=100), MaskedSentences.from_frame(frame, "given"), SessionFake())


def test_the_bars_are_the_means_over_all_the_best_first(result: Result) -> None:
    overall = result.models[result.models["domain"] == ALL].sort_values("mean_probability", ascending=False)
    figure = charts.mean_bars(result.models)
    bar = figure.data[0]
    np.testing.assert_array_equal(bar.x, overall["mean_probability"])
    np.testing.assert_allclose(np.asarray(bar.x) + bar.error_x.array, overall["ci_high"])
    np.testing.assert_allclose(np.asarray(bar.x) - bar.error_x.arrayminus, overall["ci_low"])
    names = [note.text for note in figure.layout.annotations[::2]]
    assert sorted(names) == ["&lt;n&gt;%{x}", "m"]
    digits = charts.percent_digits(overall["mean_probability"])
    assert [note.text for note in figure.layout.annotations[1::2]] == [
        f"<b>{100 * value:.{digits}f}%</b>" for value in overall["mean_probability"]
    ]
    assert figure.layout.xaxis.range[1] >= overall["ci_high"].max()
    assert "larger is better" in figure.layout.title.subtitle.text


def test_each_domain_has_a_bar_for_each_model(result: Result) -> None:
    figure = charts.domain_bars(result.models)
    assert [trace.name for trace in figure.data] == ["m", "&lt;n&gt;%{x}"]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;自然&gt;", "学校"]
    for model, trace in zip(MODELS, figure.data, strict=True):
        rows = result.models[(result.models["model"] == model) & (result.models["domain"] != ALL)]
        np.testing.assert_array_equal(trace.x, rows["mean_probability"])
        np.testing.assert_allclose(np.asarray(trace.x) + trace.error_x.array, rows["ci_high"])
        assert list(trace.y) == [0, 1]
    assert "%&#123;x}" in figure.data[1].hovertemplate  # a name is no field of the template


def test_one_sentence_draws_without_an_interval() -> None:
    frame = pd.DataFrame({"text": ["庭に鳥がいる"], "label": ["鳥"]})
    alone = evaluate(Settings(("m",)), MaskedSentences.from_frame(frame, "given"), SessionFake())
    figure = charts.mean_bars(alone.models)
    assert "undefined" in figure.data[0].customdata[0][2] and len(charts.domain_bars(alone.models).data) == 0


def test_predictions_are_in_order_and_the_word_is_highlighted(result: Result) -> None:
    for (model, row, mask), part in result.predictions.groupby(["model", "row", "mask"], sort=False):
        item = result.items[(result.items["model"] == model) & (result.items["row"] == row)].iloc[0]
        rank = None if pd.isna(item["rank"]) else int(item["rank"])
        figure = charts.prediction_bars(part, item["label"], item["probability"], rank)
        bar = figure.data[0]
        among = bool(part["is_label"].any())
        assert len(bar.x) == 10 + (rank is not None and not among)
        np.testing.assert_array_equal(bar.x[:10], part["probability"])
        colours = list(bar.marker.color)
        if rank is None:
            assert ACCENT not in colours
        else:
            assert colours.count(ACCENT) == 1
            bar_index = colours.index(ACCENT)
            assert bar_index == (rank - 1 if among else 10)
            assert bar.x[bar_index] == pytest.approx(item["probability"], rel=1e-6)
            assert f"{rank:,}</span>" in figure.layout.yaxis.ticktext[bar_index]
        assert mask >= 1 and set(colours) <= {ACCENT, GREY}


def test_tokens_are_escaped() -> None:
    part = pd.DataFrame(
        {"place": [1, 2], "token": ["<b>x</b>", "長" * 40], "probability": [0.5, 1e-9], "is_label": [False, True]}
    )
    figure = charts.prediction_bars(part, "y", 0.1, None)
    assert "&lt;b&gt;x&lt;/b&gt;" in figure.layout.yaxis.ticktext[0]
    assert "長" * 13 + "…" in figure.layout.yaxis.ticktext[1]
    assert list(figure.data[0].text) == ["50.0%", "1.00·10⁻⁷%"]


def test_percents() -> None:
    assert charts.percent(0.5, 1) == "50.0%" and charts.percent(float("nan"), 1) == "undefined"
    assert charts.interval(0.001, 0.0025, 2) == "0.10–0.25%" and charts.interval(float("nan"), 0.1, 1) == ""
    assert charts.percent_digits([0.25]) == 1 and charts.percent_digits([0.002]) == 3


def test_the_table_holds_each_models_probability(result: Result) -> None:
    table = item_table(result)
    assert table["row"].tolist() == [1, 2, 3, 4, 5]  # no model could fill the sixth
    assert table["masked"].tolist()[0] == "庭に＿＿がいる"
    for model in MODELS:
        of_model = result.items[result.items["model"] == model]
        np.testing.assert_array_equal(table[f"p:{model}"], of_model["probability"])
    assert table["n_pieces"].tolist() == [1, 1, 3, 1, 1]


def test_the_word_summary_has_the_rank_or_the_pieces(result: Result) -> None:
    items = result.items[result.items["model"] == "m"].set_index("row", drop=False)
    pieces = result.pieces[result.pieces["model"] == "m"]
    assert word_summary(items.loc[1], pieces[pieces["row"] == 1]) == f"rank {items.loc[1, 'rank']:,}"
    line = word_summary(items.loc[3], pieces[pieces["row"] == 3])
    assert line.startswith("3 subwords: 図 ") and line.count(" × ") == 2


def test_a_sentence_is_escaped() -> None:
    line = sentence_line(pd.Series({"before": "*a* <b>", "asked": "x]", "after": "[y](z)"}))
    assert "\\*a\\*" in line and "\\<b\\>" in line and "x\\]" in line and "\\[y\\]" in line
