"""Sentences in conditions: the surprisal of each region, and whether the predictions about them hold, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.designs import (
    CONDITION,
    ITEM,
    PREDICTION,
    REGION_NAMES,
    SUITE,
    check_number,
    check_regions,
    named_regions,
    predictions_in,
)
from engine.datasets.minimal_pairs.formulas import WHOLE_SENTENCE, Prediction, Region, parsed
from engine.datasets.minimal_pairs.pairs import FIELD
from engine.errors import InputError
from engine.evaluations.minimal_pairs.designs.arrays import by_suite, mean_with_interval, means_with_intervals
from engine.evaluations.minimal_pairs.records import PAIR_ROW, Result
from engine.evaluations.minimal_pairs.views import by_model
from engine.evaluations.shared.common_columns import MODEL, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message, named

VERSION = "0.3.0"
EVERY, MEAN = named("all predictions"), named("mean of the suites")
ONE_ITEM = Message("an interval needs two items")
NO_ITEM = Message("no item has every sentence that it names")
NOT_A_DIFFERENCE = Message("an effect is that of one comparison by < or >, or of a formula without any")
# Between the two factors in the name of a condition of a 2 x 2 design.
_BETWEEN = ("_", "-", ".", " ")
_SUITE = Column("suite", "text", "the suite, or the file")
_FORMULA = Column("prediction", "text", "the formula")
_ITEM, _CONDITION = Column("item", "text", "the item"), Column("condition", "text", "its condition")
_REGION = Column("region", "integer", "number of the region, from 1; 0 for the whole sentence")
_REGION_NAME = Column("region_name", "text", 'its name in the suite; "" where it has none')

PREDICTIONS = Table(
    "predictions",
    Message("A row for each prediction of each suite under each model; below one that & or | joins, its comparisons."),
    (
        MODEL,
        replace(_SUITE, meaning='the suite, or the file; "" for the mean of several'),
        replace(
            _FORMULA,
            meaning=Message(
                'the formula; "{EVERY}" for all formulas of the suite together, "{MEAN}" for '
                "the mean of the accuracies of several suites, each by all of its predictions",
                EVERY=EVERY,
                MEAN=MEAN,
            ),
        ),
        Column("is_part", "boolean", "whether it is a comparison of the prediction above it"),
        Column("n", "integer", "items that have every sentence that it names", "items"),
        Column(
            "n_correct",
            "integer",
            "of them, those for which it holds; of a formula without comparison, those above 0",
            "items",
        ),
        measured("prediction_accuracy", "accuracy"),
        *interval(Message("Wilson's; of the mean, Student's t over suites")),
        measured("prediction_effect", "effect"),
        *interval(Message("Student's t over items"), "effect"),
        WHY_UNDEFINED,
    ),
    only_with_rows=True,
    since=VERSION,
)
REGIONS = Table(
    "region_surprisals",
    Message("A row for each region of each condition of each suite under each model."),
    (
        MODEL,
        _SUITE,
        _CONDITION,
        _REGION,
        _REGION_NAME,
        Column("n", "integer", "items", "items"),
        measured("region_surprisal", "surprisal", "mean over the items"),
        *interval(Message("Student's t over items")),
    ),
    only_with_rows=True,
    since=VERSION,
)
SURPRISALS = Table(
    "surprisals",
    Message("A row for each region of each sentence under each model."),
    (
        MODEL,
        PAIR_ROW,
        _SUITE,
        _ITEM,
        _CONDITION,
        _REGION,
        _REGION_NAME,
        Column("tokens", "integer", "its scored tokens", "tokens"),
        measured("region_surprisal", "surprisal"),
    ),
    only_with_rows=True,
    since=VERSION,
)
OF_ITEMS = Table(
    "item_predictions",
    Message("A row for each prediction about each item under each model."),
    (
        MODEL,
        _SUITE,
        _FORMULA,
        replace(PAIR_ROW, meaning="number of the row of its first sentence in the file"),
        _ITEM,
        Column("holds", "integer or none", "1 where it holds, 0 where not; none where a sentence is missing"),
        measured("prediction_effect", "effect"),
    ),
    only_with_rows=True,
    since=VERSION,
)


@dataclass(frozen=True)
class _Suite:
    """The sentences of a suite under a model: `of_region`, by (region, condition) the surprisal of each item."""

    model: str
    name: str
    items: list[str]
    rows: list[int]  # of the first sentence of each item
    of_region: dict[Region, np.ndarray]
    predictions: tuple[Prediction, ...]


@returns(PREDICTIONS)
def predictions(result: Result, formulas: Sequence[str] = ()) -> pd.DataFrame:
    """How often does each prediction hold, and how far are items on its side? No row for pairs.

    formulas: in place of those of the data, each about the suites that have its conditions and regions. A suite without
    any, of four conditions that are two factors' by their names (a_x, a_y, b_x, b_y), has their interaction over the
    whole sentence. Raises InputError for a formula that cannot be read, or names what no suite has.
    """
    rows: list[dict[str, Any]] = []
    scored: dict[str, list[dict[str, Any]]] = {}  # by model the row of each suite that is its score
    for suite in _suites(result, formulas):
        held = []
        for prediction in suite.predictions:
            holds = prediction.holds(suite.of_region)
            held.append(holds)
            rows.append(_row(suite, prediction.text, holds, prediction.effect(suite.of_region), is_part=False))
            rows += [
                _row(suite, part.text, part.holds(suite.of_region), part.effect(suite.of_region), is_part=True)
                for part in prediction.comparisons
            ]
        if len(held) > 1:
            together = np.where(np.isnan(held).any(axis=0), np.nan, (np.array(held) == 1).all(axis=0))
            rows.append(_row(suite, EVERY, together, None, is_part=False))
        if held:
            score = rows[-1] if len(held) > 1 else next(row for row in reversed(rows) if not row["is_part"])
            scored.setdefault(suite.model, []).append(score)
    rows += [_mean_row(model, of_suites) for model, of_suites in scored.items() if len(of_suites) > 1]
    return PREDICTIONS.frame_of_records(rows)


def suite_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Of `predictions` the one row for each model that says how good it is: of the mean, of all, or of the only one."""
    whole = table[~table["is_part"]]
    several = whole[whole["prediction"] == MEAN]
    if several.empty:
        several = whole[whole["prediction"] == EVERY]
    return (whole if several.empty else several).drop_duplicates("model").reset_index(drop=True)


