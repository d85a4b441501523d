"""The engine's numbers of one specimen against the references: each text alone, and all of them in one batch.

1e-5 is some ten times what the rounding of float32 sums in another order comes to in these models (at most 8e-6, where
a layer's entries go up to 40; else 3e-6). Where entries are larger, rounding is: of those of a NemotronH, up to 89,
plain transformers' are 1.2e-4 from the same in float64, and the engine's 5e-5. So the tolerance is 2e-6 of the largest
where that is more. A sum of log-likelihoods adds up to a hundred such roundings: 1e-4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from engine.errors import ModelError
from engine.models.scoring import causal_lm, masked_lm
from engine.models.scoring.encoder import token_similarities
from engine.models.scoring.fill_mask import fill_masks
from engine.models.scoring.sentence_vectors import sentence_vectors
from engine.models.tokenization.encoding import token_ids, token_ids_of_each
from engine.models.tokenization.prefix_tokens import PREFIXES, prefix_tokens
from engine.models.tokenization.spans import spans_of_each
from tests.models.zoo import references
from tests.models.zoo.specimens import Specimen
from tests.models.zoo.texts import MASKED_TEXTS, PAIRS, SENTENCES, TEXTS

TOLERANCE, TOLERANCE_OF_SUMS = 1e-5, 1e-4
RELATIVE = 2e-6  # of the largest number
Pieces = list[dict[str, Any]]


def check_facts_and_tokens(specimen: Specimen) -> None:
    """Kind, CLS and token ids are those of the published files."""
    facts = specimen.described.facts
    assert (facts.kind, facts.has_cls) == (specimen.kind.kind, specimen.kind.cls is not None)
    texts = [*TEXTS, *MASKED_TEXTS, *(text for pair in PAIRS for text in pair)]
    together = token_ids_of_each(specimen.described.tokenizer, texts)
    for text, ids, spans in zip(texts, together, spans_of_each(specimen.described.tokenizer, texts), strict=True):
        assert token_ids(specimen.described.tokenizer, text) == ids == spans.ids == specimen.published.ids(text), text


def check_vectors(specimen: Specimen) -> None:
    """CLS and mean of every layer, and the similarities of the tokens of pairs."""
    everything = tuple(range(specimen.encoder.facts.n_layers + 1))
    for layers in (everything,) if specimen.kind.layers is None else specimen.kind.layers:
        _check_pooled(specimen, layers)
        similarities = [
            _similarities(specimen, pair, layers) if all(_fits(specimen, text) for text in pair) else None
            for pair in PAIRS
        ]
        for pieces in alone_and_together(
            lambda pairs, layers=layers: token_similarities(specimen.encoder, pairs, layers=layers),  # type: ignore[misc]
            PAIRS,
        ):
            _same(specimen, pieces, "similarity", similarities)
    if specimen.kind.layers is not None:
        with pytest.raises(ModelError, match=r"one state for each token|not of one width"):
            sentence_vectors(specimen.encoder, TEXTS, layers=everything, pooling="mean-without-special")


def _check_pooled(specimen: Specimen, layers: tuple[int, ...]) -> None:
    loaded, published, cls = specimen.encoder, specimen.published, specimen.kind.cls
    first, n_after = len(published.before), len(published.after)
    states = [
        references.hidden_states(specimen, published.ids(text), layers) if _fits(specimen, text) else None
        for text in TEXTS
    ]
    expected = {
        "mean-without-special": [
            None if state is None else state[:, first : state.shape[1] - n_after].mean(1) for state in states
        ],
        "weighted-mean": [
            None if state is None else np.average(state, axis=1, weights=np.arange(state.shape[1]) + 1)
            for state in states
        ],
    }
    if cls is not None:
        expected["cls"] = [None if state is None else state[:, cls] for state in states]
    for pooling, vectors in expected.items():
        for pieces in alone_and_together(
            lambda texts, pooling=pooling: sentence_vectors(  # type: ignore[misc]
                loaded, texts, layers=layers, pooling=pooling
            ),
            TEXTS,
        ):
            _same(specimen, pieces, "vectors", vectors)


def check_causal(specimen: Specimen) -> None:
    """Log-likelihoods after the tokens that each choice of a prefix puts before a text."""
    loaded, before_of = specimen.scorer, references.prefixes(specimen)
    choices = {tuple(before_of[choice]): choice for choice in ("auto", "template", "none")}
    for choice in PREFIXES:
        assert loaded.tokenizer.convert_tokens_to_ids(list(prefix_tokens(loaded.facts, choice))) == before_of[choice]
    for choice in choices.values():
        prefix, before = prefix_tokens(loaded.facts, choice), before_of[choice]
        expected = [
            references.causal_log_likelihoods(specimen, text, before) if _fits(specimen, text, before) else ([], [])
            for text in TEXTS
        ]
        assert sum(bool(ids) for ids, _ in expected) > 2
        for pieces in alone_and_together(
            lambda texts, prefix=prefix: causal_lm.token_log_likelihoods(loaded, texts, prefix=prefix),  # type: ignore[misc]
            TEXTS,
        ):
            _same(specimen, pieces, "ids", [np.array(ids) if ids else None for ids, _ in expected])
            _same(specimen, pieces, "log_likelihoods", [np.array(scores) if scores else None for _, scores in expected])


def check_masked(specimen: Specimen) -> None:
    """Pseudo-log-likelihoods, original and word by word from left to right, and words at masks."""
    loaded = specimen.scorer
    for scoring in (scoring for scoring in masked_lm.SCORINGS if scoring.startswith(masked_lm.AT_MASK)):
        expected = [
            np.array(references.pseudo_log_likelihoods(specimen, text, by_word=scoring == "pll-word-l2r"))
            for text in MASKED_TEXTS
        ]
        for pieces in alone_and_together(
            lambda texts, scoring=scoring: masked_lm.token_log_likelihoods(  # type: ignore[misc]
                loaded, texts, scoring=scoring
            ),
            MASKED_TEXTS,
        ):
            _same(specimen, pieces, "log_likelihoods", expected)
    for pieces in alone_and_together(lambda sentences: fill_masks(loaded, sentences), SENTENCES):
        check_filled(specimen, pieces)


def check_filled(specimen: Specimen, pieces: Pieces) -> None:
    """Words at masks: their pieces, log-likelihoods, ranks and what stands first there."""
    n_filled = 0
    for (before, word, after), piece in zip(SENTENCES, pieces, strict=True):
        own = _own_pieces(specimen, before, word, after)
        if "excluded" in piece:
            unknown = specimen.published.roles["unk_token"]
            assert "cannot spell" in piece["excluded"] and (own is None or unknown in own)
            continue
        n_filled += 1
        ids = piece["ids"].tolist()
        assert piece["crossing"] == (own is None) and own in (None, ids)
        scores, at_masks = references.filled_mask(specimen, before, ids, after)
        np.testing.assert_allclose(piece["log_likelihoods"], scores, rtol=0, atol=tolerance(scores))
        best = -np.sort(-at_masks, axis=1)[:, : piece["top_ids"].shape[1]]
        np.testing.assert_allclose(piece["top_log_likelihoods"], best, rtol=0, atol=tolerance(best))
        of_top_ids = np.take_along_axis(at_masks, piece["top_ids"].astype(np.int64), axis=1)
        np.testing.assert_allclose(of_top_ids, best, rtol=0, atol=tolerance(best))
    assert n_filled >= 3


def alone_and_together(operation: Callable[[Sequence[Any]], Pieces], items: Sequence[Any]) -> tuple[Pieces, Pieces]:
    """The pieces of items given one by one, the last one first, and of all at once."""
    alone = [operation([item])[0] for item in reversed(items)]
    return alone[::-1], operation(items)


def _same(specimen: Specimen, pieces: Pieces, name: str, expected: Sequence[np.ndarray | None]) -> None:
    """Every piece has what is expected of it, and is excluded where that is None."""
    for piece, numbers in zip(pieces, expected, strict=True):
        assert ("excluded" in piece) == (numbers is None), piece.get("excluded")
        if numbers is not None:
            assert np.isfinite(numbers).all()
            np.testing.assert_allclose(piece[name], numbers, rtol=0, atol=max(tolerance(numbers), specimen.rounding))
            if name == "log_likelihoods":
                assert abs(float(piece[name].sum(dtype=np.float64)) - float(numbers.sum())) < max(
                    TOLERANCE_OF_SUMS, 10 * specimen.rounding
                )


def tolerance(numbers: Any) -> float:
    """How far the engine's numbers may be from these: 1e-5, or the rounding of the largest."""
    return max(TOLERANCE, RELATIVE * float(np.abs(numbers).max(initial=0)))


