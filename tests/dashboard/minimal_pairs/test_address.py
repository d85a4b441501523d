"""What the minimal-pairs page shows, its address, its exports and the printed command are one state."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.minimal_pairs import browser
from dashboard.minimal_pairs.pair_table import ORDERS
from dashboard.shared import session
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.pairs import from_table
from engine.evaluations.minimal_pairs.records import ALL, CUT_DIFFERENTLY, EQUAL, SUBSETS, Settings
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.dashboard.drawn_sources import sample_from_anywhere
from tests.dashboard.draws import seeds
from tests.dashboard.printed_commands import Exported, address, linked, printed, same
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

MODELS = ("somebody/bert", "somebody/gpt2")
N_DRAWN = 20
# The sample has no judgements; boundaries of words and sentences in templates are not scored unless they are asked for.
NOT_FITTED = tuple(
    name for name, score in NORMALIZATIONS.items() if not (score.is_fitted or score.by_words or score.is_prompted)
)
# The sample's words are cut alike in both sentences of a pair by the tokenizer of these models.
IN_SAMPLE = tuple(name for name in SUBSETS if name not in (ALL, CUT_DIFFERENTLY))
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


@pytest.fixture
def run_id(
    backend: FakeBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> str:
    """A run of the sample, from anywhere in a test with a seed, under two models,
    with a dictionary of novels for their tokenizer.
    """
    monkeypatch.setattr(dictionaries, "FOLDER", tmp_path)
    tokenizer = backend._facts(MODELS[0], None).tokenizer_fingerprint
    write_idf(
        count_documents([list("雨が降る"), list("猫がいる")] * 3, "novel", tokenizer, "file"),
        tmp_path / "novel.fake.json.gz",
    )
    monkeypatch.chdir(tmp_path)
    runs = session.engine().runs
    run_id = runs.submit("minimal-pairs", Settings(MODELS), sample_from_anywhere("minimal_pairs", request)).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def visit(run_id: str, **query: str) -> AppTest:
    return page_visits.visit("minimal_pairs", run=run_id, **query)


def set_at_random(app: AppTest, run_id: str, seed: int) -> str:
    """Set every choice of the whole page at random; the subset."""
    draws = random.Random(seed)
    score = NOT_FITTED[seed % len(NOT_FITTED)]
    subset = draws.choice([ALL, *IN_SAMPLE])
    app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value(score)
    app.segmented_control(key=f"minimal-pairs-subset-{run_id}").set_value(subset)
    drawn(app)
    if score == "PenLP":
        app.slider(key=f"minimal-pairs-alpha-{run_id}").set_value(draws.choice((0.0, 0.35, 1.0)))
    if score == "SLOR":
        app.selectbox(key=f"minimal-pairs-unigrams-{run_id}").set_value("novel")
    drawn(app)
    return subset


@pytest.mark.parametrize("seed", seeds(N_DRAWN))
def test_the_printed_command_and_the_link_give_what_is_on_the_page(
    seed: int, run_id: str, exported: Exported, command: Callable[[AppTest], dict[str, pd.DataFrame]]
) -> None:
    app = visit(run_id)
    subset = set_at_random(app, run_id, seed)
    shown = {name: exported.csv(name) for name in exported.tables}
    signature, metrics = exported.signature, [metric.value for metric in app.metric]
    written = command(app)
    for name in ("summary", "bias", "differences"):
        same(written[name], shown[name])
    columns = [name for name in written["pairs"] if name in shown["pairs"]]
    same(written["pairs"][columns], shown["pairs"][columns])
    fair = written["fair_subsets"]  # of all pairs, whatever is counted
    if subset != ALL:
        same(fair.loc[fair["subset"] == subset, ["model", "row"]], shown["pairs"][["model", "row"]])
    assert set(fair["subset"]) == set(IN_SAMPLE)
    query = address(app)
    other = page_visits.visit("minimal_pairs", **query)  # type: ignore[arg-type]  # another session
    assert exported.signature == signature and [metric.value for metric in other.metric] == metrics
    for name, table in shown.items():
        pd.testing.assert_frame_equal(exported.csv(name), table)
    assert address(other) == query and printed(other) == printed(app)


def test_page_and_command_have_the_same_defaults(run_id: str) -> None:
    app = visit(run_id)
    models = " ".join(f"--model {model}" for model in MODELS)
    assert printed(app) == [f"python -m engine minimal-pairs --data sample/minimal-pairs {models} --out out"]
    assert list(address(app)) == ["run"]


def test_pairs_without_a_category_are_downloaded_by_the_column_that_the_page_shows(
    backend: FakeBackend,
    exported: Exported,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["item,sentence,label,kind"]
    for item, kind in enumerate("aabbab"):
        lines += [
            f"{item},猫が魚を食べた{item},1,{kind}",
            f"{item},魚を猫が食べた{item},0,{kind}",
            f"{item},猫に魚を食べた{item},0,{kind}",
        ]
    (tmp_path / "items.csv").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    items = from_table(read_table(Path("items.csv"), "items.csv"))
    runs = session.engine().runs
    run_id = runs.submit("minimal-pairs", Settings(MODELS), items).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    app = visit(run_id, section="Categories")
    assert app.selectbox(key=f"minimal-pairs-by-categories-{run_id}").value == "kind"
    assert set(exported.csv("categories")["category"]) == {"a", "b"}
    shown, written = exported.csv("categories"), command(app)["categories"]
    same(written.loc[written["normalization"] == "LP", list(shown)], shown)


def test_what_the_link_cannot_ask_for_is_ignored_with_words(run_id: str) -> None:
    app = visit(run_id, normalization="loudness", subset="half", alpha="-1", unigrams="/etc/passwd")
    for name, value in (
        ("normalization", "loudness"),
        ("subset", "half"),
        ("alpha", "-1"),
        ("unigrams", "/etc/passwd"),
    ):
        assert f"The link asks for {name} '{value}', which " in words(app)
    assert list(linked(app)) == ["run"]
    app.segmented_control(key=f"minimal-pairs-subset-{run_id}").set_value(EQUAL)
    assert address(drawn(app)) == linked(app) == {"run": [run_id], "subset": [EQUAL]}


def test_going_back_shows_what_the_address_says(run_id: str) -> None:
    app = visit(run_id, subset=EQUAL)
    before = [metric.value for metric in app.metric]
    app.segmented_control(key=f"minimal-pairs-subset-{run_id}").set_value(ALL)
    assert [metric.value for metric in drawn(app).metric] != before
    app.query_params["subset"] = EQUAL  # as the browser's back does
    assert [metric.value for metric in drawn(app).metric] == before


@pytest.mark.parametrize("seed", range(8))
def test_a_link_opens_the_same_list_pair_and_section(seed: int, run_id: str) -> None:
    draws = random.Random(seed)
    app = visit(run_id)
    app.button_group(key=f"minimal-pairs-model-{run_id}").set_value(draws.choice(MODELS))
    outcomes = draws.sample(["right", "wrong"], draws.randint(0, 2))
    app.button_group(key=f"minimal-pairs-outcomes-{run_id}").set_value(outcomes)
    app.selectbox(key=f"minimal-pairs-order-{run_id}").set_value(draws.choice(ORDERS))
    drawn(app)
    listed = pairs_listed(app)
    again = page_visits.visit("minimal_pairs", **address(app))
    assert pairs_listed(again).equals(listed)
    row = int(draws.choice(listed["row"].tolist()))
    section = draws.choice(["Scores", "Models", "Scoring"])
    linked = page_visits.visit("minimal_pairs", **{**address(app), "row": str(row), "section": section})
    assert pairs_listed(linked).equals(listed) and f"Row {row}:" in words(linked)
    assert address(linked)["row"] == [str(row)] and address(linked)["section"] == [section]


def test_a_link_to_a_row_beyond_those_listed_shows_its_pair(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "MAX_ROWS", 5)
    app = visit(run_id, row="90")
    assert pairs_listed(app)["row"].tolist() == [90, 1, 2, 3, 4, 5] and "Row 90:" in words(app)
    assert address(app)["row"] == ["90"]
    outcome = str(pairs_listed(app)["outcome"].iloc[0])
    other = "wrong" if outcome == "right" else "right"
    assert "Row 90 of the link is not among these pairs" in words(visit(run_id, row="90", outcome=other))


def test_what_a_link_cannot_ask_of_the_list_is_said(run_id: str) -> None:
    app = visit(run_id, order="upside down", row="100000", outcome="lucky", section="Nowhere", model="nobody")
    for name in ("order", "row", "outcome", "section", "model"):
        assert f"asks for {name} " in words(app)
    assert list(linked(app)) == ["run"]


def pairs_listed(app: AppTest) -> pd.DataFrame:
    (table,) = [frame.value for frame in app.dataframe if "margin" in frame.value and "outcome" in frame.value]
    return table
