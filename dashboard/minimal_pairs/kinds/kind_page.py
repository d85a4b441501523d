"""What the page of minimal pairs shows of data of one kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from dashboard.minimal_pairs.browser import Listed
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.headlines import Headline
from engine.datasets.minimal_pairs.kinds import DataKind
from engine.evaluations.minimal_pairs.records import CATEGORY, WHOLE, Result
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS

Figures = dict[str, go.Figure]
Sections = dict[str, Callable[[SectionChoices], Figures]]
Browsed = tuple[str, pd.Series]


def score_of(view: ScoredRun) -> dict[str, Any]:
    """The choices of the whole page that determine its numbers, for the signature."""
    return {
        "normalization": view.normalization,
        "alpha": view.alpha,
        "subset": view.subset,
        **({"unigrams": view.unigrams} if NORMALIZATIONS[view.normalization].by_unigrams else {}),
        **({"region": view.region} if view.region != WHOLE else {}),
        **({"clustered_by": view.clustered_by} if view.clustered_by else {}),
    }


@dataclass(frozen=True)
class KindPage:
    """One kind of data as the page of minimal pairs shows it.

    question: under the title, "" for that of the page. measures, note: of the explanation at the end. headlines: the
    numbers of a result in lists. first_rows: what is shown of the first rows while the others are computed. sections:
    (view, view of all pairs, signature) -> what draws each tab, by name, the page's own first. makers: (view, view of
    all pairs) -> what makes the figures as they are before anybody changes a choice, by caption. tables: (view, column
    of the categories, columns of the levels, predictions) -> what makes the tables to download: those of the command.
    choices: those of the whole page (`view.view_input`). anchor: to which part of the page its links lead. signed: what
    the view adds to the signature. own_column: the column that groups the rows where nobody chose one. is_judged:
    whether a row has sentences that people judge.

    Where a row is a pair: reading: what the numbers mean; draw_summary: the numbers above the sections; browse: draws the
    list of pairs below them; draw_pair: draws the one that was chosen there, if any, from the result of whole sentences
    under the corpus of the view; compared: the scoring under which
    another run is held against it, None where there are no pairs to compare.
    """

    data: DataKind
    measures: tuple[str, ...]
    note: str
    headlines: Callable[[Result], list[Headline]]
    first_rows: Callable[[Result], pd.DataFrame]
    sections: Callable[[ScoredRun, ScoredRun, Mapping[str, Any]], Sections]
    makers: Callable[[ScoredRun, ScoredRun], dict[str, Callable[[], go.Figure]]]
    tables: Callable[[ScoredRun, str, tuple[str, ...], tuple[str, ...]], dict[str, Callable[[], pd.DataFrame]]]
    choices: frozenset[str] = frozenset(("normalization", "alpha", "unigrams"))
    anchor: str = "normalization"
    signed: Callable[[ScoredRun], dict[str, Any]] = score_of
    own_column: Callable[[Result], str] = lambda result: CATEGORY
    reading: Callable[[ScoredRun], tuple[str, ...]] = lambda view: ()
    draw_summary: Callable[[ScoredRun], None] = lambda view: None
    browse: Callable[[ScoredRun, PageAddress, Listed], Browsed | None] = lambda view, address, listed: None
    draw_pair: Callable[[ScoredRun, Result, Browsed | None, Mapping[str, Any]], Figures] = (
        lambda view, result, browsed, signature: {}
    )
    compared: Callable[[ScoredRun], Mapping[str, Any] | None] = lambda view: None
    question: str = ""
    is_judged: bool = True
