"""What the clusters page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.clusters.detail_sections import TITLES
from dashboard.clusters.explanation import LISTS
from dashboard.clusters.selection import SELECTED_MOST
from dashboard.shared import session
from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.clusters.records import Settings
from tests.dashboard.printed_commands import Exported, address, agrees, drawn_at_random, linked
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

MODELS = ("somebody/first", "somebody/second")
N_DRAWN = 20
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
Command = Callable[[AppTest], dict[str, pd.DataFrame]]
VALUES = {
    "layer": (None, 0, 2), "pooling": ("published", "cls", "mean", "mean-without-special", "last", "weighted-mean"),
    "normalize": ((), ("nfkc",), ("nfkc", "lower")), "centre": (False, True), "layer_curve": (False, True),
    "dimensions": (2, 3), "metric": ("cosine", "euclidean"), "resamples": (100, 200), "seed": (0, 7),
    "correction": ("none", "whitening", "all-but-the-top"), "clusterings": (0, 2),
    "lone_classes": ("keep", "exclude"), "truncate_dim": (None, 4), "prompt": (None, "- query: "),
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
        "selection": rows, "hidden": draws.sample(classes, draws.randrange(3)), "centroids": draws.random() < 0.5}
    drawn(app)
    if any(group.key == f"clusters-why-model-{run_id}" for group in app.button_group):
        app.button_group(key=f"clusters-why-model-{run_id}").set_value(draws.choice(MODELS))
        app.button_group(key=f"clusters-why-list-{run_id}").set_value(draws.choice(list(LISTS)))
        drawn(app)


@pytest.mark.parametrize("seed", range(N_DRAWN))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, dataset: LabelledSentences, exported: Exported, command: Command
) -> None:
    draws = random.Random(seed)
    run_id = finished(dataset, **drawn_at_random(draws, **VALUES))
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
    wrong = visit("clusters", run=run_id, selected="1000", hidden="no class", section="Nowhere")
    for name in ("selected", "hidden", "section"):
        assert f"The link asks for {name} " in words(wrong)
    assert linked(wrong) == {"run": [run_id]}


def test_a_selection_too_large_for_an_address_is_said(backend: FakeBackend) -> None:
    run_id = finished(sample_data.labelled_sentences())
    app = visit("clusters", run=run_id)
    rows = list(range(1, SELECTED_MOST + 2))
    app.session_state[f"clusters-maps-{run_id}"] = {"selection": rows, "hidden": [], "centroids": True}
    drawn(app)
    assert f"no selection of more than {SELECTED_MOST} sentences" in words(app) and linked(app) == {"run": [run_id]}
