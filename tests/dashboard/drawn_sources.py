"""Where the data of a run come from, drawn at random: the printed command must find them whatever they are called."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.runs.access.datasets import FROM_KEPT

FILE_NAMES = ("-a 'b' $(c) & `d`.csv", "--out.csv", "版 1.2 (x).CSV", "a + b.csv", "=x.csv")
TYPED_NAMES = ("typed; `x` / $y", "v1.2", "a.b", "猫がいる / 猫をいる", "-x", "a.csv (60 sentences)")
# Names of samples and of a file that holds other data.
KEPT_NAMES = ("sample labelled sentences", "sample sentence pairs", "sample minimal pairs", "sample/masked-sentences",
              "sample masked sentences", "other.csv", "kept v1.2", "my.jsonl (version 2)")
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
