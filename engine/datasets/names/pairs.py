"""Pairs of sentences that differ in one name, with the answer whether it is the same name, written for Hakari.

600 of them chose the formula of "Names by reading"; 471 others, of other names and sentences, were held out of that,
400 were written before any score on them was seen, and 276 after their errors were mended, before any score on these.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from engine.datasets.sentence_pairs import SentencePairs

FOLDER = Path(__file__).parent
# The beginnings of the files' names; those of the first part have none.
PARTS = ("chosen_on", "held_out", "written_last", "written_afterwards")
IN_ONE_SENTENCE = "written_last"  # the part whose pairs of names are in one of its sentences each
IN_OWN_SENTENCE = "written_afterwards"  # the part whose pairs of names have a sentence of their own each
LONG, MEDIUM = 24, 15  # characters from which such a sentence is long, and medium
LENGTHS = ("short", "medium", "long")


@dataclass(frozen=True)
class NamePair:
    """A name in the reference's sentence and one in the candidate's, which is the same sentence otherwise.

    kind: person, place, organisation or number; of the pairs that were written afterwards also abbreviation, katakana
    (foreign names in two spellings), kanji (variants), given name (that are words as well) and one side (of which
    dictionaries know one). category: "written otherwise" where it is the same name, else "like
    sound", "like characters" or "another". length: of the sentence.
    """

    kind: str
    category: str
    length: str
    same: bool
    name: str
    other_name: str
    reference: str
    candidate: str


def name_pairs(part: str = PARTS[0]) -> tuple[NamePair, ...]:
    """Each of the pairs of names of a part (200, 157 held out) in three sentences, a short, a medium and a long one.

    The sentences of a kind and length take turns, by the number of the pair. The 400 pairs of names that were written
    last are in one sentence each, of any length, those that were written afterwards in one of their own.
    """
    if part == IN_OWN_SENTENCE:
        return tuple(_in_frame(row, _length(row["frame"]), row["frame"]) for row in _rows(f"{part}_pairs.tsv"))
    frames: dict[tuple[str, str], list[str]] = {}
    begin = "" if part == PARTS[0] else f"{part}_"
    for row in _rows(f"{begin}frames.tsv"):
        frames.setdefault((row["kind"], row["length"]), []).append(row["frame"])
    pairs = []
    for number, row in enumerate(_rows(f"{begin}pairs.tsv")):
        of_lengths = {length: frames[row["kind"], length] for length in LENGTHS}
        if part == IN_ONE_SENTENCE:
            of_kind = [(length, frame) for length, frames_of in of_lengths.items() for frame in frames_of]
            chosen = [of_kind[number % len(of_kind)]]
        else:
            chosen = [(length, frames_of[number % len(frames_of)]) for length, frames_of in of_lengths.items()]
        pairs += [_in_frame(row, length, frame) for length, frame in chosen]
    return tuple(pairs)


def _in_frame(row: dict[str, str], length: str, frame: str) -> NamePair:
    one, other = row["one"], row["other"]
    return NamePair(
        row["kind"], row["category"], length, row["same"] == "1", one, other, frame.format(one), frame.format(other)
    )


def _length(frame: str) -> str:
    return "long" if len(frame) >= LONG else "medium" if len(frame) >= MEDIUM else "short"


def as_sentence_pairs() -> SentencePairs:
    """The `name_pairs` of all parts as a dataset of alignment; its category is that of the names."""
    pairs = [pair for part in PARTS for pair in name_pairs(part)]
    return SentencePairs(
        "names",
        tuple(pair.reference for pair in pairs),
        tuple(pair.candidate for pair in pairs),
        tuple(pair.category for pair in pairs),
        {},
        tuple(range(1, len(pairs) + 1)),
    )


def _rows(file: str) -> list[dict[str, str]]:
    with (FOLDER / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
