"""Which rows a notice names, where a model reads what a text contains as a control token."""

from __future__ import annotations

from typing import Any

import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment import evaluate as alignment
from engine.evaluations.alignment import records as alignment_records
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.classification import records as classification_records
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.clusters import records as clusters_records
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.fill_mask import records as fill_mask_records
from engine.evaluations.minimal_pairs import evaluate as minimal_pairs
from engine.evaluations.minimal_pairs import records as minimal_pairs_records
from engine.evaluations.shared.control_tokens import control_token_notices
from tests.support.fakes import UNREADABLE
from tests.support.session_fake import SessionFake, facts

ROWS = (3, 5, 8, 17)
TEXTS = (f"猫{UNREADABLE}が", "犬[SEP]が", "雨が", f"雪{UNREADABLE}が")  # the fake reads [SEP] as text
EXPECTED = f"m: 2 rows contain {UNREADABLE}: 3, 17. It reads {UNREADABLE} as a control token and not as text."


def test_only_suspects_are_asked_for_and_each_row_is_named_once() -> None:
    session: Any = SessionFake()
    pairs = [(text, text) for text in TEXTS]
    assert control_token_notices([facts("m"), facts("n")], ROWS, pairs, session) == [
        EXPECTED,
        EXPECTED.replace("m:", "n:", 1),
    ]
    asked = [text for text in TEXTS[:2] for _ in range(2)] + [TEXTS[3]] * 2
    assert session.calls == [("control_tokens_read", model, tuple(asked)) for model in ("m", "n")]


def test_nothing_is_asked_of_texts_without_them() -> None:
    session: Any = SessionFake()
    assert control_token_notices([facts("m")], (1,), [("SEP [CLS] <s>",)], session) == [] == session.calls


@pytest.mark.parametrize(
    ("module", "settings", "dataset"),
    [
        (
            clusters,
            clusters_records.Settings(("m",), projection="pca", resamples=100),
            LabelledSentences("d", TEXTS, ("a", "a", "b", "b"), ROWS),
        ),
        (
            classification,
            classification_records.Settings(("m",), test_share=0.5),
            LabelledSentences("d", TEXTS, ("a", "a", "b", "b"), ROWS),
        ),
        (alignment, alignment_records.Settings(("m",)), SentencePairs("d", TEXTS, ("猫が",) * 4, ("",) * 4, {}, ROWS)),
        (
            minimal_pairs,
            minimal_pairs_records.Settings(("m",)),
            MinimalPairs("d", ("猫が",) * 4, TEXTS, ("",) * 4, ROWS),
        ),
        (
            fill_mask,
            fill_mask_records.Settings(("m",)),
            MaskedSentences("d", tuple(f"虎、{text}" for text in TEXTS), ("虎",) * 4, (0,) * 4, ("",) * 4, ROWS),
        ),
    ],
)
def test_every_evaluation_names_the_rows(module: Any, settings: Any, dataset: Any) -> None:
    assert EXPECTED in module.evaluate(settings, dataset, SessionFake()).notices
