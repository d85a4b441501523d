"""The tables of a minimal-pairs result: pairs with their sums, tokens, what sorts the pairs, what was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import FIELD, MinimalPairs
from engine.datasets.text_column import at, concatenated, series_of_texts
from engine.evaluations.minimal_pairs.exact_decisions import (
    SIDES,
    ScoredPairs,
    are_identical,
    is_scored,
    sums,
)
from engine.evaluations.minimal_pairs.judgements import preferences, ratings
from engine.evaluations.minimal_pairs.prompts.scoring import prompt_columns
from engine.evaluations.minimal_pairs.records import EXCLUDED, PRECISION, TOKENS
from engine.evaluations.minimal_pairs.regions import region_bits, sentence_regions
from engine.evaluations.minimal_pairs.unigrams import sentence_sums
from engine.inference.piece_columns import Pieces, codes, elements, flat, have, lengths, values
from engine.language.words import are_spaced, uses_spaces, word_spans
from engine.measures.minimal_pairs.acceptability import n_bytes
from engine.measures.minimal_pairs.regions import Span, tokens_by_region
from engine.measures.minimal_pairs.span_lists import SpanLists
from engine.measures.minimal_pairs.token_cuts import parts_of_characters, words_cut_differently
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.messages.message import Message, together

Words = Sequence[Span]
BLOCK_PAIRS = 2**15  # whose tokens are compared with words at once
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
    kept = np.flatnonzero(is_scored(scored.by_side))
    texts = {
        side: at(of_side, kept) for side, of_side in zip(SIDES, (dataset.acceptable, dataset.unacceptable), strict=True)
    }
    columns: dict[str, Any] = {
        "model": model,
        "row": np.array(dataset.rows, dtype=np.int64)[kept],
        "category": series_of_texts(at(dataset.categories, kept)),
        **{side: series_of_texts(of_side) for side, of_side in texts.items()},
    }
    pieces = dict(zip(SIDES, scored.by_side, strict=True))
    for side in SIDES:
        columns[f"{side}_tokens"] = lengths(pieces[side], kept, "ids")
    for side in SIDES:
        columns[f"{side}_log_likelihood"] = sums(pieces[side], kept)
    columns["identical"] = are_identical(scored.by_side)[kept]
    for side in SIDES:
        columns[f"{side}_characters"] = np.fromiter(map(len, texts[side]), np.int64, len(kept))
    for side in SIDES:
        columns[f"{side}_unknown"] = values(pieces[side], kept, "n_unknown")
    columns["scored_in"] = scored.scored_in[kept]
    columns["error_bound"] = scored.bounds[kept]
    # A masked model reads its own special tokens before the text; there the first token is always scored.
    first = ("read_ids", n_prefix) if n_prefix is not None else ("ids", 0)
    first_tokens = [elements(of_side, kept, *first) for of_side in scored.by_side]
    columns["first_token_differs"] = first_tokens[0] != first_tokens[1]
    columns["item"] = kept
    for side in SIDES:
        columns[f"{side}_bytes"] = np.fromiter(map(n_bytes, texts[side]), np.int64, len(kept))
    columns |= _cuts(dataset, kept, scored.by_side, words or sentence_words(dataset))
    of_words = [_boundaries(pieces[side], kept) for side in SIDES]
    for column, name in enumerate(("boundaries", "words")):
        columns |= {f"{side}_{name}": of_side[column] for side, of_side in zip(SIDES, of_words, strict=True)}
    columns |= prompt_columns(scored, kept, is_of_pairs=dataset.data_kind.n_sentences > 1)
    return pd.DataFrame(columns).astype({name: "str" for name in ("model", "category", *SIDES, "scored_in")})


def _boundaries(pieces: Pieces, kept: np.ndarray) -> tuple[np.ndarray, pd.api.extensions.ExtensionArray]:
    """What the boundaries of words add to each sentence, float64 (n_kept,), and the words; nan and NA without them."""
    if not len(kept) or not have(pieces, kept, "word_boundaries"):
        return np.full(len(kept), np.nan), pd.array(np.full(len(kept), np.nan), dtype="Int64")
    of_each = [pieces[place]["word_boundaries"] for place in kept.tolist()]
    lengths = np.array([len(boundaries) - 1 for boundaries in of_each], dtype=np.int64)
    terms, begins = boundary_terms(
        np.concatenate([boundaries[:-1] for boundaries in of_each]), [boundaries[-1] for boundaries in of_each], lengths
    )
    return sentence_sums(terms, lengths), pd.array(sentence_sums(begins, lengths).astype(np.int64), dtype="Int64")


def sentence_words(dataset: MinimalPairs) -> tuple[Sequence[Words], Sequence[Words]]:
    """The words of the acceptable and of the unacceptable sentences as spans: MeCab's where the text holds kana or
    kanji, elsewhere runs of letters and digits, and every other character alone; of running text none are needed."""
    if dataset.data_kind.in_windows:
        return [[]] * dataset.n, [[]] * dataset.n

    def words(text: str) -> Words:
        return [match.span() for match in _WORD.finditer(text)] if uses_spaces(text) else word_spans(text)

    return SpanLists.of(map(words, dataset.acceptable)), SpanLists.of(map(words, dataset.unacceptable))


def are_words_spaced(dataset: MinimalPairs) -> bool:
    """Whether its sentences are written with white space between words, so that WordLP can be."""
    return are_spaced(concatenated((dataset.acceptable, dataset.unacceptable)))


def _cuts(
    dataset: MinimalPairs,
    kept: np.ndarray,
    by_side: tuple[Pieces, Pieces],
    words: tuple[Sequence[Words], Sequence[Words]],
) -> dict[str, np.ndarray]:
    """How the pairs are cut into tokens: int64 (n_kept,) by column."""
    counts = {
        name: np.zeros(len(kept), dtype=np.int64)
        for name in ("shared_words", "cut_words", *(f"{side}_parts" for side in SIDES))
    }
    for block in _blocks(len(kept)):
        places = kept[block]
        tokens = [_flat_tokens(pieces, places) for pieces in by_side]
        texts = [list(at(of_side, places)) for of_side in (dataset.acceptable, dataset.unacceptable)]
        of_texts = [[of_side[i] for i in places.tolist()] for of_side in words]
        counts["shared_words"][block], counts["cut_words"][block] = words_cut_differently(
            (texts[0], texts[1]), (of_texts[0], of_texts[1]), *zip(*tokens, strict=True)
        )
        for side, of_side in zip(SIDES, tokens, strict=True):
            counts[f"{side}_parts"][block] = parts_of_characters(*of_side, len(places))
    return counts


def _blocks(n: int) -> list[slice]:
    return [slice(start, start + BLOCK_PAIRS) for start in range(0, n, BLOCK_PAIRS)]


def _flat_tokens(pieces: Pieces, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The characters of the scored tokens of some sentences, int (n_tokens, 2), and the sentence of each, from 0."""
    spans = flat(pieces, places, "spans").reshape(-1, 2)
    return spans, np.repeat(np.arange(len(places)), lengths(pieces, places, "spans"))


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
    all_kept = [np.flatnonzero(is_scored(scored.by_side)) for scored in scored_by_model.values()]
    parts = [
        (kept, side, pieces)
        for kept, scored in zip(all_kept, scored_by_model.values(), strict=True)
        for side, pieces in enumerate(scored.by_side)
    ]
    n_each = [lengths(pieces, kept, "ids") for kept, _, pieces in parts]
    n_by_part = [int(of_part.sum()) for of_part in n_each]
    # Each column is filled where it stays: of millions of sentences there is no room for two of it.
    n = sum(n_by_part)
    rows, positions, bits = (np.zeros(n, dtype=np.int64) for _ in range(3))
    token_codes, boundaries = np.zeros(n, dtype=np.int32), np.full(n, np.nan, dtype=np.float32)
    log_likelihoods_of: list[np.ndarray] = []
    vocabulary: dict[str, int] = {}
    numbers = np.array(dataset.rows, dtype=np.int64)
    end = 0
    for (kept, side, pieces), of_part in zip(parts, n_each, strict=True):
        for block in _blocks(len(kept)):
            places, of_block = kept[block], of_part[block]
            inside = slice(end, end := end + int(of_block.sum()))
            bits[inside] = region_bits(regions, side, places, *_flat_tokens(pieces, places))
            rows[inside] = np.repeat(numbers[places], of_block)
            positions[inside] = np.arange(of_block.sum()) - np.repeat(np.cumsum(of_block) - of_block, of_block)
            token_codes[inside] = codes(pieces, places, "tokens", vocabulary)
            log_likelihoods_of.append(flat(pieces, places, "log_likelihoods"))
        if len(kept) and have(pieces, kept, "word_boundaries"):
            boundaries[end - int(of_part.sum()) : end] = np.concatenate(
                [pieces[place]["word_boundaries"][:-1] for place in kept.tolist()]
            )
        of_regions += (
            [np.zeros(of_part.sum(), dtype=np.int16)]
            if placed is None
            else [tokens_by_region(dataset.acceptable[i], pieces[i]["spans"], placed[i])[0] for i in kept.tolist()]
        )
    own = np.arange(len(n_by_part), dtype=np.int16)
    return pd.DataFrame(
        {
            "model": _categorical(np.repeat(own // 2, n_by_part), list(scored_by_model)),
            "row": rows,
            "side": _categorical(np.repeat(own % 2, n_by_part), SIDES),
            "position": positions,
            "token": _categorical(token_codes, list(vocabulary)),
            "log_likelihood": np.concatenate(log_likelihoods_of),
            "regions": bits,
            "region": np.concatenate(of_regions),
            "boundary": boundaries,
        },
        copy=False,
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
            "row": np.array(dataset.rows, dtype=np.int64),
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
    for i in np.flatnonzero(~is_scored(scored.by_side)).tolist():
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
