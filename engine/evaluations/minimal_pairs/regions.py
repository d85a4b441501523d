"""Scores over a part of each sentence: the words that differ, BLiMP's prefix methods, or a region that a file marks.

A token's log-likelihood is the same in the part as in the sentence, given what stands before it (of a masked model,
around it), so every part is a sum of what one pass gave: no model is run again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.formats.columns import normalize_name
from engine.datasets.minimal_pairs import options
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.rows import row_notice
from engine.datasets.text_column import any_match
from engine.errors import InputError
from engine.evaluations.minimal_pairs.judgements import SIDES
from engine.evaluations.minimal_pairs.records import (
    DIFFERING,
    MARKED,
    ONE_PREFIX,
    REGIONS,
    TOKENS,
    TWO_PREFIX,
    WHOLE,
    Result,
)
from engine.evaluations.minimal_pairs.scoring_rules import BOTH_SIDES, ITSELF, seen_by_models
from engine.evaluations.minimal_pairs.unigrams import sentence_sums, tells_tokens_apart, token_unigrams
from engine.evaluations.minimal_pairs.views import by_model, has_boundaries, without_token_scores
from engine.evaluations.shared.stored_table import parts, rows_where
from engine.language.words import uses_spaces
from engine.measures.minimal_pairs.normalizations import PROMPTED
from engine.measures.minimal_pairs.regions import Span, differing_words, tokens_inside
from engine.measures.minimal_pairs.span_lists import SpanLists
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.messages.message import Message, list_of

# The bit of a region in `Result.tokens.regions`.
BITS: Mapping[str, int] = {name: 2**place for place, name in enumerate(name for name in REGIONS if name != WHOLE)}
# The columns of a file that say how a sentence goes on after its context, to its end: EWoK's, entity tracking's, COMPS'.
WITH_SPACE = (("target1", "target2"), options.SIDES)  # the space before it belongs to it
COMPLETIONS = (*WITH_SPACE, ("property_phrase", "property_phrase"))
# The columns of a file that mark the region, by its side: of one's own; TurBLiMP's and BLiMP-NL's, one for both sides;
# what follows the context. BLiMP's are a prefix and the word after it.
MARKS = (
    ("acceptable_region", "unacceptable_region"),
    ("good_region", "bad_region"),
    ("critical_region", "critical_region"),
    ("critical_word", "critical_word"),
    *COMPLETIONS,
)
NOTHING = ("", "-")  # a row without a region; TurBLiMP writes the hyphen
PREFIXES = {
    ONE_PREFIX: (("one_prefix_prefix", "one_prefix_word_good"), ("one_prefix_prefix", "one_prefix_word_bad")),
    TWO_PREFIX: (("two_prefix_prefix_good", "two_prefix_word"), ("two_prefix_prefix_bad", "two_prefix_word")),
}
WITHOUT = Message("a sentence has no token in the part that is counted")
WITHOUT_MARKED = Message("a sentence does not hold what the file marks, or no token of it is scored")
PREFIX_OF_OTHERS = Message(
    "{models}: the method {region} is of models that read a sentence from its beginning; these also read what follows "
    "the word."
)
NOT_THERE = (
    Message("{rows} marks a region that is not in both sentences, so that it has no region: {listed}."),
    Message("{rows} mark a region that is not in both sentences, so that they have no region: {listed}."),
)
SEVERAL = (
    Message("{rows} marks a region that a sentence has several times; the last one is counted: {listed}."),
    Message("{rows} mark a region that a sentence has several times; the last one is counted: {listed}."),
)
# The ends of the columns that a part of a sentence has no value of.
_OF_WHOLE = ("_characters", "_bytes", *(f"_{name}" for name in PROMPTED))
# Of a row as JSON: it may have a column that marks a region.
_MAY_MARK = "(?i)prefix|region|critical|target1|right_option"
# The region's spans in the acceptable and in the unacceptable sentence of each pair.
OfSides = tuple[Sequence[Sequence[Span]], Sequence[Sequence[Span]]]


def sentence_regions(
    dataset: MinimalPairs, words: tuple[Sequence[Sequence[Span]], Sequence[Sequence[Span]]]
) -> dict[str, OfSides]:
    """The regions of every pair, by name; those that the file does not mark are not there.

    words: of the acceptable and of the unacceptable sentences. A row whose region is not in its sentence has
    none; of a marked one that stands there several times the last counts: what comes before it decides whether it fits.
    """

    def texts() -> Iterator[tuple[str, str]]:
        return zip(dataset.acceptable, dataset.unacceptable, strict=True)

    regions: dict[str, OfSides] = {
        DIFFERING: SpanLists.of_both(
            differing_words(pair, of_pair) for pair, of_pair in zip(texts(), zip(*words, strict=True), strict=True)
        )
    }
    rows = _rows(dataset)
    for name, sides in PREFIXES.items():
        if rows and any(sides[0][1] in row for row in rows):
            regions[name] = SpanLists.of_both(
                _of_both(pair, row, sides, _behind_prefix) for pair, row in zip(texts(), rows, strict=True)
            )
    if any(marks := _marks(rows)):
        found = (
            _of_both(pair, row, [(name,) for name in names], _finder(names)) if names else ([], [])
            for pair, row, names in zip(texts(), rows, marks, strict=True)
        )
        regions[MARKED] = SpanLists.of_both(of_pair if all(of_pair) else ([], []) for of_pair in found)
    return regions


def regions_in(dataset: MinimalPairs) -> tuple[str, ...]:
    """The regions that a file of pairs knows, the whole sentence first."""
    rows = _rows(dataset)
    prefixes = [name for name, sides in PREFIXES.items() if any(sides[0][1] in row for row in rows)]
    return (WHOLE, DIFFERING, *prefixes, *([MARKED] if any(_marks(rows)) else []))


def of_reading_on(result: Result, region: str) -> tuple[str, ...]:
    """The notice of models that read what follows a token under a prefix method, () for none."""
    seen = seen_by_models(result)
    models = [model for side in (BOTH_SIDES, ITSELF) for model in seen.get(side, [])]
    return (PREFIX_OF_OTHERS.format(models=list_of(models), region=region),) if region in PREFIXES and models else ()


def marked_notices(dataset: MinimalPairs) -> tuple[str, ...]:
    """Which rows mark a region that is not in both sentences, and which one that is in a sentence several times."""
    rows = _rows(dataset)
    absent, several = [], []
    for number, pair, row, names in (
        zip(dataset.rows, zip(dataset.acceptable, dataset.unacceptable, strict=True), rows, _marks(rows), strict=True)
        if rows
        else ()
    ):
        found = (
            [
                len(_places(text, row[name].strip()))
                for text, name in zip(pair, names, strict=True)
                if row[name].strip() not in NOTHING
            ]
            if names
            else []
        )
        if 0 in found:
            absent.append(number)
        elif names not in COMPLETIONS and any(n > 1 for n in found):
            several.append(number)
    return (*row_notice(absent, *NOT_THERE), *row_notice(several, *SEVERAL))


def region_bits(
    regions: Mapping[str, OfSides], side: int, kept: np.ndarray, tokens: np.ndarray, sentences: np.ndarray
) -> np.ndarray:
    """The regions that each token of one side of some pairs touches, as the sum of their BITS: int64 (n_tokens,).

    kept: the numbers of the pairs; tokens: int (n_tokens, 2), the characters of the scored tokens; sentences: int
    (n_tokens,), to which of the pairs each belongs, from 0.
    """
    bits = np.zeros(len(tokens), dtype=np.int64)
    for name, of_sides in regions.items():
        bits += BITS[name] * tokens_inside(tokens, sentences, [of_sides[side][i] for i in kept.tolist()])
    return bits


def regions_of(result: Result) -> tuple[str, ...]:
    """The regions that a result knows, the whole sentence first; only that where an earlier version stored it."""
    if "regions" not in result.tokens.columns or without_token_scores(result):
        return (WHOLE,)
    there = 0
    for part in parts(result.tokens, ["regions"]):
        if part["regions"].hasnans:
            return (WHOLE,)
        there |= int(np.bitwise_or.reduce(part["regions"].to_numpy(dtype=np.int64), initial=0))
    return (WHOLE, *(name for name, bit in BITS.items() if there & bit))


def of_region(result: Result, region: str) -> Result:
    """The result whose sums are over the tokens of a region; a pair with a sentence without any is in `excluded`.

    Numbers of tokens are those of the region, too, and so are words and what their boundaries add. Scores by characters
    and bytes, and MORCELA, which was fitted to whole sentences, are not there. A token of white space alone is not of
    the word after it: where a tokenizer cuts a word off its space, the region begins inside of it and has no boundary
    before it. Raises InputError for a region that the result does not know.
    """
    if region == WHOLE:
        return result
    if lacking := without_token_scores(result):
        raise InputError(
            Message(
                "The region {region!r} needs the log-likelihood of each token, which the file of {models} does not have "
                "(tokens). Leave --region out, or the model.",
                region=region,
                models=list_of(lacking),
            )
        )
    known = regions_of(result)
    if region not in known:
        raise InputError(
            Message(
                "The run has no scores of the region {region!r}; it has: {known}. No sentence has "
                "such a part, or the result is of a version before 0.3.0: run it again.",
                region=region,
                known=list_of(known),
            )
        )
    pairs = result.pairs.drop(
        columns=[
            name for name in result.pairs.columns if str(name).startswith("morcela_") or str(name).endswith(_OF_WHOLE)
        ]
    )
    columns = ["regions", "log_likelihood"]
    with_boundaries = has_boundaries(pairs) and "boundary" in result.tokens.columns
    columns += ["boundary"] if with_boundaries else []
    summed = ("tokens", "log_likelihood", "unigrams", *(("boundaries", "words") if with_boundaries else ()))
    sums = {f"{side}_{name}": np.full(len(pairs), np.nan) for side in SIDES for name in summed}
    for model, of_model in by_model(result):
        lines = np.flatnonzero((pairs["model"] == model).to_numpy())
        own = rows_where(result.tokens, columns, model=model)
        inside = (own["regions"].to_numpy(dtype=np.int64) & BITS[region]) > 0
        values = own["log_likelihood"].to_numpy(dtype=np.float64)
        lengths = np.concatenate([of_model[f"{side}_tokens"].to_numpy(dtype=np.int64) for side in SIDES])
        counted = {"tokens": inside.astype(np.float64), "log_likelihood": np.where(inside, values, 0.0)}
        if model in result.tokenizers and tells_tokens_apart(result, model) and f"{SIDES[0]}_unigrams" in pairs:
            unigrams = token_unigrams(result, model, result.tokenizers[model], result.unigrams)
            counted["unigrams"] = np.where(inside, unigrams, 0.0)
        if with_boundaries and has_boundaries(of_model):
            before = own["boundary"].to_numpy(dtype=np.float64)
            counted["boundaries"], counted["words"] = boundary_terms(
                before, ends_of_texts(of_model, before, lengths), lengths, inside
            )
        for name, of_tokens in counted.items():
            for side, of_side in zip(SIDES, np.split(sentence_sums(of_tokens, lengths), 2), strict=True):
                sums[f"{side}_{name}"][lines] = of_side
    kept = (sums[f"{SIDES[0]}_tokens"] > 0) & (sums[f"{SIDES[1]}_tokens"] > 0)
    tokens: dict[str, Any] = {f"{side}_tokens": sums[f"{side}_tokens"].astype(np.int64) for side in SIDES}
    if with_boundaries:
        tokens |= {f"{side}_words": pd.array(sums[f"{side}_words"], dtype="Int64") for side in SIDES}
    counted_pairs = pairs.assign(**{**sums, **tokens})[kept].reset_index(drop=True)
    left_out = pairs.loc[~kept, ["model", "row"]].assign(reason=WITHOUT_MARKED if region == MARKED else WITHOUT)
    return replace(
        result,
        pairs=counted_pairs,
        tokens=TOKENS.frame(),
        excluded=pd.concat([result.excluded, left_out], ignore_index=True).astype(result.excluded.dtypes),
    )


def ends_of_texts(pairs: pd.DataFrame, before: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """log Z after the last token of the acceptable, then of the unacceptable sentences of a model's pairs: (2 ·
    n_pairs,).

    before: `Result.tokens.boundary` of its tokens; lengths: tokens of each sentence. What the boundaries of a whole
    sentence add is the last log Z less the first; nan where they were not scored.
    """
    added = np.concatenate([pairs[f"{side}_boundaries"].to_numpy(dtype=np.float64) for side in SIDES])
    return np.asarray(added + np.nan_to_num(before[np.cumsum(lengths) - lengths]))


def _rows(dataset: MinimalPairs) -> list[dict[str, str]]:
    """The texts of the file's own rows with normalised names, where one may have a column that marks a region; else
    none."""
    if not any_match(dataset.originals, _MAY_MARK):
        return []
    return [
        {normalize_name(name): text for name, text in json.loads(original).items() if isinstance(text, str)}
        if original
        else {}
        for original in dataset.originals
    ]


def _of_both(
    pair: tuple[str, str], row: Mapping[str, str], sides: Sequence[Sequence[str]], find: Callable[..., list[Span]]
) -> tuple[list[Span], list[Span]]:
    first, second = (
        find(text, *(row.get(name, "") for name in names)) for text, names in zip(pair, sides, strict=True)
    )
    return first, second


def _behind_prefix(text: str, prefix: str, word: str) -> list[Span]:
    start, word = len(prefix), word.strip()  # BLiMP's animate_subject_trans begins its words with the space
    while start < len(text) and text[start].isspace():
        start += 1
    is_there = word != "" and text.startswith(prefix) and text.startswith(word, start)
    return [(start, start + len(word))] if is_there else []


def _marks(rows: Sequence[Mapping[str, str]]) -> list[tuple[str, str] | None]:
    """Of each row the columns that mark its region, of the acceptable and of the unacceptable sentence."""
    return [next((names for names in MARKS if set(names) <= row.keys()), None) for row in rows]


def _finder(names: tuple[str, str]) -> Callable[..., list[Span]]:
    return _last if names not in COMPLETIONS else _end_with_space if names in WITH_SPACE else _end


def _end(text: str, region: str) -> list[Span]:
    region = region.strip()
    length = len(text.rstrip())
    return [(length - len(region), length)] if region and text.rstrip().endswith(region) else []


def _end_with_space(text: str, region: str) -> list[Span]:
    return [(len(text[:start].rstrip()), end) for start, end in _end(text, region)]


def _last(text: str, region: str) -> list[Span]:
    region = region.strip()
    places = [] if region in NOTHING else _places(text, region)
    return [(places[-1], places[-1] + len(region))] if places else []


def _places(text: str, region: str) -> list[int]:
    """Where a region begins in a sentence; written with spaces, only where no word goes on beside it, if there is one.

    >>> _places("he kept what she kept", "kept"), _places("all alone", "al"), _places("all al", "al")
    ([3, 17], [0, 4], [4])
    """
    places = [match.start() for match in re.finditer(re.escape(region), text)]
    words = [
        start
        for start in places
        if uses_spaces(text)
        and not (start > 0 and text[start - 1].isalnum() and region[0].isalnum())
        and not (text[start + len(region) : start + len(region) + 1].isalnum() and region[-1].isalnum())
    ]
    return words or places
