"""The compare page in Streamlit's own test harness, on a finished run of every kind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.alignment import compared
from dashboard.compare.numbers import _number, _signed
from dashboard.faces import FACES
from dashboard.shared import samples, session
from engine.__main__ import main
from engine.commands import compare as compare_command
from engine.evaluations.alignment.records import Result as Alignment
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.comparison.records import KINDS
from engine.runs.open import open_engine
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from tests.dashboard.printed_commands import Exported, address, linked
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, at, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "data_dir")
BERT, GPT = "builtin/bert-mini-ja", "builtin/gpt2-mini-ja"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stored runs, and the samples that the page shows, evaluated."""
    folder = stored_runs.copied("0.1.0", tmp_path_factory.mktemp("prepared") / "data")
    with open_engine(folder, backend=FakeBackend(max_tokens=300)) as engine, pytest.MonkeyPatch.context() as patched:
        patched.setattr(session, "engine", lambda: engine)
        for run_id in samples.run_ids(FACES.values()).values():
            assert engine.runs.wait(run_id, SECONDS).state == "done"
    return folder


@pytest.fixture
def data_dir(backend: FakeBackend, prepared: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(prepared, tmp_path / "data"))


def runs(kind: str) -> list[RunRecord]:
    """The stored runs of a kind, without the samples that the pages submit."""
    return [run for run in session.engine().store.search(Search()) if run.kind == kind and run.owner != samples.OWNER]


def numbers(app: AppTest) -> list[list[str]]:
    """The cells of the table of numbers, row by row."""
    (table,) = [element.value for element in app.markdown if str(element.value).startswith("| Number")]
    return [line[2:-2].split(" | ") for line in str(table).splitlines()[2:]]


def test_a_number_that_is_rounded_to_zero_has_no_sign() -> None:
    assert [_number(value, 3) for value in (-0.0001, 0.0001, -0.0006, float("nan"))] == [
        "0.000",
        "0.000",
        "−0.001",
        "undefined",
    ]
    signed = [_signed(_number(value, 1)) for value in (-0.04, 0.04, 0.0, -2.0, 2.0)]
    assert signed == ["0.0", "0.0", "0.0", "−2.0", "+2.0"]


@pytest.mark.parametrize("kind", KINDS)
def test_two_models_of_a_run_are_compared(kind: str) -> None:
    run = runs(kind)[0]
    app = visit("compare", **{"a-run": run.id, "b-run": run.id})
    assert not app.error, app.error[0].value
    if len(run.models) == 1:
        assert "Both sides are the same" in words(app)
        return
    assert f"**Left**: {BERT}" in words(app) and f"**Right**: {GPT}" in words(app)
    assert len(numbers(app)) and all(len(cells) == 5 for cells in numbers(app))
    assert app.get("plotly_chart") and "What changed most" in words(app)
    assert {button.key for button in app.download_button} >= {"download-numbers", "download-items"}


def test_the_finding_of_a_run_says_where_the_table_has_the_other_sign() -> None:
    run = runs("clusters")[0]
    said = []
    for left, right in ((BERT, GPT), (GPT, BERT)):
        app = visit("compare", **{"a-run": run.id, "a-model": left, "b-run": run.id, "b-model": right})
        is_right_better = numbers(app)[0][3].lstrip("*").startswith("+")  # the smaller M_m is the better one
        said.append("the difference with the other sign" in words(app))
        assert said[-1] == is_right_better, numbers(app)[0]
    assert sorted(said) == [False, True]


def test_the_choices_of_a_side_stand_in_the_address_and_count() -> None:
    run = next(run for run in runs("alignment") if run.state == "done")
    app = visit(
        "compare",
        **{
            "a-run": run.id,
            "b-run": run.id,
            "b-model": BERT,
            "a-idf": "none",
            "a-penalty": "none",
            "b-idf": "references",
            "b-penalty": "none",
        },
    )
    assert not app.error, app.error[0].value
    assert "**Left**: idf none" in words(app) and "**Right**: idf references" in words(app)
    result: Alignment = session.engine().runs.result(run.id)
    (shown,) = [cells[1:3] for cells in numbers(app) if "F1" in cells[0]]
    for value, idf in zip(shown, ("none", "references"), strict=True):
        scores = rescore(result, replace(result.settings.scoring, idf=idf, penalty="none"), models=(BERT,)).pairs
        assert value == f"{scores['f1'].mean():.{len(value) - 2}f}"
    # the link says what differs from the run, so a reload shows the same
    assert "b-penalty" in linked(app) and "b-idf" not in linked(app)
    before = numbers(app)
    app.segmented_control(key=f"compare-b-penalty-{run.id}-sides").set_value("reading")
    drawn(app)
    assert "b-penalty" not in app.query_params and numbers(app) != before
    again = visit(
        "compare", **{name: value if isinstance(value, str) else value[0] for name, value in app.query_params.items()}
    )
    assert numbers(again) == numbers(app)


