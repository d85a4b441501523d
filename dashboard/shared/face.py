"""The face of an evaluation: all that pages know of it. Each is in the folder of its page, in `face.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import plotly.graph_objects as go

from dashboard import pages
from dashboard.shared.exports.bundle.parts import Paragraph
from dashboard.shared.headlines import Headline
from dashboard.shared.inputs.compared import ComparedSide
from dashboard.shared.inputs.inputs import DatasetForm
from engine.evaluations.shared.evaluation import Evaluation
from engine.messages.message import Message
from engine.runs.storage.run_record import RunRecord

Result = TypeVar("Result")


@dataclass(frozen=True)
class SampleRun:
    """The run of the sample that the page opens on: its name, and its settings with the models of a language."""

    name: str
    settings: Callable[[str], Any]


@dataclass(frozen=True)
class HomeFigure(Generic[Result]):
    """What the home page shows of the sample's run: a question, and what draws the answer; result and run id."""

    question: str
    draw: Callable[[Result, str], None]


@dataclass(frozen=True)
class CorpusExports:
    """The command of a run over files that are no table, and the download of its data where they were pasted."""

    command: Callable[[RunRecord, Any], str | None]
    download: Callable[[RunRecord], None]


@dataclass(frozen=True)
class Face(Generic[Result]):
    """One evaluation as the pages see it.

    headlines: the numbers of a result in lists. form: how data are given; None where the page asks in its own way.
    papers: keys of `report.CITATIONS`. compared: how the comparison asks for a side and shows an item of it.
    map_figure: the map of the sentences under a model, None where there is none. across_data: a warning beside runs of
    different data. data_choices: what the form is set to where it shall show the choice of a data set. former_name: in
    addresses before 0.2. suggested_for: the kinds of built-in models whose cards lead to the page. has_source_files:
    whether its data are downloaded as the file that they came from. corpus: exports of data that are no table.
    as_others: of a result, what other software reads, as zips by their names. asked: of a result, the question that its
    data answer, "" for that of the page. is_judged: of a result, whether people can judge its rows, which the tables of
    the papers have numbers on, too.
    """

    evaluation: Evaluation[Any, Any, Result]
    headlines: Callable[[Result], list[Headline]]
    form: DatasetForm | None = None
    sample: SampleRun | None = None
    paragraph: Paragraph | None = None
    papers: Sequence[str] = ()
    home: HomeFigure[Result] | None = None
    compared: ComparedSide | None = None
    map_figure: Callable[[Result, str], go.Figure | None] | None = None
    across_data: str = ""
    data_choices: Mapping[str, str] = field(default_factory=dict)
    former_name: str = ""
    suggested_for: Sequence[str] = ()
    has_source_files: bool = False
    corpus: CorpusExports | None = None
    as_others: Callable[[Result], Mapping[str, Callable[[], bytes]]] = lambda result: {}
    asked: Callable[[Result], str] = lambda result: ""
    is_judged: Callable[[Result], bool] = lambda result: True

    @property
    def kind(self) -> str:
        """The kind of its runs."""
        return self.evaluation.kind

    def found(self, result: Result, *shown: Any) -> Message:
        """What was found (`Evaluation.finding`); shown: what of the result is on show, where it is not what was asked."""
        return self.evaluation.finding(result, *shown) if self.evaluation.finding is not None else Message("")

    def question(self, result: Result | None) -> str:
        """The question that a result answers, in English."""
        return (self.asked(result) if result is not None else "") or self.page.question

    @property
    def page(self) -> pages.PageCard:
        """Its page: folder, title, icon, question."""
        return pages.card(pages.name_of(self.kind))


AnyFace = Face[Any]
