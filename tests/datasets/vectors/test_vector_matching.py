"""What models of vectors are called where their files give no label."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.datasets.vectors.files import VectorFile, vectors_of_frame
from engine.datasets.vectors.matching import labels_apart


def file(name: str, *models: str) -> VectorFile:
    rows = [(model, text, 1.0, 2.0) for model in models or ("",) for text in "ab"]
    frame = pd.DataFrame(rows, columns=["model", "sentence", "dim_0", "dim_1"])
    return vectors_of_frame(frame if models else frame.drop(columns="model"), name)


@pytest.mark.parametrize(
    ("files", "labels"),
    [
        ([file("a.csv"), file("b.csv")], ("", "")),
        ([file("a.csv"), file("a.csv"), file("a.jsonl")], ("", "a-2", "a-3")),
        ([file("a.csv"), file("a-2.csv"), file("a.csv")], ("", "", "a-3")),
        ([file("x.csv", "a"), file("a.csv")], ("", "a-2")),
        ([file("a.csv"), file("x.csv", "a", "b")], ("", "")),  # which is refused: a label names one model
    ],
)
def test_files_of_one_name_get_labels(files: list[VectorFile], labels: tuple[str, ...]) -> None:
    assert labels_apart(files) == labels
