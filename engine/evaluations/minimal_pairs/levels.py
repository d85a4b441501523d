"""Tables as benchmarks print them: accuracy by levels of columns and along checkpoints, tests over clusters of pairs.

BLiMP prints fields, phenomena and paradigms: each a column of its files. Its pairs are made from templates, so they are
no independent sample; here intervals and tests take the pairs of one template as a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.items import ITEM as ITEM_COLUMN
from engine.datasets.minimal_pairs.pairs import FIELD
from engine.errors import InputError
from engine.evaluations.minimal_pairs.clustered.intervals import (
    CLUSTERED_BY,
    MACRO_NOTE,
    N_CLUSTERS,
    NOTE,
    OVER,
    SIGNIFICANT,
    corrected,
    macro_over,
    share_over,
    tested_over,
)
from engine.evaluations.minimal_pairs.records import CATEGORY, Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series
from engine.evaluations.minimal_pairs.views import (
    COUNTED,
    DEFAULT_ALPHA,
    NORMALIZATION,
    STRATUM,
    by_category,
    by_model,
    categories_of,
    clusters_of,
    decided,
    of_model,
    summary,
)
from engine.evaluations.shared.common_columns import MODEL, OTHER, interval, separable_in_bold
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.statistics.clustered import POWER
from engine.measures.statistics.intervals import wilson_interval
from engine.messages.message import Message, named

ALL_PAIRS = "all"  # the level above every column
SEPARATOR = " / "  # between the values of nested levels
VERSION = "0.3.0"
# Columns of published files by level, the widest first, and those that name a template.
LEVEL_NAMES = (("field",), ("phenomenon", "linguistics_term"), ("paradigm", "UID"))
TEMPLATE_NAMES = ("template", "paradigm", "UID")

DETECTABLE = Column(
    "detectable",
    "number",
    Message(
        "the smallest true difference that these pairs show with a power "
        "of {POWER:.0%} at {SIGNIFICANT:.0%}, two-sided; NaN where not "
        "even 1 would be, and for an unknown spread",
        POWER=POWER,
        SIGNIFICANT=SIGNIFICANT,
    ),
    better="lower",
    digits=3,
)
LEVELS = Table(
    "levels",
    Message("A row for all pairs and for each value of each level, under each model."),
    (
        MODEL,
        NORMALIZATION,
        Column("level", "text", Message("the column; {ALL_PAIRS} for all pairs", ALL_PAIRS=ALL_PAIRS)),
        Column(
            "value",
            "text",
            Message(
                'its value, after those of the levels above it ("{separator}" between them)',
                separator=SEPARATOR.strip(),
            ),
        ),
        Column("n", "integer", "pairs", "pairs"),
        Column("n_correct", "integer", "pairs whose acceptable sentence has the higher score", "pairs", "higher"),
        measured("accuracy", meaning="micro average: pairs right / pairs"),
        *interval(
            Message(
                "Wilson's, or Korn and Graubard's over several clusters; in one cluster Wilson's over its "
                "pairs, for this cluster alone; NaN for too few clusters"
            )
        ),
        CLUSTERED_BY,
        N_CLUSTERS,
        Column(
            "design_effect",
            "number",
            "how many times the variance of independent pairs; NaN without clusters",
            better="lower",
            digits=2,
        ),
        Column("n_groups", "integer", "values of the last level in this row", "values"),
        measured("accuracy", "macro_accuracy", "macro average: mean of the accuracies of these values"),
        *interval(
            Message(
                "Korn and Graubard's over these values, with a spread of at least that of chance within them; "
                "NaN for too few values"
            ),
            "macro",
            "macro_accuracy",
        ),
        NOTE,
        MACRO_NOTE,
    ),
    only_with_rows=True,
    since=VERSION,
)
_TESTED = (
    Column("n", "integer", "pairs", "pairs"),
    Column("n_only_first", "integer", "pairs that the first alone gets right; a tie is not right", "pairs"),
    Column("n_only_second", "integer", "pairs that the second alone gets right", "pairs"),
    measured("accuracy_difference", "difference", "accuracy of the first less that of the second"),
    *interval(Message("within -1 and 1; NaN for too few clusters, and where clusters do not differ")),
    Column(
        "p_value", "number", "of McNemar's exact test; over clusters of Student's paired test; NaN for too few clusters"
    ),
    Column("p_holm", "number", "the same, corrected by Holm's method for the tests of one model, or of one score"),
    Column("separable", "boolean", Message("whether p_holm is below {SIGNIFICANT}", SIGNIFICANT=SIGNIFICANT)),
    CLUSTERED_BY,
    N_CLUSTERS,
    DETECTABLE,
    NOTE,
)
_BOLD = separable_in_bold(
    "difference", Message("McNemar's exact test, or Student's paired test over clusters, Holm-corrected")
)
CONDITIONS = Table(
    "conditions",
    Message("Each two scores of one model, over its pairs."),
    (
        MODEL,
        replace(NORMALIZATION, meaning="the first score"),
        Column("other_normalization", "text", "the second score", words=named),
        *_TESTED,
    ),
    only_with_rows=True,
    since=VERSION,
    bold=_BOLD,
)
CLUSTERED = Table(
    "clustered_comparisons",
    Message("Each two models under one score, over the clusters of the pairs that both scored."),
    (MODEL, OTHER, NORMALIZATION, *_TESTED),
    only_with_rows=True,
    since=VERSION,
    bold=_BOLD,
)

CHECKPOINTS = Table(
    "checkpoints",
    Message(
        "A row for each stratum of all pairs, and of each category, under each "
        "checkpoint of a training: models whose names differ in the step."
    ),
    (
        Column("series", "text", "the training: what the names of its checkpoints share"),
        Column("step", "number", "step, or epoch, that the name of the model says"),
        MODEL,
        NORMALIZATION,
        Column("category", "text", 'the category, or the value of the column chosen; "" for all pairs'),
        STRATUM,
        *COUNTED,
        *OVER,
    ),
    only_with_rows=True,
    since=VERSION,
)

OF_ITEMS = Table(
    "items",
    Message(
        "A row for each model under each score where the pairs are of items with several "
        "sentences: how many items are right as a whole."
    ),
    (
        MODEL,
        NORMALIZATION,
        Column("n_items", "integer", "items of which the model scored every pair", "items"),
        Column("n_pairs", "integer", "their pairs", "pairs"),
        Column(
            "n_right",
            "integer",
            "items whose acceptable sentence has a higher score than all others",
            "items",
            "higher",
        ),
        measured("accuracy", meaning="n_right / n_items"),
        *interval(Message("Wilson's")),
        Column(
            "chance", "number", "what equally probable sentences reach: mean of 1 / sentences of the item", digits=3
        ),
        Column("n_incomplete", "integer", "items left out, because the model did not score a pair of theirs", "items"),
    ),
    only_with_rows=True,
    since=VERSION,
)


def level_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Those of the pairs' columns that published files have as levels, the widest first.

    >>> level_columns(["UID", "field", "pairID", "linguistics_term"])
    ('field', 'linguistics_term', 'UID')
    """
    return tuple(
        next(name for name in names if name in columns)
        for names in LEVEL_NAMES
        if any(name in columns for name in names)
    )


