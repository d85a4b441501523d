"""The tasks of the BabyLM challenge in a data set: each item with its options, as the challenge counts and names them.

Source: the strict track of babylm-org/babylm-eval (2026), and babylm/evaluation-pipeline-2025 before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.datasets.formats.columns import normalize_name
from engine.datasets.minimal_pairs.layouts import ENTITIES, FORMS
from engine.datasets.minimal_pairs.pairs import FIELD, MIXED, MinimalPairs

ACCEPTABLE, UNACCEPTABLE = 0, 1  # sides
EVEN = 0.5  # the share of people from which on the first of two forms is read as the acceptable one
Row = Mapping[str, Any]
_TELLING = tuple(f"{FIELD}{name}" for name in ("UID", "Domain", "numops"))
_REPEATED = re.compile(r" \(\d+\)$")  # of the name of a file that several have


@dataclass(frozen=True)
class Task:
    """One task as the challenge has it.

    name: of the task, layout: of its rows. folder: (row, stem of its file) -> the folder of its data, where the name of
    the file does not say it. uid: likewise the subset that a row is counted in. options: a row -> the texts that its
    predictions are, the right one first (of two forms the first one). of_completions: whether what follows the context
    is scored alone. is_ratio: whether it is a correlation with the share of people who choose the first option.
    """

    name: Callable[[str], str]
    layout: str
    folder: Callable[[Row, str], str]
    uid: Callable[[Row, str], str]
    options: Callable[[Row], list[str]]
    of_completions: bool = True
    is_ratio: bool = False


@dataclass(frozen=True)
class Item:
    """One item: its subset, the texts of its options, and where the score of each stands (place of the pair, side).

    ratio: the share of people who choose the first option; None where one option is right.
    """

    uid: str
    options: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    ratio: float | None = None


@dataclass(frozen=True)
class Part:
    """The items of one folder of a task, in the order of the data."""

    task: str
    folder: str
    items: tuple[Item, ...]
    of_completions: bool
    is_ratio: bool

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where the score of each option stands, -1 for none: (n_items, most_options, 2)."""
        most = max((len(item.places) for item in self.items), default=0)
        filled = [[*item.places, *[(-1, -1)] * (most - len(item.places))] for item in self.items]
        return np.array(filled, dtype=np.int64).reshape(-1, most, 2)

    @property
    def uids(self) -> tuple[str, ...]:
        """The subsets, in the order in which they come."""
        return tuple(dict.fromkeys(item.uid for item in self.items))


_COMPS = {
    "comps_base": "base",
    "comps_wugs": "wugs",
    "comps_wugs_dist-before": "wugs_dist_before",
    "comps_wugs_dist-in-between": "wugs_dist_in_between",
}


def _forms(stem: str) -> str:
    return "wug_past" if "past" in stem else "wug_adj"


def _of_blimp(row: Row, stem: str) -> str:
    """BLiMP's own files name their subset; the supplement is named by its files."""
    return str(row["uid"]) if "field" in row and "uid" in row else stem


TASKS: Mapping[str, Task] = {
    task.layout: task
    for task in (
        Task(
            lambda stem: "blimp",
            "BLiMP",
            lambda row, stem: "blimp_filtered" if "field" in row else "supplement_filtered",
            _of_blimp,
            lambda row: [row["sentence_good"], row["sentence_bad"]],
            of_completions=False,
        ),
        Task(
            lambda stem: "ewok",
            "EWoK",
            lambda row, stem: "ewok_filtered",
            lambda row, stem: str(row["domain"]),
            lambda row: [f" {row['target1']}", f" {row['target2']}"],
        ),
        Task(
            lambda stem: "comps",
            "COMPS",
            lambda row, stem: "comps",
            lambda row, stem: _COMPS.get(stem, stem),
            lambda row: [
                f"{row[f'prefix_{side}']} {row['property_phrase']}" for side in ("acceptable", "unacceptable")
            ],
        ),
        Task(
            lambda stem: "entity_tracking",
            ENTITIES,
            lambda row, stem: "entity_tracking",
            lambda row, stem: f"{stem}_{row['numops']}_ops",
            lambda row: list(json.loads(row["options"])),
        ),
        Task(
            _forms,
            FORMS,
            lambda row, stem: "wug_past_tense" if "past" in stem else "wug_adj_nominalization",
            lambda row, stem: _forms(stem),
            lambda row: row["sentences"].split("\t"),
            of_completions=False,
            is_ratio=True,
        ),
    )
}


def may_have_tasks(layout: str, items: pd.DataFrame) -> bool:
    """Whether data of this layout, with these `Result.items`, look like those of the challenge: rows are not read.

    Two columns of BLiMP's names without subsets are somebody's own.

    >>> may_have_tasks("EWoK", pd.DataFrame()), may_have_tasks("BLiMP", pd.DataFrame({"field:UID": ["a", "a"]}))
    (True, False)
    """
    n_values = {name: items[name].nunique() for name in _TELLING if name in items}
    if layout == "BLiMP":
        return n_values.get(_TELLING[0], 0) > 1
    return layout in TASKS or (layout == MIXED and bool(n_values))


def parts_of(dataset: MinimalPairs) -> tuple[Part, ...]:
    """The tasks of the challenge that a data set has, in its order; () for other data.

    Rows of other layouts are of none. A folder is that of the file, or the challenge's own name of it.
    """
    found: dict[tuple[str, str, str], list[Item]] = {}
    tasks: dict[tuple[str, str, str], Task] = {}
    for place, (layout, source, original) in enumerate(
        zip(dataset.formats, dataset.sources, dataset.originals, strict=True)
    ):
        task = TASKS.get(layout)
        if task is None or not original:
            continue
        row = {_normalized(name): value for name, value in json.loads(original).items()}
        path = PurePosixPath(_REPEATED.sub("", source))
        folder = path.parent.name or task.folder(row, path.stem)
        key = (task.name(path.stem), folder, str(path.parent.parent))
        tasks.setdefault(key, task)
        options = tuple(task.options(row))
        if layout == ENTITIES and int(row["option"]) > 2 and found.get(key):
            last = found[key][-1]
            found[key][-1] = Item(last.uid, last.options, (*last.places, (place, UNACCEPTABLE)))
            continue
        sides = (ACCEPTABLE, UNACCEPTABLE)
        ratio = float(row["ratio"]) if task.is_ratio else None
        if ratio is not None and ratio < EVEN:
            sides = (UNACCEPTABLE, ACCEPTABLE)  # the second form is the acceptable one
        item = Item(task.uid(row, path.stem), options, tuple((place, side) for side in sides), ratio)
        found.setdefault(key, []).append(item)
    return tuple(
        Part(*key[:2], tuple(items), tasks[key].of_completions, tasks[key].is_ratio) for key, items in found.items()
    )


@lru_cache(maxsize=512)
def _normalized(name: str) -> str:
    return normalize_name(name)
