"""How each setting and method ranks the systems whose translations a dataset holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from engine.datasets.sentence_pairs import SentencePairs
from engine.datasets.text_column import group_name
from engine.errors import InputError
from engine.evaluations.metric_study.grid import Cell
from engine.evaluations.metric_study.records import HUMAN, SYSTEM_AGREEMENT, SYSTEM_SCORES, SYSTEM_TESTS
from engine.evaluations.metric_study.scores import further_column
from engine.measures.statistics.monte_carlo import p_value_error
from engine.measures.statistics.paired_bootstrap import RESAMPLES as BOOTSTRAP
from engine.measures.statistics.paired_bootstrap import paired_bootstrap
from engine.measures.statistics.perm_both import RESAMPLES as PERM_BOTH
from engine.measures.statistics.perm_both import perm_both
from engine.measures.statistics.system_ranking import PERMUTATIONS, pairwise_p_values, system_agreement
from engine.measures.statistics.tie_calibration import tie_calibrated_accuracy
from engine.messages.message import Message

COLUMN = "system"


@dataclass(frozen=True)
class Systems:
    """The systems of a dataset, in the order in which the file names them, and the segments that they translated.

    system_codes, segment_codes: (n_pairs,) the system and the segment of each pair, -1 where no system is named. Pairs
    of one reference are one segment; where a system has a reference several times, the first of each system belong
    together, then the second.
    """

    names: tuple[str, ...]
    system_codes: np.ndarray
    segment_codes: np.ndarray

    def matrix(self, scores: np.ndarray) -> np.ndarray:
        """Scores (n_pairs,) as (n_systems, n_segments), nan where a system has no translation or no score."""
        named = self.system_codes >= 0
        table = np.full((len(self.names), int(self.segment_codes.max()) + 1), np.nan)
        table[self.system_codes[named], self.segment_codes[named]] = scores[named]
        return table

    def tables(
        self, cells: Sequence[Cell], scores: np.ndarray, gold: np.ndarray, best: int | None
    ) -> dict[str, pd.DataFrame]:
        """The tables of systems by name; `scores` (n_cells, n_pairs), `best` the best setting of BERTScore."""
        human = self.matrix(gold)
        columns = [
            (Cell(HUMAN, HUMAN), human),
            *((cell, self.matrix(values)) for cell, values in zip(cells, scores, strict=True)),
        ]
        tested = columns[:1] if best is None else [columns[0], columns[best + 1]]
        return {
            "system_agreement": SYSTEM_AGREEMENT.frame_of_records(
                [
                    asdict(cell)
                    | self._agreement(human, matrix, None if best is None else columns[best + 1][1], best == index)
                    for index, (cell, matrix) in enumerate(columns[1:])
                ]
            ),
            "system_scores": SYSTEM_SCORES.frame_of_records(
                [asdict(cell) | line for cell, matrix in columns for line in self._means(human, matrix)]
            ),
            "system_tests": SYSTEM_TESTS.frame_of_records(
                [asdict(cell) | line for cell, matrix in tested for line in self._tests(human, matrix)]
            ),
        }

    def _agreement(
        self, human: np.ndarray, matrix: np.ndarray, best: np.ndarray | None, is_best: bool
    ) -> dict[str, object]:
        ranking, ties = system_agreement(human, matrix), tie_calibrated_accuracy(human, matrix)
        compared: dict[str, object] = dict.fromkeys(
            (
                "perm_both_difference",
                "perm_both_p",
                "perm_both_systems_p",
                "perm_both_p_error",
                "perm_both_systems_p_error",
            ),
            np.nan,
        )
        reason = ranking.reason or ties.reason
        if best is not None and not is_best:
            system_of_cell = np.repeat(self.names, human.shape[1])
            of_pairs = perm_both(human.ravel(), best.ravel(), matrix.ravel())
            of_systems = perm_both(human.ravel(), best.ravel(), matrix.ravel(), system_of_cell.tolist())
            compared = {
                "perm_both_difference": of_pairs.difference,
                "perm_both_p": of_pairs.p_value,
                "perm_both_systems_p": of_systems.p_value,
                "perm_both_p_error": p_value_error(of_pairs.p_value, PERM_BOTH),
                "perm_both_systems_p_error": p_value_error(of_systems.p_value, PERM_BOTH),
            }
            reason = reason or of_pairs.reason or of_systems.reason
        return {
            "n_systems": ranking.n_systems,
            "n_system_pairs": ranking.n_pairs,
            "pairwise_accuracy": ranking.pairwise_accuracy,
            "soft_pairwise_accuracy": ranking.soft_pairwise_accuracy,
            "tie_calibrated_accuracy": ties.accuracy,
            "tie_threshold": ties.threshold,
            "n_segments": ties.n_segments,
            **compared,
            "reason": reason,
            "soft_pairwise_accuracy_error": ranking.soft_pairwise_error,
        }

    def _means(self, human: np.ndarray, matrix: np.ndarray) -> list[dict[str, object]]:
        known = ~(np.isnan(human) | np.isnan(matrix))
        return [
            {
                "system": name,
                "n": int(of_system.sum()),
                "score": float(values[of_system].mean()) if of_system.any() else np.nan,
            }
            for name, of_system, values in zip(self.names, known, matrix, strict=True)
        ]

    def _tests(self, human: np.ndarray, matrix: np.ndarray) -> list[dict[str, object]]:
        values = np.where(np.isnan(human), np.nan, matrix)
        lines: list[dict[str, object]] = []
        pairs = zip(*np.triu_indices(len(self.names), 1), pairwise_p_values(values), strict=True)
        for first, second, permutation_p in pairs:
            test = paired_bootstrap(values[first], values[second])
            lines.append(
                {
                    "system": self.names[first],
                    "other": self.names[second],
                    "n": test.n,
                    "difference": test.difference,
                    "ci_low": test.ci_low,
                    "ci_high": test.ci_high,
                    "p_value": test.p_value,
                    "permutation_p": permutation_p,
                    "reason": test.reason,
                    "p_value_error": p_value_error(test.p_value, BOOTSTRAP, sides=2),
                    "permutation_p_error": p_value_error(permutation_p, PERMUTATIONS),
                }
            )
        return lines


def systems_of(dataset: SentencePairs, column: str | None) -> Systems | None:
    """The systems that `column` names, None: the column "system"; None where there is no such column.

    Rows without a name count for no system. Raises InputError for a column that was named and is not there, and for one
    with fewer than two systems.
    """
    if column is None and COLUMN not in dataset.further:
        return None
    values = [group_name(value) for value in further_column(dataset, column or COLUMN, Message("the systems"))]
    names = tuple(dict.fromkeys(value for value in values if value))
    if len(names) < 2:
        if column is None:
            return None
        raise InputError(
            Message(
                "{name}: column {column!r} names fewer than 2 systems ({names}); ranking needs at least 2.",
                name=dataset.name,
                column=column,
                names=len(names),
            )
        )
    seen: Counter[tuple[str, str]] = Counter()
    numbers: dict[tuple[str, int], int] = {}
    segments = []
    for name, reference in zip(values, dataset.references, strict=True):
        occurrence = seen[name, reference]
        seen[name, reference] += 1
        segments.append(numbers.setdefault((reference, occurrence), len(numbers)) if name else -1)
    codes = {name: index for index, name in enumerate(names)} | {"": -1}
    return Systems(names, np.array([codes[value] for value in values]), np.array(segments))
