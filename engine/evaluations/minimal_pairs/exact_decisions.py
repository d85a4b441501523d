"""Both sentences of every pair scored by one model: in one precision, or in two where the cheaper one may err.

*Exact decisions*: every pair is scored in bfloat16, and a sample in float32 too. The largest error of a margin there
(`decision_bounds`: nats per square root of a token), times SAFETY, bounds the error of every pair. Each pair that this
bound could turn under one of the scores asked for is scored in float32; the errors seen on the way are counted in, and
so on until no open pair is left. So every winner under these scores is float32's, unless a pair that was never looked
at is off by SAFETY times more than all that were.

The sample holds the pairs that are nearest to a tie, which have to be scored again anyway. Alone they would say too
little: pairs near to a tie differ in few tokens, and where errors are larger in pairs that differ more, the largest one
would be missed. So AUDITED_PAIRS of it are drawn from all pairs alike, whatever their margins, and represent the
others: the largest of that many errors lies above the 98th percentile of all with a probability of 64%, above the 95th
with 92%, and it is doubled. A pair that is left in bfloat16 has a margin beyond that, so that its winner is wrong only
if its error is too, and in the direction of the tie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.text_column import concatenated
from engine.evaluations.minimal_pairs.records import DEFAULT_SCORES
from engine.evaluations.minimal_pairs.unigrams import sentence_sums
from engine.inference.backend import Piece
from engine.inference.piece_columns import PieceColumns, Pieces, are_excluded, equal, field_sums, lengths
from engine.inference.piece_columns import codes as codes_of
from engine.measures.minimal_pairs.acceptability import n_bytes
from engine.measures.minimal_pairs.decision_bounds import largest_error, least_margins
from engine.measures.minimal_pairs.normalizations import ALPHA, NORMALIZATIONS
from engine.messages.message import named
from engine.precision import EXACT_DECISIONS

Ask = Callable[[Sequence[str], str], Pieces]  # texts, precision -> pieces
# Sums of log P_u of sentences given as (vocabulary, counts, codes of their tokens, lengths), one array for each corpus.
Unigrams = Callable[[list[str], np.ndarray], list[np.ndarray]]

AS_SERVED = "server"  # the precision of a model behind a server, which cannot be chosen here
SAMPLE_PAIRS = 100
AUDITED_PAIRS = 50  # of them
SAFETY = 2.0
SIDES = (named("acceptable"), named("unacceptable"))


@dataclass(frozen=True)
class ExactUnder:
    """The scores whose decisions are to be float32's: normalisations, the alpha of PenLP, the corpora of SLOR."""

    normalizations: tuple[str, ...] = DEFAULT_SCORES
    alpha: float = ALPHA
    unigrams: Unigrams = lambda vocabulary, counts: []


@dataclass(frozen=True)
class Prompted:
    """Scores of sentences in templates: values float64 (n_templates, 2, n_pairs), nan of sentences left out."""

    templates: tuple[Any, ...]  # `prompts.templates.Template`
    values: np.ndarray


@dataclass(frozen=True)
class ScoredPairs:
    """One model's pieces by side, the precision each pair was scored in, and what its margin may be off.

    `by_side`: (2, n_pairs) pieces of `GatewaySession.token_log_likelihoods`. `scored_in`: str (n_pairs,). `bounds`:
    float64 (n_pairs,), nats per square root of a token; 0 in float32, nan where nothing was measured. `report` says how
    the bound was found. `prompted`: None where no sentence was scored in a template.
    """

    by_side: tuple[Pieces, Pieces]
    scored_in: np.ndarray
    bounds: np.ndarray
    report: dict[str, float | int | str]
    prompted: Prompted | None = None


def score_pairs(
    dataset: MinimalPairs, ask: Ask, precision: str, *, seed: int, exact: ExactUnder = ExactUnder()
) -> ScoredPairs:
    """Score the pairs of a dataset: `precision` "fp32", "tf32", "bf16", "fp16", AS_SERVED or EXACT_DECISIONS.

    `ask` scores texts in one of the first four; `exact`: the scores of exact decisions.
    """
    n = dataset.n
    if precision != EXACT_DECISIONS:
        # A single sentence is both sides, and scored once.
        pieces = ask(dataset.sentences, precision)
        by_side = (pieces[:n], pieces[-n:] if n else pieces)
        bounds = np.full(n, 0.0 if precision == "fp32" else np.nan)
        return ScoredPairs(by_side, np.full(n, precision), bounds, {})
    return _exactly(dataset, ask, seed, exact)


def is_scored(by_side: Sequence[Pieces]) -> np.ndarray:
    """Which pairs have both their sentences scored: bool (n_pairs,)."""
    first, second = map(are_excluded, by_side)
    return np.asarray(~(first | second))


def are_identical(by_side: Sequence[Pieces]) -> np.ndarray:
    """Which pairs are one text to the model, all ids that it reads being equal: bool (n_pairs,)."""
    alike = is_scored(by_side)
    places = np.flatnonzero(alike)
    alike[places] = equal(by_side[0], by_side[1], places, "read_ids")
    return alike


