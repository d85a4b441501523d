"""What an evaluation is to those who run it: a kind, its types, its data and one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from engine.datasets import reader_process
from engine.datasets.formats.files import read_table
from engine.evaluations.shared.declared_tables import Table
from engine.inference.gateway import GatewaySession

Settings = TypeVar("Settings")
Dataset = TypeVar("Dataset")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Evaluation(Generic[Settings, Dataset, Result]):
    """One kind of run.

    kind: its name in runs and commands ("clusters"). title: its name on a page ("Clusters").
    settings_type, dataset_type, result_type: frozen dataclasses; settings hold JSON-able values and tuples, a
    dataset has `name`, `content_hash`, `to_frame()` and `from_frame(frame, name)`.
    evaluate: settings + dataset + a session at the gateway -> result. It raises EngineError for what a
    user can mend; progress and cancelling are the session's business.
    tables: the declared tables that the command writes, and that a page's archive holds.
    from_table: a table, and columns by role -> dataset; None where the data are no table. sample: its dataset.
    read_files: what reads its files where they are more than tables, as the archives and folders of benchmarks.
    row_roles: the columns of rows that come without names, in their order.
    first_rows: the settings that are others where the first rows are evaluated before the rest, because what they ask
    for takes long and is not shown; None where that is not done. classes_in_first_rows: whether these are equally many
    of each class, so that a map of them shows all classes.
    """

    kind: str
    title: str
    settings_type: type[Settings]
    dataset_type: type[Dataset]
    result_type: type[Result]
    evaluate: Callable[[Settings, Dataset, GatewaySession], Result]
    tables: tuple[Table, ...] = ()
    from_table: Callable[..., Dataset] | None = None
    sample: Callable[[], Dataset] | None = None
    read_files: Callable[..., Dataset] | None = None
    row_roles: tuple[str, ...] = ()
    first_rows: Mapping[str, Any] | None = None
    classes_in_first_rows: bool = False

    def read(self, path: Path, columns: Mapping[str, Any] | None = None, **reading: Any) -> Dataset:
        """The dataset of a file.

        columns: role -> name of a column that is not guessed. reading: fields of `engine.datasets.rows.Reading`. Raises
        InputError with every bad row.
        """
        chosen = dict(columns) if columns else None
        if self.read_files is not None:
            dataset: Dataset = reader_process.read(self.read_files, [(path.name, path)], columns=chosen, **reading)
            return dataset
        table = reader_process.read(read_table, path, **reading)
        return self.of_table(table, chosen, skip_bad_rows=bool(reading.get("skip_bad_rows")))

    def read_sample(self) -> Dataset:
        """The dataset of its sample."""
        if self.sample is None:
            raise TypeError(f"There is no sample of {self.kind}.")
        return self.sample()

    def of_table(self, table: Any, columns: Mapping[str, Any] | None, *, skip_bad_rows: bool = False) -> Dataset:
        """The dataset of a table. Raises InputError with every bad row."""
        if self.from_table is None:
            raise TypeError(f"The data of {self.kind} are no table.")
        return self.from_table(table, columns, skip_bad_rows=skip_bad_rows)
