"""A result of an alignment, scored: the choices of `scoring` as arithmetic on the stored similarities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.alignment.baseline import with_rescaled
from engine.evaluations.alignment.pair_scores import PairScores, score_pairs
from engine.evaluations.alignment.pair_tokens import PairTokens, tokens_by_model
from engine.evaluations.alignment.records import AS_BERT_SCORE, LEFT_OUT, PAIR_SCORES, TOKEN_SCORES, Result, Scoring
from engine.evaluations.alignment.scoring import WITHOUT_IDF, check_scoring
from engine.evaluations.alignment.token_units import subword_units, word_units
from engine.evaluations.shared.declared_tables import declared, documented, returns
from engine.evaluations.shared.dictionaries import FINGERPRINT_DIGITS, dictionary_for
from engine.language.quantities import count
from engine.measures.idf import IdfDictionary
from engine.messages.message import Message, list_of

ROWS_AT_ONCE = 5_000
# Without a weight in bert_score, whatever else the tokenizer calls its cls_token and sep_token.
OF_BERT = frozenset({"[CLS]", "[SEP]"})


@documented
@dataclass(frozen=True)
class Scores:
    """What a scoring makes of a result.

    thresholds: model -> idf above which a token is low-frequency (NaN without a dictionary). dictionaries: model ->
    name, documents and fingerprint of the dictionary, weightless: model -> special tokens that have no weight, both
    for a signature.
    """

    scoring: Scoring
    pairs: pd.DataFrame = field(metadata=declared(PAIR_SCORES))
    thresholds: dict[str, float]
    notices: tuple[str, ...] = ()
    dictionaries: dict[str, str] = field(default_factory=dict)
    by_model: Mapping[str, PairScores] = field(default_factory=dict, repr=False, compare=False)
    weightless: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    @returns(TOKEN_SCORES)
    def tokens(self) -> pd.DataFrame:
        """The tokens of all pairs, made when first asked for; some 300 bytes for each token."""
        return pd.concat([scores.frame() for scores in self.by_model.values()], ignore_index=True)

    def tokens_of(self, model: str, row: int) -> pd.DataFrame:
        """The tokens of one pair, as they stand in `tokens`. Raises InputError when there is no such pair."""
        scores = self.by_model.get(model)
        lines = np.flatnonzero(scores.pairs["row"].to_numpy() == row) if scores is not None else np.empty(0)
        if scores is None or not len(lines):
            raise InputError(Message("The run holds no pair in row {row} under {model}.", row=row, model=model))
        return scores.frame(int(lines[0]), int(lines[0]) + 1)

    def token_parts(self) -> Iterator[pd.DataFrame]:
        """The rows of `tokens`, some thousand pairs at a time, for runs whose whole table is too large."""
        for scores in self.by_model.values():
            for first in range(0, len(scores.pairs), ROWS_AT_ONCE):
                yield scores.frame(first, first + ROWS_AT_ONCE)


def scored_signature(result: Result, scores: Scores) -> dict[str, Any]:
    """The signature of a result with the dictionaries, thresholds and weightless tokens of its scores, JSON-able."""
    return {
        **result.signature,
        "dictionaries": scores.dictionaries,
        "weightless_tokens": {model: list(tokens) for model, tokens in scores.weightless.items()},
        # JSON has no NaN, which a threshold is without a dictionary
        "thresholds": {model: value for model, value in scores.thresholds.items() if math.isfinite(value)},
    }


def rescore(
    result: Result, scoring: Scoring, layer: int | None = None, *, models: Sequence[str] | None = None
) -> Scores:
    """P, R and F1 of every pair, plain and penalised, under `scoring`; no model is run.

    `layer`: one that the result holds, None the one that its settings ask for. `models`: some of the result's, None
    all. Raises InputError when the choices do not go together, a layer is not held, or a dictionary belongs to
    another tokenizer.
    """
    check_scoring(scoring)
    by_model: dict[str, PairScores] = {}
    thresholds: dict[str, float] = {}
    dictionaries: dict[str, str] = {}
    weightless: dict[str, tuple[str, ...]] = {}
    notices = []
    for model in models or result.settings.models:
        tokens = tokens_by_model(result)[model]
        held = result.layer_index(model, layer)
        similarity = result.similarity[model][held]
        dictionary = _dictionary(scoring, tokens, result.tokenizers[model], model)
        of_words = dictionary is not None and dictionary.of_words
        weight = tokens.weights(dictionary, scoring.special_tokens)
        threshold = _threshold(scoring, dictionary)
        common = (
            tokens,
            similarity,
            weight,
            threshold,
            scoring.reading_engine,
            scoring.reading_scope,
            scoring.readings,
        )
        units = (
            word_units(*common, with_idf=dictionary is not None, of_words=of_words)
            if scoring.unit == "word"
            else subword_units(*common)
        )
        scores = score_pairs(tokens, units, scoring, (scoring.unit, held))
        by_model[model], thresholds[model] = scores, threshold
        # A special token is no word, so that a dictionary of words leaves it without a weight.
        weightless[model] = tokens.weightless_tokens(
            LEFT_OUT if of_words else scoring.special_tokens, with_idf=dictionary is not None
        )
        if of_words and _only_unseen(dictionary, scoring, threshold):
            notices.append(
                Message(
                    "{model}: no word of the dictionary is above the threshold, because more than "
                    "{threshold:.0%} of its words occur in one document only; low-frequency are words "
                    "that it lacks. Choose a smaller share, or give the threshold as an idf.",
                    model=model,
                    threshold=1 - scoring.threshold,
                )
            )
        if (
            tokens.cls_and_sep is None
            and not of_words
            and scoring.special_tokens == AS_BERT_SCORE
            and {*weightless[model]} - OF_BERT
        ):
            notices.append(
                Message(
                    "{model}: the run does not say which special tokens bert_score gives a weight, so "
                    "none of {model_} has one. Run it again to weigh them as bert_score does.",
                    model=model,
                    model_=list_of(weightless[model]),
                )
            )
        if dictionary is not None:
            counted = f"{dictionary.tokenizer}, " if of_words else ""
            dictionaries[model] = Message(
                "{name} ({counted}{n_documents:,} document, {FINGERPRINT_DIGITS})"
                if dictionary.n_documents == 1
                else "{name} ({counted}{n_documents:,} documents, {FINGERPRINT_DIGITS})",
                name=dictionary.name,
                counted=counted,
                n_documents=dictionary.n_documents,
                FINGERPRINT_DIGITS=dictionary.fingerprint[:FINGERPRINT_DIGITS],
            )
        if undefined := int(scores.pairs["f1"].isna().sum()):
            pairs = count(undefined, "pair")
            notices.append(
                Message(
                    "{model}: {pairs} with no score, because every token of a sentence has weight 0 "
                    "(it is in every document of the idf dictionary), it has none but special tokens, "
                    "or there is nothing to match.",
                    model=model,
                    pairs=pairs,
                )
                if dictionary
                else Message(
                    "{model}: {pairs} with no score, because every token of a sentence has weight 0, "
                    "it has none but special tokens, or there is nothing to match.",
                    model=model,
                    pairs=pairs,
                )
            )
    of_models = [_rescaled(result, model, scores.pairs, layer) for model, scores in by_model.items()]
    return Scores(
        scoring, pd.concat(of_models, ignore_index=True), thresholds, tuple(notices), dictionaries, by_model, weightless
    )


def matrix(
    result: Result, model: str, row: int, layer: int | None = None, *, reference: int = 1, unit: str = "subword"
) -> np.ndarray:
    """The similarities of one pair, float (n_reference, n_candidate) tokens or words.

    Cosines between tokens; between words what `measures.word_similarity` makes of them. `layer` as in `rescore`;
    `reference`: which of the row's, 1 the first. Raises InputError when the run holds no such pair or layer.
    """
    tokens = tokens_by_model(result).get(model)
    alignments = (
        np.empty(0)
        if tokens is None
        else np.flatnonzero(
            (tokens.shapes["row"].to_numpy() == row) & (tokens.shapes["reference"].to_numpy() == reference)
        )
    )
    if tokens is None or not len(alignments):
        raise InputError(
            Message("The run holds no pair in row {row} under {model}.", row=row, model=model)
            if reference == 1
            else Message(
                "The run holds no pair in row {row} with reference {reference} under {model}.",
                row=row,
                reference=reference,
                model=model,
            )
        )
    alignment = int(alignments[0])
    shape = tokens.shapes.iloc[alignment]
    n_reference, n_candidate, offset = (int(shape[name]) for name in ("n_reference", "n_candidate", "offset"))
    flat: np.ndarray = result.similarity[model][result.layer_index(model, layer)][
        offset : offset + n_reference * n_candidate
    ]
    if unit == "word":
        of_pair = tokens.of_alignment(alignment)
        units = word_units(of_pair, flat, np.ones(len(of_pair.table)), float("nan"), "pykakasi", "word", with_idf=False)
        return units.similarity.reshape(units.lengths[0], units.lengths[1])  # (n_reference, n_candidate) words
    return flat.reshape(n_reference, n_candidate)  # (n_reference, n_candidate)


def _rescaled(result: Result, model: str, pairs: pd.DataFrame, layer: int | None) -> pd.DataFrame:
    if result.baselines.empty:
        return pairs
    number = result.layers[model][result.layer_index(model, layer)]
    return with_rescaled(pairs, result.baselines[result.baselines["model"] == model], number)


def _dictionary(scoring: Scoring, tokens: PairTokens, tokenizer: str, model: str) -> IdfDictionary | None:
    if scoring.idf == "none":
        return None
    if scoring.idf == "references":
        n_references, counts = tokens.reference_counts(scoring.special_tokens)
        return IdfDictionary("references", n_references, counts, tokenizer, "reference")
    return dictionary_for(scoring.idf, tokenizer, model, words=True)


def _only_unseen(dictionary: IdfDictionary | None, scoring: Scoring, threshold: float) -> bool:
    """Whether a penalty on low-frequency tokens concerns no entry of the dictionary, by a share of its entries."""
    return (
        dictionary is not None
        and scoring.threshold_kind == "quantile"
        and 0 < scoring.threshold < 1
        and scoring.penalty == "reading"
        and scoring.criterion not in WITHOUT_IDF
        and threshold >= math.log((dictionary.n_documents + 1) / 2)
    )


def _threshold(scoring: Scoring, dictionary: IdfDictionary | None) -> float:
    """Idf above which a token is low-frequency; NaN, which nothing is above, without a dictionary."""
    if dictionary is None:
        return float("nan")
    return float(scoring.threshold if scoring.threshold_kind == "value" else dictionary.threshold(scoring.threshold))