def _fits(specimen: Specimen, text: str, before: list[int] | None = None) -> bool:
    """Whether a text is no longer than the model reads, with its own special tokens or with these before it alone."""
    longest: int = specimen.kind.settings.get("max_position_embeddings", 256)
    read = specimen.published.ids(text) if before is None else [*before, *specimen.published.content(text)]
    return len(read) <= longest


def _similarities(specimen: Specimen, pair: Sequence[str], layers: tuple[int, ...]) -> np.ndarray:
    states = [references.hidden_states(specimen, specimen.published.ids(text), layers) for text in pair]
    first, second = (state / np.linalg.norm(state, axis=-1, keepdims=True) for state in states)
    product: np.ndarray = first @ second.swapaxes(1, 2)  # (n_layers, n_ref, n_cand)
    return product


def _own_pieces(specimen: Specimen, before: str, word: str, after: str) -> list[int] | None:
    """The pieces that cover a word in its sentence; None where one extends beyond it by more than white space."""
    first, last = len(before), len(before) + len(word)
    text = before + word + after
    pieces = []
    for token, (start, end) in specimen.published.content(text):
        characters = [c for c in range(start, end) if not text[c].isspace()]
        if any(first <= c < last for c in characters):
            if not all(first <= c < last for c in characters):
                return None
            pieces.append(token)
    return pieces
