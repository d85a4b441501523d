"""Who may rate the data of a run, and see what others gave: whoever may read the run, others' scores only when one's
own are complete, so that nobody rates after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.errors import AccessError, InputError
from engine.evaluations.shared.evaluation import ACCEPTABILITY
from engine.measures.statistics.inter_rater import Alpha, krippendorff_alpha
from engine.messages.message import Message, list_of, together
from engine.runs.access.access import RunAccess
from engine.runs.naming import unknown_run
from engine.runs.ratings import rows
from engine.runs.ratings.questions import (
    BY_KIND,
    QUESTIONS,
    Question,
    is_score,
    questions_about,
)


@dataclass(frozen=True)
class Rated:
    """What everybody gave to a set of items.

    scores: (n_items, n_raters) with the names of the raters as columns, the viewer's first, nan = not rated; its index
    is the items. alpha: Krippendorff's, ordinal. raters: the ids of the raters, in the order of the columns.
    """

    scores: pd.DataFrame
    alpha: Alpha
    raters: tuple[str, ...]


@dataclass(frozen=True)
class RatingAccess:
    """The ratings of the runs that the viewer of `runs` may read."""

    runs: RunAccess

    def question(self, run_id: str, name: str = "") -> Question:
        """What is asked about a run: the question of this name, "" for the default one of its kind.

        Raises InputError for a kind that cannot be rated and a question that is not asked about it, RunError as `get`.
        """
        names = BY_KIND[self._kind(run_id)]
        if name and name not in names:
            raise InputError(
                Message(
                    "The question {name!r} is not asked about this run; ask {names}.",
                    name=name,
                    names=together(" or ", names),
                )
            )
        return QUESTIONS[name or names[0]]

    def rate(self, run_id: str, item: int, score: float, name: str = "") -> None:
        """Keep the viewer's score of an item, in place of an earlier one.

        item: a pair, or of single sentences the position in `MinimalPairs.sentences`. Raises InputError for a score that
        is not on the scale, an item that the dataset does not have, and the preference of single sentences.
        """
        question = self.question(run_id, name)
        if not is_score(question, score):
            raise InputError(
                Message(
                    "{score!r} is not on the scale; it has {answers}.",
                    score=score,
                    answers=list_of(map(str, question.answers)),
                )
            )
        dataset = self.runs.dataset(run_id)
        if question.name not in questions_about(self._kind(run_id), dataset):
            raise InputError(Message("{name} holds single sentences, which are no pairs to rate.", name=dataset.name))
        if question.name == ACCEPTABILITY and not 0 <= item < len(dataset.sentences):
            raise InputError(Message("The dataset has no sentence {item}.", item=item + 1))
        if question.name != ACCEPTABILITY and not 0 <= item < dataset.n:
            raise InputError(Message("The dataset has no pair {item}.", item=item + 1))
        rows.write(self.runs.store, run_id, question.name, self.runs.viewer.id, item, float(score))

    def mine(self, run_id: str, name: str = "") -> dict[int, float]:
        """The viewer's scores, by item, the last one last."""
        return rows.of_rater(self.runs.store, run_id, self.question(run_id, name).name, self.runs.viewer.id)

    def withdraw(self, run_id: str, name: str = "") -> None:
        """Remove all of the viewer's answers to a question about a run."""
        rows.remove(self.runs.store, run_id, self.question(run_id, name).name, self.runs.viewer.id)

    def n_raters(self, run_id: str, name: str = "") -> int:
        """How many people have begun to answer a question about a run."""
        return rows.n_raters(self.runs.store, run_id, self.question(run_id, name).name)

    def rated(self, run_id: str, items: Sequence[int], name: str = "") -> Rated:
        """What everybody gave to these items. Raises AccessError before the viewer has rated them all."""
        question = self.question(run_id, name)
        # One reading of all: a withdrawal elsewhere lies before it or after it, and never between two readings.
        by_rater = rows.of_all(self.runs.store, run_id, question.name)
        viewer = self.runs.viewer.id
        mine = by_rater.get(viewer, {})
        if missing := sum(item not in mine for item in items):
            if question.name == ACCEPTABILITY:
                raise AccessError(
                    Message(
                        "Rate the sentences that are left first ({missing:,}): others' scores are shown afterwards.",
                        missing=missing,
                    )
                )
            raise AccessError(
                Message(
                    "Rate the pairs that are left first ({missing:,}): others' scores are shown afterwards.",
                    missing=missing,
                )
            )
        wanted = set(items)
        raters = [viewer, *(rater for rater, scores in by_rater.items() if rater != viewer and wanted & set(scores))]
        names = _different(self.runs.owner_names(raters), raters)
        table = np.array([[by_rater[rater].get(item, np.nan) for rater in raters] for item in items], dtype=np.float64)
        scores = pd.DataFrame(table.reshape(len(items), len(raters)), index=list(items), columns=names)
        return Rated(scores, krippendorff_alpha(scores.to_numpy().T), tuple(raters))

    def _kind(self, run_id: str) -> str:
        run = self.runs.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        if run.kind not in BY_KIND:
            raise InputError(Message("Only the pairs of alignments, metric studies and minimal pairs can be rated."))
        return run.kind


def _different(names: dict[str, str], raters: Sequence[str]) -> list[str]:
    """The raters' names; with a number where two have the same."""
    chosen: list[str] = []
    for rater in raters:
        name, number = names[rater], 1
        while (candidate := name if number == 1 else f"{name} ({number})") in chosen:
            number += 1
        chosen.append(candidate)
    return chosen
