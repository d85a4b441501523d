"""The engine from Python: what a page gives, in one call.

    import engine

    alignment = engine.evaluate("alignment", [("昨日、斉藤に会った。", "昨日、尾崎に会った。")],
                                models="builtin/bert-mini-ja", idf="novel", penalty="reading")
    alignment.tables["pairs"]        # a pandas frame, the columns of docs/tables.md

The tables are those that the command of the same evaluation writes, the numbers those of the pages, and finished
pieces of work are kept in the same cache (HAKARI_DATA_DIR).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from engine.datasets import sample_data
from engine.datasets.formats.files import Table
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.scores.files import ScoreFile, read_frame, read_scores
from engine.datasets.scores.matching import attached
from engine.datasets.vectors import files as vector_files
from engine.datasets.vectors import matching as vector_matching
from engine.errors import InputError
from engine.evaluations.alignment import rescoring
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.metric_study import tables as metric_study_tables
from engine.evaluations.metric_study.evaluate import fitting_idfs
from engine.evaluations.minimal_pairs import files as minimal_pairs_files
from engine.evaluations.minimal_pairs import views
from engine.evaluations.minimal_pairs.records import PairScoring
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.evaluations.shared.declared_tables import frames_of, tables_of
from engine.evaluations.shared.input_columns import all_with_input
from engine.messages.message import Message, list_of
from engine.options import check, options_of, records_in, with_current_names
from engine.runs.computing import open_computing

Scores = pd.DataFrame | str | Path | Mapping[str, pd.DataFrame | str | Path]
Vectors = ArrayLike | pd.DataFrame | str | Path | Mapping[str, ArrayLike | pd.DataFrame | str | Path]
Data = (
    pd.DataFrame
    | Sequence[Sequence[str]]
    | Sequence[Mapping[str, Any]]
    | Mapping[str, Sequence[Any]]
    | str
    | Path
    | Any
)
# The kinds that evaluate a table of the user's.
WITH_VECTORS = ("clusters", "classification")
KINDS = tuple(kind for kind, evaluation in EVALUATIONS.items() if evaluation.row_roles)


@dataclass(frozen=True)
class Evaluated:
    """What an evaluation found.

    tables: pandas frames by the names that the command's files have. notices: what was left out or is worth knowing.
    signature: all that determines the numbers. result: the record that a page draws.
    """

    kind: str
    tables: dict[str, pd.DataFrame] = field(repr=False)
    notices: tuple[str, ...]
    signature: dict[str, Any] = field(repr=False)
    result: Any = field(repr=False)


def evaluate(
    kind: str,
    data: Data,
    models: str | Sequence[str] = (),
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    scores: Scores | None = None,
    vectors: Vectors | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    data_dir: str | Path | None = None,
    **settings: Any,
) -> Evaluated:
    """Evaluate models on data, as a page or a command does.

    kind: "clusters", "classification", "fill-mask", "alignment", "metric-study" or "minimal-pairs". data: a table, as a
    frame of pandas or polars, a Table of pyarrow, a Dataset of the library datasets, a list of dicts or a dict of
    columns; a file (CSV, TSV, JSON lines, Excel; what the page takes), a sample ("sample/sentence-pairs"), rows of
    texts in the order of `row_roles`, or a dataset of `engine.datasets`. models: one name or several, as on the
    command line. columns: role -> name of a column that is not guessed. skip_bad_rows: leave out rows that cannot
    be used, in place of refusing the file; the table "excluded" lists them. scores: of minimal pairs, log-
    likelihoods that were computed elsewhere, as --scores takes them: a file or frame, or several by the labels of
    their models. vectors: of clusters and classification, vectors of the sentences that were computed elsewhere, as
    --vectors takes them: an array or tensor (n, dims) in the order of the data, a file or frame, or several by the
    labels of their models. progress: called with done, total and a label. data_dir: where the cache lies, if not in
    HAKARI_DATA_DIR. settings: those of the evaluation, by the names in docs/command-line.md (layer, idf, penalty
    …).

    Raises InputError for data and settings that cannot be, with every bad row; ModelError from a model.

    A script that calls it needs the usual guard, `if __name__ == "__main__":`, because workers are spawned processes.
    """
    if kind not in KINDS:
        raise InputError(Message("An evaluation is one of {KINDS}; got {kind!r}.", KINDS=list_of(KINDS), kind=kind))
    names = _names(models)
    if scores is not None and kind != "minimal-pairs":
        raise InputError(Message("Scores from a file are of the sentences of minimal pairs; got {kind!r}.", kind=kind))
    if vectors is not None and kind not in WITH_VECTORS:
        raise InputError(
            Message(
                "Vectors are of labelled sentences ({kinds}); got {kind!r}.", kinds=list_of(WITH_VECTORS), kind=kind
            )
        )
    shown = _record(
        PairScoring,
        {name: settings.pop(name) for name in ("alpha", "unigrams", "by") if name in settings}
        if kind == "minimal-pairs"
        else {},
    )
    dataset = _dataset(kind, data, columns, skip_bad_rows)
    if scores is not None:
        dataset = _with_scores(dataset, scores, skip_bad_rows)
        names = (*names, *(of_model.name for of_model in dataset.scores if of_model.name not in names))
    if vectors is not None:
        dataset = _with_vectors(dataset, vectors, skip_bad_rows)
        names = (*names, *(of_model.name for of_model in dataset.vectors if of_model.name not in names))
    with open_computing(None if data_dir is None else Path(data_dir)) as computing:
        session = computing.gateway.session(f"notebook-{os.getpid()}", on_progress=progress)
        if kind == "metric-study" and "idfs" not in settings:
            settings["idfs"] = fitting_idfs(names, session)
        chosen = _record(EVALUATIONS[kind].settings_type, settings, models=names)
        result = EVALUATIONS[kind].evaluate(chosen, dataset, session)
    if kind == "minimal-pairs" and shown.unigrams != PairScoring.unigrams:
        result = with_unigrams(result, shown.unigrams)
    if kind == "alignment":
        rescored = rescoring.rescore(result, result.settings.scoring)
        frames = {"pairs": rescored.pairs, "tokens": rescored.tokens, "excluded": result.excluded}
        notices, signature = (*result.notices, *rescored.notices), rescoring.scored_signature(result, rescored)
    else:
        frames, notices = _tables(kind, result, shown), result.notices
        signature = minimal_pairs_files.scored_signature(result, shown) if kind == "minimal-pairs" else result.signature
    return Evaluated(kind, all_with_input(EVALUATIONS[kind].tables, frames, dataset), notices, signature, result)


def _with_scores(dataset: MinimalPairs, scores: Scores, skip_bad_rows: bool) -> MinimalPairs:
    """The pairs with scores that were computed elsewhere."""
    by_label = scores if isinstance(scores, Mapping) else {"": scores}
    files: list[ScoreFile] = []
    labels: list[str] = []
    for label, source in by_label.items():
        read = (
            read_frame(source, str(label) or "scores", skip_bad_rows=skip_bad_rows)
            if isinstance(source, pd.DataFrame)
            else read_scores([(Path(source).name, Path(source))], skip_bad_rows=skip_bad_rows)
        )
        files += read
        labels += [str(label)] * len(read)
    return attached(dataset, files, labels, skip_bad_rows=skip_bad_rows)


def _with_vectors(dataset: LabelledSentences, vectors: Vectors, skip_bad_rows: bool) -> LabelledSentences:
    """The sentences with vectors that were computed elsewhere."""
    by_label = vectors if isinstance(vectors, Mapping) else {"": vectors}
    files = []
    for label, source in by_label.items():
        if isinstance(source, pd.DataFrame):
            read = vector_files.vectors_of_frame(source, str(label) or "vectors", skip_bad_rows=skip_bad_rows)
        elif isinstance(source, str | Path):
            read = vector_files.read_vectors(Path(source), Path(source).name, skip_bad_rows=skip_bad_rows)
        else:
            array = np.asarray(source)
            read = vector_files.vectors_of_array(array, str(label) or "vectors", skip_bad_rows=skip_bad_rows)
        files.append(read)
    return vector_matching.attached(dataset, files, list(map(str, by_label)), skip_bad_rows=skip_bad_rows)


def _tables(kind: str, result: Any, shown: PairScoring) -> dict[str, pd.DataFrame]:
    if kind == "metric-study":
        return metric_study_tables.tables(result)
    if kind == "minimal-pairs":
        return minimal_pairs_files.file_tables(
            result, views.available(result.pairs), shown.alpha, shown.by, result.settings.seed
        )
    return frames_of(result, tuple(tables_of(type(result)).values()))


def _record(record_type: type[Any], settings: Mapping[str, Any], **further_fields: Any) -> Any:
    """The record of these settings; those of records in it (`scoring`) may stand side by side with its own."""
    settings = with_current_names(record_type, settings)
    own = {name: value for name, value in settings.items() if name in options_of(record_type)}
    left = {name: value for name, value in settings.items() if name not in own}
    for name, inner in records_in(record_type).items():
        if name in left:
            own[name] = left.pop(name)
        else:
            own[name] = _record(inner, {key: left.pop(key) for key in list(left) if key in options_of(inner)})
    if left:
        known = [
            *options_of(record_type),
            *(key for inner in records_in(record_type).values() for key in options_of(inner)),
        ]
        raise InputError(
            Message(
                "There is no setting {left} here. There are: {known}.",
                left=list_of(map(repr, left)),
                known=list_of(known),
            )
        )
    made = record_type(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in own.items()}, **further_fields
    )
    check(made)
    return made


def _names(models: Any) -> tuple[str, ...]:
    """The names of models that are given as one name or path, or as several."""
    listed = [models] if isinstance(models, str | Path) else list(models) if isinstance(models, Iterable) else [None]
    if not all(isinstance(name, str | Path) for name in listed):
        raise InputError(
            Message(
                "A model is given by its name or directory, not as an object: save it with save_pretrained, its "
                "tokenizer beside it, and name the directory. Got {type}.",
                type=type(models).__name__,
            )
        )
    return tuple(map(str, listed))


def _dataset(kind: str, data: Data, columns: Mapping[str, str] | None, skip_bad_rows: bool) -> Any:
    evaluation = EVALUATIONS[kind]
    if isinstance(data, evaluation.dataset_type):
        return data
    chosen = dict(columns) if columns else None
    if isinstance(data, str | Path):
        return evaluation.read(sample_data.file_of(data), chosen, skip_bad_rows=skip_bad_rows)
    if not isinstance(data, pd.DataFrame):
        data = _rows(kind, data, evaluation.row_roles)
    if isinstance(data, pd.DataFrame) and _holds_lists(data):
        data = data.to_dict("records")
    if isinstance(data, list):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "data.jsonl"
            path.write_text("".join(f"{_json(row)}\n" for row in data), encoding="utf-8")
            return evaluation.read(path, chosen, skip_bad_rows=skip_bad_rows)
    if not len(data):
        raise InputError(
            Message("The data have columns ({columns}) but no rows.", columns=list_of(map(repr, data.columns)))
        )
    texts = data.astype(object).where(data.notna(), "").map(str).rename(columns=str)
    index = pd.RangeIndex(1, len(texts) + 1, name="row")
    return evaluation.from_table(
        Table("data", texts.set_axis(index).astype("str"), "csv", None), chosen, skip_bad_rows=skip_bad_rows
    )


def _rows(kind: str, data: Any, roles: Sequence[str]) -> pd.DataFrame | list[Mapping[str, Any]]:
    """Rows of texts and columns as a frame, rows with names of columns as a list, from whatever holds either."""
    if isinstance(data, Mapping):
        if any(hasattr(part, "column_names") for part in data.values()):
            raise InputError(
                Message("The data are several tables; choose one: {parts}.", parts=list_of(map(repr, data)))
            )
        return pd.DataFrame(dict(data))
    rows = next((getattr(data, name)() for name in ("to_pylist", "to_dicts") if hasattr(data, name)), data)
    rows = list(rows) if isinstance(rows, Iterable) else []
    if rows and all(isinstance(row, Mapping) for row in rows):
        return rows
    lengths = {
        0 if isinstance(row, str | Mapping) or not isinstance(row, Iterable) else len(tuple(row)) for row in rows
    }
    width = max(lengths, default=0)
    if lengths != {width} or not 0 < width <= len(roles):
        raise InputError(
            Message(
                "Rows of {kind} hold {roles}, in this order and all of one length; got {rows} "
                "rows of {listed}. Data with other columns go in as a frame or as a list of dicts.",
                kind=kind,
                roles=list_of(roles),
                rows=len(rows),
                listed=sorted(lengths - {0}) or Message("nothing"),
            )
        )
    return pd.DataFrame(map(tuple, rows), columns=list(roles[:width]))


def _holds_lists(frame: pd.DataFrame) -> bool:
    cells = frame.select_dtypes(object).to_numpy().flat
    return any(isinstance(cell, list | tuple | dict | np.ndarray) for cell in cells)


def _json(row: Mapping[str, Any]) -> str:
    """A row as JSON; what JSON has no type for is written as numpy's own value, its list, or its text."""
    return json.dumps(
        row, ensure_ascii=False, default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value)
    )
