"""Scores that were computed elsewhere on the page: uploaded beside the data, in place of models or beside them."""

from __future__ import annotations

import io
import zipfile

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.minimal_pairs.face import FACE
from dashboard.minimal_pairs.view import SECTIONS
from dashboard.shared import session
from dashboard.shared.exports.command_data import command_data
from dashboard.shared.exports.print.style import PrintStyle
from dashboard.shared.exports.run_exports import offered_tables, paper_bundle
from engine.commands.equivalent import command_line
from engine.datasets import sample_data
from engine.datasets.scores.files import read_frame, read_scores
from engine.datasets.scores.matching import attached
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.minimal_pairs.views import summary
from tests.dashboard.minimal_pairs.test_page import GPT, finished, finished_result, visit
from tests.support import page_visits
from tests.support.page_visits import drawn, words

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]
SAMPLE = sample_data.minimal_pairs()
SENTENCES = [*SAMPLE.acceptable, *SAMPLE.unacceptable]


def frame(*columns: str) -> pd.DataFrame:
    lengths = [len(text) for text in SENTENCES]
    # Longer sentences are less probable, and of two of one length one is.
    sums = [-length - (i % 7) / 10 for i, length in enumerate(lengths)]
    made = pd.DataFrame({"sentence": SENTENCES, "log_likelihood": sums, "n_tokens": lengths})
    return made.drop_duplicates("sentence")[["sentence", "log_likelihood", *columns]]


def given_scores(*files: tuple[str, pd.DataFrame]) -> AppTest:
    app = visit()
    [upload] = [each for each in app.get("file_uploader") if "scores" in str(each.key)]
    upload.set_value([(name, table.to_csv(index=False).encode(), "text/csv") for name, table in files])
    return drawn(app)


def test_a_file_of_scores_is_a_model_without_any_other() -> None:
    app = given_scores(("mine.csv", frame("n_tokens")))
    said = words(app)
    assert "mine: mine.csv (long form)" in said
    app.multiselect(key="minimal-pairs-models").set_value([])
    drawn(app).button(key="minimal-pairs-submit").click()
    run_id = str(drawn(app).query_params["run"])
    result = finished_result(run_id)
    assert result.settings.models == ("scores/mine",)
    assert result.signature["models"][0]["scores"]["file"] == "mine.csv"
    app = visit(run_id)
    assert f"{summary(result, ('LP',))['accuracy'].iloc[0]:.1%}" in [metric.value for metric in app.metric]
    assert "--scores mine.csv" in "\n".join(code.value for code in app.code)
    assert "--model" not in "\n".join(code.value for code in app.code if "minimal-pairs" in code.value)


def test_a_file_that_cannot_be_used_says_why_and_nothing_is_submitted() -> None:
    app = given_scores(("mine.csv", frame().rename(columns={"log_likelihood": "score"})))
    assert "'score' is not read: it may be a mean" in words(app)
    assert app.button(key="minimal-pairs-submit").disabled


@pytest.mark.parametrize("columns", [(), ("n_tokens",)])
def test_every_part_of_the_page_is_drawn(columns: tuple[str, ...]) -> None:
    """Beside a model of the page and alone; what needs numbers of tokens is not there without them."""
    dataset = attached(SAMPLE, read_frame(frame(*columns), "mine.csv"), ["Mine"])
    for models in (("Mine=scores/Mine",), (GPT, "Mine=scores/Mine")):
        run_id = finished(dataset, *models)
        app = visit(run_id)
        said = words(app)
        assert "log-likelihoods from mine.csv (long form); what is scored is as the file says" in said
        assert ("its file has no numbers of tokens" in said) == (not columns)
        metrics = [metric.value for metric in app.metric]
        assert metrics.count("–") == (0 if columns else 3)
        for name in SECTIONS:
            app = page_visits.visit("minimal_pairs", run=run_id, section=name)
            assert not app.error, (name, [error.value for error in app.error])
        row = page_visits.visit("minimal_pairs", run=run_id, model="Mine=scores/Mine", row="3")
        assert "The log-likelihoods of single tokens are not known of Mine" in words(row)
        assert (len(models) > 1) == any("minimal-edit-submit" in str(button.key) for button in row.button)


def test_the_command_and_the_bundle_carry_the_scores() -> None:
    dataset = attached(SAMPLE, read_frame(frame("n_tokens"), "mine.csv"), ["Mine"])
    run_id = finished(dataset, "Mine=scores/Mine")
    view = session.access().get(run_id)
    assert view is not None
    data = command_data(FACE, view)
    assert (data.files, data.options) == (("sample/minimal-pairs",), ("--scores", "Mine=mine.csv"))
    line = command_line("minimal-pairs", Settings(("Mine=scores/Mine",)), data.files, "out", (), data.options)
    assert line == ("python -m engine minimal-pairs --data sample/minimal-pairs --scores Mine=mine.csv --out out")
    signature = session.engine().runs.result(run_id).signature
    content = paper_bundle(
        FACE, view, signature, offered_tables(view, {}), {}, PrintStyle(), [Settings(("Mine=scores/Mine",))], []
    )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        [name] = [name for name in archive.namelist() if "scores" in name]
        commands = archive.read("commands.sh").decode()
        scores, methods = archive.read(name), archive.read("methods.en.md").decode()
    assert f"--scores Mine={name}" in commands and "--model" not in commands
    assert "The log-likelihoods of Mine were not computed here; they were read from the file mine.csv" in methods
    again = attached(SAMPLE, read_scores([("again.jsonl", scores)]), ["Mine"]).scores[0]
    assert [side.log_likelihoods.tolist() for side in again.sides] == [
        side.log_likelihoods.tolist() for side in dataset.scores[0].sides
    ]


def test_the_samples_of_lm_evaluation_harness_are_among_the_exports() -> None:
    run_id = finished(SAMPLE, GPT)
    app = visit(run_id)
    assert any(str(button.key) == "download-lm-evaluation-harness" for button in app.get("download_button"))
    result = finished_result(run_id)
    with zipfile.ZipFile(io.BytesIO(FACE.as_others(result)["lm-evaluation-harness"]())) as archive:
        names = archive.namelist()
        [samples] = [archive.read(name) for name in names if "samples_" in name]
    assert all(name.startswith("somebody__gpt2/") for name in names)
    scores = attached(SAMPLE, read_scores([("samples_x.jsonl", samples)])).scores[0]
    assert scores.sides[0].log_likelihoods.tolist() == result.pairs["acceptable_log_likelihood"].tolist()
