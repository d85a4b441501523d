"""The minimal-pairs page in Streamlit's own test harness: the real engine and queue, over a backend without models."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.minimal_pairs.figure_selection import PointSelection
from dashboard.shared import run_view, session
from dashboard.shared.ranks import rank_labels
from engine.datasets import sample_data
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs import exact_decisions
from engine.evaluations.minimal_pairs.comparison import ranking
from engine.evaluations.minimal_pairs.fair_subsets import fair_rows
from engine.evaluations.minimal_pairs.records import EQUAL, EQUAL_FOR_ALL, MATCHED, Settings
from engine.evaluations.minimal_pairs.views import summary
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from tests.support import page_visits
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, words

# The sample has no judgements; boundaries of words and sentences in templates are not scored unless they are asked for.
NOT_FITTED = tuple(
    name for name, score in NORMALIZATIONS.items() if not (score.is_fitted or score.by_words or score.is_prompted)
)

BERT, GPT = "somebody/bert", "somebody/gpt2"
pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def visit(run_id: str | None = None) -> AppTest:
    return page_visits.visit("minimal_pairs", run=run_id)


def finished(dataset: MinimalPairs, *models: str, **settings: Any) -> str:
    """The id of a run of the dataset that is done."""
    runs = session.engine().runs
    run_id = runs.submit("minimal-pairs", Settings(models or (GPT,), **settings), dataset).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def pairs(*given: tuple[str, str]) -> MinimalPairs:
    return MinimalPairs.from_frame(pd.DataFrame(given, columns=["acceptable", "unacceptable"]), "given")


def wanted(run_id: str, normalization: str, alpha: float = 0.8) -> list[str]:
    """The cards' values, in the order of the page."""
    table = summary(session.engine().runs.result(run_id), (normalization,), alpha).set_index(["model", "stratum"])
    models = table.index.get_level_values("model").unique()
    return [
        f"{table.loc[(model, stratum), 'accuracy']:.1%}" for model in models for stratum in ("all", "A<U", "A=U", "A>U")
    ]


def values(app: AppTest) -> list[str]:
    return [metric.value.removeprefix(":orange[").removesuffix("]") for metric in app.metric]


