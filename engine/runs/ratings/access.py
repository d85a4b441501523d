"""Who may rate the pairs of a run, and see what others gave: whoever may read the run, others' scores only when one's
own are complete, so that nobody rates after another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.errors import AccessError, InputError
from engine.measures.statistics.inter_rater import Alpha, krippendorff_alpha
from engine.runs.access.access import RunAccess
from engine.runs.naming import unknown_run
from engine.runs.ratings import rows
from engine.runs.ratings.questions import BY_KIND, QUESTIONS, Question, is_score


@dataclass(frozen=True)
class Rated:
    """What everybody gave to a set of items.

    scores: (n_items, n_raters) with the names of the raters as columns, the viewer's first, nan = not rated; its index
    is the items. alpha: Krippendorff's, ordinal.
    """

    scores: pd.DataFrame
    alpha: Alpha


@dataclass(frozen=True)
class RatingAccess:
    """The ratings of the runs that the viewer of `runs` may read."""

    runs: RunAccess

    def question(self, run_id: str) -> Question:
        """What is asked about the pairs of a run. Raises InputError for a kind without pairs, RunError as `get`."""
        run = self.runs.get(run_id)
        if run is None:
            raise unknown_run(run_id)
        if run.kind not in BY_KIND:
            raise InputError("Only the pairs of alignments, metric studies and minimal pairs can be rated.")
        return QUESTIONS[BY_KIND[run.kind]]

    def rate(self, run_id: str, item: int, score: float) -> None:
        """Keep the viewer's score of an item, in place of an earlier one.

        Raises InputError for a score that is not on the scale or an item that the dataset does not have.
        """
        question = self.question(run_id)
        if not is_score(question, score):
            raise InputError(f"{score!r} is not on the scale; it has {', '.join(map(str, question.answers))}.")
        if not 0 <= item < self.runs.dataset(run_id).n:
            raise InputError(f"The dataset has no pair {item + 1}.")
        rows.write(self.runs.store, run_id, self.runs.viewer.id, item, float(score))

    def mine(self, run_id: str) -> dict[int, float]:
        """The viewer's scores, by item."""
        self.question(run_id)
        return rows.of_rater(self.runs.store, run_id, self.runs.viewer.id)

    def withdraw(self, run_id: str) -> None:
        """Remove all of the viewer's scores of a run."""
        self.question(run_id)
        rows.remove(self.runs.store, run_id, self.runs.viewer.id)

    def n_raters(self, run_id: str) -> int:
        """How many people have begun to rate the pairs of a run."""
        self.question(run_id)
        return rows.n_raters(self.runs.store, run_id)

    def rated(self, run_id: str, items: Sequence[int]) -> Rated:
        """What everybody gave to these items. Raises AccessError before the viewer has rated them all."""
        mine = self.mine(run_id)
        if missing := sum(item not in mine for item in items):
            raise AccessError(f"Rate the {missing:,} pairs that are left first: others' scores are shown afterwards.")
        by_rater = rows.of_all(self.runs.store, run_id)
        viewer = self.runs.viewer.id
        wanted = set(items)
        raters = [viewer, *(rater for rater, scores in by_rater.items() if rater != viewer and wanted & set(scores))]
        names = _different(self.runs.owner_names(raters), raters)
        table = np.array([[by_rater[rater].get(item, np.nan) for rater in raters] for item in items], dtype=np.float64)
        scores = pd.DataFrame(table.reshape(len(items), len(raters)), index=list(items), columns=names)
        return Rated(scores, krippendorff_alpha(scores.to_numpy().T))


def _different(names: dict[str, str], raters: Sequence[str]) -> list[str]:
    """The raters' names; with a number where two have the same."""
    chosen: list[str] = []
    for rater in raters:
        name, number = names[rater], 1
        while (candidate := name if number == 1 else f"{name} ({number})") in chosen:
            number += 1
        chosen.append(candidate)
    return chosen
