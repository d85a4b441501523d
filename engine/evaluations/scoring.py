"""The choices of an alignment that never touch the model: weights, penalty, readings, matching."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError
from engine.evaluations.dictionaries import SAVED, read_cached, saved_path

PENALTIES = ("none", "reading")
THRESHOLD_KINDS = ("quantile", "value")
CRITERIA = ("idf", "proper-nouns", "either", "both")
PAIRINGS = ("token", "joined")
READING_ENGINES = ("pykakasi", "unidic")
READING_SCOPES = ("piece", "word")
UNITS = ("subword", "word")
WITHOUT_DICTIONARY = ("none", "references")


@dataclass(frozen=True)
class Scoring:
    """How similarities become P, R and F1; every field has the paper's or bert_score's choice as its default.

    idf: "none", "references" (bert_score's own), a dictionary by name ("novel", "wiki", one of the corpora page) or
    the path of one.
    threshold: idf above which a token is low-frequency: as the share of the dictionary's entries that is not
    (threshold_kind "quantile", the paper's 70 %), or as an idf in nats ("value").
    penalty: "reading" holds tokens that are read otherwise than their match against P and R.
    criterion: which tokens that concerns: the low-frequency ones ("idf", the paper's), proper nouns by MeCab's part
    of speech ("proper-nouns", what the paper suggests next), tokens that are "either" or "both".
    pairing: one M for each such token ("token"), or one for all of a sentence together ("joined").
    match_special: whether a token may take [CLS] or [SEP] of the other side as its match, as in bert_score.
    reading_engine, reading_scope: who reads, and what: the piece alone, or the whole word that it belongs to, which
    UniDic reads in its sentence.
    unit: what is matched and weighed: the tokenizer's pieces, or words (`engine.evaluations.word_units`).
    """

    idf: str = "none"
    threshold: float = 0.7
    threshold_kind: str = "quantile"
    penalty: str = "none"
    criterion: str = "idf"
    pairing: str = "token"
    match_special: bool = True
    reading_engine: str = "pykakasi"
    reading_scope: str = "piece"
    unit: str = "subword"

    @property
    def dictionary(self) -> str | None:
        """The name or path of the dictionary, None where `idf` needs none."""
        return None if self.idf in WITHOUT_DICTIONARY else self.idf


def check_scoring(scoring: Scoring) -> None:
    """Raise InputError when a choice is none of the possible, or two do not go together."""
    for name, given, allowed in (
        ("penalty", scoring.penalty, PENALTIES), ("threshold_kind", scoring.threshold_kind, THRESHOLD_KINDS),
        ("criterion", scoring.criterion, CRITERIA), ("pairing", scoring.pairing, PAIRINGS),
        ("reading_engine", scoring.reading_engine, READING_ENGINES),
        ("reading_scope", scoring.reading_scope, READING_SCOPES), ("unit", scoring.unit, UNITS),
    ):
        if given not in allowed:
            raise InputError(f"{name} is one of {', '.join(allowed)}; got {given!r}.")
    if scoring.threshold_kind == "quantile" and not 0 <= scoring.threshold <= 1:
        raise InputError(f"The threshold is a share between 0 and 1; got {scoring.threshold}. For an idf in nats set "
                         "threshold_kind to 'value'.")
    if scoring.threshold_kind == "value" and not (math.isfinite(scoring.threshold) and scoring.threshold >= 0):
        raise InputError(f"The threshold as a value is an idf in nats, 0 or more; got {scoring.threshold}.")
    if scoring.penalty == "reading" and scoring.idf == "none" and scoring.criterion != "proper-nouns":
        raise InputError("The penalty concerns low-frequency tokens, and which those are is told by an idf dictionary: "
                         "choose idf 'references', 'novel', 'wiki' or a dictionary of your own, or the criterion "
                         "'proper-nouns'.")


def dictionary_name(scoring: Scoring) -> str:
    """What the dictionary is called in a table: a saved one by its name, a file by its own, not by where it lies.

    >>> dictionary_name(Scoring("/data/mine.json.gz")), dictionary_name(Scoring("saved/gone"))
    ('mine.json.gz', 'a deleted dictionary')
    """
    if not scoring.idf.startswith(SAVED):
        return Path(scoring.idf).name
    path = saved_path(scoring.idf)
    return read_cached(path).name if path else "a deleted dictionary"
