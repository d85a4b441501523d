"""How much of the texts a model does not know, in clusters and in classification: the share, the notices, the rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.classification.records import Settings as Classification
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.clusters.finding import finding
from engine.evaluations.clusters.records import RANKS, Settings
from engine.evaluations.fill_mask import evaluate as fill_mask
from engine.evaluations.fill_mask.records import Settings as FillMask
from engine.evaluations.shared.unknown_tokens import UnknownTokens, unknown_share_notices, unknown_tokens
from engine.models.sources.facts import ModelFacts
from engine.models.sources.published_vectors import PublishedVectors
from tests.support.session_fake import SessionFake

# 7 Arabic letters each, of which 3 are unknown to "some" and all to "most"
TEXTS = tuple(f"{i}{i + 1}بحرنهفع{'ab' if i % 2 else 'cd'}" for i in range(0, 8))
DATA = LabelledSentences("made up", TEXTS, ("甲", "乙") * 4, tuple(range(1, 9)))
KNOWN = {"all": set("بحرنهفعabcd"), "some": set("بحرنabcd"), "most": set("abcd")}
DIGITS = set("0123456789")


class Vocabularies(SessionFake):
    """Characters out of the vocabulary that the model's name stands for are one token, [UNK]."""

    def describe(self, model: str) -> ModelFacts:
        return replace(super().describe(model), unknown_token="[UNK]")

    def document_counts(
        self, model: str, parts: Sequence[Sequence[str]], *, within: object = None
    ) -> list[dict[str, Any]]:
        known = KNOWN[model] | DIGITS
        tokens = [
            [character if character in known else "[UNK]" for text in part for character in text] for part in parts
        ]
        return [
            {"tokens": (different := sorted(set(part))), "occurrences": np.array(list(map(part.count, different)))}
            for part in tokens
        ]


def test_the_share_is_that_of_the_tokens_and_notices_begin_at_a_tenth() -> None:
    facts = [Vocabularies().describe(model) for model in KNOWN]
    counts = unknown_tokens(facts, TEXTS, Vocabularies())  # type: ignore[arg-type]
    n = sum(map(len, TEXTS))
    assert [tokens.n_unknown for tokens in counts] == [0, 3 * 8, 7 * 8] and counts[0].n_tokens == n
    assert [tokens.are_most_unknown for tokens in counts] == [False, False, True]
    notices = unknown_share_notices(list(KNOWN), counts, are_ranked=True)
    assert notices == [
        f"some: {24 / n:.0%} of {n} tokens are unknown: the model cannot see what they stand for.",
        f"most: {56 / n:.0%} of {n} tokens are unknown: the model cannot see what they stand for. It has no rank, "
        "because its vectors are not of these texts.",
    ]
    assert unknown_share_notices(["m"], [UnknownTokens(100, 9, 9)]) == []
    assert unknown_share_notices(["m"], [UnknownTokens(100, 0, 80)]) == [
        "m: 80% of 100 tokens are single bytes of characters that are not in the vocabulary."
    ]


def test_a_model_to_which_most_tokens_are_unknown_has_no_rank_in_clusters() -> None:
    result = evaluate(Settings(tuple(KNOWN), resamples=100), DATA, Vocabularies())  # type: ignore[arg-type]
    models = result.models.set_index("model")
    assert models["score"].notna().all() and pd.isna(models.loc["most", "rank"])
    assert models.loc["most", list(RANKS)].isna().all() and sorted(models.loc[["all", "some"], "rank"]) == [1, 2]
    n = sum(map(len, TEXTS))
    assert models["unknown_share"].tolist() == [0, 24 / n, 56 / n]
    assert any(notice.startswith("most: ") and "It has no rank" in notice for notice in result.notices)


def test_the_finding_says_so_where_no_model_has_a_rank_too() -> None:
    said = finding(evaluate(Settings(("most",), resamples=100), DATA, Vocabularies()))  # type: ignore[arg-type]
    assert "Not ranked, because half of their tokens or more are unknown: most." in said


def test_classification_says_so_and_ranks_all_the_same() -> None:
    result = classification.evaluate(Classification(("all", "most"), seeds=1, epochs=1), DATA, Vocabularies())  # type: ignore[arg-type]
    assert any(notice.startswith("most: ") and "no rank" not in notice for notice in result.notices)
    assert result.models["rank"].notna().all()


def test_fill_mask_says_so_too() -> None:
    frame = pd.DataFrame({"text": [f"ab{text}" for text in TEXTS], "label": "ab"})
    masked = MaskedSentences.from_frame(frame, "masked")
    result = fill_mask.evaluate(FillMask(("all", "most"), resamples=10), masked, Vocabularies())  # type: ignore[arg-type]
    assert [notice for notice in result.notices if notice.startswith("most: ") and "are unknown" in notice]
    assert not any(notice.startswith("all: ") for notice in result.notices if "unknown" in notice)


@pytest.mark.parametrize("kind", ["clusters", "classification"])
def test_models_whose_vectors_are_made_in_different_ways_are_said(kind: str) -> None:
    class Published(SessionFake):
        """Files of one of the models say how it is pooled."""

        def describe(self, model: str) -> ModelFacts:
            published = PublishedVectors("/nowhere", description="mean pooling") if model == "b" else None
            return replace(super().describe(model), published=published)

    run = {
        "clusters": lambda: evaluate(Settings(("a", "b"), resamples=100), DATA, Published()),  # type: ignore[arg-type]
        "classification": lambda: classification.evaluate(
            Classification(("a", "b"), seeds=1, epochs=1), DATA, Published()
        ),
    }[kind]  # type: ignore[arg-type]
    said = "made in different ways (a: cls; b: as published (mean pooling))"
    assert any(said in notice for notice in run().notices)
