"""Minimal pairs: does a model prefer the acceptable sentence, and how much of that is its length?

A causal model is scored by its log-likelihood, a masked one by a pseudo-log-likelihood. The result
holds sums of token log-likelihoods; every normalisation is arithmetic on them afterwards.
Paper: Ueda, Mita, Komachi, NLP 2024, sections 2-4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs import MinimalPairs
from engine.errors import InputError, ModelError
from engine.evaluations.signature import require_models, signature
from engine.inference.gateway import GatewaySession
from engine.measures.acceptability import NORMALIZATIONS, decisions, normalized
from engine.measures.length_bias import accuracy_by_difference, accuracy_by_stratum
from engine.models.facts import ModelFacts

PLL = ("word-l2r", "original")
WORDS = ("auto", "tokenizer", "mecab")
PRECISIONS = ("fp32", "bf16")
SIDES = ("acceptable", "unacceptable")
DEFAULT_ALPHA = 0.8  # the paper's


@dataclass(frozen=True)
class Settings:
    """How sentences are scored. `pll` and `words` concern masked models, `bos` and `leading_space` causal ones."""

    models: tuple[str, ...]
    pll: str = "word-l2r"
    words: str = "auto"
    precision: str = "fp32"
    bos: bool = True
    leading_space: bool = False


@dataclass(frozen=True)
class Result:
    """Everything the minimal-pairs page draws; log-likelihoods are sums in nats.

    pairs: model, row, category, acceptable, unacceptable, acceptable_tokens, unacceptable_tokens (|S|),
    acceptable_log_likelihood, unacceptable_log_likelihood, identical (the model sees one and the same).
    tokens: model, row, side, position, token, log_likelihood. excluded: model, row, reason.
    """

    settings: Settings
    dataset_name: str
    pairs: pd.DataFrame
    tokens: pd.DataFrame
    excluded: pd.DataFrame
    notices: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)


def evaluate(settings: Settings, dataset: MinimalPairs, session: GatewaySession) -> Result:
    """Score both sentences of every pair under every model of `settings`.

    A pair with a sentence that is too long for a model, or of which the model scores no token, is left out
    for that model and listed in `excluded`. Raises InputError for settings that cannot be and when
    no pair remains; ModelError when a model cannot score sentences.
    """
    _check(settings)
    sides = (dataset.acceptable, dataset.unacceptable)
    all_facts, scorings, pairs, tokens, excluded = [], {}, [], [], []
    for model in settings.models:
        facts = session.describe(model)
        all_facts.append(facts)
        scorings[model] = scoring = _scoring(facts, settings)
        pieces = session.token_log_likelihoods(
            model, [*sides[0], *sides[1]], scoring=scoring, words=settings.words, precision=settings.precision,
            bos=settings.bos, leading_space=settings.leading_space,
        )
        by_side = (pieces[:dataset.n], pieces[dataset.n:])
        kept = []
        for i in range(dataset.n):
            reasons = [f"{side} sentence: {found[i]['excluded']}" for side, found in zip(SIDES, by_side, strict=True)
                       if "excluded" in found[i]]
            if reasons:
                excluded.append((model, dataset.rows[i], "; ".join(reasons)))
            else:
                kept.append(i)
        if not kept:
            raise InputError(f"{model} can score none of the {dataset.n} pairs; the first: row {excluded[-1][1]}, "
                             f"{excluded[-1][2]}.")
        pairs.append(_pair_table(model, dataset, kept, by_side))
        tokens += [_token_table(model, side, dataset, kept, found)
                   for side, found in zip(SIDES, by_side, strict=True)]

    table = pd.concat(pairs, ignore_index=True)
    left_out = pd.DataFrame(excluded, columns=["model", "row", "reason"])
    return Result(
        settings=settings, dataset_name=dataset.name, pairs=table, tokens=pd.concat(tokens, ignore_index=True),
        excluded=left_out, notices=(*dataset.notices, *_notices(table, left_out, dataset.n)),
        signature=signature(settings, all_facts, dataset.content_hash, scoring=scorings),
    )


def scores(pairs: pd.DataFrame, normalization: str, alpha: float = DEFAULT_ALPHA) -> tuple[np.ndarray, np.ndarray]:
    """Normalised scores (n_pairs,) of the acceptable and of the unacceptable sentences of `Result.pairs`."""
    return tuple(  # type: ignore[return-value]
        normalized(
            pairs[f"{side}_log_likelihood"].to_numpy(), pairs[f"{side}_tokens"].to_numpy(), normalization, alpha=alpha,
            n_characters=pairs[f"{side}_characters"].to_numpy(),
        )
        for side in SIDES
    )


def decided(pairs: pd.DataFrame, normalization: str, alpha: float = DEFAULT_ALPHA) -> np.ndarray:
    """1 right, 0 tie, -1 wrong (n_pairs,) int8 under a normalisation."""
    acceptable, unacceptable = scores(pairs, normalization, alpha)
    return decisions(acceptable, unacceptable, pairs["identical"].to_numpy())


def summary(
    result: Result, normalizations: Sequence[str] = NORMALIZATIONS, alpha: float = DEFAULT_ALPHA
) -> pd.DataFrame:
    """Accuracy in all pairs and in each stratum.

    Columns: model, normalization, stratum, n, n_correct, n_tied, accuracy, ci_low, ci_high (95 %, Wilson).
    """
    rows = [
        {"model": model, "normalization": normalization, **vars(stratum)}
        for model, pairs in _by_model(result)
        for normalization in normalizations
        for stratum in accuracy_by_stratum(decided(pairs, normalization, alpha), *_token_counts(pairs))
    ]
    return pd.DataFrame(rows)


def by_difference(result: Result, normalization: str, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """Accuracy against the token difference A - U (the paper's figures 2 and 3).

    Columns: model, difference, n, n_correct, n_tied, accuracy, ci_low, ci_high.
    """
    return pd.DataFrame([
        {"model": model, **vars(point)} for model, pairs in _by_model(result)
        for point in accuracy_by_difference(decided(pairs, normalization, alpha), *_token_counts(pairs))
    ])


def by_category(result: Result, normalization: str, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """Accuracy by category and stratum: model, category, then the columns of `summary`."""
    return pd.DataFrame([
        {"model": model, "category": category, "normalization": normalization, **vars(stratum)}
        for model, pairs in _by_model(result) for category, part in pairs.groupby("category", sort=False)
        for stratum in accuracy_by_stratum(decided(part, normalization, alpha), *_token_counts(part))
    ])


def _check(settings: Settings) -> None:
    require_models(settings.models)
    for name, given, allowed in (("pll", settings.pll, PLL), ("words", settings.words, WORDS),
                                 ("precision", settings.precision, PRECISIONS)):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {given!r}.")


def _scoring(facts: ModelFacts, settings: Settings) -> str:
    if facts.kind == "causal":
        return "causal"
    if facts.kind == "masked":
        return f"pll-{settings.pll}"
    raise ModelError(f"{facts.name} ({facts.architecture}) has no language-model head, so it gives no sentence a "
                     "likelihood. Choose a causal or a masked language model.")


def _pair_table(model: str, dataset: MinimalPairs, kept: list[int], by_side: Sequence[Sequence[Any]]) -> pd.DataFrame:
    columns: dict[str, Any] = {
        "model": model, "row": [dataset.rows[i] for i in kept], "category": [dataset.categories[i] for i in kept],
        "acceptable": [dataset.acceptable[i] for i in kept], "unacceptable": [dataset.unacceptable[i] for i in kept],
    }
    for side, found in zip(SIDES, by_side, strict=True):
        columns[f"{side}_tokens"] = [len(found[i]["log_likelihoods"]) for i in kept]
    for side, found in zip(SIDES, by_side, strict=True):
        # float64: a sum over many tokens must not lose what a pair differs by
        columns[f"{side}_log_likelihood"] = [float(np.sum(found[i]["log_likelihoods"], dtype=np.float64)) for i in kept]
    columns["identical"] = [np.array_equal(by_side[0][i]["ids"], by_side[1][i]["ids"]) for i in kept]
    for side in SIDES:
        columns[f"{side}_characters"] = [len(text) for text in columns[side]]
    return pd.DataFrame(columns)


def _token_table(model: str, side: str, dataset: MinimalPairs, kept: list[int], found: Sequence[Any]) -> pd.DataFrame:
    lengths = [len(found[i]["log_likelihoods"]) for i in kept]
    return pd.DataFrame({
        "model": model,
        "row": np.repeat([dataset.rows[i] for i in kept], lengths),
        "side": side,
        "position": np.concatenate([np.arange(n) for n in lengths]),
        "token": [token for i in kept for token in found[i]["tokens"]],
        "log_likelihood": np.concatenate([found[i]["log_likelihoods"] for i in kept]),
    })


def _by_model(result: Result) -> Iterator[tuple[str, pd.DataFrame]]:
    for model in result.settings.models:
        yield model, result.pairs[result.pairs["model"] == model]


def _token_counts(pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return pairs["acceptable_tokens"].to_numpy(), pairs["unacceptable_tokens"].to_numpy()


def _notices(pairs: pd.DataFrame, excluded: pd.DataFrame, n_pairs: int) -> list[str]:
    notices = [f"{model}: {n} of {n_pairs} pairs could not be scored and were left out."
               for model, n in excluded["model"].value_counts(sort=False).items()]
    ties = pairs[pairs["identical"]]["model"].value_counts(sort=False)
    return notices + [f"{model}: in {n} pairs both sentences become the same tokens; they count as ties."
                      for model, n in ties.items()]
