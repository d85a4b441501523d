"""The shared-token scores of CrowS-Pairs: by plain passes, as the reference code has them, and what they do not see."""

from __future__ import annotations

import difflib

import numpy as np
import pytest
import torch

from engine.models.loading.weights import LoadedModel, load
from engine.models.scoring.masked_lm import token_log_likelihoods
from engine.models.scoring.shared_tokens import shared_token_log_likelihoods
from tests.support import tiny_models

PAIRS = [
    ("the old cat sleeps in the garden", "the young dog sleeps in the garden"),
    ("Mary believed the unbelievable books", "believed books of Kyoto"),
    (tiny_models.ENGLISH[0], tiny_models.ENGLISH[1]),
    ("猫が庭で寝ている", "犬が庭で寝ている"),
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load(str(tiny_models.bert(tmp_path_factory.mktemp("bert"))), "masked")


def reference(loaded: LoadedModel, first: str, second: str) -> tuple[float, float]:
    """`mask_unigram` of CrowS-Pairs' metric.py, written anew: one pass of the model for each shared token."""
    ids = [loaded.tokenizer(text, return_tensors="pt")["input_ids"] for text in (first, second)]
    templates: tuple[list[int], list[int]] = ([], [])
    for name, i, j, k, m in difflib.SequenceMatcher(
        None, *([str(x) for x in one[0].tolist()] for one in ids)
    ).get_opcodes():
        if name == "equal":
            templates[0].extend(range(i, j))
            templates[1].extend(range(k, m))
    sums = [0.0, 0.0]
    for place in range(1, len(templates[0]) - 1):  # not [CLS], not [SEP]
        for side in (0, 1):
            masked, position = ids[side].clone(), templates[side][place]
            masked[0, position] = loaded.tokenizer.mask_token_id
            hidden = loaded.model(masked).logits[0, position]
            sums[side] += float(torch.log_softmax(hidden, dim=0)[ids[side][0, position]])
    return sums[0], sums[1]


def test_equal_to_the_reference_code(bert: LoadedModel) -> None:
    pieces = shared_token_log_likelihoods(bert, PAIRS)
    for pair, piece in zip(PAIRS, pieces, strict=True):
        found = [piece[f"{side}_log_likelihoods"].sum() for side in ("first", "second")]
        np.testing.assert_allclose(found, reference(bert, *pair), atol=1e-4)  # float32 sums in another order
        assert not piece["identical"] and len(piece["tokens"]) == len(piece["first_log_likelihoods"])


def test_by_hand(bert: LoadedModel) -> None:
    # Shared are all but the one word; each sentence's shared tokens are those of its pseudo-log-likelihood.
    pair = ("the cat sleeps", "the dog sleeps")
    (piece,) = shared_token_log_likelihoods(bert, [pair])
    assert "cat" not in piece["tokens"] and "the" in piece["tokens"]
    for side, text in zip(("first", "second"), pair, strict=True):
        (whole,) = token_log_likelihoods(bert, [text], scoring="pll-original")
        shared = [
            value
            for token, value in zip(whole["tokens"], whole["log_likelihoods"], strict=True)
            if token in piece["tokens"]
        ]
        np.testing.assert_allclose(piece[f"{side}_log_likelihoods"], shared, rtol=1e-5)


def test_exchanged_sentences_exchange_the_scores(bert: LoadedModel) -> None:
    forth = shared_token_log_likelihoods(bert, PAIRS[:1])[0]
    back = shared_token_log_likelihoods(bert, [(PAIRS[0][1], PAIRS[0][0])])[0]
    np.testing.assert_allclose(forth["first_log_likelihoods"], back["second_log_likelihoods"], rtol=1e-5)


def test_neighbours_change_nothing(bert: LoadedModel) -> None:
    together = shared_token_log_likelihoods(bert, PAIRS)
    for pair, piece in zip(PAIRS, together, strict=True):
        (alone,) = shared_token_log_likelihoods(bert, [pair])
        np.testing.assert_allclose(piece["second_log_likelihoods"], alone["second_log_likelihoods"], rtol=1e-5)


def test_what_cannot_be_scored(bert: LoadedModel) -> None:
    limit = bert.facts.max_tokens
    pieces = shared_token_log_likelihoods(
        bert, [("cat", "dog"), ("the cat", " ".join(["the"] * limit)), ("the cat", "the cat"), ("", "")]
    )
    assert pieces[0] == pieces[3] == {"excluded": "The two sentences share no token."}
    reason = pieces[1]["excluded"]
    assert reason.startswith("second sentence: It has 66 tokens") and "first" not in reason
    assert pieces[2]["identical"] and len(pieces[2]["tokens"]) >= 2
    assert shared_token_log_likelihoods(bert, []) == []
