"""The unigram log-probabilities that SLOR needs, from an idf dictionary or from the scored sentences themselves.

They are chosen after scoring: no model is run, a sentence's sum is computed once for each choice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from engine.errors import InputError
from engine.evaluations.minimal_pairs.judgements import SIDES, cross_fit, of_pairs
from engine.evaluations.minimal_pairs.records import THESE, Result
from engine.evaluations.shared.dictionaries import dictionary_for
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.measures.unigrams import unigram_log_probabilities
from engine.messages.message import Message, together
from engine.models.sources.endpoint_names import is_endpoint
from engine.models.sources.names import without_label

BLOCK = 2**20  # tokens that are looked at at once
UNKNOWN_UNIGRAMS = Message("how frequent its tokens are is not known")
_WITH_ID = re.compile(r"<id \d+>$")  # how `inference.endpoint.scored_prompts` names a token that its string does not


def log_probabilities(
    vocabulary: Sequence[str], counts: np.ndarray, choice: str, tokenizer: str, model: str
) -> np.ndarray:
    """log P_u of each entry of a vocabulary, float64 (n_vocabulary,) nats, under a corpus.

    choice: THESE, where `counts` (n_vocabulary,) are the corpus, or what `dictionary_for` takes ("novel", "wiki",
    a path). Raises InputError for a dictionary of another tokenizer, or one that holds no token counts.
    """
    if choice == THESE:
        return unigram_log_probabilities(counts, int(counts.sum()), int((counts > 0).sum()))
    return dictionary_for(choice, tokenizer, model).unigram_log_probability(list(vocabulary))


def sentence_sums(values: np.ndarray, lengths: np.ndarray, codes: np.ndarray | None = None) -> np.ndarray:
    """Sums of consecutive `values` (n,), `lengths` (n_sentences,) of them each: float64 (n_sentences,).

    Each sentence is added up by itself, so that a sentence that stands twice has one sum, whatever stands before it.
    codes: int (n,), the place in `values` of each number that is added, where these are a vocabulary's.

    >>> sentence_sums(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1])).tolist()
    [3.0, 0.0, 4.0]
    >>> sentence_sums(np.array([1.0, 2.0]), np.array([1, 2]), np.array([1, 0, 1])).tolist()
    [2.0, 3.0]
    """
    counts = np.asarray(lengths, dtype=np.int64)
    starts, filled = np.cumsum(counts) - counts, np.flatnonzero(counts)
    totals, n = np.zeros(len(counts)), int(counts.sum())
    # Whole sentences, about BLOCK tokens of them: all at once are twice what the tokens take.
    for chosen in np.split(filled, np.searchsorted(starts[filled], np.arange(BLOCK, n, BLOCK))):
        if len(chosen):
            block = slice(starts[chosen[0]], starts[chosen[-1]] + counts[chosen[-1]])
            numbers = values[block] if codes is None else values[codes[block]]
            totals[chosen] = np.add.reduceat(np.asarray(numbers, dtype=np.float64), starts[chosen] - block.start)
    return totals


def with_unigrams(result: Result, choice: str) -> Result:
    """The result with the sums of another corpus in `pairs`, so that SLOR follows, and MORCELA, which is fitted anew.

    choice: THESE, or what `dictionaries.dictionary_for` knows. They are NaN for a model behind a server that does not
    tell its tokens apart. Raises InputError when a model's tokenizer is not the dictionary's.
    """
    pairs = result.pairs.copy(deep=False)
    sums = {side: np.full(len(pairs), np.nan) for side in SIDES}
    beta, gamma = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    for model, tokenizer in result.tokenizers.items():
        lines = np.flatnonzero((pairs["model"] == model).to_numpy())
        if not tells_tokens_apart(result, model):
            continue
        values, codes = _unigrams_by_code(result, model, tokenizer, choice)
        lengths = np.concatenate([pairs[f"{side}_tokens"].iloc[lines].to_numpy(dtype=np.int64) for side in SIDES])
        by_side = np.split(sentence_sums(values, lengths, codes), 2)
        for side, of_model in zip(SIDES, by_side, strict=True):
            sums[side][lines] = of_model
        counted = pairs.iloc[lines].assign(**{f"{side}_unigrams": values[lines] for side, values in sums.items()})
        fit = cross_fit(counted, result.items, result.settings.seed)
        if fit is not None:
            beta[lines], gamma[lines] = fit.beta[: len(lines)], fit.gamma[: len(lines)]  # both sentences have the same
    return replace(
        result,
        pairs=pairs.assign(
            **{f"{side}_unigrams": values for side, values in sums.items()}, morcela_beta=beta, morcela_gamma=gamma
        ),
        unigrams=choice,
    )


def why_not_fitted(result: Result) -> dict[str, str]:
    """Why MORCELA could not be fitted to the judgements of the sentences, by model; {} without any, and where it was.

    The reasons are those of `fitted_adjustment.CrossFit`.
    """
    reasons = {}
    for model in result.scored_models:
        pairs = result.pairs[(result.pairs["model"] == model).to_numpy()]
        if of_pairs(pairs, result.items) is None or "morcela_beta" not in pairs or pairs["morcela_beta"].notna().all():
            continue
        fit = cross_fit(pairs, result.items, result.settings.seed)
        reasons[model] = fit.reason if fit is not None else UNKNOWN_UNIGRAMS
    return reasons


def check_fitted(result: Result, normalizations: Collection[str]) -> None:
    """Raises InputError with the reasons where MORCELA is one of the scores but could not be fitted to judgements."""
    reasons = why_not_fitted(result) if any(NORMALIZATIONS[name].is_fitted for name in normalizations) else {}
    if reasons:
        listed = together(
            "; ", (Message("{model}: {reason}", model=model, reason=reason) for model, reason in reasons.items())
        )
        raise InputError(Message("MORCELA cannot be fitted to these judgements. {listed}.", listed=listed))


def token_unigrams(result: Result, model: str, tokenizer: str, choice: str) -> np.ndarray:
    """log P_u of every row of a model's tokens in `result.tokens`, in their order: float64 (n_tokens,)."""
    values, codes = _unigrams_by_code(result, model, tokenizer, choice)
    return np.asarray(values[codes])


