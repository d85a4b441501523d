"""The choices of an alignment that never touch the model: weights, penalty, readings, matching."""

from __future__ import annotations

from pathlib import Path

from engine.errors import InputError
from engine.evaluations.alignment.records import THRESHOLDS, UNNAMED_IDF, Scoring
from engine.evaluations.shared.dictionaries import SAVED, read_cached, saved_path
from engine.language.readings.own import own_readings
from engine.messages.message import Message
from engine.options import check, check_value

# Criteria of the penalty that need no idf dictionary.
WITHOUT_IDF = ("proper-nouns", "names")
_PENALTIES = {"none": Message("none"), "reading": Message("reading"), "names": Message("names")}


def check_scoring(scoring: Scoring) -> None:
    """Raise InputError when a choice is not valid, or two do not go together."""
    check(scoring)
    check_value(THRESHOLDS[scoring.threshold_kind], scoring.threshold)
    own_readings(scoring.readings)
    if scoring.penalty == "reading" and scoring.idf == "none" and scoring.criterion not in WITHOUT_IDF:
        raise InputError(
            Message(
                "The penalty concerns low-frequency tokens, and which those are is told by an idf "
                "dictionary: choose idf 'references', 'novel', 'wiki' or another dictionary, or the "
                "criterion 'proper-nouns' or 'names'."
            )
        )


def idf_words(idf: str) -> str:
    """What a choice of idf weights is called in a sentence."""
    return UNNAMED_IDF.get(idf) or dictionary_name(Scoring(idf))


def in_words(idf: str, penalty: str) -> dict[str, str]:
    """Both choices as values of a message that has places for `idf` and `penalty`."""
    return {"idf": idf_words(idf), "penalty": _PENALTIES.get(penalty, penalty)}


def dictionary_name(scoring: Scoring) -> str:
    """What the dictionary is called in a table: a saved one by its name, a file by its own, not by where it lies.

    >>> dictionary_name(Scoring("/data/mine.json.gz")), dictionary_name(Scoring("saved/gone"))
    ('mine.json.gz', 'a deleted dictionary')
    """
    if not scoring.idf.startswith(SAVED):
        return Path(scoring.idf).name
    path = saved_path(scoring.idf)
    return read_cached(path).name if path else Message("a deleted dictionary")
