"""The agreement page's figure, and which runs it begins with."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.agreement import charts
from dashboard.agreement import choice as agreement_runs
from dashboard.agreement.choice import most_shared, signature_of
from dashboard.agreement.view import _signed
from engine.evaluations.agreement.evaluate import printed_table
from engine.evaluations.shared.rank_ranges import range_columns

TABLE = pd.DataFrame(
    {
        "model": ["builtin/a", "owner/<b>%{x}", "c", "d"],
        "clusters": [100.0, 200.0, 300.0, np.nan],
        "rank clusters": pd.array([1, 2, 3, None], dtype="Int64"),
        "fill-mask": [0.3, 0.1, 0.2, 0.4],
        "rank fill-mask": pd.array([2, 4, 3, 1], dtype="Int64"),
        "classification": [0.5, 0.6, 0.7, 0.8],
        "rank classification": pd.array([4, 3, 2, 1], dtype="Int64"),
    }
)


def test_points_are_the_models_in_both_evaluations() -> None:
    trace = charts.scatter(TABLE, "clusters", "fill-mask").data[0]
    assert list(trace.x) == [100, 200, 300] and list(trace.y) == [0.3, 0.1, 0.2]
    assert [list(line) for line in trace.customdata] == [
        ["builtin/a", "1", "2"],
        ["owner/&lt;b&gt;%&#123;x}", "2", "4"],
        ["c", "3", "3"],
    ]
    assert list(trace.text) == ["a", "&lt;b&gt;%{x}", "c"]


def test_models_with_the_same_last_part_have_different_names() -> None:
    """Two points were both called bert."""
    ends = ("experiments/2024/models/checkpoint-1000", "experiments/2025/models/checkpoint-1000")
    everywhere = TABLE.assign(**{"clusters": 1.0, "fill-mask": 0.1})
    for models, names in (
        (["builtin/a", "/m/a/bert", "/m/b/bert", "d"], ["a", "/m/a/bert", "/m/b/bert"]),
        (["Mine=/m/bert", *(f"/m/{end}" for end in ends), "d"], ["Mine", *(f"/m/{end}" for end in ends)]),
        (["owner/the-name-of-a-long-model", "b", "c", "d"], ["…-name-of-a-long-model", "b", "c"]),
        (
            ["22-characters-in-whole", "23-characters-without-1", "c", "d"],
            ["22-characters-in-whole", "…-characters-without-1", "c"],
        ),
    ):
        assert list(charts.scatter(everywhere.assign(model=models), "clusters", "fill-mask").data[0].text) == names


def test_the_hover_has_the_model_and_each_number_with_its_rank() -> None:
    model, across, up = charts.scatter(TABLE, "clusters", "fill-mask").data[0].hovertemplate.split("<br>")
    assert model == "%{customdata[0]}"
    assert "%{x" in across and "rank %{customdata[1]}" in across
    assert "%{y" in up and up.endswith("rank %{customdata[2]}<extra></extra>")


def test_the_hover_has_ranks_from_first_to_last_place() -> None:
    ranged = TABLE.assign(**range_columns([(1, 2), (1, 3), (2, 3), None], of=" clusters"))
    places = [line[1:] for line in charts.scatter(ranged, "clusters", "fill-mask").data[0].customdata]
    assert places == [["1–2", "2"], ["1–3", "4"], ["2–3", "3"]]


def test_a_model_that_is_alone_in_its_run_is_drawn_without_a_rank() -> None:
    alone = TABLE.assign(**{"clusters": [100.0, *[np.nan] * 3], "rank clusters": pd.array([None] * 4, dtype="Int64")})
    assert [list(line) for line in charts.scatter(alone, "clusters", "fill-mask").data[0].customdata] == [
        ["builtin/a", "–", "2"]
    ]
    unranked = TABLE.assign(**{"rank clusters": pd.array([None] * 4, dtype="Int64")})
    assert len(charts.scatter(unranked, "clusters", "fill-mask").data[0].x) == 0


def test_better_is_up_and_right_for_either_direction() -> None:
    figure = charts.scatter(TABLE, "clusters", "fill-mask")
    left, right = figure.layout.xaxis.range
    low, high = figure.layout.yaxis.range
    assert left > 300 > 100 > right  # a smaller score is better
    assert low < 0.1 < 0.3 < high
    assert "smaller is better" in figure.layout.xaxis.title.text
    assert "larger is better" in figure.layout.yaxis.title.text


def test_ticks_of_shares_are_distinct_per_cents() -> None:
    assert charts.scatter(TABLE, "fill-mask", "classification").layout.xaxis.tickformat == ".0%"
    near = TABLE.assign(**{"fill-mask": [0.00201, 0.00212, 0.00207, 0.00195]})
    # 0.023% from end to end: a sixth of it is 0.004%, which three decimals tell
    assert charts.scatter(near, "fill-mask", "classification").layout.xaxis.tickformat == ".3%"
    assert charts.scatter(near[:1], "fill-mask", "classification").layout.xaxis.tickformat == ".3%"  # 0.18 to 0.22%
    assert charts.scatter(TABLE, "clusters", "classification").layout.xaxis.tickformat == ""


def test_published_points_look_different() -> None:
    printed = printed_table("clusters", "fill-mask")
    assert printed is not None
    published, own = (
        charts.scatter(printed, "clusters", "fill-mask", published=True),
        charts.scatter(TABLE, "clusters", "fill-mask"),
    )
    assert published.data[0].marker.symbol == "circle-open" and own.data[0].marker.symbol is None
    assert published.data[0].marker.color != own.data[0].marker.color
    names = dict(zip(published.data[0].text, published.data[0].textposition, strict=True))
    # NICT stands close above Kyoto: its point would meet a name above Kyoto's
    assert names["Kyoto Univ. Ver."] == "bottom center" and names["NICT Ver."] == "top center"


def test_names_at_the_ends_of_an_axis_go_inward() -> None:
    """On a phone the name of the best model was cut at the edge, and that of the worst lay on the ticks and the next."""
    table = TABLE.head(3).assign(
        model=["builtin/bert-mini-ja-32k", "builtin/bert-mini-ja-char", "builtin/bert-mini-ja-unigram"],
        clusters=[164.8, 146.6, 126.9],
    )
    table["fill-mask"] = [0.00286, 0.00283, 0.00354]
    worst, middle, best = charts.scatter(table, "clusters", "fill-mask").data[0].textposition
    assert (worst, middle, best) == ("top right", "bottom center", "top left")
    assert charts.scatter(table[:1], "clusters", "fill-mask").data[0].textposition == ("top center",)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_or_equal_models_are_drawn_without_an_error(n: int) -> None:
    table = TABLE.head(n).assign(classification=0.5)
    figure = charts.scatter(table, "classification", "fill-mask")
    assert np.isfinite(figure.layout.xaxis.range).all() and figure.layout.xaxis.range[0] < figure.layout.xaxis.range[1]


def test_many_models_are_named_by_the_hover_alone() -> None:
    many = pd.concat([TABLE.head(3)] * 5, ignore_index=True)
    assert charts.scatter(many, "clusters", "classification").data[0].mode == "markers"


def run(name: str, *models: str) -> Any:
    return SimpleNamespace(
        id=name,
        kind="clusters",
        owner="somebody",
        dataset_name=name.partition(": ")[2],
        settings={"models": list(models)},
        name=name,
        created=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )


def ids(chosen: dict[str, Any]) -> dict[str, str]:
    return {kind: view.id for kind, view in chosen.items()}


def test_the_newest_runs_are_the_default_where_none_share_more_models() -> None:
    finished = {"clusters": [run("new", "a"), run("old", "a")], "fill-mask": [], "classification": [run("c", "a", "b")]}
    assert ids(most_shared(finished)) == {"clusters": "new", "classification": "c"}
    assert most_shared({"clusters": [], "classification": []}) == {}


def test_older_runs_that_share_more_models_are_preferred() -> None:
    finished = {
        "clusters": [run("one", "x"), run("three", "a", "b", "c")],
        "fill-mask": [run("f", "a", "b", "c", "d")],
        "classification": [run("two", "a", "b"), run("all", "c", "b", "a")],
    }
    assert ids(most_shared(finished)) == {"clusters": "three", "fill-mask": "f", "classification": "all"}


@given(st.lists(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=4), min_size=1, max_size=3))
def test_no_other_combination_shares_more_models(models: list[list[set[str]]]) -> None:
    finished = {
        f"kind {i}": [run(f"{i}-{j}", *sorted(names)) for j, names in enumerate(runs)] for i, runs in enumerate(models)
    }
    chosen = set.intersection(*(set(view.settings["models"]) for view in most_shared(finished).values()))
    combinations = [set()]  # the models that each combination of runs so far shares
    for i, runs in enumerate(models):
        combinations = [names if i == 0 else shared & names for shared in combinations for names in runs]
    assert len(chosen) == max(map(len, combinations))


def test_labels_omit_the_title_and_number_equal_names() -> None:
    views = [run("Clusters: mine.csv"), run("Clusters: mine.csv"), run("Clusters: other.csv")]
    for i, view in enumerate(views):
        view.id = str(i)
    labels = agreement_runs._labels(views, "Clusters")
    assert labels["0"].endswith(" · mine.csv") and labels["1"] == f"{labels['0']} (2)"
    assert len(set(labels.values())) == 3


def test_all_runs_are_signed() -> None:
    def result(**fingerprints: str) -> Any:
        models = [{"name": name, "fingerprint": fingerprint} for name, fingerprint in fingerprints.items()]
        return SimpleNamespace(signature={"models": models, "seed": 1})

    results = {"clusters": result(a="1", b="2"), "classification": result(a="1", b="3", c="4")}
    runs = {"clusters": run("x"), "classification": run("y"), "fill-mask": run("broken")}
    signed = signature_of(runs, results)
    assert signed["runs"] == {"clusters": "x", "classification": "y"}
    assert signed != signature_of(runs, {**results, "classification": result(a="9")})


def test_a_coefficient_that_is_rounded_to_zero_has_no_sign() -> None:
    assert [_signed(value) for value in (-0.004, 0.004, -0.006, 0.5)] == ["0.00", "0.00", "−0.01", "+0.50"]
