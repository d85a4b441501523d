"""Vectors of labelled sentences that were computed elsewhere: with the sentences, as one more model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

ABOUT, COLUMN = "vectors", "vectors:"  # of the frame of a dataset


@dataclass(frozen=True, eq=False)
class OutsideVectors:
    """One model's vectors of the sentences of a dataset, aligned with them.

    name: of the model in settings, "vectors/NAME", with a label before it or not. file: where they are from, by its
    name; digest: SHA-256 of its content. form: how the file was laid out, a key of `vectors.files.FORMS`. vectors:
    float32 (n, dims); a row of NaN where the file has none.
    """

    name: str
    file: str
    digest: str
    form: str
    vectors: np.ndarray

    def subset(self, places: Sequence[int]) -> OutsideVectors:
        """The vectors of the sentences at these places."""
        return replace(self, vectors=self.vectors[list(places)])

    def content(self) -> str:
        """A SHA-256 of all that is here."""
        digest = hashlib.sha256(json.dumps([*self.about(), *self.vectors.shape], ensure_ascii=False).encode())
        digest.update(np.ascontiguousarray(self.vectors, dtype="<f4").tobytes())
        return digest.hexdigest()

    def about(self) -> list[str]:
        """Name, file, digest and form."""
        return [self.name, self.file, self.digest, self.form]


def with_vectors(frame: pd.DataFrame, vectors: Sequence[OutsideVectors]) -> pd.DataFrame:
    """The frame of a dataset with its vectors, little-endian float32, so that they are stored with it."""
    if not vectors or not len(frame):
        return frame
    about = json.dumps([of_model.about() for of_model in vectors], ensure_ascii=False)
    columns: dict[str, pd.Series] = {ABOUT: pd.Series([about] * len(frame), dtype="str")}
    for number, of_model in enumerate(vectors):
        rows = np.ascontiguousarray(of_model.vectors, dtype="<f4")
        columns[f"{COLUMN}{number}"] = pd.Series([row.tobytes() for row in rows], dtype=object)
    return frame.assign(**columns)


def vectors_of(frame: pd.DataFrame) -> tuple[OutsideVectors, ...]:
    """The vectors that `with_vectors` put into a frame, or into some rows of it."""
    if ABOUT not in frame.columns or f"{COLUMN}0" not in frame.columns or not frame[ABOUT].map(bool).all():
        return ()
    found = []
    for number, (name, file, digest, form) in enumerate(json.loads(frame[ABOUT].iloc[0])):
        raw = b"".join(frame[f"{COLUMN}{number}"])
        vectors = np.frombuffer(raw, dtype="<f4").astype(np.float32).reshape(len(frame), -1)
        found.append(OutsideVectors(name, file, digest, form, vectors))
    return tuple(found)


def without_vectors(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame of a dataset as a reader is shown it."""
    return frame.drop(columns=[name for name in frame.columns if name == ABOUT or str(name).startswith(COLUMN)])