def template_column(columns: Sequence[str]) -> str:
    """The column that names the template of a pair in published files, "" where none does.

    >>> template_column(["UID", "field"]), template_column(["field"])
    ('UID', '')
    """
    return next((name for name in TEMPLATE_NAMES if name in columns), "")


@returns(LEVELS)
def levels(
    result: Result, normalization: str, columns: Sequence[str], alpha: float = DEFAULT_ALPHA, clustered_by: str = ""
) -> pd.DataFrame:
    """Micro and macro averages for all pairs and for each value of each of `columns`, the widest level first.

    A value is one only under the same values of the levels above it. Without columns: all pairs alone, whose macro
    average is over them as one group. Raises InputError for a column that the dataset does not have.
    """
    rows: list[dict[str, object]] = []
    for model, pairs in by_model(result):
        right = decided(pairs, normalization, alpha) == 1
        clusters = clusters_of(result, pairs, clustered_by)
        values = [categories_of(result, pairs, column).to_numpy(dtype=object) for column in columns]
        paths = [ALL_PAIRS] * len(pairs)
        depths = [(ALL_PAIRS, pd.factorize(np.array(paths, dtype=object)))]
        for depth, column in enumerate(columns):
            paths = [SEPARATOR.join(path) for path in zip(*values[: depth + 1], strict=True)]
            depths.append((column, pd.factorize(np.array(paths, dtype=object))))
        last = depths[-1][1][0]
        for column, (codes, names) in depths:
            for code, name in enumerate(names):
                chosen = codes == code
                rows.append(
                    {
                        "model": model,
                        "normalization": normalization,
                        "level": column,
                        "value": name,
                        "clustered_by": clustered_by,
                        "n": int(chosen.sum()),
                        "n_correct": int(right[chosen].sum()),
                        **macro_over(right[chosen], last[chosen]),
                        **share_over(right[chosen], None if clusters is None else clusters[chosen]),
                    }
                )
    return LEVELS.frame_of_records(rows)


@returns(CONDITIONS)
def conditions(
    result: Result, normalizations: Sequence[str], alpha: float = DEFAULT_ALPHA, clustered_by: str = ""
) -> pd.DataFrame:
    """Every two of these scores of each model on its own pairs: does LP decide better than PenLP?

    Raises InputError for a column that the dataset does not have.
    """
    parts = [CONDITIONS.frame()]
    for model, pairs in by_model(result):
        clusters = clusters_of(result, pairs, clustered_by)
        right = {name: decided(pairs, name, alpha) == 1 for name in normalizations}
        parts.append(
            _corrected(
                CONDITIONS,
                [
                    {
                        "model": model,
                        "normalization": first,
                        "other_normalization": second,
                        "clustered_by": clustered_by,
                        **tested_over(right[first], right[second], clusters),
                    }
                    for first, second in combinations(right, 2)
                ],
            )
        )
    return pd.concat(parts, ignore_index=True)


