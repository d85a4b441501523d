"""The built-in samples: small Japanese datasets, written for this project, to try every page at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.datasets import labelled_sentences as labelled
from engine.datasets import minimal_pairs as minimal
from engine.datasets import sentence_pairs as pairs
from engine.datasets.files import Table, read_table
from engine.errors import InputError

KINDS = ("labelled_sentences", "sentence_pairs", "minimal_pairs")

_FOLDER = Path(__file__).parent / "samples"


def labelled_sentences() -> labelled.LabelledSentences:
    """180 titles and short sentences: 9 topics, 20 each.

    >>> labelled_sentences().n
    180
    """
    columns = {"text": "text", "label": "label"}
    return replace(labelled.from_table(_table("labelled_sentences"), columns), name="sample labelled sentences")


def sentence_pairs() -> pairs.SentencePairs:
    """60 pairs in the manner of novels, 15 for each of what was done to the second sentence.

    The category is one of "paraphrase", "swapped name" (a person or place of another reading),
    "spelling variant" (the same reading in other characters) and "changed meaning". No human scores.

    >>> sentence_pairs().categories[0]
    'paraphrase'
    """
    columns = {"reference": "reference", "candidate": "candidate", "category": "change"}
    return replace(pairs.from_table(_table("sentence_pairs"), columns), name="sample sentence pairs")


def minimal_pairs() -> minimal.MinimalPairs:
    """200 minimal pairs: 10 phenomena of Japanese syntax and morphology, 20 each.

    The unacceptable sentence has as many characters as the acceptable one in a third of the pairs,
    more in a third and fewer in a third, so that a preference for short sentences cannot hide.

    >>> len(set(minimal_pairs().categories))
    10
    """
    columns = {"acceptable": "acceptable", "unacceptable": "unacceptable", "category": "phenomenon"}
    return replace(minimal.from_table(_table("minimal_pairs"), columns), name="sample minimal pairs")


def path(kind: str) -> Path:
    """The CSV file (UTF-8) behind the sample of `kind`, one of KINDS; InputError for any other."""
    if kind not in KINDS:
        raise InputError(f"There is no sample of kind {kind!r}. Samples: {', '.join(KINDS)}.")
    return _FOLDER / f"{kind}.csv"


def _table(kind: str) -> Table:
    return read_table(path(kind))