@returns(OF_ITEMS)
def item_predictions(result: Result, formulas: Sequence[str] = ()) -> pd.DataFrame:
    """For which items does each prediction hold? formulas: as in `predictions`."""
    parts: dict[str, list[Any]] = {name: [] for name in OF_ITEMS.headers}
    for suite in _suites(result, formulas):
        n = len(suite.items)
        for prediction in suite.predictions:
            effect = prediction.effect(suite.of_region)
            values = (
                np.full(n, suite.model, object),
                np.full(n, suite.name, object),
                np.full(n, prediction.text, object),
                suite.rows,
                suite.items,
                prediction.holds(suite.of_region),
                np.full(n, np.nan) if effect is None else effect,
            )
            for name, part in zip(parts, values, strict=True):
                parts[name].append(part)
    if not parts["row"]:
        return OF_ITEMS.frame()
    joined = {name: np.concatenate(several) for name, several in parts.items()}
    return pd.DataFrame(joined | {"holds": pd.array(joined["holds"], dtype="Float64").astype("Int64")}).astype(
        dict.fromkeys(("model", "suite", "prediction", "item"), "str")
    )


@returns(REGIONS)
def region_surprisals(result: Result) -> pd.DataFrame:
    """The mean surprisal of each region in each condition, the whole sentence first; no row for pairs."""
    table = surprisals(result)
    names = ["model", "suite", "condition", "region", "region_name"]
    group = table.groupby(names, sort=False).ngroup().to_numpy()
    firsts = table.loc[~table.duplicated(names), names].reset_index(drop=True)
    order, sizes = np.argsort(group, kind="stable"), np.bincount(group, minlength=len(firsts))
    sorted_values, starts = table["surprisal"].to_numpy()[order], np.cumsum(sizes) - sizes
    ends = np.full((3, len(firsts)), np.nan)
    for size in np.unique(sizes):  # the groups of one size at once
        of_size = np.flatnonzero(sizes == size)
        values = sorted_values[starts[of_size][:, None] + np.arange(size)]  # (n_groups, size)
        ends[:, of_size] = means_with_intervals(values)
    mean, low, high = ends
    return REGIONS.arranged(firsts.assign(n=sizes, surprisal=mean, ci_low=low, ci_high=high)[REGIONS.headers])


