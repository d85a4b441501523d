"""A minimal-pairs result under a normalisation: scores, winners, accuracies. No model is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from engine.datasets.minimal_pairs.pairs import FIELD
from engine.errors import InputError
from engine.evaluations.minimal_pairs.clustered.intervals import ACCURACY_INTERVAL, OVER, cluster_codes, shares_over
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.records import CATEGORY, CATEGORY_COLUMN, Result
from engine.evaluations.shared.common_columns import MODEL, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.stored_table import parts
from engine.measures.minimal_pairs.acceptability import decisions, n_bytes
from engine.measures.minimal_pairs.length_bias import STRATA, accuracy_by_difference, accuracy_by_stratum
from engine.measures.minimal_pairs.normalizations import (
    ALPHA,
    NEEDS,
    NORMALIZATIONS,
    PROMPTED,
    Normalization,
    Sentences,
    normalization_named,
)
from engine.measures.statistics.clustered import FEWEST_CLUSTERS
from engine.messages.message import Message, list_of, named

DEFAULT_ALPHA = ALPHA  # the paper's
MOST_CATEGORIES = 200
NOT_FITTED = Message(
    "MORCELA is fitted to human judgements of the sentences: it needs two columns of them, at least "
    "20 judged sentences, and unigrams."
)
NOT_COUNTED = Message(
    "{name} counts tokens, and of scores from a file their number is not known: give it in the file (n_tokens, or tokens), "
    "or name the tokenizer (--tokenizer)."
)
UNCOUNTED = Message("the numbers of tokens are not known")
# The column of `Result.pairs` that a need of a normalisation is in; bytes are counted where they are not stored.
_COLUMNS = {
    "characters": "{side}_characters",
    "bytes": "{side}_characters",
    "unigrams": "{side}_unigrams",
    "beta": "morcela_beta",
    "gamma": "morcela_gamma",
    "boundaries": "{side}_boundaries",
    "words": "{side}_words",
    **{need: f"{{side}}_{need}" for need in PROMPTED},
}

NORMALIZATION = Column("normalization", "text", "what a log-likelihood is divided by, or has taken off", words=named)
COUNTED = (
    Column("n", "integer", "pairs", "pairs"),
    Column("n_correct", "integer", "pairs whose acceptable sentence has the higher score", "pairs", "higher"),
    Column("n_tied", "integer", "pairs whose sentences have one score", "pairs"),
    measured("accuracy"),
    *interval(ACCURACY_INTERVAL),
)
STRATUM = Column(
    "stratum",
    "text",
    "all, or by the tokens of the acceptable (A) and the unacceptable sentence (U): A=U, A>U, A<U",
    words=lambda stratum: named("all pairs") if stratum == STRATA[0] else stratum,
)
SUMMARY = Table(
    "summary",
    Message("A row for each stratum of each model under each normalisation."),
    (
        MODEL,
        NORMALIZATION,
        STRATUM,
        *COUNTED,
        *OVER,
    ),
    promised=9,
)
DIFFERENCES = Table(
    "differences",
    Message("A row for each difference A - U of the numbers of tokens, under each model."),
    (
        MODEL,
        Column("difference", "integer", "A - U", "tokens"),
        *COUNTED,
        Column("merged", "boolean", "whether the row is of this difference and of those beyond it"),
        *OVER,
    ),
)
COUNTS = Table(
    "counts",
    Message("A row for each model: how many pairs each stratum holds."),
    (
        MODEL,
        *(
            Column(
                "n" if stratum == STRATA[0] else stratum,
                "integer or none",
                Message("pairs of the stratum {stratum}", stratum=stratum),
                "pairs",
                dtype="int64",
            )
            for stratum in STRATA
        ),
    ),
)
CATEGORIES = Table(
    "categories",
    Message("A row for each stratum of each category, in the order of the pairs."),
    (
        MODEL,
        replace(CATEGORY_COLUMN, meaning="the category, or the value of the column chosen"),
        NORMALIZATION,
        STRATUM,
        *COUNTED,
        *OVER,
    ),
)


def available(pairs: pd.DataFrame) -> tuple[str, ...]:
    """The normalisations that `Result.pairs` has the numbers for, under every model.

    SLOR needs its unigrams, MORCELA its fit, WordLP the boundaries of words; regions have no numbers of characters, and
    sums from a file may have no numbers of tokens.
    """
    lacking = {need for need in NEEDS if not _has(pairs, need)}
    counted = has_token_counts(pairs)
    return tuple(
        name
        for name, normalization in NORMALIZATIONS.items()
        if lacking.isdisjoint(normalization.needs) and (counted or not normalization.by_tokens)
    )


def has_boundaries(pairs: pd.DataFrame, *, of_all: bool = False) -> bool:
    """Whether the boundaries of words were scored under some model, or under every one."""
    column = f"{SIDES[0]}_boundaries"
    scored = pairs[column].notna() if column in pairs.columns else None
    return scored is not None and bool(scored.all() if of_all else scored.any())


def has_token_counts(pairs: pd.DataFrame) -> bool:
    """Whether the number of scored tokens is known of every sentence: sums from a file may come without."""
    columns = [pairs[f"{side}_tokens"] for side in SIDES]
    # Whole numbers of numpy have no missing ones.
    return all(
        (isinstance(column.dtype, np.dtype) and column.dtype.kind == "i") or not column.hasnans for column in columns
    )


def without_token_counts(result: Result) -> list[str]:
    """The models whose numbers of scored tokens are not known."""
    return [model for model, pairs in by_model(result) if not has_token_counts(pairs)]


def without_token_scores(result: Result) -> list[str]:
    """The models of which the log-likelihoods of single tokens are not known."""
    return [model for model, pairs in by_model(result) if len(pairs) and not _has_token_scores(result, model)]


def _has_token_scores(result: Result, model: str) -> bool:
    return any(
        bool(((part["model"] == model) & part["log_likelihood"].notna()).any())
        for part in parts(result.tokens, ["model", "log_likelihood"], model=model)
    )


def of_model(result: Result, model: str) -> pd.DataFrame:
    """The pairs that a model scored, in the order of the file; those that lie together, as stored, are not copied."""
    scored = (result.pairs["model"] == model).to_numpy()
    start, n = int(scored.argmax()) if len(scored) else 0, int(scored.sum())
    return result.pairs.iloc[start : start + n] if scored[start : start + n].all() else result.pairs[scored]


def scores(pairs: pd.DataFrame, normalization: str, alpha: float = DEFAULT_ALPHA) -> tuple[np.ndarray, np.ndarray]:
    """Normalised scores (n_pairs,) of the acceptable and of the unacceptable sentences of `Result.pairs`.

    Raises InputError for SLOR where the pairs carry no unigrams (`unigrams.with_unigrams`), or not for every model, and
    for MORCELA where no coefficients were fitted to judgements, and for scores by words where their boundaries were not
    scored under every model.
    """
    record = normalization_named(normalization)
    if record.by_tokens and not has_token_counts(pairs):
        raise InputError(NOT_COUNTED.format(name=record.name))
    if any(not _has(pairs, need) for need in record.needs):
        raise InputError(_why_not(pairs, record))
    return tuple(record.scores(_sentences(pairs, side, record), alpha) for side in SIDES)  # type: ignore[return-value]


def _has(pairs: pd.DataFrame, need: str) -> bool:
    """Whether the pairs of every model have what a normalisation needs, by the field of `Sentences`."""
    column = _COLUMNS[need].format(side=SIDES[0])
    if need in ("characters", "bytes"):
        return column in pairs.columns
    return all(
        (name := _COLUMNS[need].format(side=side)) in pairs.columns and bool(pairs[name].notna().all())
        for side in SIDES
    )


def _why_not(pairs: pd.DataFrame, record: Normalization) -> Message:
    """Why the pairs have no score of a normalisation."""
    if record.by_words:
        return Message(
            "{name} needs the boundaries of words under every model: local causal models whose tokenizers "
            "mark with a space how words begin, scored with --word-boundaries.",
            name=record.name,
        )
    if record.is_prompted:
        return Message(
            "{name} needs sentences scored in templates under every model: local causal models, with --prompts (with your "
            "own, a template of that score; a vote needs pairs).",
            name=record.name,
        )
    if record.is_fitted:
        return (
            NOT_FITTED
            if "morcela_beta" in pairs.columns
            else Message(
                "{name} is fitted to whole sentences: a part of them has no such score, and neither has a result of a "
                "version before 0.3.0.",
                name=record.name,
            )
        )
    if record.by_unigrams:
        return Message(
            "{name} needs the unigram log-probability of each sentence: choose a corpus to count in, and "
            "leave out models whose server does not tell their tokens apart.",
            name=record.name,
        )
    return Message(
        "{name} is of whole sentences: a part of them has no such score, and neither has a result of an early version.",
        name=record.name,
    )


def _sentences(pairs: pd.DataFrame, side: str, record: Normalization) -> Sentences:
    """The sentences of one side, with what a normalisation needs of them."""
    needed = {
        need: byte_counts(pairs, side)
        if need == "bytes"
        else pairs[_COLUMNS[need].format(side=side)].to_numpy(dtype=np.float64, na_value=np.nan)
        for need in record.needs
    }
    tokens = pairs[f"{side}_tokens"]
    return Sentences(
        pairs[f"{side}_log_likelihood"].to_numpy(),
        tokens.to_numpy() if tokens.dtype.kind == "i" and tokens.notna().all() else _numbers(tokens),
        **needed,
    )


def _numbers(column: pd.Series) -> np.ndarray:
    """A column with missing values as float64, nan for those."""
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def decided(pairs: pd.DataFrame, normalization: str, alpha: float = DEFAULT_ALPHA) -> np.ndarray:
    """1 right, 0 tie, -1 wrong (n_pairs,) int8 under a normalisation."""
    acceptable, unacceptable = scores(pairs, normalization, alpha)
    return decisions(acceptable, unacceptable, pairs["identical"].to_numpy())


def token_counts(pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """|S| of the acceptable and of the unacceptable sentences, (n_pairs,) each.

    Raises InputError where they are not known (`has_token_counts`).
    """
    if not has_token_counts(pairs):
        raise InputError(NOT_COUNTED.format(name="|S|"))
    first, second = (pairs[f"{side}_tokens"].to_numpy(dtype=np.int64) for side in SIDES)
    return first, second


def byte_counts(pairs: pd.DataFrame, side: str) -> np.ndarray:
    """Length in UTF-8 of the sentences of one side, int64 (n_pairs,); results of earlier versions do not store it."""
    if f"{side}_bytes" in pairs.columns and pairs[f"{side}_bytes"].notna().all():  # else of an earlier version
        return pairs[f"{side}_bytes"].to_numpy()
    return np.fromiter(map(n_bytes, pairs[side]), np.int64, len(pairs))


@returns(SUMMARY)
def summary(
    result: Result, normalizations: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA, clustered_by: str = ""
) -> pd.DataFrame:
    """Accuracy in all pairs and in each stratum; None = every normalisation that is `available`.

    A model whose numbers of tokens are not known has no strata.

    clustered_by: the column whose values are the clusters of pairs, as in `clusters_of`.
    """
    parts = []
    for model, pairs in by_model(result):
        cells, clusters = _stratum_cells(pairs), clusters_of(result, pairs, clustered_by)
        for normalization in available(pairs) if normalizations is None else normalizations:
            decisions = decided(pairs, normalization, alpha)
            strata = pd.DataFrame(map(vars, accuracy_by_stratum(decisions, *_counts_or_none(pairs))))
            strata = strata.assign(
                model=model,
                normalization=normalization,
                **shares_over(decisions == 1, cells, len(STRATA), clusters, clustered_by),
            )
            parts.append(strata if has_token_counts(pairs) else strata[:1])
    return _one_below_another(SUMMARY, parts)


@returns(COUNTS)
def counts(result: Result) -> pd.DataFrame:
    """How many pairs each stratum holds (the paper's table 2); none is known where numbers of tokens are not."""
    table = summary(result, ("LP",)).pivot(index="model", columns="stratum", values="n").reindex(columns=list(STRATA))
    table = table.astype("Int64" if table.isna().any(axis=None) else "int64")
    return (
        table.loc[list(result.scored_models), list(STRATA)]
        .rename(columns={"all": "n"})
        .rename_axis(columns=None)
        .reset_index()
    )


@returns(DIFFERENCES)
def by_difference(
    result: Result, normalization: str, alpha: float = DEFAULT_ALPHA, least: int = 1, clustered_by: str = ""
) -> pd.DataFrame:
    """Accuracy against the token difference A - U (the paper's figures 2 and 3).

    Outer differences of fewer than `least` pairs are merged inwards; a model whose numbers of tokens are not known has
    none. clustered_by: as in `summary`.
    """
    parts = []
    for model, pairs in by_model(result):
        if not has_token_counts(pairs):
            continue
        decisions = decided(pairs, normalization, alpha)
        points = pd.DataFrame(
            [vars(point) for point in accuracy_by_difference(decisions, *token_counts(pairs), least=least)],
            columns=DIFFERENCES.headers[1 : -len(OVER)],
        )
        clusters = clusters_of(result, pairs, clustered_by)
        if len(points):
            values = points["difference"].to_numpy()
            # Beyond a merged point are the differences that were merged into it.
            cells = np.searchsorted(values, np.clip(_gaps(pairs), values[0], values[-1]))
            points = points.assign(**shares_over(decisions == 1, cells, len(points), clusters, clustered_by))
        parts.append(points.assign(model=model))
    return _one_below_another(DIFFERENCES, parts)


@returns(CATEGORIES)
def by_category(
    result: Result, normalization: str, alpha: float = DEFAULT_ALPHA, field: str = CATEGORY, clustered_by: str = ""
) -> pd.DataFrame:
    """Accuracy by category and stratum; `field` as in `categories_of`, `clustered_by` as in `summary`.

    Every category of the pairs has its four strata, in the order of first appearance; those of a model whose numbers of
    tokens are not known have that of all pairs alone.
    """
    return _one_below_another(
        CATEGORIES,
        [
            _categories(
                pairs,
                categories_of(result, pairs, field),
                decided(pairs, normalization, alpha),
                clusters_of(result, pairs, clustered_by),
                clustered_by,
            ).assign(model=model, normalization=normalization)
            for model, pairs in by_model(result)
        ],
    )


def accuracies(
    result: Result, normalization: str, alpha: float = DEFAULT_ALPHA, field: str = CATEGORY, clustered_by: str = ""
) -> pd.DataFrame:
    """What `summary` and `by_category` have of the stratum of all pairs: first each model over all, then by category.

    Columns: overall, category ("" of all), model, those of COUNTED and OVER.
    """
    parts = []
    for model, pairs in by_model(result):
        decisions = decided(pairs, normalization, alpha)
        codes, names = pd.factorize(categories_of(result, pairs, field))
        cells = np.concatenate([np.zeros(len(pairs), dtype=np.intp), codes + 1])
        counted = _counted(decisions, cells, len(names) + 1, clusters_of(result, pairs, clustered_by), clustered_by)
        parts.append(pd.DataFrame({"category": ["", *names], "model": model, **counted}))
    table = pd.concat([*(part[:1] for part in parts), *(part[1:] for part in parts)], ignore_index=True)
    table.insert(0, "overall", np.arange(len(table)) < len(parts))
    return table.astype({"category": "str", "note": "str"})


def field_names(result: Result) -> tuple[str, ...]:
    """What the pairs can be sorted by: the category's own name or "category" first, then the file's other columns.

    Left out are those with one value, or with more than MOST_CATEGORIES.
    """
    candidates = {
        name: values
        for column, values in result.items.items()
        if (name := str(column)).startswith(FIELD) and 1 < values.nunique() <= MOST_CATEGORIES
    }
    names = [name.removeprefix(FIELD) for name in candidates]
    main = result.items[CATEGORY]
    same = next((name for name in names if (candidates[f"{FIELD}{name}"] == main).all()), None)
    if same is not None:
        return (same, *(name for name in names if name != same))
    return (CATEGORY, *names) if main.nunique() > 1 else tuple(names)


def cluster_columns(result: Result) -> tuple[str, ...]:
    """What can name clusters of pairs: `field_names`, the file and the other columns, in this order.

    Left out are those with too few values for an interval, and with more than one for two pairs.
    """
    items = result.items
    columns = {name: items[CATEGORY if name == CATEGORY else f"{FIELD}{name}"] for name in field_names(result)}
    for name, values in items.items():
        if name == "source" or str(name).startswith(FIELD):
            columns.setdefault(str(name).removeprefix(FIELD), values)
    return tuple(name for name, values in columns.items() if FEWEST_CLUSTERS <= values.nunique() <= len(values) / 2)


def categories_of(result: Result, pairs: pd.DataFrame, field: str = CATEGORY) -> pd.Series:
    """The value of a field for each of `pairs`: CATEGORY, "source" (the file) or one of `field_names`.

    Raises InputError for a field that the dataset does not have.
    """
    if field == CATEGORY:
        return pairs[CATEGORY]
    column = field if field == "source" else f"{FIELD}{field}"
    if column not in result.items.columns:
        raise InputError(
            Message(
                "The pairs have no column {field!r} to sort them by; there are: {listed}.",
                field=field,
                listed=list_of(field_names(result)) or Message("none"),
            )
        )
    return result.items[column].take(pairs["item"].to_numpy()).set_axis(pairs.index)


def clusters_of(result: Result, pairs: pd.DataFrame, clustered_by: str) -> np.ndarray | None:
    """The cluster of each of `pairs`, int (n_pairs,), by a field of `categories_of`; None for independent pairs, "".

    A pair without a value is a cluster of its own. Raises InputError for a field that the dataset does not have.
    """
    return cluster_codes(categories_of(result, pairs, clustered_by)) if clustered_by else None


def by_model(result: Result) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each model with its pairs."""
    for model in result.scored_models:
        yield model, of_model(result, model)


def _categories(
    pairs: pd.DataFrame, categories: pd.Series, decisions: np.ndarray, clusters: np.ndarray | None, clustered_by: str
) -> pd.DataFrame:
    strata = STRATA if has_token_counts(pairs) else STRATA[:1]
    codes, names = pd.factorize(categories)
    n_cells = len(names) * len(STRATA)
    cells = np.tile(codes, 2) * len(STRATA) + _stratum_cells(pairs)
    table = pd.DataFrame(
        {
            "category": np.repeat(np.asarray(names, dtype=object), len(STRATA)),
            "stratum": np.tile(STRATA, len(names)),
            **_counted(decisions, cells, n_cells, clusters, clustered_by),
        }
    )
    return table if strata == STRATA else table[table["stratum"].isin(strata)]


def _counted(
    decisions: np.ndarray, cells: np.ndarray, n_cells: int, clusters: np.ndarray | None, clustered_by: str
) -> dict[str, np.ndarray]:
    """The columns COUNTED and OVER of cells as `shares_over` has them, each (n_cells,)."""
    outcome = np.tile(decisions, 2)  # every pair is in two cells
    n, n_correct, n_tied = (
        np.bincount(cells[chosen], minlength=n_cells) for chosen in (slice(None), outcome == 1, outcome == 0)
    )
    return {
        "n": n,
        "n_correct": n_correct,
        "n_tied": n_tied,
        "accuracy": n_correct / np.where(n > 0, n, np.nan),
        **shares_over(decisions == 1, cells, n_cells, clusters, clustered_by),
    }


def _stratum_cells(pairs: pd.DataFrame) -> np.ndarray:
    """The place in STRATA of each pair, int (2 * n_pairs,): every pair counts in "all", then in one of the others."""
    gap = _gaps(pairs)
    return np.concatenate([np.zeros(len(pairs), dtype=np.intp), np.select([gap == 0, gap > 0], [1, 2], 3)])


def _gaps(pairs: pd.DataFrame) -> np.ndarray:
    """A - U, int64 (n_pairs,); 0 where the numbers of tokens are not known."""
    acceptable, unacceptable = _counts_or_none(pairs)
    return np.asarray(acceptable.astype(np.int64) - unacceptable)


def _counts_or_none(pairs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """`token_counts`, or 0 of all where they are not known."""
    return token_counts(pairs) if has_token_counts(pairs) else (np.zeros(len(pairs), dtype=np.int64),) * 2


def _one_below_another(table: Table, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    if not parts:
        return table.frame()
    below = pd.concat(parts, ignore_index=True)[list(table.headers)]
    texts = [column.name for column in table.columns if column.type == "text" and below[column.name].dtype == object]
    return below.astype(dict.fromkeys(texts, "str")) if texts else below
