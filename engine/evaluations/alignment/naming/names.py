"""The names of all sentences of a run, and which name of the other sentence each is most alike by reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.alignment.naming.compared_names import NameAsWritten, alike
from engine.language.counterparts import with_counterparts
from engine.language.readings.words import Reading

NO_NAME = -1
SEPARATOR = "|"
# Of each token: the number of its name in the sentence, the name as it is written, its kind, readings and their source.
NAME_TEXTS = ("name_text", "name_kind", "name_readings", "name_source")


@dataclass(frozen=True, eq=False)
class Names:
    """The names of one model's sentences, in order.

    of_token: int (n_tokens,), the name of each token, -1 for none. sentence: int (n_names,). name: int (n_names,), the
    number of each among `different`, the different names.
    """

    of_token: np.ndarray
    sentence: np.ndarray
    name: np.ndarray
    different: list[NameAsWritten]


@dataclass(frozen=True, eq=False)
class NameMatches:
    """Of each name the counterpart that it is most alike; (n_names,) each.

    counterpart: its number, -1 where the other sentence has none. agreement, distance: nan there. reading: how the name
    is read in the comparison; "" where it is compared as it is written.
    """

    counterpart: np.ndarray
    agreement: np.ndarray
    distance: np.ndarray
    reading: np.ndarray


def name_columns(text: str, other: str, spans: np.ndarray, special: np.ndarray) -> dict[str, Any]:
    """The name columns of the tokens of one sentence; `other` is the other sentence of the pair."""
    names = with_counterparts(text, other)
    of_token = np.full(len(spans), NO_NAME)
    for index, name in enumerate(names):
        of_token[(spans[:, 0] < name.end) & (spans[:, 1] > name.start) & ~special] = index
    texts = [
        (text[name.start : name.end], name.kind, SEPARATOR.join(name.reading.texts), name.reading.source)
        for name in names
    ]
    by_token = [texts[index] if index >= 0 else ("",) * len(NAME_TEXTS) for index in of_token.tolist()]
    return (
        {"name": of_token, **dict(zip(NAME_TEXTS, zip(*by_token, strict=True), strict=True))}
        if by_token
        else {"name": of_token, **{column: () for column in NAME_TEXTS}}
    )


def names_of_tokens(table: pd.DataFrame, sentence: np.ndarray, sentences: Sequence[str]) -> Names:
    """The names that the tokens of a table belong to.

    A table of an earlier version has no names: they are looked up in `sentences`, which takes MeCab's time.
    """
    if "name" not in table or table["name"].isna().any():
        table = pd.DataFrame(_looked_up(table, sentence, sentences))
    local = table["name"].to_numpy(dtype=np.int64)
    begins = (
        np.flatnonzero((local >= 0) & np.r_[True, (local[1:] != local[:-1]) | (sentence[1:] != sentence[:-1])])
        if len(local)
        else np.zeros(0, dtype=np.int64)
    )
    of_token = np.full(len(local), NO_NAME)
    ends = np.append(begins[1:], len(local))
    if len(begins):
        after = np.arange(begins[0], len(local))
        in_name = np.repeat(np.arange(len(begins)), ends - begins)  # of the tokens from the first name on
        of_token[after] = np.where(local[after] >= 0, in_name, NO_NAME)
    keys = pd.MultiIndex.from_arrays([table[column].to_numpy()[begins] for column in NAME_TEXTS])
    codes, different = keys.factorize()
    names = [
        NameAsWritten(text, kind, Reading(tuple(readings.split(SEPARATOR)) if readings else (), source))
        for text, kind, readings, source in different
    ]
    return Names(of_token, sentence[begins], np.asarray(codes, dtype=np.int64), names)


def name_matches(names: Names, n_sentences: int, *, by_sound: bool) -> NameMatches:
    """The counterpart of each name: of the names of the other sentence that it could be, the one most alike."""
    counts = np.bincount(names.sentence, minlength=n_sentences)
    starts = np.cumsum(counts) - counts
    n_others = counts[names.sentence ^ 1]  # (n_names,) names of the other sentence
    own = np.repeat(np.arange(len(names.name)), n_others)  # (n_pairs of names,)
    within = np.arange(len(own)) - np.repeat(np.cumsum(n_others) - n_others, n_others)
    other = starts[names.sentence ^ 1][own] + within
    n_different = len(names.different)
    codes, of_pair = np.unique(names.name[own] * n_different + names.name[other], return_inverse=True)
    compared = [
        alike(names.different[code // n_different], names.different[code % n_different], by_sound=by_sound)
        for code in codes.tolist()
    ]
    value = (
        np.array([pair.agreement.value if pair else -1.0 for pair in compared])[of_pair] if compared else (np.zeros(0))
    )
    best = np.full(len(names.name), -1.0)
    np.maximum.at(best, own, value)
    is_best = np.flatnonzero((value == best[own]) & (value >= 0))
    first = is_best[np.r_[True, own[is_best][1:] != own[is_best][:-1]]] if len(is_best) else is_best
    counterpart = np.full(len(names.name), NO_NAME)
    counterpart[own[first]] = other[first]
    distance, agreement = (np.full(len(names.name), np.nan) for _ in range(2))
    reading = np.full(len(names.name), "", dtype=object)
    for line in first.tolist():
        if (found := compared[of_pair[line]]) is not None:
            distance[own[line]], agreement[own[line]] = found.agreement.distance, found.agreement.value
            reading[own[line]] = found.reading
    return NameMatches(counterpart, agreement, distance, reading)


def _looked_up(table: pd.DataFrame, sentence: np.ndarray, sentences: Sequence[str]) -> dict[str, Any]:
    """The name columns of a table that has none."""
    spans = table[["start", "end"]].to_numpy()
    special = table["special"].to_numpy(dtype=bool)
    first = np.searchsorted(sentence, np.arange(len(sentences) + 1))
    columns: dict[str, list[Any]] = {name: [] for name in ("name", *NAME_TEXTS)}
    for index, text in enumerate(sentences):
        tokens = slice(first[index], first[index + 1])
        for name, values in name_columns(text, sentences[index ^ 1], spans[tokens], special[tokens]).items():
            columns[name] += list(values)
    return columns
