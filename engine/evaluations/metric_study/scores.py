"""The scores that a metric study holds against the humans: BERTScore under each setting, and other methods beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from engine.datasets import human_scores
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import BadRow, InputError
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.rescoring import Scores, rescore
from engine.evaluations.metric_study.grid import Cell
from engine.evaluations.metric_study.records import METRIC, SURFACE, VECTORS
from engine.evaluations.shared.vectors.sentence_vectors import VectorRequest, cut_notice
from engine.inference.gateway import GatewaySession
from engine.language.quantities import count
from engine.language.words import uses_spaces
from engine.measures.vector_cosine import vector_cosines
from engine.messages.message import Message, list_of

NOT_NUMBERS = Message(
    "{name}: {bad} of {rows} have a score in '{column}' that is not a number. Write a number such as 0.85, or leave the cell "
    "empty."
)


def grid_scores(
    alignments: alignment.Result, grid: Sequence[Scoring], score: str, rows: Sequence[int], layer: int | None = None
) -> Iterator[tuple[Scoring, np.ndarray, Scores]]:
    """Each scoring with its scores (n_pairs,), nan for pairs that the model could not align, and what they are from."""
    row_index = pd.Index(rows)
    for idf in dict.fromkeys(scoring.idf for scoring in grid):
        of_idf = [scoring for scoring in grid if scoring.idf == idf]
        # The penalised scores stand beside the plain ones, so one pass for each penalty makes both.
        scores = {
            scoring.penalty: rescore(alignments, scoring, layer) for scoring in of_idf if scoring.penalty != "none"
        } or {"none": rescore(alignments, of_idf[0], layer)}
        for scoring in of_idf:
            scored = scores.get(scoring.penalty) or next(iter(scores.values()))
            at = row_index.get_indexer(pd.Index(scored.pairs["row"]))
            values = np.full(len(rows), np.nan)
            values[at] = scored.pairs[score if scoring.penalty == "none" else f"penalized_{score}"]
            yield scoring, values, scored


def method_scores(
    dataset: SentencePairs,
    session: GatewaySession,
    tokenizer: str | None,
    requests: Mapping[str, VectorRequest],
    layers: Mapping[str, int],
    precision: str,
    notices: list[str],
) -> Iterator[tuple[Cell, np.ndarray]]:
    """The methods of other kinds: the surface's scores, and the cosine of each model's sentence vectors at its layer.

    `tokenizer` of `measures.surface`, None to leave the surface out; no `requests` leave the vectors out. `notices`
    receives what a reader should know of the vectors.
    """
    if tokenizer is not None:
        further = dataset.more_references or [()] * dataset.n
        pairs = [
            (candidate, reference, *more)
            for candidate, reference, more in zip(dataset.candidates, dataset.references, further, strict=True)
        ]
        for name, values in session.surface_scores(pairs, tokenizer=tokenizer).items():
            yield Cell(SURFACE, name), values
    for model, request in requests.items():
        texts = [*dataset.references, *dataset.candidates]
        pieces = session.sentence_vectors(
            model, texts, layers=[layers[model]], precision=precision, **request.arguments
        )
        notices += cut_notice(model, pieces, [*dataset.rows, *dataset.rows])
        known = np.array(["excluded" not in piece for piece in pieces]).reshape(2, dataset.n).all(axis=0)  # (n_pairs,)
        values = np.full(dataset.n, np.nan)
        if known.any():
            sides = (
                np.stack([pieces[start + i]["vectors"][0] for i in np.flatnonzero(known)]) for start in (0, dataset.n)
            )
            values[known] = vector_cosines(*sides)
        yield Cell(VECTORS, model), values


def column_scores(dataset: SentencePairs, columns: Sequence[str], lower: Sequence[str] = ()) -> dict[Cell, np.ndarray]:
    """The scores (n_pairs,) of other metrics that the file has in `columns`, nan for an empty cell.

    lower: those of `columns` where lower is better; their scores have the opposite sign here. Raises InputError for a
    column that is not one of those without a role, one with anything but numbers (all bad rows listed), one without
    a number, and one of `lower` that is not in `columns`.
    """
    if others := [column for column in lower if column not in columns]:
        named = ", ".join(map(repr, columns)) or Message("none")
        raise InputError(
            Message(
                "Lower is better in {others}, which is not one of the columns with scores of other "
                "metrics: {named}. Name it there, too.",
                others=list_of(map(repr, others)),
                named=named,
            )
        )
    return {
        Cell(METRIC, column): (-1 if column in lower else 1)
        * number_column(dataset, column, Message("scores of a metric"))
        for column in dict.fromkeys(columns)
    }


def column_notices(correlations: pd.DataFrame, lower: Sequence[str]) -> list[Message]:
    """Which of other metrics' columns have the opposite sign, and which seem to need it.

    correlations: `records.CORRELATIONS`; lower: the columns where lower is better.
    """
    notices = [
        Message("{column}: lower is better, so its scores are taken with the opposite sign.", column=column)
        for column in dict.fromkeys(lower)
    ]
    metrics = correlations[(correlations["kind"] == METRIC) & (correlations["ci_high"] < 0)]
    return notices + [
        Message(
            "{column}: its scores fall as the human scores rise (r = {r:.3f}). If lower is better "
            "in it, name it as such (on the command line: --lower-is-better).",
            column=column,
            r=r,
        )
        for column, r in zip(metrics["model"], metrics["pearson"], strict=True)
        if column not in lower
    ]


def number_column(dataset: SentencePairs, column: str, use: str) -> np.ndarray:
    """The numbers (n_pairs,) of a column without a role, nan for an empty cell; raises as `column_scores` does."""
    cells = further_column(dataset, column, use)
    faults = [
        BadRow(row, reason)
        for row, cell in zip(dataset.rows, cells, strict=True)
        if (reason := human_scores.fault(cell, column))
    ]
    refuse_cells(dataset, column, NOT_NUMBERS, faults)
    values = np.array([human_scores.number(cell) for cell in cells])
    if np.isnan(values).all():
        raise InputError(
            Message(
                "{name}: column {column!r} has no number. Name a column of scores.", name=dataset.name, column=column
            )
        )
    return values


def refuse_cells(dataset: SentencePairs, column: str, template: Message, faults: Sequence[BadRow]) -> None:
    """Raise InputError with the faults of a column's cells, where there are any.

    template: with {name}, {bad}, {rows} and {column}.
    """
    if not faults:
        return
    error = InputError(
        template.format(name=dataset.name, bad=f"{len(faults):,}", rows=count(dataset.n, "row"), column=column), faults
    )
    error.can_skip = False  # that leaves out rows that are bad as data
    raise error


def further_column(dataset: SentencePairs, column: str, use: str) -> tuple[str, ...]:
    """The cells of a column without a role. Raises InputError where the dataset has none of that name."""
    if column not in dataset.further:
        others = ", ".join(map(repr, dataset.further)) or Message("none")
        raise InputError(
            Message(
                "{name} has no further column {column!r} for {use}; it has {others}.",
                name=dataset.name,
                column=column,
                use=use,
                others=others,
            )
        )
    return dataset.further[column]


def surface_tokenizer(dataset: SentencePairs) -> str:
    """What cuts the sentences into words: MeCab, unless most references have neither kana nor kanji."""
    return "13a" if 2 * sum(map(uses_spaces, dataset.references)) > dataset.n else "ja-mecab"
