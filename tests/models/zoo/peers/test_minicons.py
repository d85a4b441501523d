"""Pseudo-log-likelihoods of SentencePiece and byte-level models against minicons, and MeCab's words against a loop."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from minicons import scorer

from engine.language.words import word_spans
from engine.models.scoring.masked_lm import token_log_likelihoods
from tests.models.zoo.kinds.masked import BERT_LIKE, OTHERS
from tests.models.zoo.specimens import Specimen, build, names
from tests.models.zoo.texts import MASKED_TEXTS
from tests.support.tiny_models import ENGLISH, JAPANESE

# Where a word's pieces are sums of some 20 log-likelihoods near -6: float32 in another order.
TOLERANCE = 1e-4
TEXTS = (*ENGLISH[:3], *JAPANESE[:3], "Unbelievable stories of rain", "猫 が 庭で", "rain")
SCORINGS = {"pll-original": "original", "pll-word-l2r": "within_word_l2r"}
# Their tokenizers keep a word between spaces together, as minicons' word_ids have it; Japanese is one word to them.
WITH_MINICONS = [
    kind
    for kind in (*BERT_LIKE, *OTHERS)
    if kind.name in ("xlm-roberta", "camembert", "albert", "rembert", "deberta-v2", "roberta", "modernbert")
]
# MeCab's words on pieces of SentencePiece, which cross them; on MeCab's own WordPiece; on bytes.
WITH_MECAB = [
    kind
    for kind in (*BERT_LIKE, *OTHERS)
    if kind.name in ("xlm-roberta", "deberta-v2", "modernbert-ja", "rinna RoBERTa", "bert with mecab", "modernbert")
]


@pytest.fixture(scope="module")
def specimen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Specimen:
    return build(request.param, tmp_path_factory.mktemp("zoo") / "model")


@pytest.mark.parametrize("specimen", WITH_MINICONS, ids=names(WITH_MINICONS), indirect=True)
def test_sums_equal_minicons(specimen: Specimen) -> None:
    loaded = specimen.scorer
    tokenizer = deepcopy(loaded.tokenizer)
    # minicons 0.3.39 calls batch_encode_plus, which transformers 5 dropped.
    setattr(tokenizer, "batch_encode_plus", tokenizer.__call__)  # noqa: B010
    reference = scorer.MaskedLMScorer(specimen.model, "cpu", tokenizer=tokenizer)
    sums: dict[str, Any] = {}
    for scoring, metric in SCORINGS.items():
        theirs = reference.sequence_score(list(TEXTS), reduction=lambda scores: scores.sum(0).item(), PLL_metric=metric)
        pieces = token_log_likelihoods(loaded, TEXTS, scoring=scoring, words="tokenizer")
        sums[scoring] = [float(piece["log_likelihoods"].sum(dtype=np.float64)) for piece in pieces]
        np.testing.assert_allclose(sums[scoring], theirs, rtol=0, atol=TOLERANCE)
    assert not np.allclose(sums["pll-original"], sums["pll-word-l2r"], rtol=0, atol=0.01)


@pytest.mark.parametrize("specimen", WITH_MECAB, ids=names(WITH_MECAB), indirect=True)
def test_a_piece_is_masked_with_the_later_pieces_of_its_mecab_word(specimen: Specimen) -> None:
    """By plain transformers, a pass for each piece; a piece that crosses a boundary joins the words that it touches."""
    n_together = 0
    for text in (*MASKED_TEXTS, *JAPANESE[:2]):
        (piece,) = token_log_likelihoods(specimen.scorer, [text], scoring="pll-word-l2r", words="mecab")
        ids, first = specimen.published.ids(text), len(specimen.published.before)
        spans = [span for _, span in specimen.published.content(text)]
        groups = [{c for c in range(*span) if not text[c].isspace()} for span in spans]
        joined = _joined([set(range(*word)) for word in word_spans(text)], groups)
        for t, characters in enumerate(groups):
            if not characters:  # a token of white space alone
                continue
            word = next(word for word in joined if characters & word)
            later = [i for i in range(t, len(groups)) if groups[i] & word]
            n_together += len(later) > 1
            masked = torch.tensor([ids])
            masked[0, [first + i for i in later]] = specimen.published.roles["mask_token"]
            with torch.inference_mode():
                logits = specimen.unused()(input_ids=masked).logits[0, first + t].float()
            expected = float(torch.log_softmax(logits, dim=-1)[ids[first + t]])
            assert abs(float(piece["log_likelihoods"][t]) - expected) < 1e-5, (text, t)
    assert n_together >= 5


def _joined(words: list[set[int]], groups: list[set[int]]) -> list[set[int]]:
    """The words as sets of characters, those that one token touches as one."""
    for characters in groups:
        touched = [word for word in words if word & characters]
        if len(touched) > 1:
            words = [word for word in words if not word & characters] + [set().union(*touched)]
    return words
