"""Finished runs of a size that nobody waits for: 67,000 minimal pairs, maps of 20,000 and 200,000 points, made up."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.records import TOKENS
from engine.evaluations.shared.declared_tables import tables_of
from engine.runs.access.viewers import LOCAL
from engine.runs.open import open_engine
from tests.support.cluster_results import result_of
from tests.support.minimal_results import synthetic

N_PAIRS, N_POINTS, MOST_POINTS = 67_000, 20_000, 200_000
VOCABULARY = 16
N_DRAWN = 1_000  # points of which the others are copies, moved a little: distances between all would not fit


def stored(data_dir: Path) -> tuple[str, str, str, str]:
    """Put them into a data directory; the ids of the runs: minimal pairs, clusters, pairs by two models, large clusters."""
    rows = tuple(range(1, N_PAIRS + 1))
    pairs = MinimalPairs(
        "made up",
        tuple(f"良い文{i}" for i in rows),
        tuple(f"悪い文{i}" for i in rows),
        tuple(f"c{i % 67}" for i in rows),
        rows,
    )
    scored = [_scored("m"), _scored("m", "n")]
    clusters, large = made_up_clusters(N_POINTS), made_up_clusters(MOST_POINTS, seed=1)
    made_up = (
        ("minimal-pairs", scored[0], pairs),
        ("clusters", clusters, _sentences(clusters)),
        ("minimal-pairs", scored[1], pairs),
        ("clusters", large, _sentences(large)),
    )
    first, second, third, fourth = _stored(data_dir, made_up)
    return first, second, third, fourth


def stored_clusters(data_dir: Path, n_points: int) -> str:
    """Put maps of so many points into a data directory; the id of the run."""
    clusters = made_up_clusters(n_points)
    return _stored(data_dir, [("clusters", clusters, _sentences(clusters))])[0]


def _stored(data_dir: Path, made_up: Sequence[tuple[str, Any, Any]]) -> list[str]:
    """Store results of kinds over datasets as finished runs; their ids."""
    results: dict[str, list[Any]] = {}
    for kind, result, _ in made_up:
        results.setdefault(kind, []).append(result)
    evaluations = {
        kind: dataclasses.replace(EVALUATIONS[kind], evaluate=_answering(*of_kind)) for kind, of_kind in results.items()
    }
    with open_engine(data_dir, evaluations=evaluations) as engine:
        access = engine.access(LOCAL)
        runs = [access.submit(kind, result.settings, dataset).run_id for kind, result, dataset in made_up]
        while any(run is None or run.state in ("queued", "running") for run in map(access.get, runs)):
            time.sleep(0.1)
        for run in map(access.get, runs):
            if run is None or run.state != "done":
                raise RuntimeError(f"a made-up run was not stored: {run}")
    return runs


def _answering(*results: Any) -> Any:
    return lambda settings, dataset, session: next(result for result in results if result.settings == settings)


def _scored(*models: str) -> Any:
    result = synthetic(N_PAIRS, models=models, n_categories=67)
    # What is stored has every declared column, and the tokenizer of every model.
    completed = {name: table.completed(getattr(result, name))[0] for name, table in tables_of(type(result)).items()}
    completed["pairs"] = completed["pairs"].assign(
        acceptable_unknown=0, unacceptable_unknown=0, scored_in="fp32", error_bound=0.0, first_token_differs=False
    )
    completed["tokens"] = _tokens(completed["pairs"], models)
    return dataclasses.replace(result, tokenizers=dict.fromkeys(models, "made up"), **completed)


def _tokens(pairs: pd.DataFrame, models: Sequence[str]) -> pd.DataFrame:
    """A row for each token of each sentence, each of the same share of its sentence's log-likelihood."""
    parts = []
    for model, side in product(models, SIDES):
        own = pairs[(pairs["model"] == model).to_numpy()]
        lengths = own[f"{side}_tokens"].to_numpy()
        positions = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        shares = own[f"{side}_log_likelihood"].to_numpy() / lengths
        parts.append(
            pd.DataFrame(
                {
                    "model": model,
                    "row": np.repeat(own["row"].to_numpy(), lengths),
                    "side": side,
                    "position": positions,
                    "token": np.array([f"t{i}" for i in range(VOCABULARY)], dtype=object)[positions % VOCABULARY],
                    "log_likelihood": np.repeat(shares, lengths),
                    "regions": (positions == 1).astype(np.int64),
                    "region": 0,
                    "boundary": np.nan,
                }
            )
        )
    return pd.concat(parts, ignore_index=True).astype(
        {column.name: column.dtype for column in TOKENS.columns if column.dtype}
    )


def _sentences(clusters: Any) -> LabelledSentences:
    points = clusters.points[clusters.points["model"] == clusters.settings.models[0]]
    return LabelledSentences("made up", tuple(points["text"]), tuple(points["label"]), tuple(points["row"]))


def made_up_clusters(n_points: int, seed: int = 0) -> Any:
    """Two models over so many sentences of five classes; the seed is that of the settings, which tell runs apart."""
    drawn = result_of(n_classes=5, n_per_class=N_DRAWN // 5)
    drawn = dataclasses.replace(drawn, settings=dataclasses.replace(drawn.settings, seed=seed))
    random = np.random.default_rng(0)
    copies = range(n_points // N_DRAWN)
    points = pd.concat(
        [
            drawn.points.assign(
                row=drawn.points["row"] + copy * N_DRAWN,
                text=drawn.points["text"] + f" {copy}",
                **{axis: drawn.points[axis] + random.normal(scale=0.1, size=len(drawn.points)) for axis in "xy"},
            )
            for copy in copies
        ],
        ignore_index=True,
    )
    neighbours = pd.concat(
        [
            drawn.neighbours.assign(
                row=drawn.neighbours["row"] + copy * N_DRAWN,
                neighbour=drawn.neighbours["neighbour"] + copy * N_DRAWN,
            )
            for copy in copies
        ],
        ignore_index=True,
    )
    return dataclasses.replace(drawn, points=points, neighbours=neighbours)
