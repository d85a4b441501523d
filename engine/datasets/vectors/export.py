"""The vectors of a dataset as files of numpy, so that a command reads them again."""

from __future__ import annotations

import io

import numpy as np

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.outside_names import VECTORS_PREFIX, file_stem


def vector_files(dataset: LabelledSentences) -> dict[str, tuple[str, bytes]]:
    """By the name of a file the label that its model has, "" for none, and the content: a .npy in the order of the data."""
    files: dict[str, tuple[str, bytes]] = {}
    for of_model in dataset.vectors:
        label, equals, name = of_model.name.partition("=")
        label, name = (label, name) if equals else ("", of_model.name)
        stem = file_stem(name.removeprefix(VECTORS_PREFIX), "vectors")
        number, path = 1, f"{stem}.npy"
        while path in files:
            number += 1
            path = f"{stem}-{number}.npy"
        np.save(raw := io.BytesIO(), of_model.vectors)
        files[path] = (label, raw.getvalue())
    return files


def vector_options(files: dict[str, tuple[str, bytes]], folder: str = "") -> tuple[str, ...]:
    """The options of a command that reads `vector_files`, which lie in a folder."""
    words = (f"{label}={folder}{path}" if label else f"{folder}{path}" for path, (label, _) in files.items())
    return tuple(word for path in words for word in ("--vectors", path))