@returns(SURPRISALS)
def surprisals(result: Result) -> pd.DataFrame:
    """The surprisal of every region of every sentence, in bits, and of the whole sentence; no row for pairs.

    A region without a token has 0. Source: SyntaxGym (Gauthier et al. 2020), the metric "sum".
    """
    if f"{FIELD}{CONDITION}" not in result.items.columns or "region" not in result.tokens.columns:
        return SURPRISALS.frame()
    items = result.items
    names = _suite_names(items)
    named = {
        name: named_regions("\n".join(texts.unique()))
        for name, texts in items[f"{FIELD}{REGION_NAMES}"].groupby(names, sort=False)
    }
    reached = (
        items["row"]
        .map(rows_where(result.tokens, ["row", "region"]).groupby("row")["region"].max())
        .fillna(0)
        .astype(int)
    )
    # The last region of each suite, also where no sentence has anything there.
    reached = reached.clip(lower=names.map({name: max(called, default=0) for name, called in named.items()}))
    last = reached.groupby(names).transform("max").to_numpy()
    most = int(last.max(initial=0))
    regions = np.arange(most + 1)
    parts = [SURPRISALS.frame()]
    for model, pairs in by_model(result):
        own = rows_where(result.tokens, ["row", "region", "log_likelihood"], model=model, side="acceptable")
        place = pd.Index(pairs["row"]).get_indexer(own["row"])  # of each token's sentence
        bits = -own["log_likelihood"].to_numpy(dtype=np.float64) / np.log(2)
        cells = place * (most + 1) + own["region"].to_numpy(dtype=np.int64)
        summed = np.bincount(cells, bits, minlength=len(pairs) * (most + 1)).reshape(len(pairs), most + 1)
        counted = np.bincount(cells, minlength=len(pairs) * (most + 1)).reshape(len(pairs), most + 1)
        summed[:, WHOLE_SENTENCE], counted[:, WHOLE_SENTENCE] = summed.sum(axis=1), counted.sum(axis=1)
        lines = pairs["item"].to_numpy()
        kept = (regions[None, :] <= last[lines][:, None]).ravel()
        labels = {
            name: np.repeat(values.to_numpy()[lines], most + 1)[kept]
            for name, values in (
                ("row", items["row"]),
                ("suite", names),
                ("item", items[f"{FIELD}{ITEM}"]),
                ("condition", items[f"{FIELD}{CONDITION}"]),
            )
        }
        region_names = [named[name].get(region, "") for name in names.to_numpy()[lines] for region in regions.tolist()]
        parts.append(
            pd.DataFrame(
                {
                    "model": model,
                    **labels,
                    "region": np.tile(regions, len(pairs))[kept],
                    "region_name": np.array(region_names, dtype=object)[kept],
                    "tokens": counted.ravel()[kept],
                    "surprisal": summed.ravel()[kept],
                },
            ).astype(dict.fromkeys(("model", "suite", "item", "condition", "region_name"), "str"))[SURPRISALS.headers]
        )
    return pd.concat(parts, ignore_index=True)


def formulas_of(result: Result) -> tuple[str, ...]:
    """The predictions of the data, each once; () where they have none."""
    column = f"{FIELD}{PREDICTION}"
    return predictions_in(result.items[column]) if column in result.items.columns else ()


def interaction(conditions: Sequence[str]) -> str | None:
    """The interaction of two factors over whole sentences, where four conditions are named as theirs; else None.

    >>> interaction(["that_gap", "that_nogap", "what_gap", "what_nogap"])
    '((*;%that_gap%) - (*;%that_nogap%)) - ((*;%what_gap%) - (*;%what_nogap%))'
    """
    for between in _BETWEEN:
        parts = [tuple(condition.split(between)) for condition in conditions]
        if len(parts) != 4 or any(len(part) != 2 for part in parts):
            continue
        first, second = (list(dict.fromkeys(part[place] for part in parts)) for place in (0, 1))
        if len(first) == len(second) == 2 and len(set(parts)) == 4:
            (a, b), (x, y) = first, second
            of = [f"(*;%{one}{between}{other}%)" for one in (a, b) for other in (x, y)]
            return f"({of[0]} - {of[1]}) - ({of[2]} - {of[3]})"
    return None