def sums(pieces: Pieces, places: np.ndarray | None = None) -> np.ndarray:
    """Log-likelihoods of the sentences at these places, or of all, in nats: float64 (n,)."""
    # A sum of many float32 in float32 would lose what two sentences differ by.
    return field_sums(pieces, np.arange(len(pieces)) if places is None else places, "log_likelihoods")


def _exactly(dataset: MinimalPairs, ask: Ask, seed: int, exact: ExactUnder) -> ScoredPairs:
    n, texts = dataset.n, np.array([list(dataset.acceptable), list(dataset.unacceptable)], dtype=object)  # (2, n_pairs)
    pieces = ask(concatenated((dataset.acceptable, dataset.unacceptable)), "bf16")
    by_side = (_changeable(pieces[:n]), _changeable(pieces[n:]))
    scored = np.flatnonzero(is_scored(by_side))
    scored_in, bounds = np.full(n, "fp32"), np.zeros(n)
    if not len(scored):
        return ScoredPairs(by_side, scored_in, bounds, {})
    tokens = np.array([lengths(side, scored, "ids") for side in by_side])  # (2, n_scored)
    characters = np.array([[len(text) for text in side[scored]] for side in texts])
    size = np.array([[n_bytes(text) for text in side[scored]] for side in texts])
    corpora = _unigram_sums(by_side, scored, tokens, exact.unigrams) if _any(exact, "by_unigrams") else []
    coarse = np.stack([sums(side, scored) for side in by_side])
    fine = coarse.copy()
    margins = least_margins(
        coarse, tokens, characters, size, normalizations=exact.normalizations, alpha=exact.alpha, unigrams=corpora
    )  # (n_scored,)
    in_fp32 = np.zeros(len(scored), dtype=bool)
    # A pair of identical ids is a tie in any precision that gives a number.
    may_turn = ~are_identical(by_side)[scored] | ~np.isfinite(coarse).all(axis=0)
    chosen = _sample(np.flatnonzero(may_turn), margins, seed)
    n_sampled, rounds, error = len(chosen), 0, 0.0
    while len(chosen):
        rounds += 1
        again = ask([*texts[0, scored[chosen]], *texts[1, scored[chosen]]], "fp32")
        for side, rescored in enumerate((again[: len(chosen)], again[len(chosen) :])):
            fine[side, chosen] = sums(rescored)
            for pair, piece in zip(scored[chosen], rescored, strict=True):
                by_side[side][pair] = piece
        in_fp32[chosen] = True
        error = max(
            error,
            largest_error(
                coarse[:, chosen],
                fine[:, chosen],
                tokens[:, chosen],
                characters[:, chosen],
                size[:, chosen],
                exact.normalizations,
                exact.alpha,
            ),
        )
        chosen = np.flatnonzero(may_turn & ~in_fp32 & ~(margins > SAFETY * error))
    scored_in[scored[~in_fp32]] = "bf16"
    bounds[scored[~in_fp32]] = SAFETY * error
    return ScoredPairs(
        by_side,
        scored_in,
        bounds,
        {
            "n": len(scored),
            "n_sampled": n_sampled,
            "n_fp32": int(in_fp32.sum()),
            "rounds": rounds,
            "largest_error": error,
            "safety": SAFETY,
            "seed": seed,
            "scores": ", ".join(exact.normalizations),
            "alpha": exact.alpha if _any(exact, "has_alpha") else np.nan,
        },
    )


def _changeable(pieces: Pieces) -> list[Piece] | PieceColumns:
    return pieces if isinstance(pieces, PieceColumns) else list(pieces)


def _any(exact: ExactUnder, property: str) -> bool:
    """Whether one of the scores has a property of `Normalization`."""
    return any(getattr(NORMALIZATIONS[name], property) for name in exact.normalizations)


def _sample(candidates: np.ndarray, margins: np.ndarray, seed: int) -> np.ndarray:
    """The pairs scored in both precisions first: some of all alike, then those of the smallest margins, ascending."""
    drawn = np.random.default_rng(seed).permutation(candidates)
    audited, others = drawn[:AUDITED_PAIRS], drawn[AUDITED_PAIRS:]
    nearest = others[np.argsort(margins[others], kind="stable")][: SAMPLE_PAIRS - AUDITED_PAIRS]
    return np.sort(np.concatenate([audited, nearest]))


def _unigram_sums(
    by_side: Sequence[Pieces], scored: np.ndarray, tokens: np.ndarray, unigrams: Unigrams
) -> list[np.ndarray]:
    """The unigram log-probability of every scored sentence, (2, n_scored), for each corpus that SLOR may take."""
    vocabulary: dict[str, int] = {}
    codes = np.concatenate([codes_of(side, scored, "tokens", vocabulary) for side in by_side])
    counts = np.bincount(codes, minlength=len(vocabulary))
    return [
        sentence_sums(values[codes], tokens.ravel()).reshape(2, -1) for values in unigrams(list(vocabulary), counts)
    ]
