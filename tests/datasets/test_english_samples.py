"""The English samples are of the same sizes as the Japanese ones and are what their docstrings say."""

from __future__ import annotations

import csv
import re
from collections import Counter

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from engine.datasets import sample_data
from engine.errors import InputError

ENGLISH = re.compile(r"[A-Za-z0-9 ,.;:?!'\"-]+")


def rows(kind: str) -> list[dict[str, str]]:
    """The file as the standard library reads it, so that a fault of our reader shows."""
    with sample_data.path(f"{kind}_en").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "kind", ["labelled_sentences", "sentence_pairs", "minimal_pairs", "masked_sentences", "scored_pairs"]
)
def test_an_english_sample_has_the_columns_and_sizes_of_the_japanese_one(kind: str) -> None:
    with sample_data.path(kind).open(encoding="utf-8", newline="") as file:
        japanese = list(csv.DictReader(file))
    english = rows(kind)
    assert len(english) == len(japanese) and english[0].keys() == japanese[0].keys()
    for column in ("label", "domain", "change", "phenomenon"):
        if column in english[0]:
            sizes = [sorted(Counter(row[column] for row in table).values()) for table in (english, japanese)]
            assert sizes[0] == sizes[1], column
    texts = [text for row in english for name, text in row.items() if name in ("text", "reference", "acceptable")]
    assert [text for text in texts if not ENGLISH.fullmatch(text)] == []
    dataset = getattr(sample_data, kind)("en")
    assert dataset.n == len(english) and dataset.name.endswith(", en")
    assert len(dataset.notices) == len(getattr(sample_data, kind)().notices)  # on the scale of the scores, and the gaps


def test_labelled_sentences_are_short_no_two_are_alike_and_no_word_gives_a_class_away() -> None:
    texts = [row["text"] for row in rows("labelled_sentences")]
    assert [text for text in texts if not 20 <= len(text) <= 70] == []
    assert [(a, b) for i, a in enumerate(texts) for b in texts[:i] if fuzz.ratio(a, b) >= 70] == []
    for label in {row["label"] for row in rows("labelled_sentences")}:
        of_class = [row["text"] for row in rows("labelled_sentences") if row["label"] == label]
        assert sum(label in text.lower() for text in of_class) <= 1
        spread = Counter(word for text in of_class for word in set(re.findall(r"[a-z]{5,}", text.lower())))
        assert spread.most_common(1)[0][1] <= 4, (label, spread.most_common(1))


def test_minimal_pairs_differ_in_little_and_are_balanced_in_length() -> None:
    pairs = [(row["acceptable"], row["unacceptable"]) for row in rows("minimal_pairs")]
    assert [sentence for sentence, n in Counter(sum(pairs, ())).items() if n > 1] == []
    # Widest: a phrase that moves to another place in its sentence.
    assert [pair for pair in pairs if not 1 <= Levenshtein.distance(*pair) <= 24] == []
    signs = Counter((len(b) > len(a)) - (len(b) < len(a)) for a, b in pairs)
    assert all(55 <= signs[sign] <= 80 for sign in (-1, 0, 1)), signs


def test_a_word_to_be_masked_stands_once_in_its_sentence() -> None:
    for row in rows("masked_sentences"):
        assert re.findall(r"[a-z]+", row["text"].lower()).count(row["label"]) == row["text"].count(row["label"]) == 1, (
            row
        )


def test_names_are_swapped_or_spelled_otherwise_and_no_more_than_that() -> None:
    for row in rows("sentence_pairs"):
        before, after = row["reference"].split(), row["candidate"].split()
        if row["change"] in ("swapped name", "spelling variant"):
            assert len(before) == len(after) and sum(map(str.__ne__, before, after)) == 1, row
        elif row["change"] == "paraphrase":
            assert Levenshtein.distance(row["reference"], row["candidate"]) > 12, row


def test_scored_pairs_have_two_candidates_for_each_reference_and_two_gaps() -> None:
    assert set(Counter(row["reference"] for row in rows("scored_pairs")).values()) == {2}
    scores = [row[f"annotator_{name}"] for row in rows("scored_pairs") for name in "abc"]
    assert scores.count("") == 2 and all(0 <= int(score) <= 100 for score in scores if score)


def test_a_language_without_samples_is_refused_with_those_that_have_some() -> None:
    with pytest.raises(InputError, match=r"'fr'.*ja, en"):
        sample_data.minimal_pairs("fr")