def _suites(result: Result, formulas: Sequence[str]) -> Iterator[_Suite]:
    table = surprisals(result)
    if table.empty:
        return
    of_names = {str(name): rows for name, rows in result.items.groupby(_suite_names(result.items), sort=False)}
    conditions = {name: rows[f"{FIELD}{CONDITION}"].unique().tolist() for name, rows in of_names.items()}
    last = table.groupby("suite")["region"].max()
    asked = _asked(
        formulas,
        {name: (set(of_suite), set(range(1, int(last.get(name, 0)) + 1))) for name, of_suite in conditions.items()},
    )
    chosen: dict[str, tuple[Prediction, ...]] = {}
    for name, rows in of_names.items():
        default = interaction(conditions[name])
        own = asked[name] if formulas else predictions_in(rows[f"{FIELD}{PREDICTION}"])
        chosen[name] = tuple(map(parsed, own if own or formulas or not default else (default,)))
    scored = by_suite(table)
    for model in dict.fromkeys(table["model"]):
        for name, formulas_of_suite in chosen.items():
            # A suite of which the model scored no sentence has no item.
            items, rows_of_items, of_region = scored.get((model, name), ([], [], {}))
            # A condition of which the model scored no sentence has no surprisal.
            for region in (region for prediction in formulas_of_suite for region in prediction.regions):
                of_region.setdefault(region, np.full(len(items), np.nan))
            yield _Suite(str(model), name, items, rows_of_items, of_region, formulas_of_suite)


def _asked(formulas: Sequence[str], suites: Mapping[str, tuple[set[str], set[int]]]) -> dict[str, list[str]]:
    """By suite the formulas about its conditions and regions (`suites`). Raises InputError for one about no suite's."""
    asked: dict[str, list[str]] = {name: [] for name in suites}
    check_number(next(iter(suites)), formulas)
    for formula in formulas:
        errors = []
        for name, (conditions, regions) in suites.items():
            try:
                check_regions(name, (formula,), conditions, regions)
                asked[name].append(formula)
            except InputError as error:
                errors.append(error)
        if len(errors) == len(suites):
            raise errors[0]
    return asked


def _suite_names(items: pd.DataFrame) -> pd.Series:
    """The suite of each row, or its file; with the file where two files name their suites alike."""
    suites, sources = items[f"{FIELD}{SUITE}"], items["source"]
    names = suites.where(suites != "", sources)
    several = sources.groupby(names).transform("nunique") > 1
    return names.where(~several, names + " (" + sources + ")")


def _row(suite: _Suite, text: str, holds: np.ndarray, effect: np.ndarray | None, *, is_part: bool) -> dict[str, Any]:
    decided = holds[~np.isnan(holds)]
    n, n_correct = decided.size, int(decided.sum())
    low, high = wilson_interval(n_correct, n) if n else (np.nan, np.nan)
    mean, mean_low, mean_high = mean_with_interval(effect[~np.isnan(effect)]) if effect is not None else (np.nan,) * 3
    return {
        "model": suite.model,
        "suite": suite.name,
        "prediction": text,
        "is_part": is_part,
        "n": n,
        "n_correct": n_correct,
        "accuracy": n_correct / n if n else np.nan,
        "ci_low": low,
        "ci_high": high,
        "effect": mean,
        "effect_low": mean_low,
        "effect_high": mean_high,
        "reason": NO_ITEM if not n else NOT_A_DIFFERENCE if effect is None else ONE_ITEM if n == 1 else "",
    }


def _mean_row(model: str, of_suites: list[dict[str, Any]]) -> dict[str, Any]:
    shares = np.array([row["accuracy"] for row in of_suites], dtype=np.float64)
    mean, low, high = mean_with_interval(shares[~np.isnan(shares)])
    if low == high:  # of suites that are all alike: their number says how sure the mean is, not their spread
        low = high = np.nan
    return {
        "model": model,
        "suite": "",
        "prediction": MEAN,
        "is_part": False,
        "n": sum(row["n"] for row in of_suites),
        "n_correct": sum(row["n_correct"] for row in of_suites),
        "accuracy": mean,
        "ci_low": max(low, 0.0),
        "ci_high": min(high, 1.0),
        "effect": np.nan,
        "effect_low": np.nan,
        "effect_high": np.nan,
        "reason": NO_ITEM if np.isnan(mean) else NOT_A_DIFFERENCE,
    }