def _unigrams_by_code(result: Result, model: str, tokenizer: str, choice: str) -> tuple[np.ndarray, np.ndarray]:
    """log P_u of each token of a vocabulary, float64 (n_vocabulary,), and which of them the model's tokens are."""
    of_model = rows_where(result.tokens, ["token", "side"], model=model)
    tokens, sides = of_model["token"].astype("category").cat, of_model["side"]
    vocabulary = [str(token) for token in tokens.categories]
    codes = tokens.codes.to_numpy()
    counted = SIDES[: result.data_kind.n_sentences]  # a single sentence stands on both sides, and is counted once
    counts = np.zeros(len(vocabulary), dtype=np.int64)
    for start in range(0, len(codes), BLOCK):
        block = slice(start, start + BLOCK)
        counts += np.bincount(codes[block][sides.iloc[block].isin(counted).to_numpy()], minlength=len(vocabulary))
    return log_probabilities(vocabulary, counts, choice, tokenizer, model), codes


def tells_tokens_apart(result: Result, model: str) -> bool:
    """Whether each token of a model is known by its string; a server may show several as one part of a character."""
    if not is_endpoint(without_label(model)):
        return True
    vocabulary = rows_where(result.tokens, ["token"], model=model)["token"].astype("str").unique()
    return not any("\ufffd" in token and not _WITH_ID.search(token) for token in vocabulary)


def fits(choice: str, tokenizer: str, model: str) -> bool:
    """Whether a dictionary can say how probable this tokenizer's tokens are."""
    try:
        dictionary_for(choice, tokenizer, model).unigram_log_probability([])
    except InputError:
        return False
    return True
