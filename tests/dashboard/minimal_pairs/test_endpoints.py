"""Models behind a server on the pages: offered on minimal pairs and nowhere else, evaluated in a run's own process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from dashboard.shared import session
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.records import Settings
from engine.inference.endpoint.settings import ENDPOINTS
from engine.runs import open as opening
from tests.inference.endpoint.completions_server import KEY, SERVED, Served, completions_server
from tests.support import page_visits, tiny_models
from tests.support.page_visits import drawn, evaluated, words
from tests.waiting import SECONDS

NAME = "endpoint/served-here"
PAIRS = [("The cat sleeps.", "The cat sleep."), ("猫が鳴く。", "猫を鳴く。"), ("She will go.", "She will goes.")]
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.gpt2_byte_level(tmp_path_factory.mktemp("models") / "bytes")


@pytest.fixture
def server(model: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    with completions_server(model, key=KEY) as served:
        monkeypatch.setenv("A_KEY", KEY)
        monkeypatch.setenv(ENDPOINTS, f"served-here={served.address} model={SERVED} key=A_KEY")
        yield served


@pytest.fixture
def engine(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[opening.Engine]:
    """The engine of a server, with workers that are not used and a process for each run."""
    opened = opening.open_engine(tmp_path / "data")
    monkeypatch.setattr(opening, "open_engine", lambda: opened)
    yield opened
    opened.close()


def test_endpoints_are_offered_on_minimal_pairs_alone(server: Served, backend: object) -> None:
    assert NAME in page_visits.visit("minimal_pairs").multiselect(key="minimal-pairs-models").options
    for page, kind in (
        ("clusters", "clusters"),
        ("alignment", "alignment"),
        ("fill_mask", "fill-mask"),
        ("classification", "classification"),
        ("metric_study", "metric-study"),
    ):
        app = page_visits.visit(page)
        assert NAME not in app.multiselect(key=f"{kind}-models").options, page


def test_a_run_of_an_endpoint_in_its_own_process(engine: opening.Engine, server: Served, tmp_path: Path) -> None:
    dataset = MinimalPairs.from_frame(pd.DataFrame(PAIRS, columns=["acceptable", "unacceptable"]), "pairs")
    run_id = session.engine().runs.submit("minimal-pairs", Settings((NAME,)), dataset).run_id
    run = engine.runs.wait(run_id, SECONDS)
    assert run.state == "done", run
    result = engine.runs.result(run_id)
    assert set(result.pairs["scored_in"]) == {"server"} and len(result.pairs) == len(PAIRS)
    app = page_visits.visit("minimal_pairs", run=run_id)
    assert "scored by the server at 127.0.0.1:" in words(app)
    # Its worker processes were not asked: no model is loaded here.
    assert engine.backend.pids() == []
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
    assert KEY not in json.dumps(result.signature) and KEY not in words(app)


def test_a_page_that_needs_the_model_itself_says_so(engine: opening.Engine, server: Served) -> None:
    app = page_visits.visit("clusters")
    app.multiselect(key="clusters-models").set_value([NAME])
    app = evaluated(drawn(app), "clusters")
    assert "can be evaluated on minimal pairs alone" in words(app)
    assert server.bodies == []
