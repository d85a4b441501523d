"""A part of each sentence on the page: what is offered, and that everything below is computed from it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import session
from engine.datasets.minimal_pairs.files import read_pairs
from engine.evaluations.minimal_pairs.records import DIFFERING, ONE_PREFIX
from engine.evaluations.minimal_pairs.regions import of_region
from engine.evaluations.minimal_pairs.views import available, summary
from tests.dashboard.minimal_pairs.test_page import BERT, GPT, finished, pairs
from tests.support import page_visits

pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]

PAIRS = pairs(
    ("猫が魚を食べた", "猫が魚が食べた"),
    ("犬が走る", "犬を走る"),
    ("雨が降る", "雨は降らない"),
    ("花が咲く", "花が咲く"),
)


def test_all_numbers_are_of_the_words_that_differ() -> None:
    run_id = finished(PAIRS, GPT)
    result = session.engine().runs.result(run_id)
    app = page_visits.visit("minimal_pairs", run=run_id, region=DIFFERING)
    assert not app.exception and not app.error
    [counted] = [box for box in app.selectbox if box.label == "Counted"]
    assert counted.options == ["whole sentence", "words that differ"] and counted.value == DIFFERING
    expected = summary(of_region(result, DIFFERING), ("LP",)).query("stratum == 'all'")
    assert expected["n"].tolist() == [3]
    assert app.metric[0].label.startswith("All · 3 pairs")
    assert app.metric[0].value == f"{expected['accuracy'].iloc[0]:.1%}"
    assert f"--region '{DIFFERING}'" in "".join(code.value for code in app.code)


def test_a_side_of_a_comparison_counts_its_region() -> None:
    run_id = finished(PAIRS, GPT)
    app = page_visits.visit("compare", **{"a-run": run_id, "b-run": run_id, "a-region": DIFFERING})
    assert not app.exception and not app.error
    assert [box.value for box in app.selectbox if box.label == "Counted"] == [DIFFERING, "whole sentence"]
    assert "**Left**: region words that differ" in page_visits.words(app)
    assert any(f"--a-region '{DIFFERING}'" in code.value for code in app.code)
    # of one pair no words differ, and the others are compared
    assert "download-items" in {button.key for button in app.download_button}


def test_a_score_that_a_part_does_not_have_gives_way_to_another() -> None:
    app = page_visits.visit("minimal_pairs", run=finished(PAIRS, GPT), region=DIFFERING, normalization="per character")
    assert not app.exception and [note.value for note in app.info] == [
        "A part of a sentence has no per character; LP is shown."
    ]


def test_a_masked_model_under_a_prefix_method_is_named() -> None:
    content = (
        b"sentence_good,sentence_bad,one_prefix_prefix,one_prefix_word_good,one_prefix_word_bad\na b c,a d c,a,b,d\n"
    )
    run_id = finished(read_pairs([("prefix.csv", content)]), GPT, BERT)
    app = page_visits.visit("minimal_pairs", run=run_id, region=ONE_PREFIX)
    assert (
        not app.exception
        and f"{BERT}: the method one-prefix is of models that read a sentence from its beginning"
        in page_visits.words(app)
    )
    assert "of causal models" not in page_visits.words(page_visits.visit("minimal_pairs", run=run_id))


def test_only_scores_that_a_part_has_are_offered() -> None:
    run_id = finished(PAIRS, GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, normalization="per character")
    key = f"minimal-pairs-normalization-{run_id}"
    assert app.segmented_control(key=key).value == "per character" and "bits per byte" in score_names(app, key)
    app.selectbox(key=f"minimal-pairs-region-{run_id}").set_value(DIFFERING)
    page_visits.drawn(app)
    assert [note.value for note in app.info] == ["A part of a sentence has no per character; LP is shown."]
    result = of_region(session.engine().runs.result(run_id), DIFFERING)
    assert score_names(app, key) == list(available(result.pairs))
    assert app.segmented_control(key=key).value == "LP" and "bits per byte" not in score_names(app, key)
    assert not page_visits.drawn(app).info and app.segmented_control(key=key).value == "LP"
    app.segmented_control(key=key).set_value("PenLP")
    assert page_visits.drawn(app).segmented_control(key=key).value == "PenLP" and not app.info


def score_names(app: AppTest, key: str) -> list[str]:
    return list(app.segmented_control(key=key).options)


def test_items_of_several_sentences_are_counted_as_a_whole() -> None:
    lines = [f"{item},{'文' * item}{end},{int(end == 'だ')}" for item in range(1, 5) for end in "だでに"]
    content = "\n".join(["item,sentence,label", *lines]).encode()
    app = page_visits.visit("minimal_pairs", run=finished(read_pairs([("items.csv", content)]), GPT))
    assert not app.exception
    assert any(
        caption.value.startswith("Items whose acceptable sentence is above all others: ")
        and "chance 33%" in caption.value
        for caption in app.caption
    )
    assert "download-items" in {button.key for button in app.download_button}