@returns(CLUSTERED)
def clustered_comparisons(
    result: Result, normalization: str, clustered_by: str, alpha: float = DEFAULT_ALPHA
) -> pd.DataFrame:
    """Every two models on the pairs that both scored, tested over clusters; `comparison.comparisons` has McNemar's.

    Raises InputError for a column that the dataset does not have, and where `clustered_by` is none.
    """
    if not clustered_by:
        raise InputError(Message("Models are compared over clusters of pairs: choose the column that names them."))
    rows = []
    for model, other in combinations(result.scored_models, 2):
        first, second = (of_model(result, name) for name in (model, other))
        first = first[first["row"].isin(second["row"]).to_numpy()]
        second = second[second["row"].isin(first["row"]).to_numpy()]
        right, other_right = (decided(pairs, normalization, alpha) == 1 for pairs in (first, second))
        rows.append(
            {
                "model": model,
                "other": other,
                "normalization": normalization,
                "clustered_by": clustered_by,
                **tested_over(right, other_right, clusters_of(result, first, clustered_by)),
            }
        )
    return _corrected(CLUSTERED, rows)


@returns(CHECKPOINTS)
def checkpoints(
    result: Result, normalization: str, alpha: float = DEFAULT_ALPHA, by: str = CATEGORY, clustered_by: str = ""
) -> pd.DataFrame:
    """Accuracy along the steps of each training that the run has two checkpoints of; no row where there is none.

    by: the column of the categories, as in `views.categories_of`; clustered_by: as in `views.summary`. Each step has
    its interval by itself: the checkpoints answer the same pairs, so two of them are compared by the paired tests of
    `comparison`. Raises InputError for a column that the dataset does not have.
    """
    found = pd.DataFrame(
        [checkpoint for steps in checkpoint_series(result, result.scored_models).values() for checkpoint in steps],
        columns=["model", "series", "step"],
    )
    if found.empty:
        return CHECKPOINTS.frame()
    counted = pd.concat(
        [
            summary(result, (normalization,), alpha, clustered_by).assign(category=""),
            by_category(result, normalization, alpha, by, clustered_by).query("category != ''"),
        ],
        ignore_index=True,
    )
    # In the order of the steps, and of the pairs within one.
    return found.merge(counted, on="model").astype({"series": "str", "category": "str"})[list(CHECKPOINTS.headers)]


@returns(OF_ITEMS)
def item_accuracy(result: Result, normalization: str, alpha: float = DEFAULT_ALPHA) -> pd.DataFrame:
    """Of items with several unacceptable sentences: how often is the acceptable one above all others? None, no row.

    An item is right where each of its pairs is; a tie is not right. The column `item` of a file names its items; pairs
    without a name are of none.
    """
    column = f"{FIELD}{ITEM_COLUMN}"
    if column not in result.items.columns:
        return OF_ITEMS.frame()
    named = (result.items[column] != "").to_numpy()
    items = (result.items["source"] + "\n" + result.items[column]).to_numpy()
    sizes = pd.Series(items[named]).value_counts()
    if sizes.max() < 2:  # a number of the pair
        return OF_ITEMS.frame()
    rows = []
    for model, pairs in by_model(result):
        right, places = decided(pairs, normalization, alpha) == 1, pairs["item"].to_numpy()
        of_items = (
            pd.DataFrame({"item": items[places], "right": right})[named[places]]
            .groupby("item")["right"]
            .agg(["all", "size"])
        )
        whole = of_items[of_items["size"] == sizes[of_items.index]]
        n, n_right = len(whole), int(whole["all"].sum())
        low, high = wilson_interval(n_right, n)
        rows.append(
            {
                "model": model,
                "normalization": normalization,
                "n_items": n,
                "n_pairs": int(whole["size"].sum()),
                "n_right": n_right,
                "accuracy": n_right / n if n else np.nan,
                "ci_low": low,
                "ci_high": high,
                "chance": float((1 / (whole["size"] + 1)).mean()),
                "n_incomplete": len(sizes) - n,
            }
        )
    return OF_ITEMS.frame_of_records(rows)


def _corrected(table: Table, rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """The table of these rows with their p-values corrected together; an undefined one stays so, but is counted."""
    frame = table.frame_of_records(rows)
    p = corrected(frame["p_value"].to_numpy(dtype=np.float64))
    return frame.assign(p_holm=p, separable=p < SIGNIFICANT)
