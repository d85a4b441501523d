"""The tables of a minimal-pairs result: pairs with their sums, tokens, what sorts the pairs, what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
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
from engine.evaluations.minimal_pairs.regions import OfSides, region_bits
from engine.evaluations.minimal_pairs.unigrams import sentence_sums
from engine.inference.piece_columns import Pieces, codes, elements, flat, have, lengths, release, values
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
    n_prefix: int | None,
    words: tuple[Sequence[Words], Sequence[Words]],
) -> pd.DataFrame:
    """One row for each pair that the model scored, in the order of the dataset; columns as in `Result.pairs`.

    n_prefix: the number of tokens that a causal model read before each sentence; None for a masked model.
    words: of `sentence_words`. What a model read is needed here alone, and the pieces give it up.
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
    for of_side in scored.by_side:
        release(of_side, "read_ids")
    columns["first_token_differs"] = first_tokens[0] != first_tokens[1]
    columns["item"] = kept
    for side in SIDES:
        columns[f"{side}_bytes"] = np.fromiter(map(n_bytes, texts[side]), np.int64, len(kept))
    columns |= _cuts(dataset, kept, scored.by_side, words)
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
    dataset: MinimalPairs, scored_by_model: dict[str, ScoredPairs], regions: Mapping[str, OfSides]
) -> pd.DataFrame:
    """The scored tokens of all models: each model's acceptable sentences in the order of its pairs, then the others.

    regions: of `sentence_regions`; {} where a row is one sentence, of which nothing differs. Of millions of sentences
    there is no room for their pieces beside the table: what a column is made of is given up as soon as it is there.
    """
    if not scored_by_model:
        return TOKENS.frame()
    parts: list[tuple[Pieces, np.ndarray, int]] = []
    for scored in scored_by_model.values():
        kept = np.flatnonzero(is_scored(scored.by_side))
        parts += [(pieces, kept, side) for side, pieces in enumerate(scored.by_side)]
    n_each = [lengths(pieces, kept, "ids") for pieces, kept, _ in parts]
    n_by_part = [int(of_part.sum()) for of_part in n_each]

    def give_up(*names: str) -> None:
        for pieces, *_ in parts:
            release(pieces, *names)

    # Each column is filled where it stays: of millions of sentences there is no room for two of it.
    def filled(column: np.ndarray, of_block: Callable[[Pieces, np.ndarray, int, np.ndarray], np.ndarray]) -> np.ndarray:
        """The column with the values of each block of sentences: of its pieces, places, side and numbers of tokens."""
        end = 0
        for (pieces, kept, side), of_part in zip(parts, n_each, strict=True):
            for block in _blocks(len(kept)):
                inside = slice(end, end := end + int(of_part[block].sum()))
                column[inside] = of_block(pieces, kept[block], side, of_part[block])
        return column

    n = sum(n_by_part)
    bits = filled(
        np.empty(n, dtype=np.int64),
        lambda pieces, places, side, _: region_bits(regions, side, places, *_flat_tokens(pieces, places)),
    )
    region = _regions(dataset, parts, n_by_part)
    give_up("spans", "ids")
    vocabulary: dict[str, int] = {}
    token_codes = filled(
        np.empty(n, dtype=np.int32), lambda pieces, places, *_: codes(pieces, places, "tokens", vocabulary)
    )
    tokens = _categorical(token_codes, list(vocabulary))
    del token_codes
    give_up("tokens")
    log_likelihoods = np.concatenate(
        [flat(pieces, kept[block], "log_likelihoods") for pieces, kept, _ in parts for block in _blocks(len(kept))]
    )
    give_up("log_likelihoods")
    numbers, own = np.array(dataset.rows, dtype=np.int64), np.arange(len(parts), dtype=np.int16)
    return pd.DataFrame(
        {
            "model": _categorical(np.repeat(own // 2, n_by_part), list(scored_by_model)),
            "row": filled(
                np.empty(n, dtype=np.int64), lambda _, places, __, n_each: np.repeat(numbers[places], n_each)
            ),
            "side": _categorical(np.repeat(own % 2, n_by_part), SIDES),
            "position": filled(np.empty(n, dtype=np.int64), lambda *of_block: _positions(of_block[-1])),
            "token": tokens,
            "log_likelihood": log_likelihoods,
            "regions": bits,
            "region": region,
            "boundary": _before_tokens(parts, n_by_part),
        },
        copy=False,
    )


def _positions(n_each: np.ndarray) -> np.ndarray:
    """The place of each token in its sentence, from 0, of sentences of so many tokens."""
    return np.asarray(np.arange(n_each.sum()) - np.repeat(np.cumsum(n_each) - n_each, n_each))


def _regions(
    dataset: MinimalPairs, parts: Sequence[tuple[Pieces, np.ndarray, int]], n_by_part: Sequence[int]
) -> np.ndarray:
    """The number of the region in which each token begins, int16 (n_tokens,); 0 of sentences without regions."""
    kind = dataset.data_kind
    if not kind.regions:
        return np.zeros(sum(n_by_part), dtype=np.int16)
    placed = kind.regions(dataset.originals)
    return np.concatenate(
        [
            np.empty(0, dtype=np.int16),
            *(
                tokens_by_region(dataset.acceptable[i], pieces[i]["spans"], placed[i])[0]
                for pieces, kept, _ in parts
                for i in kept.tolist()
            ),
        ]
    )


def _before_tokens(parts: Sequence[tuple[Pieces, np.ndarray, int]], n_by_part: Sequence[int]) -> np.ndarray:
    """`Result.tokens.boundary`: float32 (n_tokens,), nan where boundaries were not scored."""
    boundaries, end = np.full(sum(n_by_part), np.nan, dtype=np.float32), 0
    for (pieces, kept, _), n in zip(parts, n_by_part, strict=True):
        start, end = end, end + n
        if len(kept) and have(pieces, kept, "word_boundaries"):
            boundaries[start:end] = np.concatenate([pieces[place]["word_boundaries"][:-1] for place in kept.tolist()])
    return boundaries


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
        lines.append((model, dataset.rows[i], together(" ", dict.fromkeys(reasons))))
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
