"""Pairs of sentences that differ in one name, with the answer whether it is the same name: 600, written for Hakari."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from engine.datasets.sentence_pairs import SentencePairs

FOLDER = Path(__file__).parent
LENGTHS = ("short", "medium", "long")


@dataclass(frozen=True)
class NamePair:
    """A name in the reference's sentence and one in the candidate's, which is the same sentence otherwise.

    kind: person, place, organisation or number. category: "written otherwise" where it is the same name, else "like
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


def name_pairs() -> tuple[NamePair, ...]:
    """Each of the 200 pairs of names in three sentences, a short, a medium and a long one.

    The sentences of a kind and length take turns, by the number of the pair.
    """
    frames: dict[tuple[str, str], list[str]] = {}
    for row in _rows("frames.tsv"):
        frames.setdefault((row["kind"], row["length"]), []).append(row["frame"])
    pairs = []
    for number, row in enumerate(_rows("pairs.tsv")):
        for length in LENGTHS:
            of_kind = frames[row["kind"], length]
            frame = of_kind[number % len(of_kind)]
            pairs.append(NamePair(row["kind"], row["category"], length, row["same"] == "1", row["one"], row["other"],
                                  frame.format(row["one"]), frame.format(row["other"])))
    return tuple(pairs)


def as_sentence_pairs() -> SentencePairs:
    """`name_pairs` as a dataset of alignment; its category is that of the names."""
    pairs = name_pairs()
    return SentencePairs("names", tuple(pair.reference for pair in pairs), tuple(pair.candidate for pair in pairs),
                         tuple(pair.category for pair in pairs), {}, tuple(range(1, len(pairs) + 1)))


def _rows(file: str) -> list[dict[str, str]]:
    with (FOLDER / file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