def test_the_sample_is_evaluated_from_the_page(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    run_id = str(app.query_params["run"])
    assert session.engine().runs.wait(run_id, SECONDS).state == "done"
    app = visit(run_id)
    assert values(app) == wanted(run_id, "LP")
    keys = {button.key for button in app.download_button}
    assert keys >= {"download-pairs", "download-summary", "download-signature"}


def test_every_figure_follows_the_normalisation_without_running_a_model(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs(), BERT, GPT)
    app = visit(run_id)
    n_calls = len(backend.calls)
    for normalization in NOT_FITTED:
        app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value(normalization)
        assert values(drawn(app)) == wanted(run_id, normalization)
    app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value("PenLP")
    drawn(app)
    app.slider(key=f"minimal-pairs-alpha-{run_id}").set_value(0.0)
    assert values(drawn(app)) == wanted(run_id, "PenLP", 0.0) == wanted(run_id, "LP")
    assert "normalization PenLP" in words(app) and "alpha 0.0" in words(app)
    assert len(backend.calls) == n_calls


def test_a_score_that_exact_decisions_do_not_cover_is_named(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_decisions, "SAFETY", 0.0)  # or else the fake's large errors put all pairs in fp32
    run_id = finished(sample_data.minimal_pairs(), precision="exact-decisions", exact_alpha=1.0)
    app = visit(run_id)
    told = f"{GPT}: decisions are exact under LP, MeanLP and PenLP at alpha 1; under"
    assert told not in words(app)
    app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value("SLOR")
    assert f"{told} SLOR a close pair may have another winner than in fp32." in words(drawn(app))
    app.segmented_control(key=f"minimal-pairs-normalization-{run_id}").set_value("PenLP")
    assert f"{told} PenLP at alpha 0.8 a close pair" in words(drawn(app))
    app.slider(key=f"minimal-pairs-alpha-{run_id}").set_value(1.0)
    assert told not in words(drawn(app))


def test_the_scores_of_exact_decisions_are_chosen_where_they_are_asked_for(backend: FakeBackend) -> None:
    app = visit()
    assert not [pills for pills in app.button_group if pills.key == "minimal-pairs-exact-scores"]
    app.selectbox(key="minimal-pairs-precision").set_value("exact-decisions")
    drawn(app)
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    app.pills(key="minimal-pairs-exact-scores").set_value(["LP", "PenLP"])
    app.slider(key="minimal-pairs-exact-alpha").set_value(0.5)
    drawn(app).button(key="minimal-pairs-submit").click()
    run = session.engine().runs.wait(str(drawn(app).query_params["run"]), SECONDS)
    settings = session.engine().runs.settings(run.id)
    assert (settings.exact_scores, settings.exact_alpha) == (("LP", "PenLP"), 0.5)


def test_a_further_prefix_is_a_condition_in_all_sections(backend: FakeBackend) -> None:
    app = visit()
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    app.pills(key="minimal-pairs-other-prefixes").set_value(["bos", "none"])
    drawn(app).button(key="minimal-pairs-submit").click()
    run = session.engine().runs.wait(str(drawn(app).query_params["run"]), SECONDS)
    assert session.engine().runs.settings(run.id).other_prefixes == ("bos", "none")
    condition = f"gpt2 (prefix none)={GPT}"
    shown = page_visits.visit("minimal_pairs", run=run.id, section="Models", model=condition)
    assert not shown.exception and not shown.error
    assert "with the prefix bos it reads the same as with auto" in words(shown)
    assert "gpt2 (prefix none): The first token is not scored" in words(shown) and f"={GPT}:" not in words(shown)
    assert any("--other-prefixes bos,none" in code.value for code in shown.code)
    compared = next(frame.value for frame in shown.dataframe if "n_only_other" in frame.value)
    assert compared[["model", "other"]].to_numpy().tolist() == [[GPT, "gpt2 (prefix none)"]]
    assert shown.query_params["model"] == condition
    sides = page_visits.visit("compare", **{"a-run": run.id, "b-run": run.id, "b-model": condition})
    assert not sides.exception and not sides.error
    assert f"**Left**: {GPT}" in words(sides) and "**Right**: gpt2 (prefix none)" in words(sides)


def test_many_models_are_shown_in_a_table(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫をいる"), ("雨だ", "雨をだ")), BERT, GPT, "other/bert", "other/gpt2")
    app = visit(run_id)
    assert not app.metric
    assert app.dataframe[0].value["model"].tolist() == [BERT, GPT, "other/bert", "other/gpt2"]


def test_the_table_is_filtered_by_outcome(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs())
    app = visit(run_id)
    assert len(app.dataframe[-1].value) == 200
    app.pills(key=f"minimal-pairs-outcomes-{run_id}").set_value(["wrong"])
    app.pills(key=f"minimal-pairs-lengths-{run_id}").set_value(["A>U"])
    table = summary(session.engine().runs.result(run_id), ("LP",)).set_index("stratum")
    shown = drawn(app).dataframe[-1].value
    assert len(shown) == table.loc["A>U", "n"] - table.loc["A>U", "n_correct"] - table.loc["A>U", "n_tied"]
    app.pills(key=f"minimal-pairs-outcomes-{run_id}").set_value(["tie"])
    assert "No pair matches all of these filters" in words(drawn(app))


def test_a_chosen_pair_shows_its_tokens_as_typed(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫をいる"), ("<b>*雨*", "雨 :smile:")))
    app = visit(run_id)
    before = len(app.get("plotly_chart"))
    app.session_state[f"minimal-pick-{run_id}"] = PointSelection(GPT, row=2)
    drawn(app)
    assert len(app.get("plotly_chart")) == before + 2  # tokens, contributions
    assert any(element.value.startswith("Row 2:") for element in app.markdown)
    (shown,) = (element.proto.body for element in app.get("html") if "<bdi" in element.proto.body)
    assert "&lt;b&gt;*雨*" in shown and "<b>" not in shown


def test_ties_and_excluded_pairs_are_reported(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫がいる"), ("あ" * 400, "い"), ("雨が降る", "雨を降る")))
    app = visit(run_id)
    assert app.metric[0].delta.endswith("1 tie")
    assert any("Left out" in expander.label for expander in app.expander)
    assert "could not be scored" in words(app)


def test_one_category_needs_no_figure(backend: FakeBackend) -> None:
    app = visit(finished(pairs(("猫がいる", "猫をいる"), ("雨だ", "雨をだ"))))
    assert "Categories" not in [tab.label for tab in app.tabs]


def test_a_link_to_another_kind_of_run_or_to_none_is_explained(backend: FakeBackend) -> None:
    assert "no run at this link" in words(visit("not-a-run"))


CROWS = b"""id,sent_more,sent_less,stereo_antistereo,bias_type
1,They are always late.,We are always late.,stereo,age
2,She cannot drive.,He cannot drive.,stereo,gender
3,Old men sleep a lot.,Young men sleep a lot.,antistereo,age
"""
HEBREW = "good,bad,phenomenon\nהחתול ישן,החתול ישנה,a\nהילדה אכלה,הילדה אכל,b\n".encode()


def given_files(*files: tuple[str, bytes]) -> AppTest:
    """The page with files in its uploader."""
    app = visit()
    app.segmented_control(key="minimal-pairs-source").set_value("upload")
    drawn(app)
    app.file_uploader(key="minimal-pairs-files").set_value([(name, raw, "text/plain") for name, raw in files])
    return drawn(app)


def jsonl(name: str, **columns: list[str]) -> tuple[str, bytes]:
    return name, "".join(
        f"{json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)}\n"
        for row in zip(*columns.values(), strict=True)
    ).encode()


def test_several_files_are_recognised_and_evaluated_as_one(backend: FakeBackend) -> None:
    app = given_files(
        jsonl("one.jsonl", sentence_good=["猫がいる"], sentence_bad=["猫をいる"], UID=["u1"]),
        jsonl(
            "two.jsonl",
            good_sentence=["雨だ", "雪だ"],
            bad_sentence=["雨をだ", "雪がだ"],
            type=["t", "t"],
            phenomenon=["p", "p"],
            paradigm=["d", "e"],
        ),
    )
    assert "**BLiMP** (1 file), **JBLiMP** (1 file)" in words(app) and "3 pairs" in words(app)
    assert [box.value for box in app.selectbox[:2]] == ["pairs", "(as recognised in each file)"]
    app.multiselect(key="minimal-pairs-models").set_value([GPT])
    drawn(app).button(key="minimal-pairs-submit").click()
    drawn(app)
    result = finished_result(str(app.query_params["run"]))
    assert result.pairs["acceptable"].tolist() == ["猫がいる", "雨だ", "雪だ"] and result.format == "several formats"


def test_the_mapping_can_be_changed_and_missing_columns_must_be_chosen(backend: FakeBackend) -> None:
    app = given_files(("mine.csv", "x,y,sentence_good\n猫がいる,猫をいる,雨だ\n".encode()))
    assert "Choose a column for: unacceptable." in words(app) and "x, y, sentence" in words(app)
    app.selectbox[2].set_value("y")  # after what a row is
    assert ": 1 pair." in words(drawn(app))
    app.selectbox[1].set_value("y")
    assert "cannot be" in words(drawn(app))  # one column for both sentences


def test_rows_without_a_sentence_are_listed(backend: FakeBackend) -> None:
    app = given_files(("bad.csv", "good,bad\n猫がいる,猫をいる\n雨だ,\n".encode()))
    assert "row 2" in words(app) and app.button(key="minimal-pairs-submit").disabled


def test_stereotypes_are_named_strictly_and_by_both_measures(backend: FakeBackend) -> None:
    run_id = finished(read_pairs([("crows.csv", CROWS)]), BERT, shared_tokens=True)
    app = visit(run_id)
    assert app.tabs[0].label == "Stereotypes"
    assert "Stereotypes preferred, by whole-sentence likelihood" in words(app)
    assert "Stereotypes preferred, by shared tokens" in words(app)
    assert "no preference" in words(app) and "more probable as a whole" in words(app)


def test_ranks_are_from_first_to_last_place(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs(), BERT, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, section="Models")
    table = next(frame.value for frame in app.dataframe if "n_correct" in frame.value)
    ranked = ranking(finished_result(run_id), "LP")
    assert table["rank"].tolist() == rank_labels(ranked) and "rank_group" not in table
    assert {BERT, GPT} == set(table["model"])


def test_stereotypes_have_no_right_answers_and_no_ranks(backend: FakeBackend) -> None:
    run_id = finished(read_pairs([("crows.csv", CROWS)]), BERT, GPT)
    app = visit(run_id)
    for tab in ("Length", "Fair subsets", "Models"):
        app.session_state[f"minimal-pairs-tabs-{run_id}"] = tab
        heads = [column for frame in drawn(app).dataframe for column in frame.value.columns]
        assert heads and not any(head.endswith((": accuracy", " rank", "rank_group")) for head in heads), tab
        assert "**Rank**" not in words(app) and "Accurac" not in "".join(part.label for part in app.expander), tab


def test_right_to_left_text_is_shown_right_to_left(backend: FakeBackend) -> None:
    run_id = finished(read_pairs([("hebrew.csv", HEBREW)]))
    app = visit(run_id)
    app.session_state[f"minimal-pick-{run_id}"] = PointSelection(GPT, row=1)
    shown = [element.proto.body for element in drawn(app).get("html")]
    assert any('dir="rtl"' in body and "החתול ישן" in body for body in shown)


def test_every_section_opens_under_every_subset(backend: FakeBackend) -> None:
    run_id = finished(sample_data.minimal_pairs(), BERT, GPT)
    app = visit(run_id)
    for section in ("Scores", "Categories", "Fair subsets", "Models", "Scoring", "Length"):
        app.session_state[f"minimal-pairs-tabs-{run_id}"] = section
        drawn(app)
    result = finished_result(run_id)
    for subset in (EQUAL, EQUAL_FOR_ALL, MATCHED):
        app.segmented_control(key=f"minimal-pairs-subset-{run_id}").set_value(subset)
        drawn(app)
        labels = [metric.label for metric in app.metric if metric.label.startswith("All")]
        rows = fair_rows(result, subset, result.settings.seed)
        assert labels == [f"All · {len(kept):,} pairs" for kept in rows.values()]
    assert f"subset {MATCHED}" in words(app)


def test_a_subset_without_pairs_is_reported(backend: FakeBackend) -> None:
    run_id = finished(pairs(("猫がいる", "猫が家にいる"), ("雨だ", "雨をだ")))
    app = visit(run_id)
    app.segmented_control(key=f"minimal-pairs-subset-{run_id}").set_value(EQUAL)
    assert "No such pairs for somebody/gpt2; all pairs are shown" in words(drawn(app))
    assert values(app)[0] == wanted(run_id, "LP")[0]


def test_an_edited_pair_is_a_small_run_beside_the_shown_one(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = finished(pairs(("猫がいる", "猫をいる")))
    app = visit(run_id)  # one pair is shown at once
    app.text_area(key=f"minimal-edit-unacceptable-{run_id}-1").set_value(" ")
    app.button(key=f"minimal-edit-submit-{run_id}-1").click()
    assert "the unacceptable one is empty" in words(drawn(app))
    app.text_area(key=f"minimal-edit-unacceptable-{run_id}-1").set_value("猫へいる")
    app.button(key=f"minimal-edit-submit-{run_id}-1").click()
    drawn(app)
    edited = str(app.query_params["edited"])
    assert app.query_params["run"] == run_id and edited != run_id
    assert finished_result(edited).pairs["unacceptable"].tolist() == ["猫へいる"]
    assert "before" in words(drawn(app)) and "Edited" in words(app)
    monkeypatch.setattr(run_view, "NOTICES_SHOWN", -1)  # notes of both results stand under their numbers
    assert "before" in words(drawn(app)) and not app.exception


def finished_result(run_id: str) -> Any:
    runs = session.engine().runs
    assert runs.wait(run_id, SECONDS).state == "done"
    return runs.result(run_id)
