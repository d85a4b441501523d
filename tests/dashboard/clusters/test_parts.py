"""The parts of the clusters page that are plain functions: what they make of a result."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.clusters import linked_maps
from dashboard.clusters.face import FACE
from dashboard.clusters.linked_maps import (
    ALL_TEXTS,
    FOLDER,
    LONGEST_TEXT,
    NO_NEIGHBOUR,
    SCRIPTS,
    TEXT_LENGTH,
    TEXT_OF_MANY,
    map_words,
    near_rows,
    view_data,
)
from dashboard.clusters.neighbours import neighbour_table
from dashboard.clusters.scores import ranking_statements
from dashboard.clusters.selection import coordinates, notes_of, selected_sentences
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.ranks import rank_labels
from tests.support.cluster_results import result_of

PICTURE = {"name": "maps", "signature": "signed"}


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=kind)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_the_maps_get_the_coordinates_of_every_sentence_of_every_model(dimensions: int) -> None:
    result = result_of(dimensions=dimensions)
    data = json.loads(json.dumps(view_data(result, "run", {"owner/first": "M_m 1"}, PICTURE)))
    assert data["rows"] == list(range(1, 25)) and data["run"] == "run" and data["dimensions"] == dimensions
    assert [data["classes"][k]["name"] for k in numbers(data["labels"], "<u2")] == result.points["label"][:24].tolist()
    assert [model["note"] for model in data["models"]] == ["M_m 1", ""]
    for model in data["models"]:
        points = result.points[result.points["model"] == model["name"]]
        rows = [data["rows"][sentence] for sentence in numbers(model["sentences"], "<u4")]
        assert rows == points["row"].tolist()
        for axis in "xyz"[:dimensions]:
            assert numbers(model[axis], "<f4").tolist() == points[axis].tolist()
        assert ("z" in model) == (dimensions == 3)
        near = result.neighbours[result.neighbours["model"] == model["name"]]
        table = numbers(model["neighbours"], "<u4").reshape(len(points), model["n_neighbours"])
        assert [data["rows"][k] for k in table[4]] == near.loc[near["row"] == 5, "neighbour"].tolist()
        assert [len(centroid["at"]) for centroid in model["centroids"]] == [dimensions] * 3


def test_a_sentence_left_out_by_one_model_does_not_shift_the_others() -> None:
    result = result_of()
    out = (result.points["model"] == "owner/first") & (result.points["row"] == 2)
    near = result.neighbours
    left = near[~((near["model"] == "owner/first") & ((near["row"] == 2) | (near["neighbour"] == 2)))]
    data = view_data(replace(result, points=result.points[~out], neighbours=left), "run", {}, PICTURE)
    assert len(data["rows"]) == 24
    first = data["models"][0]
    sentences = numbers(first["sentences"], "<u4")
    assert 1 not in sentences and len(sentences) == 23
    # A place of the table that has no neighbour is no sentence at all.
    table = numbers(first["neighbours"], "<u4")
    assert set(table[table >= 24]) == {NO_NEIGHBOUR}


def test_a_model_without_a_map_or_neighbours_is_left_out() -> None:
    result = result_of()
    bare = result.points.assign(x=result.points["x"].where(result.points["model"] != "owner/first"))
    data = view_data(replace(result, points=bare, neighbours=result.neighbours.head(0)), "run", {}, PICTURE)
    assert [model["name"] for model in data["models"]] == ["owner/second"]
    assert data["models"][0]["n_neighbours"] == 0 and data["models"][0]["neighbours"] == ""


def test_a_long_text_is_cut_for_the_pointer() -> None:
    result = result_of(texts=["長\n" * 5000, *["文"] * 23])
    assert len(view_data(result, "run", {}, PICTURE)["texts"][0]) == LONGEST_TEXT + 2
    # Of 25,000 documents each has an equal part of what all of them may take.
    assert ALL_TEXTS // 25_000 == TEXT_LENGTH


def test_a_sentence_is_under_the_pointer_as_a_whole() -> None:
    sentence = "雨が降ったので、試合は中止になった。" * 30
    result = result_of(texts=[sentence, *["文"] * 23])
    assert view_data(result, "run", {}, PICTURE)["texts"][0] == sentence


def test_the_script_of_the_maps_writes_texts_as_texts_only() -> None:
    for script in SCRIPTS:
        source = (FOLDER / script).read_text(encoding="utf-8")
        assert "innerHTML" not in source and "insertAdjacentHTML" not in source, script


def test_the_script_of_the_maps_has_its_texts_from_the_data() -> None:
    source = "\n".join((FOLDER / script).read_text(encoding="utf-8") for script in SCRIPTS)
    assert set(re.findall(r"\bwords\.(\w+)", source)) == set(map_words())
    # What else is written in quotes is no sentence: names of properties, keys and shapes.
    code = re.sub(r"//.*", "", source)
    assert not re.findall(r'"[A-Z][a-z]+ [a-z]+[^"]*"', code)


def test_selected_sentences_are_listed_once_and_in_order() -> None:
    points = result_of().points
    chosen = selected_sentences(points, [9, 2, 400])
    assert chosen["row"].tolist() == [2, 9] and chosen["text"].tolist() == ["2番目の文", "9番目の文"]


def test_coordinates_have_the_axes_of_the_map() -> None:
    assert list(coordinates(result_of().points).columns) == ["model", "row", "label", "text", "x", "y"]
    assert coordinates(result_of(dimensions=3).points).columns[-1] == "z"


def test_neighbours_count_the_models_that_share_them() -> None:
    result = result_of(models=["a", "b", "c"])
    table = neighbour_table(result, 7)
    near = result.neighbours[result.neighbours["row"] == 7]
    assert len(table) == 30 and table["rank"].tolist() == [*range(1, 11)] * 3
    order = result.models.sort_values("rank")["model"].tolist()
    assert list(dict.fromkeys(table["model"])) == order
    for line in table.to_dict("records"):
        assert line["models"] == (near["neighbour"] == line["neighbour"]).sum()
        assert line["text"] == f"{line['neighbour']}番目の文"


def test_ranks_are_from_first_to_last_place() -> None:
    ranked = pd.DataFrame({"rank": [1, 2, 3, None], "rank_first": [1, 1, 2, None], "rank_last": [2, 3, 3, None]})
    assert rank_labels(ranked) == ["1–2", "1–3", "2–3", "–"]
    # Of a version without ranges: by the groups, where equal scores have equal ranks: 1, 1, 3.
    assert rank_labels(pd.DataFrame({"rank": [1, 1, 3], "rank_group": [1, 1, 2]})) == ["1–2", "1–2", "3"]


def test_no_tie_is_said_to_support_the_ranking_and_a_tie_is_not() -> None:
    support = ranking_statements(result_of(separable=False))
    assert len(support) == 1 and "shuffled" in support[0]
    support = ranking_statements(result_of())
    assert "No two models share a rank" in support[0] and "1,000" in support[0]


def test_neighbours_that_differ_are_no_ranking_where_others_do_not() -> None:
    result = result_of(models=["a", "b", "c"])
    order = result.models.sort_values("rank")["model"].tolist()
    ends = set(order[::2])
    of_ends = [{row["model"], row["other"]} == ends for row in result.comparisons.to_dict("records")]
    earlier = replace(
        result,
        models=result.models.drop(columns=["rank_first", "rank_last"]),
        comparisons=result.comparisons.assign(separable=[not is_of_ends for is_of_ends in of_ends]),
    )
    assert earlier.models["rank_group"].nunique() == 3
    assert not any("share a rank" in said for said in ranking_statements(earlier))
    untested = replace(earlier, comparisons=result.comparisons.head(0))
    assert not any("share a rank" in said for said in ranking_statements(untested))


def test_a_score_no_better_than_with_shuffled_labels_supports_nothing() -> None:
    result = result_of(models=["m"])
    assert "p = 0.001" in ranking_statements(result)[0]
    no_better = replace(result, null=result.null.assign(p_value=0.4))
    assert not ranking_statements(no_better)
    assert "shuffled labels: m (p = 0.400)" in FACE.found(no_better)


def test_an_undefined_score_is_in_no_sentence() -> None:
    result = result_of(models=["m"])
    undefined = replace(
        result,
        models=result.models.assign(score=np.nan, rank=pd.NA, rank_group=pd.NA, rank_first=pd.NA, rank_last=pd.NA),
        null=result.null.assign(p_value=np.nan),
    )
    assert ranking_statements(undefined) == []
    assert "No model has a value" in FACE.found(undefined)


def test_a_figure_is_drawn_only_when_it_is_requested() -> None:
    made: list[str] = []

    def maker(name: str) -> go.Figure:
        made.append(name)
        return go.Figure(layout={"title": {"text": name}})

    figures = LazyFigures({name: partial(maker, name) for name in ("a", "b")})
    assert list(figures) == ["a", "b"] and len(figures) == 2 and not made
    assert figures["b"].layout.title.text == "b" and made == ["b"]


def test_of_many_sentences_texts_are_packed_and_neighbours_come_with_the_one_that_is_highlighted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = result_of(texts=["長" * 5000, *["文"] * 23])
    assert near_rows(result, 5) is None
    monkeypatch.setattr(linked_maps, "MANY_SENTENCES", 20)
    monkeypatch.setattr(linked_maps, "ALL_TEXTS", 24 * 70)
    data = view_data(result, "run", {}, PICTURE)
    assert "texts" not in data
    texts = json.loads(zlib.decompress(base64.b64decode(data["packed_texts"])))
    assert texts == ["長" * 70 + " …", *["文"] * 23]
    assert [(model["n_neighbours"], model["neighbours"]) for model in data["models"]] == [(0, "")] * 2
    near = result.neighbours[result.neighbours["row"] == 5]
    asked = near_rows(result, 5)
    assert asked == {
        "row": 5,
        "by_model": {
            name: near.loc[near["model"] == name, "neighbour"].tolist() for name in sorted(set(near["model"]))
        },
    }
    assert json.loads(json.dumps(asked)) == asked and near_rows(result, None) is None
    monkeypatch.setattr(linked_maps, "ALL_TEXTS", 24)
    packed = view_data(result, "run", {}, PICTURE)["packed_texts"]
    assert json.loads(zlib.decompress(base64.b64decode(packed)))[0] == "長" * TEXT_OF_MANY + " …"


def test_a_map_says_of_how_many_sentences_umap_laid_out() -> None:
    result = result_of()
    assert notes_of(result)["owner/first"].startswith("M_m ") and "UMAP" not in notes_of(result)["owner/first"]
    of_sample = replace(result, signature={**result.signature, "umap_fitted_to": 9_000})
    said = "UMAP fitted to 9,000 of 24 sentences, the others placed by transform"
    assert notes_of(of_sample) == {model: f"{note} · {said}" for model, note in notes_of(result).items()}
    unscored = replace(of_sample, models=of_sample.models.assign(score=float("nan")))
    assert set(notes_of(unscored).values()) == {said}
