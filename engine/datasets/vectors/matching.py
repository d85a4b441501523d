"""The vectors of a file with the sentences of a dataset: by exact text, or in the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from engine.datasets.formats.columns import vectors_notice
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.labelled.outside_vectors import OutsideVectors
from engine.datasets.outside_names import VECTORS_PREFIX, printable
from engine.datasets.rows import left_out_notice, row_notice
from engine.datasets.scores.matching import key
from engine.datasets.vectors.files import VectorFile, Vectors
from engine.errors import BadRow, InputError
from engine.language.quantities import count
from engine.messages.message import Message, list_of

MISSING_ONE = Message("{name}: {rows} of the data has a sentence that {file} has no vector of: {listed}.")
MISSING = Message("{name}: {rows} of the data have a sentence that {file} has no vector of: {listed}.")
BY_COLUMN = Message("{name}: the rows of {file} are matched by their sentences, which are in its column '{column}'.")
BY_ORDER = Message(
    "{name}: {file} has no sentences, so its rows are taken in the order of the data: its first is the vector of {first!r}, "
    "its last that of {last!r}."
)


def attached(
    dataset: LabelledSentences, files: Sequence[VectorFile], labels: Sequence[str] = (), *, skip_bad_rows: bool = False
) -> LabelledSentences:
    """The dataset with the vectors of the files as further models, and notices of what did not match.

    labels: of each file the label that its model gets, "" for the name that the file says, or that of the file. Raises
    InputError: a label of several models, two models of one name, a file with another number of rows than the data where
    it has no sentences, one without a vector of any sentence, and sentences with two different vectors (with
    `skip_bad_rows` the later ones are left out).
    """
    vectors: list[OutsideVectors] = list(dataset.vectors)
    notices: list[str] = []
    for file, label in zip(files, labels or ("",) * len(files), strict=True):
        notices.append(vectors_notice(file.name, label))
        notices += [
            Message("In {label}: {notice}", label=file.name, notice=notice)
            for notice in (*file.notices, *left_out_notice(file.left_out))
        ]
        if label and len(file.models) > 1:
            raise InputError(
                Message(
                    "{name} holds vectors of {n} models ({models}), and a label names one. Leave the label out: they keep "
                    "their own names.",
                    name=file.name,
                    n=len(file.models),
                    models=list_of(of_model.model for of_model in file.models),
                )
            )
        for of_model in file.models:
            matched, about = _matched(dataset, file, of_model, _name(file, of_model, label), skip_bad_rows)
            vectors.append(matched)
            notices += about
    names = [of_model.name for of_model in vectors]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            Message(
                "The vectors of two models are called {twice}. Give each file a label of its own: --vectors LABEL=FILE.",
                twice=list_of(twice),
            )
        )
    return replace(dataset, vectors=tuple(vectors), notices=(*dataset.notices, *notices))


def labels_apart(files: Sequence[VectorFile]) -> tuple[str, ...]:
    """A label for each file of one model whose model is called as that of a file before it, "" for the others.

    For those who cannot give labels: two files of one name from two folders are two models.
    """
    labels: list[str] = []
    taken = {_name(file, of_model, "") for file in files for of_model in file.models}
    before: set[str] = set()
    for file in files:
        names = {_name(file, of_model, "") for of_model in file.models}
        if len(file.models) == 1 and names & before:
            [name] = names
            stem, number = name.removeprefix(VECTORS_PREFIX), 2
            while f"{VECTORS_PREFIX}{stem}-{number}" in taken:
                number += 1
            taken.add(f"{VECTORS_PREFIX}{stem}-{number}")
            labels.append(f"{stem}-{number}")
        else:
            labels.append("")
        before |= names
    return tuple(labels)


def _name(file: VectorFile, of_model: Vectors, label: str) -> str:
    """What settings call the model."""
    if label:
        return f"{label}={VECTORS_PREFIX}{label}"
    stem = PurePosixPath(file.name).name
    return VECTORS_PREFIX + printable(of_model.model or stem.removesuffix(PurePosixPath(stem).suffix) or stem)


def _matched(
    dataset: LabelledSentences, file: VectorFile, of_model: Vectors, name: str, skip_bad_rows: bool
) -> tuple[OutsideVectors, list[str]]:
    of_model, by_column = _with_texts(dataset, file, of_model, name)
    if of_model.texts is None:
        places, notices = _in_order(dataset, file, of_model, name)
    else:
        places, notices = _by_text(dataset, file, of_model, name, skip_bad_rows)
    notices = [*by_column, *notices]
    found = of_model.vectors[np.maximum(places, 0)]
    found[places < 0] = np.nan
    has_none = ~np.isfinite(found).all(axis=1)
    if has_none.all():
        raise InputError(
            Message(
                "{file} has no vector of any sentence of {data}: they are matched by their exact text. Its first is "
                "{first!r}, that of the data {own!r}.",
                file=file.name,
                data=dataset.name,
                first=of_model.texts[0] if of_model.texts else "",
                own=dataset.texts[0] if dataset.n else "",
            )
        )
    notices += row_notice(
        [dataset.rows[place] for place in np.flatnonzero(has_none)], MISSING_ONE, MISSING, name=name, file=file.name
    )
    return OutsideVectors(name, file.name, file.digest, file.form, found), notices


def _with_texts(
    dataset: LabelledSentences, file: VectorFile, of_model: Vectors, name: str
) -> tuple[Vectors, list[str]]:
    """The vectors with their sentences, where a column of another name holds them, and a notice of that column.

    In the order of the rows they would be taken for vectors of other sentences wherever the file is sorted otherwise.
    """
    sentences = set(map(key, dataset.texts))
    for column, cells in of_model.others.items():
        if 2 * sum(key(cell) in sentences for cell in cells) >= len(cells):
            return replace(of_model, texts=cells), [BY_COLUMN.format(name=name, file=file.name, column=column)]
    return of_model, []


def _in_order(
    dataset: LabelledSentences, file: VectorFile, of_model: Vectors, name: str
) -> tuple[np.ndarray, list[str]]:
    """The place of each sentence in a file without sentences: rows that were left out may be there or not."""
    n = len(of_model.vectors)
    if n == dataset.n:
        places = np.arange(n)
    elif n == dataset.n + len(dataset.left_out) and max(dataset.rows, default=0) <= n:
        places = np.array(dataset.rows, dtype=np.int64) - 1
    else:
        raise InputError(
            Message(
                "{file} has {n:,} vectors, and {data} has {sentences}. Without a column of sentences (sentence) they are "
                "matched by their order, and the numbers must be the same.",
                file=file.name,
                n=n,
                data=dataset.name,
                sentences=count(dataset.n, "sentence"),
            )
        )
    return places, [BY_ORDER.format(name=name, file=file.name, first=dataset.texts[0], last=dataset.texts[-1])]


def _by_text(
    dataset: LabelledSentences, file: VectorFile, of_model: Vectors, name: str, skip_bad_rows: bool
) -> tuple[np.ndarray, list[str]]:
    texts = of_model.texts or ()
    place_by_text: dict[str, int] = {}
    bad: list[BadRow] = []
    for place, text in enumerate(texts):
        known = place_by_text.setdefault(key(text), place)
        if known != place and not np.array_equal(of_model.vectors[known], of_model.vectors[place], equal_nan=True):
            bad.append(
                BadRow(
                    of_model.rows[place],
                    Message("{text!r} has another vector in row {row}", text=text, row=of_model.rows[known]),
                )
            )
    if bad and not skip_bad_rows:
        raise InputError(
            Message("{file} has two vectors of one sentence under {name}.", file=file.name, name=name), bad
        )
    notices: list[str] = [
        Message("In {label}: {notice}", label=file.name, notice=notice) for notice in left_out_notice(bad)
    ]
    places = np.array([place_by_text.get(key(text), -1) for text in dataset.texts], dtype=np.int64)
    n_unused = len(place_by_text) - len({int(place) for place in places if place >= 0})
    if n_unused:
        notices.append(
            Message(
                "{name}: {file} has {n} that the data lack.", name=name, n=count(n_unused, "sentence"), file=file.name
            )
        )
    return places, notices
