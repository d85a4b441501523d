"""The page of running text: perplexity and bits by document, category and corpus; no list of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.benchmark.further_checkpoints import further_checkpoints
from dashboard.minimal_pairs.benchmark.running_text import (
    CORPUS,
    corpus_figure,
    running_text_section,
    text_checkpoints_section,
    text_tables,
)
from dashboard.minimal_pairs.kinds.kind_page import KindPage, Sections
from dashboard.minimal_pairs.scoring import scoring_section
from dashboard.minimal_pairs.view import CHECKPOINTS, SCORING, TEXTS, ScoredRun, table
from dashboard.shared.headlines import Headline, n_note, number_text, of_models
from engine.datasets.minimal_pairs import kinds
from engine.evaluations.minimal_pairs.records import CATEGORY, Result
from engine.evaluations.minimal_pairs.running_text.tables import MEASURES, corpus
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.messages.languages import mark


def _headlines(result: Result) -> list[Headline]:
    """Bits per byte of each model over all documents."""
    whole = corpus(result).query("category == ''").sort_values("bits_per_byte", kind="stable")
    return of_models(
        whole.rename(columns={"n_documents": "n"}),
        "bits_per_byte",
        lambda row: number_text(row["bits_per_byte"], 3),
        n_note,
    )


def _first_documents(result: Result) -> pd.DataFrame:
    """What the page shows of the first documents while the others are computed."""
    return result.documents[["row", "title", "n_tokens", "log_likelihood"]].head(20).round(3)


def _sections(view: ScoredRun, _: ScoredRun, signature: Mapping[str, Any]) -> Sections:
    parts: Sections = {TEXTS: lambda choices: running_text_section(view, signature, choices)}
    if checkpoint_series(view.result, view.models) or further_checkpoints(view.run_id, view.result):
        parts[CHECKPOINTS] = lambda choices: text_checkpoints_section(view, signature, choices)
    parts[SCORING] = lambda _: scoring_section(view.result)
    return parts


def _makers(view: ScoredRun, _: ScoredRun) -> dict[str, Callable[[], go.Figure]]:
    return {CORPUS: lambda: corpus_figure(table(view, "corpus", CATEGORY), "bits_per_byte", by_category=False)}


def _tables(view: ScoredRun, by: str, _: tuple[str, ...], __: tuple[str, ...]) -> dict[str, Callable[[], pd.DataFrame]]:
    return text_tables(view, by)


OF_TEXTS = KindPage(
    kinds.TEXTS,
    tuple(MEASURES),
    mark("""Each token of a document is scored once, given what stands before it in its window, of a masked model what
stands around it. A corpus has the ratio of the sums over its documents, in which every byte, character or token counts the
same. Intervals and tests are over documents, which are taken as a sample of those that could have been chosen. Bits per byte
can be compared between tokenizers, perplexity only within one; a pseudo-perplexity of a masked model with neither."""),
    _headlines,
    _first_documents,
    _sections,
    _makers,
    _tables,
    question=mark("How probable are the documents to the model?"),
    is_judged=False,
    choices=frozenset(),
    anchor="tabs",
    signed=lambda view: {},
)
