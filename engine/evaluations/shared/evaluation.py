"""What an evaluation is to those who run it: a kind, its types, its data and one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.datasets import reader_process
from engine.datasets.formats.files import read_table
from engine.evaluations.shared.declared_tables import Table
from engine.evaluations.shared.on_card import OnCard
from engine.inference.gateway import GatewaySession
from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts

SIMILARITY, PREFERENCE, ACCEPTABILITY = "similarity", "preference", "acceptability"
Settings = TypeVar("Settings")
Dataset = TypeVar("Dataset")
Result = TypeVar("Result")


def _no_table(*_: Any, **__: Any) -> Any:
    raise TypeError("These data are no table.")


@dataclass(frozen=True)
class Evaluation(Generic[Settings, Dataset, Result]):
    """One kind of run.

    kind: its name in runs and commands ("clusters"). title: its name on a page ("Clusters").
    settings_type, dataset_type, result_type: frozen dataclasses; settings hold JSON-able values and tuples, a
    dataset has `name`, `content_hash`, `to_frame()` and `from_frame(frame, name)`.
    evaluate: settings + dataset + a session at the gateway -> result. It raises EngineError for what a
    user can mend; progress and cancelling are the session's business.
    tables: the declared tables that the command writes, and that a page's archive holds.
    from_table: a table, and columns by role -> dataset. sample: its dataset. Both only where the data are a table.
    read_files: what reads its files where they are more than tables, as the archives and folders of benchmarks.
    row_roles: the columns of rows that come without names, in their order; none where the data are no table.
    first_rows: the settings that are others where the first rows are evaluated before the rest, because what they ask
    for takes long and is not shown; None where that is not done. classes_in_first_rows: whether these are equally many
    of each class, so that a map of them shows all classes.
    fits: whether it can be carried out under a model. for_card: its settings on the card of a model; the defaults
    without. questions: what people can be asked about its data, the default first. card: what the card of a model takes
    from it, if anything. finding: (result, what of it is on show, None for what the run asks for) -> what was found, as
    tests have it (`shared.finding`).
    """

    kind: str
    title: str
    settings_type: type[Settings]
    dataset_type: type[Dataset]
    result_type: type[Result]
    evaluate: Callable[[Settings, Dataset, GatewaySession], Result]
    tables: tuple[Table, ...] = ()
    from_table: Callable[..., Dataset] = _no_table
    sample: Callable[..., Dataset] = _no_table
    read_files: Callable[..., Dataset] | None = None
    row_roles: tuple[str, ...] = ()
    first_rows: Mapping[str, Any] | None = None
    classes_in_first_rows: bool = False
    fits: Callable[[ModelFacts], bool] = lambda facts: facts.endpoint is None
    for_card: Callable[[str, ModelFacts, GatewaySession], Settings] | None = None
    questions: tuple[str, ...] = ()
    card: OnCard | None = None
    finding: Callable[..., Message] | None = None

    def read(self, path: Path, columns: Mapping[str, Any] | None = None, **reading: Any) -> Dataset:
        """The dataset of a file.

        columns: role -> name of a column that is not guessed. reading: fields of `engine.datasets.formats.files.Reading`. Raises
        InputError with every bad row.
        """
        chosen = dict(columns) if columns else None
        if self.read_files is not None:
            dataset: Dataset = reader_process.read(self.read_files, [(path.name, path)], columns=chosen, **reading)
            return dataset
        judge = partial(self.from_table, columns=chosen)
        table = reader_process.read(read_table, path, judge=judge, **reading)
        return self.from_table(table, chosen, skip_bad_rows=bool(reading.get("skip_bad_rows")))


AnyEvaluation = Evaluation[Any, Any, Any]