def test_an_opened_comparison_leaves_its_address_and_the_link_names_both_sides() -> None:
    run = runs("minimal-pairs")[0]
    app = visit("compare", **{"a-run": run.id})
    assert address(app) == {"a-run": [run.id]} == address(drawn(app))  # so that back leads to the page before
    assert linked(app).keys() == {"a-run", "a-model", "b-run", "b-model"}
    app.selectbox(key=f"compare-a-score-{run.id}-sides").set_value("MeanLP")
    drawn(app)
    assert address(app) == linked(app) and address(app)["a-normalization"] == ["MeanLP"]
    del app.query_params["a-normalization"]  # as the browser's back does
    before = address(drawn(app))
    assert app.selectbox(key=f"compare-a-score-{run.id}-sides-2").value == "LP"
    assert address(app) == before and "a-normalization" not in before


def test_the_chosen_item_stands_in_the_address() -> None:
    run = runs("minimal-pairs")[0]
    app = visit("compare", **{"a-run": run.id})
    (listed,) = [frame.value for frame in app.dataframe if "second_outcome" in frame.value]
    row = int(listed["row"].iloc[2])
    chosen = visit("compare", **{**linked(app), "row": str(row)})
    assert len([text for text in chosen.markdown if f"Row {row}:" in str(text.value)]) == 2
    assert linked(chosen)["row"] == [str(row)] and "row" not in linked(app)
    assert "asks for row '100000'" in words(visit("compare", **{"a-run": run.id, "row": "100000"}))


def test_a_link_to_a_strangers_or_a_missing_run_is_said() -> None:
    app = visit("compare", **{"a-run": "0" * 32})
    assert "ignored" in words(app) and not app.error


def test_unknown_values_in_the_address_are_ignored_with_a_word() -> None:
    run = runs("minimal-pairs")[0]
    app = visit("compare", **{"a-run": run.id, "a-normalization": "nonsense", "a-model": GPT, "b-run": run.id})
    assert "nonsense" in words(app) and not app.error


@pytest.mark.parametrize(("name", "value"), [("threshold", "5"), ("readings", "abc"), ("threshold-kind", "value")])
def test_choices_of_an_address_that_no_widget_could_mend_are_ignored(name: str, value: str) -> None:
    run = runs("alignment")[0]
    app = visit("compare", **{"a-run": run.id, f"a-{name}": value})
    assert not app.error and app.get("plotly_chart")
    assert ("ignored" in words(app)) == (name != "threshold-kind")


def test_a_side_of_an_alignment_may_be_weighted_by_a_dictionary_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        compared.dictionaries, "choices", lambda *_, words=False: {"saved/of-words": "of words"} if words else {}
    )
    app = visit("compare", **{"a-run": runs("alignment")[0].id})
    offered = [box.options for box in app.selectbox if "idf" in str(box.label)]
    assert len(offered) == 2 and all("of words" in options for options in offered)


