"""Results in the directories that commands wrote, for the agreement of models without the list of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from engine.errors import InputError, reason_of
from engine.evaluations.agreement.benchmark import Benchmark, held_against
from engine.evaluations.agreement.benchmark_files import BenchmarkScores, read_benchmark
from engine.evaluations.agreement.evaluate import (
    AGREEMENT,
    BENCHMARK,
    MODELS,
    RUNS,
    SCORES,
    agreement_table,
    printed_table,
    scores_of,
)
from engine.evaluations.clusters.records import RANKS, are_of_the_same_sentences, without_ranks
from engine.evaluations.paper_tables.sentence_clustering import COMPARED, TABLES
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.evaluations.shared.signature import SIGNATURE_FILE
from engine.messages.message import Message, list_of
from engine.options import option
from engine.version import VERSION

_SINCE = "0.3.0"
PAPER = Column("paper", "text", "the paper", since=_SINCE)
PUBLISHED_MODELS = Table(
    "published_models",
    Message(
        "With --published: a row for each model of a paper that reports two of the "
        "evaluations, in the printed numbers, which are of other "
        "sentences."
    ),
    (PAPER, *MODELS.columns),
    since=_SINCE,
)
PUBLISHED_AGREEMENT = Table(
    "published_agreement",
    Message("With --published: each two evaluations of a paper, over its models; computed from the printed numbers."),
    (PAPER, *AGREEMENT.columns),
    since=_SINCE,
)
FILES = (MODELS, AGREEMENT, PUBLISHED_MODELS, PUBLISHED_AGREEMENT)


@dataclass(frozen=True)
class Sources:
    """What is held side by side: the directories by evaluation, and the papers' models."""

    clusters: str | None = option(
        None, "Directory that the command clusters wrote (its --out).", metavar="DIR", unset="none"
    )
    fill_mask: str | None = option(None, "Directory that the command fill-mask wrote.", metavar="DIR", unset="none")
    classification: str | None = option(
        None, "Directory that the command classification wrote.", metavar="DIR", unset="none"
    )
    benchmark: tuple[str, ...] = option(
        (),
        "Results of mteb (its folder, or a zip of it), summary.json of JMTEB, or a table with a column model and one for "
        "each task, as a further evaluation; repeatable.",
        metavar="FILE",
        unset="none",
    )
    published: bool = option(False, "Also write what the papers printed of their models, in tables of their own.")

    @property
    def directories(self) -> dict[str, Path]:
        """The directories by kind of run."""
        by_kind = {kind: getattr(self, kind.replace("-", "_")) for kind in RUNS}
        return {kind: Path(directory) for kind, directory in by_kind.items() if directory is not None}


@dataclass(frozen=True)
class Written:
    """What a command wrote, as far as the agreement needs it. `models` or `common`: see `evaluate.SCORES`; comparisons: of
    models, None where they were not written."""

    models: pd.DataFrame = field(default_factory=pd.DataFrame)
    common: pd.DataFrame = field(default_factory=pd.DataFrame)
    signature: Mapping[str, Any] = field(default_factory=dict)
    comparisons: pd.DataFrame | None = None


def read_directories(sources: Sources) -> dict[str, Written | Benchmark]:
    """The results by kind. Raises InputError for a directory that is not the output of its command, for one alone, and
    for benchmark files that `read_benchmark` or `held_against` refuse.

    None at all is possible where the papers' numbers are asked for.
    """
    directories = sources.directories
    n_given = len(directories) + bool(sources.benchmark)
    if not directories or n_given < 2:
        if sources.published and not n_given:
            return {}
        raise InputError(
            Message(
                "An agreement needs at least two evaluations: the directories written by the commands of these names "
                "(--clusters, --fill-mask, --classification), or one of them and --benchmark; or --published alone, for "
                "the papers' models."
            )
        )
    written: dict[str, Written | Benchmark] = {
        kind: _written(kind, directory) for kind, directory in directories.items()
    }
    if sources.benchmark:
        written[BENCHMARK] = beside(written, read_benchmark([Path(file) for file in sources.benchmark]))
    return written


