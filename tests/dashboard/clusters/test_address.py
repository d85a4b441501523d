"""What the clusters page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.clusters.detail_sections import TITLES
from dashboard.clusters.explanation import LISTS
from dashboard.clusters.map_charts import Look
from dashboard.clusters.selection import SELECTED_MOST
from dashboard.shared import session
from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters.records import Settings
from tests.dashboard.drawn_sources import from_anywhere
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, address, agrees, drawn_at_random, linked
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

MODELS = ("somebody/first", "somebody/second")
N_DRAWN = 20
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
Command = Callable[[AppTest], dict[str, pd.DataFrame]]
VALUES = {
    "layer": (None, 0, 2),
    "pooling": ("published", "cls", "mean", "mean-without-special", "last", "weighted-mean"),
    "normalize": ((), ("nfkc",), ("nfkc", "lower")),
    "centre": (False, True),
    "layer_curve": (False, True),
    "dimensions": (2, 3),
    "metric": ("cosine", "euclidean"),
    "resamples": (100, 200),
    "seed": (0, 7),
    "correction": ("none", "whitening", "all-but-the-top"),
    "clusterings": (0, 2),
    "lone_classes": ("keep", "exclude"),
    "truncate_dim": (None, 4),
    "prompt": (None, "- query: "),
}


@pytest.fixture
def dataset(backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabelledSentences:
    """Three sentences of each class of the sample, as a file where commands are carried out."""
    frame = sample_data.labelled_sentences().to_frame().groupby("label", sort=False).head(3)[["text", "label"]]
    frame.to_csv(tmp_path / "few.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return LabelledSentences.from_frame(frame, "few.csv")


def finished(dataset: LabelledSentences, **settings: object) -> str:
    runs = session.engine().runs
    run_id = runs.submit("clusters", Settings(MODELS, projection="pca", **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def set_at_random(app: AppTest, run_id: str, draws: random.Random) -> None:
    """Open sections, choose in them, and select and hide in the maps, as their script reports it."""
    for name in draws.sample(list(TITLES), draws.randrange(len(TITLES) + 1)):
        app.session_state[f"clusters-open-{name}-{run_id}"] = True
    rows = sorted(draws.sample(range(1, 28), draws.randrange(4)))
    classes = sorted(set(session.engine().runs.result(run_id).points["label"]))
    app.session_state[f"clusters-maps-{run_id}"] = {
        "selection": rows,
        "hidden": draws.sample(classes, draws.randrange(3)),
        "centroids": draws.random() < 0.5,
        "alone": draws.choice([None, *MODELS]),
    }
    drawn(app)
    if any(group.key == f"clusters-why-model-{run_id}" for group in app.button_group):
        app.button_group(key=f"clusters-why-model-{run_id}").set_value(draws.choice(MODELS))
        app.button_group(key=f"clusters-why-list-{run_id}").set_value(draws.choice(list(LISTS)))
        drawn(app)


@pytest.mark.parametrize("seed", seeds(N_DRAWN, in_a_check=4))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, dataset: LabelledSentences, exported: Exported, command: Command
) -> None:
    draws = random.Random(seed)
    run_id = finished(from_anywhere(dataset, seed), **drawn_at_random(draws, **VALUES))
    app = visit("clusters", run=run_id)
    set_at_random(app, run_id, draws)
    agrees(app, "clusters", exported, command)


def test_what_is_selected_and_hidden_in_the_maps_is_in_the_address(dataset: LabelledSentences) -> None:
    run_id = finished(dataset)
    label = dataset.labels[0]
    asked = {"run": [run_id], "selected": ["2", "5"], "row": ["5"], "hidden": [label], "centroids": ["off"]}
    app = visit("clusters", **asked)
    assert linked(app) == asked and "**2 sentences selected**" in words(app)
    app.session_state[f"clusters-maps-{run_id}"] = {"selection": [3], "hidden": [], "centroids": True}
    drawn(app)
    assert address(app) == {"run": [run_id], "selected": ["3"]}
    wrong = visit(
        "clusters",
        run=run_id,
        selected="1000",
        hidden="no class",
        section="Nowhere",
        alone="nobody/model",
        colour="no column",
    )
    for name in ("selected", "hidden", "section", "alone", "colour"):
        assert f"The link asks for {name} " in words(wrong)
    assert linked(wrong) == {"run": [run_id]}
    wrong.session_state["language"] = "ja"
    said = words(drawn(wrong))
    assert "The link asks for" not in said and said.count("は無視しました") == 5


def maps_of(app: AppTest) -> dict[str, Any]:
    """The data of the maps that the page draws."""
    (data,) = [
        data for data in map(json.loads, (part.proto.json for part in app.get("bidi_component"))) if "models" in data
    ]
    return data


def test_how_the_maps_are_drawn_is_in_the_address(backend: FakeBackend) -> None:
    frame = sample_data.labelled_sentences().to_frame().groupby("label", sort=False).head(3)[["text", "label"]]
    numbers = [str(number) for number in range(len(frame))]
    run_id = finished(LabelledSentences.from_frame(frame.assign(**{"column:length": numbers}), "few.csv"))
    asked = {"run": [run_id], "colour": ["length"], "alone": [MODELS[1]]}
    app = visit("clusters", **asked)
    assert linked(app) == asked and maps_of(app)["coloring"] == "length" and len(maps_of(app)["ramps"]["dark"]) == 8
    assert [model["centroids"] for model in maps_of(app)["models"]] == [[], []]  # those are of the classes
    shown = shown_maps_of(app, run_id)
    assert shown.alone == MODELS[1] and shown.coloring is not None and shown.coloring.column == "length"
    app.selectbox(key=f"clusters-colour-{run_id}").set_value("")
    drawn(app)
    assert address(app) == {"run": [run_id], "alone": [MODELS[1]]} and maps_of(app)["ramps"] is None
    by_class = shown_maps_of(app, run_id).coloring
    assert by_class is not None and by_class.column is None


def shown_maps_of(app: AppTest, run_id: str) -> Look:
    """How the maps of the page are set, as their downloads draw them."""
    return app.session_state[f"look-of-maps-{run_id}"].look


def test_a_search_is_listed_and_in_the_address_until_something_else_is_selected(dataset: LabelledSentences) -> None:
    run_id = finished(dataset)
    text = dataset.texts[4][:4]
    rows = [row for row, sentence in zip(dataset.rows, dataset.texts, strict=True) if text in sentence]
    app = visit("clusters", run=run_id)
    app.text_input(key=f"clusters-search-{run_id}").set_value(text)
    drawn(app)
    assert address(app) == {"run": [run_id], "search": [text]} and requested(app) == {"text": text, "rows": rows}
    # The maps have selected what was found; then somebody selects another sentence in them.
    state = {"hidden": [], "centroids": True, "alone": None}
    app.session_state[f"clusters-maps-{run_id}"] = {"selection": rows, **state}
    drawn(app)
    assert address(app) == {"run": [run_id], "search": [text]}
    app.session_state[f"clusters-maps-{run_id}"] = {"selection": [1, 2], **state}
    drawn(app)
    assert address(app) == {"run": [run_id], "selected": ["1", "2"]} and "2 sentences selected" in words(app)
    other = visit("clusters", run=run_id, search="no such text")
    assert "No sentence contains “no such text”." in words(other)
    assert linked(other) == {"run": [run_id], "search": ["no such text"]}


def requested(app: AppTest) -> dict[str, Any]:
    """What the maps are asked to select."""
    [found] = [
        data["found"]
        for data in map(json.loads, (part.proto.json for part in app.get("bidi_component")))
        if data.get("found")
    ]
    return found


def test_a_selection_too_large_for_an_address_is_said(backend: FakeBackend) -> None:
    run_id = finished(sample_data.labelled_sentences())
    app = visit("clusters", run=run_id)
    rows = list(range(1, SELECTED_MOST + 2))
    app.session_state[f"clusters-maps-{run_id}"] = {"selection": rows, "hidden": [], "centroids": True}
    drawn(app)
    assert f"no selection of more than {SELECTED_MOST} sentences" in words(app) and linked(app) == {"run": [run_id]}
