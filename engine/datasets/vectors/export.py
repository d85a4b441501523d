"""The vectors of a dataset as files of numpy, so that a command reads them again."""

from __future__ import annotations

import io
import zipfile

import numpy as np

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.outside_names import VECTORS_PREFIX, file_stem


def vector_files(dataset: LabelledSentences) -> dict[str, tuple[str, bytes]]:
    """By the name of a file the label that its model has, "" for none, and the content, in the order of the data.

    A .npy; or .npz with the name of the model in it, where there is no label and no file can be called as the model is.
    """
    files: dict[str, tuple[str, bytes]] = {}
    for of_model in dataset.vectors:
        label, equals, name = of_model.name.partition("=")
        label, name = (label, name) if equals else ("", of_model.name)
        stem = file_stem(name.removeprefix(VECTORS_PREFIX), "vectors")
        number, unique = 1, stem
        while {f"{unique}.npy", f"{unique}.npz"} & set(files):
            number += 1
            unique = f"{stem}-{number}"
        np.save(raw := io.BytesIO(), of_model.vectors)
        own = name.removeprefix(VECTORS_PREFIX)
        if label or own == unique:
            files[f"{unique}.npy"] = (label, raw.getvalue())
        else:
            files[f"{unique}.npz"] = ("", _named(own, raw.getvalue()))
    return files


def _named(name: str, array: bytes) -> bytes:
    """A .npz of one array, by the name of its model; the same bytes at any time."""
    with zipfile.ZipFile(raw := io.BytesIO(), "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"{name}.npy"), array)
    return raw.getvalue()


def vector_options(files: dict[str, tuple[str, bytes]], folder: str = "") -> tuple[str, ...]:
    """The options of a command that reads `vector_files`, which lie in a folder."""
    words = (f"{label}={folder}{path}" if label else f"{folder}{path}" for path, (label, _) in files.items())
    return tuple(word for path in words for word in ("--vectors", path))
