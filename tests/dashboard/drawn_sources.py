"""Where the data of a run come from, drawn at random: the printed command must find them whatever they are called."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.datasets import sample_data, sentence_pairs
from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs import pairs as minimal_pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.runs.access.datasets import FROM_KEPT

FILE_NAMES = ("-a 'b' $(c) & `d`.csv", "--out.csv", "版 1.2 (x).CSV", "a + b.csv", "=x.csv")
TYPED_NAMES = ("typed; `x` / $y", "v1.2", "a.b", "猫がいる / 猫をいる", "-x", "a.csv (60 sentences)")
# Names of samples and of a file that holds other data.
KEPT_NAMES = (
    "sample labelled sentences",
    "sample sentence pairs",
    "sample minimal pairs",
    "sample/masked-sentences",
    "sample masked sentences",
    "other.csv",
    "kept v1.2",
    "my.jsonl (version 2)",
)
OTHER_DATA = "text,label\n1,2\n"


def from_anywhere(dataset: Any, seed: int) -> Any:
    """The dataset as it would be from a file of that name or of a strange one, from typed text, or kept by name.

    The file of its name lies in the working directory.
    """
    draws = random.Random(seed + 1000)
    source = ("file", "strange file", "typed", "kept")[seed % 4]
    if source == "strange file":
        name = draws.choice(FILE_NAMES)
        shutil.copy(dataset.name, name)
        return replace(dataset, name=name)
    if source == "typed":
        return replace(dataset, name=draws.choice(TYPED_NAMES))
    if source == "kept":
        Path("other.csv").write_text(OTHER_DATA, encoding="utf-8")
        name = draws.choice(KEPT_NAMES)
        return replace(dataset, name=name, notices=(FROM_KEPT.format(name=name), *dataset.notices))
    return dataset


def sample_from_anywhere(kind: str, request: pytest.FixtureRequest) -> Any:
    """The sample, or in a test with a seed its rows as they would be from somewhere else.

    Minimal pairs come from two files, too, with their columns chosen by hand.
    """
    sample = getattr(sample_data, kind)()
    seed = getattr(request.node, "callspec", None) and request.node.callspec.params.get("seed")
    if seed is None or seed % 6 == 0:
        return sample
    if isinstance(sample, MinimalPairs) and seed % 6 == 1:
        header, *lines = sample_data.path(kind).read_text(encoding="utf-8-sig").splitlines()
        chosen = {"acceptable": "x", "unacceptable": "y", "category": "-z"}
        renamed = header.replace("unacceptable", "y").replace("acceptable", "x").replace("phenomenon", "-z")
        for name, part in zip(("one.csv", "-two.csv"), (lines[:90], lines[90:]), strict=True):
            Path(name).write_text("\n".join([renamed, *part]) + "\n", encoding="utf-8")
        return read_pairs([(name, Path(name)) for name in ("one.csv", "-two.csv")], chosen)
    # Without its last row, as the content of the sample is the sample, whatever it is called.
    lines = sample_data.path(kind).read_text(encoding="utf-8-sig").splitlines()[:-1]
    Path("few.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    reader = minimal_pairs if isinstance(sample, MinimalPairs) else sentence_pairs
    return from_anywhere(reader.from_table(read_table(Path("few.csv"))), seed)
