"""What the metric study page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.metric_study.labels import MEASURES
from dashboard.shared import session
from engine.datasets import sample_data
from engine.datasets.formats.files import read_table
from engine.datasets.sentence_pairs import SentencePairs, from_table
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.dashboard.drawn_sources import from_anywhere
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, agrees, drawn_at_random, linked, numbers
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

MODELS = ("somebody/first", "somebody/second")
N_DRAWN = 20
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
Command = Callable[[AppTest], dict[str, pd.DataFrame]]
VALUES = {
    "layer": (None, 2),
    "all_layers": (False, True),
    "idfs": (("none", "references", "novel"), ("novel",), ("none",)),
    "penalties": (("none", "reading"), ("reading",), ("none",)),
    "score": ("f1", "precision", "recall"),
    "surface": (True, False),
    "pooling": ("published", "mean"),
}
OF_SCORING = {
    "threshold": (0.7, 0.3),
    "criterion": ("idf", "proper-nouns", "either"),
    "pairing": ("token", "joined"),
    "special_tokens": ("as-bert-score", "left-out"),
    "unit": ("subword", "word"),
    "reading_scope": ("piece", "word"),
}


@pytest.fixture
def dataset(backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SentencePairs:
    """Some scored pairs of the sample, as a file where commands are carried out, and a dictionary of novels."""
    pairs = sample_data.scored_pairs()
    lines = sample_data.path("scored_pairs").read_text(encoding="utf-8").splitlines(keepends=True)
    common = sorted(set("".join(pairs.references)) - set("斉藤渡辺"))
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    write_idf(
        count_documents(
            [*[common] * 9, list("斉藤")], "novel", backend._facts(MODELS[0], None).tokenizer_fingerprint, "file"
        ),
        tmp_path / "novel.fake.json.gz",
    )
    (tmp_path / "few.csv").write_text("".join(lines[:17]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return from_table(read_table(tmp_path / "few.csv"))


def finished(dataset: SentencePairs, models: tuple[str, ...] = MODELS[:1], **settings: object) -> str:
    runs = session.engine().runs
    run_id = runs.submit("metric-study", Settings(models, **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def choose(app: AppTest, run_id: str, line: int) -> AppTest:
    """Choose a line of the table of settings."""
    app.session_state[f"metric-table-{run_id}-0"] = {"selection": {"rows": [line], "columns": [], "cells": []}}
    return drawn(app)


@pytest.mark.parametrize("seed", seeds(N_DRAWN, in_a_check=4))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, dataset: SentencePairs, exported: Exported, command: Command
) -> None:
    draws = random.Random(seed)
    scoring = Scoring(**drawn_at_random(draws, **OF_SCORING))
    run_id = finished(from_anywhere(dataset, seed), scoring=scoring, **drawn_at_random(draws, **VALUES))
    app = visit("metric_study", run=run_id)
    app.segmented_control(key=f"metric-measure-{run_id}").set_value(draws.choice(list(MEASURES)))
    app.toggle(key=f"metric-published-{run_id}").set_value(draws.random() < 0.5)
    result: Result = session.engine().runs.result(run_id)
    choose(drawn(app), run_id, draws.randrange(len(result.correlations)))
    agrees(app, "metric_study", exported, command)


def test_the_chosen_setting_is_in_the_address(dataset: SentencePairs) -> None:
    run_id = finished(dataset, idfs=("none", "novel"))
    app = visit("metric_study", run=run_id)
    table = session.engine().runs.result(run_id).correlations
    order = table.sort_values("pearson", ascending=False, kind="stable", na_position="last").reset_index(drop=True)
    surface = int(order.index[order["kind"] == "surface"][0])
    choose(app, run_id, surface)
    assert linked(app)["kind"] == ["surface"] and linked(app)["model"] == [order.loc[surface, "model"]]
    again = visit("metric_study", **linked(app))
    assert numbers(again) == numbers(app) != numbers(visit("metric_study", run=run_id))


def test_what_the_link_cannot_ask_for_is_ignored_with_words(dataset: SentencePairs) -> None:
    run_id = finished(dataset, idfs=("none", "novel"))
    for query in ({"idf": "wiki"}, {"kind": "surface"}, {"correlation": "covariance"}, {"published": "perhaps"}):
        app = visit("metric_study", run=run_id, **query)
        (name,) = query
        assert f"The link asks for {name} " in words(app) and linked(app) == {"run": [run_id]}, query
