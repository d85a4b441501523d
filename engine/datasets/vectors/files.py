"""Files of sentence vectors that were computed elsewhere: arrays, tensors, and tables with a vector in each row."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.formats.bounds import metered
from engine.datasets.formats.columns import normalize_name
from engine.datasets.formats.files import SUFFIXES as TABLES
from engine.datasets.formats.files import max_file_bytes
from engine.datasets.formats.grid import quoted
from engine.datasets.human_scores import fault
from engine.datasets.rows import empty_reason
from engine.datasets.scores.files import PARQUET, any_table, digest_of, parquet_frame
from engine.datasets.scores.tables import MODEL, SENTENCE
from engine.datasets.several import read_all
from engine.datasets.vectors.arrays import arrays_in, tensors_in
from engine.errors import BadRow, InputError, reason_of
from engine.messages.message import Message, named, together

ARRAYS, TENSORS = (".npy", ".npz"), ".safetensors"
SUFFIXES = (*ARRAYS, TENSORS, *TABLES, PARQUET)
PICKLES = (".pt", ".pth", ".bin", ".pkl", ".pickle", ".joblib")
# The layouts, and what each wants, as refusals and the documents say it.
FORMS: Mapping[str, Message] = {
    named("array"): Message(
        ".npy or .npz of numpy: an array of a row for each sentence, in the order of the data, all NaN where there is no "
        "vector; in .npz each array is a model"
    ),
    named("tensors"): Message(
        ".safetensors: a tensor of a row for each sentence, in the order of the data; each is a model"
    ),
    named("table of vectors"): Message(
        "CSV, TSV, JSON lines, Excel or Parquet with a row for each sentence: the column vector or embedding, a list of "
        "numbers, or a column for each dimension (0, 1, 2 … or dim_0, dim_1 …); maybe sentence, by which rows are matched, "
        "and model"
    ),
}
ARRAY, TENSOR, TABLE = FORMS
UNNAMED = "arr_0"  # what numpy calls an array in .npz that was given no name
VECTOR = ("vector", "vectors", "embedding", "embeddings", "ベクトル", "埋め込み")
_DIMENSION = re.compile(r"(?:dim|dimension|d|v|vec|vector|e|emb|embedding|f|x)?[_\- ]?(\d{1,9})", re.IGNORECASE)
FEWEST_DIMENSIONS = 2


@dataclass(frozen=True, eq=False)
class Vectors:
    """One model's vectors as a file has them, float32 (n, dims); texts: of each row, None where no column is called so.
    rows: the numbers in the file. others: then the columns of texts, one of which may hold the sentences all the same."""

    model: str
    vectors: np.ndarray
    texts: tuple[str, ...] | None = None
    rows: tuple[int, ...] = ()
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class VectorFile:
    """What a file says. digest: SHA-256 of its content. form: a key of FORMS. left_out: rows without a usable vector."""

    name: str
    digest: str
    form: str
    models: tuple[Vectors, ...]
    notices: tuple[str, ...] = ()
    left_out: tuple[BadRow, ...] = ()


def read_vectors(content: bytes | Path, name: str, *, skip_bad_rows: bool = False) -> VectorFile:
    """The vectors in a file. Numbers of other types are rounded to float32.

    Raises InputError: a file that cannot be read or holds no vectors, a pickle, and rows that are no finite numbers or
    of another length than the others, all of them listed; with `skip_bad_rows` these are left out.
    """
    lower = name.lower()
    if lower.endswith(PICKLES):
        raise InputError(
            Message(
                "{name} is a pickle, which may run programs and is not read. Save the array by numpy.save(…), which writes "
                ".npy, or the tensors as .safetensors.",
                name=name,
            )
        )
    _refuse_large(content, name)
    with metered():
        if lower.endswith(ARRAYS):
            return _of_arrays(arrays_in(content, name), name, digest_of(content), ARRAY, skip_bad_rows)
        if lower.endswith(TENSORS):
            return _of_arrays(tensors_in(content, name), name, digest_of(content), TENSOR, skip_bad_rows)
        if lower.endswith(PARQUET):
            frame = parquet_frame(content, name)
            frame.index = pd.RangeIndex(1, len(frame) + 1)
            return _of_frame(frame, name, digest_of(content), skip_bad_rows)
        table = any_table(
            content, name, skip_bad_rows=skip_bad_rows, judge=lambda others: _of_frame(others.frame, name, "", False)
        )
        read = _of_frame(table.frame, name, digest_of(content), skip_bad_rows)
    return replace(
        read,
        models=_with_dropped(read.models, table.left_out, name),
        notices=(*table.notices, *read.notices),
        left_out=tuple(sorted((*table.left_out, *read.left_out), key=_row)),
    )


def read_each(sources: Sequence[tuple[str, bytes | Path]], *, skip_bad_rows: bool = False) -> tuple[VectorFile, ...]:
    """The vectors in each of several files (name, content). Raises InputError as `read_vectors`."""
    read = read_all(sources, lambda source: read_vectors(source[1], source[0], skip_bad_rows=skip_bad_rows))
    return tuple(file for _, file in read)


def _with_dropped(models: tuple[Vectors, ...], dropped: Sequence[BadRow], name: str) -> tuple[Vectors, ...]:
    """The models with rows of NaN where rows could not be read at all, so that those after them keep their places.

    Rows with sentences need none. Raises InputError where it is not known of which model such a row was.
    """
    if not dropped or models[0].texts is not None:
        return models
    if len(models) > 1:
        raise InputError(
            Message(
                "{name} has rows that cannot be read, so it is not known of which model they are, and without a column of "
                "sentences (sentence) the others would get wrong places. Correct these rows.",
                name=name,
            ),
            dropped,
        )
    [of_model] = models
    rows = np.array(sorted({*of_model.rows, *(bad.row for bad in dropped)}), dtype=np.int64)
    vectors = np.full((len(rows), of_model.vectors.shape[1]), np.nan, dtype=np.float32)
    places = np.searchsorted(rows, of_model.rows)
    vectors[places] = of_model.vectors
    others = {}
    for column, cells in of_model.others.items():
        padded = np.full(len(rows), "", dtype=object)
        padded[places] = cells
        others[column] = tuple(padded.tolist())
    return (replace(of_model, vectors=vectors, rows=tuple(rows.tolist()), others=others),)


def vectors_of_frame(frame: pd.DataFrame, name: str, *, skip_bad_rows: bool = False) -> VectorFile:
    """The vectors in a frame of pandas, laid out as a table is. Raises InputError as `read_vectors`."""
    numbered = frame.reset_index(drop=True)
    numbered.index = pd.RangeIndex(1, len(frame) + 1)
    text = numbered.map(lambda cell: cell.tolist() if isinstance(cell, np.ndarray) else cell).to_json(
        orient="split", default_handler=str, force_ascii=False
    )
    return _of_frame(numbered, name, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), skip_bad_rows)


def vectors_of_array(array: np.ndarray, name: str, *, skip_bad_rows: bool = False) -> VectorFile:
    """The vectors in an array (n, dims). Raises InputError as `read_vectors`."""
    raw = np.ascontiguousarray(array)
    digest = hashlib.sha256(f"{raw.dtype.str}{raw.shape}".encode() + raw.tobytes()).hexdigest()
    return _of_arrays({"": raw}, name, digest, ARRAY, skip_bad_rows)


def _row(bad: BadRow) -> int:
    return bad.row


def _refuse_large(content: bytes | Path, name: str) -> None:
    try:
        n_bytes = len(content) if isinstance(content, bytes) else content.stat().st_size
    except OSError as error:
        raise InputError(Message("{name} cannot be read: {error}.", name=name, error=reason_of(error))) from error
    if n_bytes > max_file_bytes():
        raise InputError(
            Message(
                "{name} has {mib:,} MiB; at most {most:,} are read. Save fewer dimensions, or float16.",
                name=name,
                mib=n_bytes >> 20,
                most=max_file_bytes() >> 20,
            )
        )


def _of_arrays(arrays: Mapping[str, np.ndarray], name: str, digest: str, form: str, skip_bad_rows: bool) -> VectorFile:
    wrong = [
        Message(
            "{array} is {shape} of {dtype}",
            array=key or named("the array"),
            shape=str(array.shape),
            dtype=str(array.dtype),
        )
        for key, array in arrays.items()
        if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.size
    ]
    if wrong or not arrays:
        raise InputError(
            Message(
                "{name} holds no vectors: {wrong}. Needed is {form}.",
                name=name,
                wrong=together("; ", wrong) if wrong else Message("it is empty"),
                form=FORMS[form],
            )
        )
    bad: list[BadRow] = []
    models = []
    for key, array in sorted(arrays.items()):
        vectors = _single(array)
        numbers = tuple(range(1, len(vectors) + 1))
        wrong_rows = ~np.isfinite(vectors).all(axis=1) & ~np.isnan(vectors).all(axis=1)  # all NaN: no vector
        bad += [BadRow(int(place) + 1, NOT_FINITE) for place in np.flatnonzero(wrong_rows)]
        is_named = len(arrays) > 1 or (form == ARRAY and key != UNNAMED)
        models.append(Vectors(key if is_named else "", vectors, None, numbers))
    return _finished(VectorFile(name, digest, form, tuple(models)), bad, skip_bad_rows)


NOT_FINITE = Message("It holds NaN, infinity or a number beyond float32.")


def _single(array: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def _finished(file: VectorFile, bad: Sequence[BadRow], skip_bad_rows: bool) -> VectorFile:
    if bad and not skip_bad_rows:
        raise InputError(
            Message("{name} has rows that are no vectors of finite numbers.", name=file.name), sorted(bad, key=_row)
        )
    models = []
    for of_model in file.models:
        wrong = ~np.isfinite(of_model.vectors).all(axis=1)
        vectors = of_model.vectors
        if wrong.any():
            vectors = vectors.copy()
            vectors[wrong] = np.nan
        models.append(replace(of_model, vectors=vectors))
    return replace(file, models=tuple(models), left_out=tuple(bad))


def _of_frame(frame: pd.DataFrame, name: str, digest: str, skip_bad_rows: bool) -> VectorFile:
    columns = {normalize_name(str(column)): column for column in reversed(frame.columns)}
    whole = next((columns[alias] for alias in VECTOR if alias in columns), None)
    dimensions = [] if whole is not None else _dimensions(frame)
    if whole is None and not dimensions:
        raise InputError(
            Message(
                "{name} holds no vectors that are recognised. Found: {columns}. Needed is one of these: {listed}.",
                name=name,
                columns=quoted([str(column) for column in frame.columns]),
                listed=together(
                    "; ",
                    [
                        Message("{layout}: {columns}", layout=Message(form), columns=wants)
                        for form, wants in FORMS.items()
                    ],
                ),
            )
        )
    bad: list[BadRow] = []
    numbers = [int(number) for number in frame.index]
    rows = (
        _of_dimensions(frame[dimensions], numbers, bad)
        if whole is None
        else _lists(frame[whole].tolist(), numbers, bad)
    )
    text = next((columns[alias] for alias in SENTENCE if alias in columns), None)
    model = next((columns[alias] for alias in MODEL if alias in columns), None)
    texts = None if text is None else [str(cell) for cell in frame[text]]
    models = [""] * len(rows) if model is None else [str(cell) for cell in frame[model]]
    used = {text, model, whole, *dimensions}
    others = [place for place, name in enumerate(frame.columns) if text is None and name not in used]
    cells = {str(frame.columns[place]): [*map(str, frame.iloc[:, place])] for place in others}
    places_by_model: dict[str, list[int]] = {}
    for place, of_model in enumerate(models):
        places_by_model.setdefault(of_model, []).append(place)
    found = []
    for of_model, places in places_by_model.items():
        vectors = _stacked([rows[place] for place in places], [numbers[place] for place in places], bad, name)
        found.append(
            Vectors(
                of_model,
                vectors,
                None if texts is None else tuple(texts[place] for place in places),
                tuple(numbers[place] for place in places),
                {name: tuple(of_column[place] for place in places) for name, of_column in cells.items()},
            )
        )
    return _finished(VectorFile(name, digest, TABLE, tuple(found)), bad, skip_bad_rows)


def _dimensions(frame: pd.DataFrame) -> list[Any]:
    """The columns of the dimensions, in the order of their numbers; none where they are not numbered on without a gap."""
    numbered = {
        int(match[1]): column for column in frame.columns if (match := _DIMENSION.fullmatch(str(column).strip()))
    }
    first = min(numbered, default=0)
    if len(numbered) < FEWEST_DIMENSIONS or sorted(numbered) != list(range(first, first + len(numbered))):
        return []
    return [numbered[number] for number in sorted(numbered)]


def _of_dimensions(frame: pd.DataFrame, numbers: Sequence[int], bad: list[BadRow]) -> list[np.ndarray | None]:
    """The vector of each row of the columns; None where a cell is no number, of which the first is named."""
    values = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
    rows: list[np.ndarray | None] = list(_single(values))
    for place in np.flatnonzero(np.isnan(values).any(axis=1)).tolist():
        column = int(np.flatnonzero(np.isnan(values[place]))[0])
        name, cell = str(frame.columns[column]), frame.iat[place, column]
        if isinstance(cell, str) and (reason := empty_reason(cell, name) or fault(cell, name)) is not None:
            bad.append(BadRow(numbers[place], reason))
            rows[place] = None
    return rows


def _lists(cells: Sequence[Any], numbers: Sequence[int], bad: list[BadRow]) -> list[np.ndarray | None]:
    """The vector of each cell: a list, or a text of one; None where it is none."""
    rows: list[np.ndarray | None] = []
    for number, cell in zip(numbers, cells, strict=True):
        try:
            value = json.loads(cell) if isinstance(cell, str) else cell
            row = np.asarray(value, dtype=np.float64)
            if row.ndim != 1 or not row.size:
                raise ValueError
            rows.append(_single(row))
        except (ValueError, TypeError, OverflowError, RecursionError):
            bad.append(BadRow(number, Message("It is no list of numbers, such as [0.25, -1.5].")))
            rows.append(None)
    return rows


def _stacked(rows: Sequence[np.ndarray | None], numbers: Sequence[int], bad: list[BadRow], name: str) -> np.ndarray:
    """The rows as one array, NaN where there is none; each row of another length than most have is listed."""
    lengths = [len(row) for row in rows if row is not None]
    if not lengths:
        raise InputError(Message("{name} has no row that is a vector.", name=name), sorted(bad, key=_row))
    n_dims = max(set(lengths), key=lengths.count)
    stacked = np.full((len(rows), n_dims), np.nan, dtype=np.float32)
    for place, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        if row is None:
            continue
        if len(row) != n_dims:
            bad.append(
                BadRow(number, Message("It has {n} numbers, and most rows have {n_dims}.", n=len(row), n_dims=n_dims))
            )
        else:
            stacked[place] = row
            if not np.isfinite(row).all():
                bad.append(BadRow(number, NOT_FINITE))
    return stacked
