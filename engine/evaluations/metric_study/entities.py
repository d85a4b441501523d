"""Entities right or wrong: a method of a metric study whose score is 1 or 0, and its accuracy for each system."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from engine.datasets.human_scores import SHOWN_CHARACTERS
from engine.datasets.sentence_pairs import SentencePairs
from engine.datasets.xc_translate import ACCEPTED
from engine.errors import BadRow, InputError
from engine.evaluations.metric_study.grid import Cell
from engine.evaluations.metric_study.records import ENTITY, ENTITY_ACCURACY
from engine.evaluations.metric_study.scores import further_column, refuse_cells
from engine.evaluations.metric_study.systems import Systems
from engine.evaluations.shared.declared_tables import returns
from engine.measures.entity_accuracy import entity_hits
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message

CELL = Cell(ENTITY, "entity_accuracy")
NO_LIST = Message("'{column}' holds '{shown}', no list of accepted forms")
NO_LISTS = Message(
    "{name}: {bad} of {rows} have no list of accepted forms in '{column}'. Write them as 東京|東京都 or as "
    '["東京", "東京都"], or leave the cell empty.'
)


def column_of(dataset: SentencePairs, column: str | None) -> str | None:
    """The column of accepted forms: the one that is named, or that of XC-Translate where the data are from there."""
    return column if column is not None or ACCEPTED not in dataset.further else ACCEPTED


def entity_scores(dataset: SentencePairs, column: str | None, *, case_alone: bool = False) -> dict[Cell, np.ndarray]:
    """The score (n_pairs,) of each pair: 1 or 0, nan where the cell names no entity; nothing without a `column`.

    case_alone: as in `entity_hits`. Raises InputError for a column that is not one of the columns without a role, one
    without an entity, and for cells that are no list of forms, all of their rows listed.
    """
    if column is None:
        return {}
    cells = further_column(dataset, column, Message("the accepted forms of entities"))
    forms = [accepted_forms(cell) for cell in cells]
    faults = [
        BadRow(
            row,
            NO_LIST.format(
                column=column, shown=cell if len(cell) <= SHOWN_CHARACTERS else f"{cell[:SHOWN_CHARACTERS]}…"
            ),
        )
        for row, cell, listed in zip(dataset.rows, cells, forms, strict=True)
        if listed is None
    ]
    refuse_cells(dataset, column, NO_LISTS, faults)
    known = [listed or () for listed in forms]
    if not any(known):
        raise InputError(
            Message(
                "{name}: column {column!r} names no entity. Name a column of accepted forms.",
                name=dataset.name,
                column=column,
            )
        )
    return {CELL: entity_hits(dataset.candidates, known, case_alone=case_alone)}


def accepted_forms(cell: str) -> tuple[str, ...] | None:
    """The accepted forms that a cell lists; none for an empty cell, None where it is no list of forms.

    Spaces around a bar do not count; those of a list in JSON are the author's.

    >>> accepted_forms("東京 | 東京都"), accepted_forms('["東京", "a|b"]'), accepted_forms(" "), accepted_forms("[1]")
    (('東京', '東京都'), ('東京', 'a|b'), (), None)
    """
    if not cell.strip():
        return ()
    forms: object = [form.strip() for form in cell.split("|")]
    if cell.lstrip().startswith("["):
        try:
            forms = json.loads(cell)
        except (ValueError, RecursionError):
            return None
    if not isinstance(forms, list) or not all(isinstance(form, str) and form.strip() for form in forms):
        return None
    return tuple(forms)


@returns(ENTITY_ACCURACY)
def accuracy_table(
    scores: dict[Cell, np.ndarray], by_case: dict[Cell, np.ndarray], systems: Systems | None
) -> pd.DataFrame:
    """The accuracy of each system and, last, of all pairs; empty without scores.

    scores, by_case: of `entity_scores`, the second with `case_alone`.
    """
    if not scores:
        return ENTITY_ACCURACY.frame()
    hits, published = scores[CELL], by_case[CELL]
    of_systems = [(name, systems.system_codes == code) for code, name in enumerate(systems.names)] if systems else []
    return ENTITY_ACCURACY.frame(
        [_line(name, hits[rows], published[rows]) for name, rows in (*of_systems, ("", slice(None)))]
    )


def _line(name: str, hits: np.ndarray, published: np.ndarray) -> tuple[str, int, int, float, float, float, int, float]:
    n, right, right_by_case = int((~np.isnan(hits)).sum()), int(np.nansum(hits)), int(np.nansum(published))
    low, high = wilson_interval(right, n)
    return name, n, right, right / n if n else np.nan, low, high, right_by_case, right_by_case / n if n else np.nan
