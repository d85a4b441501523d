"""The tables of a minimal-pairs result: pairs with their sums, tokens, what sorts the pairs, what was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import FIELD, MinimalPairs
from engine.evaluations.minimal_pairs.exact_decisions import SIDES, ScoredPairs, are_identical, is_scored, sums
from engine.evaluations.minimal_pairs.judgements import preferences, ratings
from engine.evaluations.minimal_pairs.prompts.scoring import prompt_columns
from engine.evaluations.minimal_pairs.records import EXCLUDED, PRECISION, TOKENS
from engine.evaluations.minimal_pairs.regions import flat_tokens, region_bits, sentence_regions
from engine.evaluations.minimal_pairs.unigrams import sentence_sums
from engine.language.words import are_spaced, uses_spaces, word_spans
from engine.measures.minimal_pairs.acceptability import n_bytes
from engine.measures.minimal_pairs.regions import Span, tokens_by_region
from engine.measures.minimal_pairs.token_cuts import parts_of_characters, words_cut_differently
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.messages.message import Message, together

Words = list[Span]
_WORD = re.compile(r"\w+|[^\w\s]")


def pair_table(
    model: str,
    dataset: MinimalPairs,
    scored: ScoredPairs,
    n_prefix: int | None = None,
    words: tuple[Sequence[Words], Sequence[Words]] | None = None,
) -> pd.DataFrame:
    """One row for each pair that the model scored, in the order of the dataset; columns as in `Result.pairs`.

    n_prefix: the number of tokens that a causal model read before each sentence; None for a masked model.
    words: of `sentence_words`, where they are known already.
    """
    kept = np.flatnonzero(is_scored(scored.by_side)).tolist()
    columns: dict[str, Any] = {
        "model": model,
        "row": [dataset.rows[i] for i in kept],
        "category": [dataset.categories[i] for i in kept],
        "acceptable": [dataset.acceptable[i] for i in kept],
        "unacceptable": [dataset.unacceptable[i] for i in kept],
    }
    pieces = {side: [side_pieces[i] for i in kept] for side, side_pieces in zip(SIDES, scored.by_side, strict=True)}
    for side in SIDES:
        columns[f"{side}_tokens"] = [len(piece["ids"]) for piece in pieces[side]]
    for side in SIDES:
        columns[f"{side}_log_likelihood"] = sums(pieces[side])
    columns["identical"] = are_identical(scored.by_side)[kept]
    for side in SIDES:
        columns[f"{side}_characters"] = [len(text) for text in columns[side]]
    for side in SIDES:
        columns[f"{side}_unknown"] = [piece["n_unknown"] for piece in pieces[side]]
    columns["scored_in"] = scored.scored_in[kept]
    columns["error_bound"] = scored.bounds[kept]
    first_tokens = [_first_tokens(scored.by_side[side], kept, n_prefix) for side in range(len(SIDES))]
    columns["first_token_differs"] = first_tokens[0] != first_tokens[1]
    columns["item"] = np.array(kept, dtype=np.int64)
    for side in SIDES:
        columns[f"{side}_bytes"] = [n_bytes(text) for text in columns[side]]
    columns |= _cuts(dataset, kept, pieces, words or sentence_words(dataset))
    of_words = [_boundaries(pieces[side]) for side in SIDES]
    for column, name in enumerate(("boundaries", "words")):
        columns |= {f"{side}_{name}": of_side[column] for side, of_side in zip(SIDES, of_words, strict=True)}
    columns |= prompt_columns(scored, kept, is_of_pairs=dataset.data_kind.n_sentences > 1)
    return pd.DataFrame(columns).astype({name: "str" for name in ("model", "category", *SIDES, "scored_in")})


def _boundaries(pieces: Sequence[dict[str, Any]]) -> tuple[np.ndarray, pd.api.extensions.ExtensionArray]:
    """What the boundaries of words add to each sentence, float64 (n_kept,), and the words; nan and NA without them."""
    if not pieces or not all("word_boundaries" in piece for piece in pieces):
        return np.full(len(pieces), np.nan), pd.array([pd.NA] * len(pieces), dtype="Int64")
    of_each = [piece["word_boundaries"] for piece in pieces]
    lengths = np.array([len(boundaries) - 1 for boundaries in of_each], dtype=np.int64)
    terms, begins = boundary_terms(
        np.concatenate([boundaries[:-1] for boundaries in of_each]), [boundaries[-1] for boundaries in of_each], lengths
    )
    return sentence_sums(terms, lengths), pd.array(sentence_sums(begins, lengths).astype(np.int64), dtype="Int64")


def _first_tokens(pieces: Sequence[dict[str, Any]], kept: Sequence[int], n_prefix: int | None) -> np.ndarray:
    """The id of the first token of each sentence, scored or not: int64 (n_kept,)."""
    # A masked model reads its own special tokens before the text; there the first token is always scored.
    return np.array(
        [(pieces[i]["read_ids"][n_prefix] if n_prefix is not None else pieces[i]["ids"][0]) for i in kept],
        dtype=np.int64,
    )


def sentence_words(dataset: MinimalPairs) -> tuple[list[Words], list[Words]]:
    """The words of the acceptable and of the unacceptable sentences as spans: MeCab's where the text holds kana or
    kanji, elsewhere runs of letters and digits, and every other character alone; of running text none are needed."""
    if dataset.data_kind.in_windows:
        return [[]] * dataset.n, [[]] * dataset.n

    def words(text: str) -> Words:
        return [match.span() for match in _WORD.finditer(text)] if uses_spaces(text) else word_spans(text)

    return [words(text) for text in dataset.acceptable], [words(text) for text in dataset.unacceptable]


def are_words_spaced(dataset: MinimalPairs) -> bool:
    """Whether its sentences are written with white space between words, so that WordLP can be."""
    return are_spaced((*dataset.acceptable, *dataset.unacceptable))


def _cuts(
    dataset: MinimalPairs,
    kept: Sequence[int],
    pieces: dict[str, list[dict[str, Any]]],
    words: tuple[Sequence[Words], Sequence[Words]],
) -> dict[str, np.ndarray]:
    """How the pairs are cut into tokens: int64 (n_kept,) by column."""
    tokens = [flat_tokens([piece["spans"] for piece in pieces[side]]) for side in SIDES]
    texts = [[of_side[i] for i in kept] for of_side in (dataset.acceptable, dataset.unacceptable)]
    of_texts = [[of_side[i] for i in kept] for of_side in words]
    n_shared, n_different = words_cut_differently(
        (texts[0], texts[1]), (of_texts[0], of_texts[1]), *zip(*tokens, strict=True)
    )
    return {
        "shared_words": n_shared,
        "cut_words": n_different,
        **{
            f"{side}_parts": parts_of_characters(*of_side, len(kept))
            for side, of_side in zip(SIDES, tokens, strict=True)
        },
    }


def token_table(
    dataset: MinimalPairs,
    scored_by_model: dict[str, ScoredPairs],
    words: tuple[Sequence[Words], Sequence[Words]] | None = None,
) -> pd.DataFrame:
    """The scored tokens of all models: each model's acceptable sentences in the order of its pairs, then the others.

    words: of `sentence_words`, where they are known already.
    """
    if not scored_by_model:
        return TOKENS.frame()
    kind = dataset.data_kind
    # Of a row of one sentence nothing differs.
    regions = sentence_regions(dataset, words or sentence_words(dataset)) if kind.n_sentences > 1 else {}
    placed = kind.regions(dataset.originals) if kind.regions else None
    of_regions: list[np.ndarray] = [np.empty(0, dtype=np.int16)]
    bits: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    positions: list[np.ndarray] = []
    log_likelihoods: list[np.ndarray] = []
    boundaries: list[np.ndarray] = []
    n_by_part: list[int] = []
    tokens: list[str] = []
    for scored in scored_by_model.values():
        kept = np.flatnonzero(is_scored(scored.by_side)).tolist()
        numbers = np.array([dataset.rows[i] for i in kept], dtype=np.int64)
        for side, side_pieces in enumerate(scored.by_side):
            bits.append(region_bits(regions, side, kept, [side_pieces[i]["spans"] for i in kept]))
            lengths = np.array([len(side_pieces[i]["ids"]) for i in kept], dtype=np.int64)
            of_regions += (
                [np.zeros(lengths.sum(), dtype=np.int16)]
                if placed is None
                else [tokens_by_region(dataset.acceptable[i], side_pieces[i]["spans"], placed[i])[0] for i in kept]
            )
            rows.append(np.repeat(numbers, lengths))
            starts = np.cumsum(lengths) - lengths
            positions.append(np.arange(lengths.sum()) - np.repeat(starts, lengths))
            log_likelihoods += [side_pieces[i]["log_likelihoods"] for i in kept]
            boundaries += (
                [side_pieces[i]["word_boundaries"][:-1] for i in kept]
                if all("word_boundaries" in side_pieces[i] for i in kept)
                else [np.full(lengths.sum(), np.nan, dtype=np.float32)]
            )
            n_by_part.append(int(lengths.sum()))
            for i in kept:
                tokens += side_pieces[i]["tokens"]
    codes, vocabulary = pd.factorize(np.array(tokens, dtype=object))
    parts = np.repeat(np.arange(len(n_by_part)), n_by_part)  # (n_tokens,)
    return pd.DataFrame(
        {
            "model": _categorical(parts // 2, list(scored_by_model)),
            "row": np.concatenate(rows),
            "side": _categorical(parts % 2, SIDES),
            "position": np.concatenate(positions),
            "token": _categorical(codes, vocabulary.tolist()),
            "log_likelihood": np.concatenate(log_likelihoods),
            "regions": np.concatenate(bits),
            "region": np.concatenate(of_regions),
            "boundary": np.concatenate(boundaries).astype(np.float32, copy=False),
        }
    )


def tokens_beyond_regions(dataset: MinimalPairs, scored: ScoredPairs) -> int:
    """The scored tokens that reach beyond the region in which they begin, where sentences are cut into regions."""
    if dataset.data_kind.regions is None:
        return 0
    regions = dataset.data_kind.regions(dataset.originals)
    return sum(
        int(tokens_by_region(text, piece["spans"], of_sentence)[1].sum())
        for text, piece, of_sentence in zip(dataset.acceptable, scored.by_side[0], regions, strict=True)
        if "excluded" not in piece
    )


def _categorical(codes: np.ndarray, names: Sequence[str]) -> pd.Categorical:
    """Texts as numbers with a legend: 67,000 pairs are millions of tokens."""
    return pd.Categorical.from_codes(codes, categories=pd.Index(list(names), dtype="str"))


def item_table(dataset: MinimalPairs, rating_columns: Sequence[str] = ()) -> pd.DataFrame:
    """One row for each pair of the dataset, whether scored or not: row, source, category, ratings, preference, label,
    fields.

    rating_columns: as in `judgements.ratings` and `judgements.preferences`.
    """
    texts = {"source": dataset.sources or (dataset.name,) * dataset.n, "category": dataset.categories}
    fields = {f"{FIELD}{name}": values for name, values in dataset.fields.items()}
    rated = ratings(dataset, rating_columns) or (np.full(dataset.n, np.nan),) * 2
    preferred = preferences(dataset, rating_columns)
    return pd.DataFrame(
        {
            "row": list(dataset.rows),
            **{name: pd.Series(values, dtype="str") for name, values in texts.items()},
            **{f"{side}_rating": values for side, values in zip(SIDES, rated, strict=True)},
            "preference": np.full(dataset.n, np.nan) if preferred is None else preferred,
            "label": pd.array(dataset.labels or [None] * dataset.n, dtype="Int64"),
            **{name: pd.Series(values, dtype="str") for name, values in fields.items()},
        }
    )


def excluded_table(model: str, dataset: MinimalPairs, scored: ScoredPairs) -> pd.DataFrame:
    """The pairs that were left out, with what is wrong with which sentence."""
    lines = []
    for i in np.flatnonzero(~is_scored(scored.by_side)):
        reasons = [
            Message("{side} sentence: {reason}", side=side, reason=side_pieces[i]["excluded"])
            if side
            else side_pieces[i]["excluded"]
            for side, side_pieces in zip(dataset.data_kind.sides, scored.by_side, strict=False)
            if "excluded" in side_pieces[i]
        ]
        lines.append((model, dataset.rows[i], together("; ", dict.fromkeys(reasons))))
    return EXCLUDED.frame(lines)


def precision_table(scored_by_model: dict[str, ScoredPairs]) -> pd.DataFrame:
    """How the bound of the error was found, a line for each model scored for exact decisions."""
    reports = [{"model": model, **scored.report} for model, scored in scored_by_model.items() if scored.report]
    return PRECISION.frame_of_records(reports)


def shared_table(model: str, dataset: MinimalPairs, pieces: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The pairs that share tokens, with the sums over these alone."""
    kept = [i for i, piece in enumerate(pieces) if "excluded" not in piece]
    both = {
        side: [float(np.sum(pieces[i][f"{name}_log_likelihoods"], dtype=np.float64)) for i in kept]
        for side, name in zip(SIDES, ("first", "second"), strict=True)
    }
    return pd.DataFrame(
        {
            "model": pd.Series([model] * len(kept), dtype="str"),
            "row": [dataset.rows[i] for i in kept],
            "item": kept,
            "n_shared": [len(pieces[i]["tokens"]) for i in kept],
            **{f"{side}_log_likelihood": values for side, values in both.items()},
            "identical": np.array([pieces[i]["identical"] for i in kept], dtype=bool),
        }
    )