def beside(results: Mapping[str, Any], scores: BenchmarkScores) -> Benchmark:
    """The scores of a benchmark for the models of results (by kind). Raises InputError as `held_against`."""
    names = [str(name) for kind, result in results.items() for name in scores_of(kind, result).index]
    return held_against(scores, list(dict.fromkeys(names)))


def signature_of(results: Mapping[str, Written | Benchmark], *, published: bool) -> dict[str, Any]:
    """What determines the tables: the signatures of the results, by kind."""
    runs = {kind: dict(result.signature) for kind, result in results.items() if kind != BENCHMARK}
    benchmark = {BENCHMARK: dict(results[BENCHMARK].signature)} if BENCHMARK in results else {}
    return {"runs": runs, **benchmark, "published": published, "versions": {"hakari": VERSION}}


@returns(PUBLISHED_MODELS)
def published_models() -> pd.DataFrame:
    """The models of every two evaluations that one paper reports."""
    frames = []
    for kinds, columns in COMPARED.items():
        table = printed_table(*kinds)
        if table is not None:
            missing = {
                column.name: column.missing(table.index)
                for column in MODELS.columns
                if column.name not in table.columns
            }
            frames.append(table.assign(paper=TABLES[columns[0][0]].paper, **missing))
    return pd.concat(frames, ignore_index=True).astype({f"rank {kind}": "Int64" for kind in SCORES})


@returns(PUBLISHED_AGREEMENT)
def published_agreement() -> pd.DataFrame:
    """The agreement of every two evaluations that one paper reports."""
    frames = []
    for kinds, columns in COMPARED.items():
        table = printed_table(*kinds)
        if table is not None:
            frames.append(agreement_table(table).assign(paper=TABLES[columns[0][0]].paper))
    return pd.concat(frames, ignore_index=True)


def _written(kind: str, directory: Path) -> Written:
    table, column = SCORES[kind]
    asked = Message("--{kind} takes the directory that `python -m engine {kind}` wrote", kind=kind)
    try:
        signature = json.loads((directory / SIGNATURE_FILE).read_text(encoding="utf-8"))
        frame = pd.read_csv(
            directory / f"{table}.csv",
            float_precision="round_trip",
            keep_default_na=False,
            na_values={name: [""] for name in (column, *RANKS)},
            dtype={"model": str, "domain": str},
        )
        if kind == "clusters" and (points := directory / "points.csv").is_file():
            rows = pd.read_csv(points, usecols=["model", "row"], keep_default_na=False, dtype={"model": str})
            frame = frame if are_of_the_same_sentences(rows) else without_ranks(frame)
        comparisons = _comparisons(directory / "comparisons.csv")
    except OSError as error:
        path = error.filename or directory
        raise InputError(
            Message("{path} cannot be read: {error}. {asked}.", path=path, error=reason_of(error), asked=asked)
        ) from error
    except (ValueError, pd.errors.ParserError) as error:  # ValueError: neither JSON nor UTF-8 nor numbers
        raise InputError(
            Message(
                "{directory} holds no result that can be read: {error}. {asked}.",
                directory=directory,
                error=error,
                asked=asked,
            )
        ) from error
    if column not in frame or "model" not in frame or not isinstance(signature, dict) or "models" not in signature:
        raise InputError(
            Message(
                "{directory} is no output of {kind}: its {table}.csv has the columns {columns}, and "
                "{column} is needed. {asked}.",
                directory=directory,
                kind=kind,
                table=table,
                columns=list_of(map(str, frame.columns)),
                column=column,
                asked=asked,
            )
        )
    return Written(**{table: frame}, signature=signature, comparisons=comparisons)


def _comparisons(path: Path) -> pd.DataFrame | None:
    """The models compared two by two; None where that was not written, or by something else."""
    if not path.is_file():
        return None
    frame = pd.read_csv(path, keep_default_na=False, dtype={"model": str, "other": str})
    return frame if {"model", "other", "separable"} <= set(frame.columns) else None
