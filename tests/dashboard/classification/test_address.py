"""What the classification page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from dashboard.streamlit_internals import open_at
from engine.datasets import sample_data
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.evaluations.classification.records import Settings
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
    "layer": (None, 1),
    "pooling": ("published", "cls", "mean", "weighted-mean"),
    "normalize": ((), ("nfkc", "lower")),
    "split": ("tail", "stratified"),
    "seeds": (1, 3),
    "seed": (0, 9),
    "epochs": (2, 5),
    "hidden": ((200, 200), (8,)),
    "standardize": (False, True),
    "batch_size": (32, 8),
    "test_share": (0.2, 0.4),
}


@pytest.fixture
def dataset(backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabelledSentences:
    """Five sentences of each class of the sample, as a file where commands are carried out."""
    frame = sample_data.labelled_sentences().to_frame().groupby("label", sort=False).head(5)[["text", "label"]]
    frame.to_csv(tmp_path / "few.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return LabelledSentences.from_frame(frame, "few.csv")


def finished(dataset: LabelledSentences, **settings: object) -> str:
    runs = session.engine().runs
    run_id = runs.submit("classification", Settings(MODELS, **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


@pytest.mark.parametrize("seed", seeds(N_DRAWN, in_a_check=4))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, dataset: LabelledSentences, exported: Exported, command: Command
) -> None:
    draws = random.Random(seed)
    run_id = finished(from_anywhere(dataset, seed), **drawn_at_random(draws, **VALUES))
    app = visit("classification", run=run_id)
    app.button_group(key=f"classification-missed-{run_id}").set_value(draws.choice(MODELS))
    agrees(drawn(app), "classification", exported, command)


def test_the_listed_model_is_in_the_address(dataset: LabelledSentences) -> None:
    run_id = finished(dataset, seeds=1, epochs=1)
    app = visit("classification", run=run_id)
    other = next(model for model in MODELS if model != app.button_group(key=f"classification-missed-{run_id}").value)
    app.button_group(key=f"classification-missed-{run_id}").set_value(other)
    assert address(drawn(app)) == linked(app) == {"run": [run_id], "model": [other]}
    wrong = visit("classification", run=run_id, model="nobody")
    assert "The link asks for model 'nobody'" in words(wrong) and linked(wrong) == {"run": [run_id]}


def test_the_address_counts_again_once_the_page_was_left(dataset: LabelledSentences) -> None:
    run_id = finished(dataset, seeds=1, epochs=1)
    app = visit("classification", run=run_id)
    first = app.button_group(key=f"classification-missed-{run_id}").value
    [other] = set(MODELS) - {first}
    app.button_group(key=f"classification-missed-{run_id}").set_value(other)
    drawn(app)
    open_at(app, "home")
    drawn(app)
    open_at(app, "classification")
    app.query_params["run"], app.query_params["model"] = run_id, other  # by the browser's back button
    assert drawn(app).button_group(key=f"classification-missed-{run_id}-2").value == other
