"""What the fill-mask page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from engine.datasets.formats.files import read_table
from engine.datasets.masked.masked_sentences import MaskedSentences, from_table
from engine.evaluations.fill_mask.records import Settings
from tests.dashboard.drawn_sources import from_anywhere
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, agrees, drawn_at_random, linked
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

MODELS = ("somebody/first", "somebody/second")
N_DRAWN = 20
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
Command = Callable[[AppTest], dict[str, pd.DataFrame]]
VALUES = {"normalize": ((), ("nfkc",), ("nfkc", "lower")), "top": (10, 3), "resamples": (50, 200), "seed": (0, 3)}
ROWS = [
    ("映画の[MASK]が好きだ", "音楽", "film"),
    ("この[MASK]は長い", "話", "book"),
    ("[MASK]を読んだ", "小説", "book"),
    ("雨が[MASK]", "降る", "film"),
    ("長" * 400 + "[MASK]", "い", "book"),
    ("[MASK]がいる", "猫", "film"),
]


@pytest.fixture
def dataset(backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MaskedSentences:
    """Sentences of two domains, one of them too long, as a file where commands are carried out."""
    frame = pd.DataFrame(ROWS, columns=["text", "label", "domain"])
    frame.to_csv(tmp_path / "few.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return from_table(read_table(tmp_path / "few.csv"))


def finished(dataset: MaskedSentences, **settings: object) -> str:
    runs = session.engine().runs
    run_id = runs.submit("fill-mask", Settings(MODELS, **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


@pytest.mark.parametrize("seed", seeds(N_DRAWN, in_a_check=4))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, dataset: MaskedSentences, exported: Exported, command: Command
) -> None:
    draws = random.Random(seed)
    run_id = finished(from_anywhere(dataset, seed), **drawn_at_random(draws, **VALUES))
    app = visit("fill_mask", run=run_id)
    app.multiselect(key=f"fill-mask-domains-{run_id}").set_value(draws.sample(["film", "book"], draws.randrange(3)))
    for toggle in app.toggle:
        if toggle.key == f"fill-mask-common-{run_id}":
            toggle.set_value(draws.random() < 0.5)
    drawn(app)
    for masks in [group for group in app.button_group if str(group.key).startswith("fill-mask-mask-")]:
        masks.set_value(draws.choice([1, 2]))
    agrees(drawn(app), "fill_mask", exported, command)


def test_sentence_mask_and_domain_are_in_the_address(dataset: MaskedSentences) -> None:
    run_id = finished(dataset)
    asked = {"run": [run_id], "domain": ["book"], "row": ["3"], "mask": ["2", "1"]}
    app = visit("fill_mask", **asked)
    assert "小説" in words(app) and linked(app) == asked
    masks = [group.value for group in app.button_group if str(group.key).startswith("fill-mask-mask-")]
    assert masks == [2, 1]
    other = visit("fill_mask", run=run_id, domain="none such", row="77", mask="9")
    for name in ("domain", "row", "mask"):
        assert f"The link asks for {name} " in words(other)
    assert linked(other) == {"run": [run_id]}
