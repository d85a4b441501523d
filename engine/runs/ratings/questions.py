"""What is asked of people about the data of a run: how similar two sentences are, which of two is more acceptable, or
how acceptable each sentence is by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from random import Random
from typing import Any

from engine.datasets.minimal_pairs.kinds import PAIRS, DataKind
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.evaluation import ACCEPTABILITY, PREFERENCE, SIMILARITY
from engine.messages.message import Message

SIZES = (10, 20, 50, 100, 200, 500)  # of a set of pairs to rate


@dataclass(frozen=True)
class Question:
    """A question and its scale: the scores with what each says, the least first; title: for choosing the question.

    n_sentences: how many sentences it is about.
    """

    name: str
    title: str
    text: str
    answers: Mapping[float, str]
    n_sentences: int = 2


QUESTIONS = {
    SIMILARITY: Question(
        SIMILARITY,
        Message("Similarity"),
        Message("How similar is the meaning of the two sentences?"),
        {
            0: Message("Unrelated"),
            1: Message("Same topic only"),
            2: Message("Some details shared"),
            3: Message("Similar, with an important difference"),
            4: Message("Nearly the same"),
            5: Message("The same"),
        },
    ),
    PREFERENCE: Question(
        PREFERENCE,
        Message("Preference"),
        Message("Which sentence is more acceptable?"),
        {
            -2: Message("Clearly the first"),
            -1: Message("Rather the first"),
            0: Message("No difference"),
            1: Message("Rather the second"),
            2: Message("Clearly the second"),
        },
    ),
    ACCEPTABILITY: Question(
        ACCEPTABILITY,
        Message("Acceptability"),
        Message("How acceptable is this sentence?"),
        {
            1: Message("Not acceptable at all"),
            **{score: str(score) for score in range(2, 7)},
            7: Message("Fully acceptable"),
        },
        n_sentences=1,
    ),
}
# The questions about the runs of a kind, the one that is asked by default first.
BY_KIND = {kind: evaluation.questions for kind, evaluation in EVALUATIONS.items() if evaluation.questions}


def questions_about(kind: str, dataset: SentencePairs | MinimalPairs) -> tuple[str, ...]:
    """The questions that can be asked about a run of a kind in BY_KIND, the default first: none about more sentences
    than a row has.
    """
    most = kind_of_rows(dataset).n_sentences
    return tuple(name for name in BY_KIND[kind] if QUESTIONS[name].n_sentences <= most)


def kind_of_rows(dataset: SentencePairs | MinimalPairs) -> DataKind:
    """What a row is to a rater."""
    return dataset.data_kind if isinstance(dataset, MinimalPairs) else PAIRS


def texts(dataset: SentencePairs | MinimalPairs, item: int) -> tuple[str, str]:
    """The two sentences of an item: reference and candidate, or the unacceptable and the acceptable one."""
    if isinstance(dataset, SentencePairs):
        return dataset.references[item], dataset.candidates[item]
    return dataset.unacceptable[item], dataset.acceptable[item]


def items_to_rate(dataset: SentencePairs | MinimalPairs, size: int) -> list[int]:
    """The positions of the pairs to rate, in the order of rating: the same for everybody, drawn by the content.

    A smaller set is the beginning of a larger one. Pairs with the same two sentences as one before are not drawn.
    Of single sentences these are the positions of the sentences; of those in conditions, of whole items: as many as the
    size holds, and at least one, since no prediction could be tested on a part of an item.
    """
    if isinstance(dataset, MinimalPairs) and (units := dataset.data_kind.units) is not None:
        return _whole_items(dataset.content_hash, units(dataset.sources, dataset.fields), size)
    order = list(range(dataset.n))
    Random(dataset.content_hash).shuffle(order)
    chosen: dict[tuple[str, str], int] = {}
    for item in order:
        if len(chosen) == size:
            break
        chosen.setdefault(texts(dataset, item), item)
    return list(chosen.values())


def _whole_items(seed: str, items: list[list[int]], size: int) -> list[int]:
    """The positions of all sentences of as many items as `size` holds, at least of one, item by item.

    A sentence that items share is drawn with each of them: it is asked once, and every item is complete.
    """
    Random(seed).shuffle(items)
    chosen: list[int] = []
    for of_item in items:
        if chosen and len(chosen) + len(of_item) > size:
            break
        chosen += of_item
    return chosen


def sentences_of_pairs(dataset: MinimalPairs, items: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """The sentences of each of the pairs, the acceptable one first, as their positions in `MinimalPairs.sentences`.

    A sentence that occurs several times has the position of the first, so that it is rated once.
    """
    every = dataset.sentences
    positions = {item: range(item, len(every), dataset.n) for item in items}
    wanted = {every[position] for of_pair in positions.values() for position in of_pair}
    first_of: dict[str, int] = {}
    for position, text in enumerate(every):
        if text in wanted:
            first_of.setdefault(text, position)
    return {item: tuple(first_of[every[position]] for position in of_pair) for item, of_pair in positions.items()}


def sentences_to_rate(dataset: MinimalPairs, items: Sequence[int], rater: str) -> list[int]:
    """The sentences of these pairs as positions in `MinimalPairs.sentences`, each once, in the order in which a rater sees them.

    The order is drawn for each rater. The two sentences of a pair are not next to each other, unless there is no other
    pair: which of them comes in the first half is drawn, and the second half has the others, in such an order that half
    of the pairs or more lie between. Sentences that several pairs share are moved where they would meet one of theirs.
    """
    pairs = [of_pair for of_pair in sentences_of_pairs(dataset, items).values()]
    draw = Random(f"{rater} {dataset.content_hash} {ACCEPTABILITY}")
    draw.shuffle(pairs)
    sides = [draw.sample(of_pair, len(of_pair)) for of_pair in pairs]
    halves = sides[: len(sides) // 2], sides[len(sides) // 2 :]
    second = [position for half in halves for position in draw.sample([of_pair[-1] for of_pair in half], len(half))]
    return _apart(list(dict.fromkeys((*(of_pair[0] for of_pair in sides), *second))), _partners(pairs))


def next_sentence(
    dataset: MinimalPairs, items: Sequence[int], order: Sequence[int], rated: Sequence[int]
) -> int | None:
    """The first sentence of the order that is not rated, but none of a pair with the last that was, if there is
    another; None when all are rated.

    items: the pairs. order: as `sentences_to_rate`. rated: the last one last; what was rated in a smaller set leaves
    gaps in the order of a larger one.
    """
    done = set(rated)
    waiting = [position for position in order if position not in done]
    partners = _partners(sentences_of_pairs(dataset, items).values()).get(rated[-1], ()) if rated else ()
    return next((position for position in waiting if position not in partners), next(iter(waiting), None))


def _partners(pairs: Iterable[Sequence[int]]) -> dict[int, set[int]]:
    """The other sentences of the pairs of each sentence."""
    partners: dict[int, set[int]] = {}
    for of_pair in pairs:
        for position in of_pair:
            partners.setdefault(position, set()).update(other for other in of_pair if other != position)
    return partners


def _apart(order: Sequence[int], partners: Mapping[int, Set[int]]) -> list[int]:
    """The order, in which what stands next to a partner is moved to the nearest earlier place without one."""
    placed: list[int] = []

    def place(position: int) -> bool:
        for index in range(len(placed), -1, -1):
            if partners[position].isdisjoint(placed[max(index - 1, 0) : index + 1]):
                placed.insert(index, position)
                return True
        return False

    waiting = [position for position in order if not place(position)]
    next_to_partners = [position for position in waiting if not place(position)]
    return placed + next_to_partners


def is_turned(rater: str, dataset_hash: str, item: int) -> bool:
    """Whether a rater sees the second sentence of an item first; drawn for each rater and item, so that the side
    tells nothing and no sentence profits from its place.
    """
    return Random(f"{rater} {dataset_hash} {item}").random() < 0.5


def is_score(question: Question, score: Any) -> bool:
    """Whether a number is on the scale of a question."""
    return score in question.answers