@pytest.mark.parametrize(
    ("kind", "choices", "sides"),
    [
        (
            "alignment",
            ({"idf": "references"}, {"idf": "none"}),
            ("idf 参照文、ペナルティ 論文のとおり", "idf なし、ペナルティ なし"),
        ),
        (
            "metric-study",
            ({"idf": "novel", "penalty": "none"}, {"idf": "references", "penalty": "reading"}),
            ("idf novel、ペナルティ なし", "idf 参照文、ペナルティ 論文のとおり"),
        ),
        (
            "minimal-pairs",
            ({"normalization": "per character"}, {"normalization": "LP"}),
            ("スコア 文字あたり", "スコア LP"),
        ),
    ],
)
def test_sides_are_named_in_the_readers_language(
    kind: str, choices: tuple[dict[str, str], dict[str, str]], sides: tuple[str, str], data_dir: Path
) -> None:
    run = next(run for run in runs(kind) if run.state == "done")
    app = at("compare")
    app.session_state["language"] = "ja"
    for letter, chosen in zip("ab", choices, strict=True):
        app.query_params.update(
            {f"{letter}-run": run.id} | {f"{letter}-{name}": value for name, value in chosen.items()}
        )
    shown = words(drawn(app))
    named = {line[2]: line for line in shown.splitlines() if line.startswith(("**左**", "**右**"))}
    assert sides[0] in named["左"] and sides[1] in named["右"]


# For each kind of which a stored run has two models, what the address asks of a side beside the run and the model.
ASKED: dict[str, tuple[dict[str, str], ...]] = {
    "clusters": ({},),
    "classification": ({},),
    "alignment": (
        {},
        {"a-idf": "references", "b-idf": "none", "b-penalty": "names", "b-match-special": "off"},
        {"a-penalty": "none", "b-idf": "wiki", "b-penalty": "reading", "b-threshold": "0.9"},
    ),
    "metric-study": ({},),
    "minimal-pairs": (
        {},
        {"a-normalization": "PenLP", "a-alpha": "0.35", "b-normalization": "MeanLP"},
        {"b-normalization": "SLOR"},
    ),
}


@pytest.mark.parametrize(("kind", "asked"), [(kind, asked) for kind, choices in ASKED.items() for asked in choices])
def test_the_printed_command_writes_the_tables_of_the_page(
    kind: str,
    asked: dict[str, str],
    exported: Exported,
    command: Callable[[AppTest], dict[str, pd.DataFrame]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_command, "open_engine", lambda *_, **__: nullcontext(session.engine()))
    run = next(run for run in runs(kind) if run.state == "done" and (asked or len(run.models) > 1))
    app = visit("compare", **{"a-run": run.id, "b-run": run.id, **asked})
    assert not app.error and "ignored" not in words(app)
    written = command(app)
    for name in ("numbers", "items"):
        pd.testing.assert_frame_equal(written[name], exported.csv(name)[list(written[name])])
    assert len(written["items"])


@pytest.mark.parametrize(
    ("words_given", "expected"),
    [
        (["--a-run", "nowhere"], "There is no run 'nowhere'"),
        (["--a-run", "{pairs}", "--a-idf", "novel"], "--a-idf: a run of minimal-pairs has no such choice"),
        (["--a-run", "{pairs}", "--a-normalization", "LP2"], "normalization is one of LP, MeanLP"),
        (["--a-run", "{pairs}", "--b-alpha", "-1"], "alpha is at least 0"),
        (["--a-run", "{pairs}", "--b-region", "one-prefix"], "The run has no scores of the region 'one-prefix'"),
        (["--a-run", "{pairs}", "--b-run", "{alignment}"], "Only runs of one kind can be compared"),
        (["--a-run", "{pairs}", "--b-model", "m"], "The run holds no model 'm'"),
    ],
)
def test_what_the_command_cannot_compare_is_said(
    words_given: list[str],
    expected: str,
    data_dir: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_command, "open_engine", lambda *_, **__: nullcontext(session.engine()))
    ids = {"pairs": runs("minimal-pairs")[0].id, "alignment": runs("alignment")[0].id}
    arguments = [word.format(**ids) for word in words_given]
    assert main(["compare", *arguments, "--out", str(tmp_path / "out")]) != 0
    assert expected in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_what_is_of_no_pair_is_no_choice_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "--help"])
    said = capsys.readouterr().out
    assert "--a-region" in said and "-predictions" not in said and "-folds" not in said


def test_a_sample_that_is_evaluated_anew_is_offered_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a change of the code there seemed to be nothing to compare, until all samples were evaluated again."""
    visit("compare")
    ids = samples.run_ids(FACES.values())
    session.engine().store.change(ids["clusters"], state="running")
    monkeypatch.setattr(samples, "run_ids", lambda _: {"minimal-pairs": ids["clusters"]})  # which is not done yet
    options = visit("compare").selectbox[0].options
    assert [option for option in options if option.startswith("Sample: Minimal pairs")]
