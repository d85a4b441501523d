"""Dictionaries as tables and figures: by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dashboard.dictionary.charts import idf_scatter
from dashboard.dictionary.tables import entries, search_entries, side_by_side
from engine.measures.idf import IdfDictionary, count_documents

# は in 4 of 4 documents, 猫 in 2, 犬 and <b> in 1; in the other は in 1 of 2, 猫 in 2, 鳥 in 1.
FIRST = count_documents([["は", "は", "猫"], ["は", "猫"], ["は", "犬"], ["は", "<b>"]], "first", "t", "line")
SECOND = count_documents([["は", "猫"], ["猫", "鳥"]], "second", "t", "line")


def test_entries_by_hand() -> None:
    frame = entries(FIRST)
    assert frame[["piece", "documents", "occurrences"]].to_numpy().tolist() == [
        ["は", 4, 5],
        ["猫", 2, 2],
        ["<b>", 1, 1],
        ["犬", 1, 1],
    ]
    assert frame["idf"].tolist() == pytest.approx([0, math.log(5 / 3), math.log(5 / 2), math.log(5 / 2)])
    assert "occurrences" not in entries(IdfDictionary("old", 3, {"a": 1}, "t", "u"))


def test_the_exact_piece_comes_first() -> None:
    frame = entries(count_documents([["日本", "##日", "日"], ["日本"]], "n", "t", "u")).assign(low_frequency=[0, 1, 0])
    frame["low_frequency"] = frame["low_frequency"].astype(bool)
    assert search_entries(frame, "日", False)["piece"].tolist() == ["日", "日本", "##日"]
    assert search_entries(frame, " ", True)["piece"].tolist() == ["##日"]
    assert search_entries(frame, "[", False).empty  # no pattern
    latin = entries(IdfDictionary("n", 3, {"Hakari": 1, "ari": 1, "b": 1}, "t", "u"))
    assert search_entries(latin, "ARI", False)["piece"].tolist() == ["Hakari", "ari"]


def test_two_dictionaries_by_hand() -> None:
    table = side_by_side(FIRST, SECOND, 0.5, relative=False).set_index("piece")
    # of 4 entries the lower 2 are は and 猫, the threshold is the idf of 猫; of 3 the lower 1 is 猫, with idf 0
    unseen_1, unseen_2 = math.log(5), math.log(3)
    expected = {
        "は": (0, math.log(3 / 2), "only in the second"),
        "猫": (math.log(5 / 3), 0, "neither"),
        "犬": (math.log(5 / 2), unseen_2, "both"),
        "<b>": (math.log(5 / 2), unseen_2, "both"),
        "鳥": (unseen_1, math.log(3 / 2), "both"),
    }
    assert set(table.index) == set(expected)
    for piece, (first, second, low) in expected.items():
        line = table.loc[piece]
        assert (line["idf_1"], line["idf_2"]) == pytest.approx((first, second)) and line["low"] == low
        assert line["difference"] == pytest.approx(first - second)
    assert np.all(np.diff(table["difference"].abs()) <= 0)
    relative = side_by_side(FIRST, SECOND, 0.5, relative=True).set_index("piece")
    assert relative.loc["鳥", "idf_1"] == relative.loc["犬", "idf_2"] == 1
    assert relative.loc["は", "idf_2"] == pytest.approx(math.log(3 / 2) / math.log(3))
    turned = side_by_side(SECOND, FIRST, 0.5, relative=True).set_index("piece")
    assert turned["difference"].to_dict() == pytest.approx({k: -v for k, v in relative["difference"].to_dict().items()})


def test_the_scatter_shows_every_piece_once_and_as_text() -> None:
    figure = idf_scatter(side_by_side(FIRST, SECOND, 0.5, relative=False), ("<i>a</i>", "b"), relative=False)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert sum(len(trace.x) for trace in dots) == 5
    (diagonal,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert list(diagonal.x) == list(diagonal.y) == pytest.approx([0, math.log(5)])
    assert [trace.name for trace in dots] == [
        "low-frequency in neither (1)",
        "low-frequency in both (3)",
        "low-frequency only in &lt;i&gt;a&lt;/i&gt; (0)",
        "low-frequency only in b (1)",
    ]
    assert {"&lt;b&gt;", "犬", "鳥"} == set(dots[1].text)
    assert figure.layout.xaxis.title.text.startswith("&lt;i&gt;a&lt;/i&gt;: Inverse document frequency")
