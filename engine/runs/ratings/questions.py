"""What is asked of people about the pairs of a run: how similar two sentences are, or which one is more acceptable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.translation import mark

SIMILARITY, PREFERENCE = "similarity", "preference"
SIZES = (10, 20, 50, 100, 200, 500)  # of a set of pairs to rate


@dataclass(frozen=True)
class Question:
    """A question and its scale: the scores with what each says, the least first."""

    name: str
    text: str
    answers: Mapping[float, str]


QUESTIONS = {
    SIMILARITY: Question(SIMILARITY, mark("How similar is the meaning of the two sentences?"), {
        0: mark("Unrelated"), 1: mark("Same topic only"), 2: mark("Some details shared"),
        3: mark("Similar, with an important difference"), 4: mark("Nearly the same"), 5: mark("The same")}),
    PREFERENCE: Question(PREFERENCE, mark("Which sentence is more acceptable?"), {
        -2: mark("Clearly the first"), -1: mark("Rather the first"), 0: mark("No difference"),
        1: mark("Rather the second"), 2: mark("Clearly the second")}),
}
BY_KIND = {"alignment": SIMILARITY, "metric-study": SIMILARITY, "minimal-pairs": PREFERENCE}


def texts(dataset: SentencePairs | MinimalPairs, item: int) -> tuple[str, str]:
    """The two sentences of an item: reference and candidate, or the unacceptable and the acceptable one."""
    if isinstance(dataset, SentencePairs):
        return dataset.references[item], dataset.candidates[item]
    return dataset.unacceptable[item], dataset.acceptable[item]


def items_to_rate(dataset: SentencePairs | MinimalPairs, size: int) -> list[int]:
    """The positions of the pairs to rate, in the order of rating: the same for everybody, drawn by the content.

    A smaller set is the beginning of a larger one. Pairs with the same two sentences as one before are not drawn.
    Raises InputError for single judged sentences.
    """
    if isinstance(dataset, MinimalPairs) and dataset.is_single:
        raise InputError(f"{dataset.name} holds single sentences, which are no pairs to rate.")
    order = list(range(dataset.n))
    Random(dataset.content_hash).shuffle(order)
    first_of = {texts(dataset, item): item for item in reversed(order)}
    return [item for item in order if first_of[texts(dataset, item)] == item][:size]


def is_turned(rater: str, dataset_hash: str, item: int) -> bool:
    """Whether a rater sees the second sentence of an item first; drawn for each rater and item, so that the side
    tells nothing and no sentence profits from its place.
    """
    return Random(f"{rater} {dataset_hash} {item}").random() < 0.5


def is_score(question: Question, score: Any) -> bool:
    """Whether a number is on the scale of a question."""
    return score in question.answers
