"""The choices of an alignment that never touch the model: weights, penalty, readings, matching."""

from __future__ import annotations

import math
from pathlib import Path

from engine.errors import InputError
from engine.evaluations.alignment.records import (
    CRITERIA,
    PAIRINGS,
    PENALTIES,
    READING_ENGINES,
    READING_SCOPES,
    THRESHOLD_KINDS,
    UNITS,
    Scoring,
)
from engine.evaluations.shared.dictionaries import SAVED, read_cached, saved_path


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
