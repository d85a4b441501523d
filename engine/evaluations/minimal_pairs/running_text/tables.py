"""Running text as tables: each document, the corpus and its categories, two models, checkpoints. No model is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.clustered.intervals import SIGNIFICANT, corrected
from engine.evaluations.minimal_pairs.records import CATEGORY, DOCUMENTS, Result
from engine.evaluations.minimal_pairs.scoring_rules import checkpoint_series, seen_by_models
from engine.evaluations.minimal_pairs.views import categories_of
from engine.evaluations.shared.common_columns import MODEL, OTHER, WHY_UNDEFINED, interval, separable_in_bold
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.measures.running_text import LN_2, bits_per, corpus_ratios, perplexity, ratio_difference
from engine.measures.statistics.clustered import FEWEST_CLUSTERS
from engine.messages.message import Message

VERSION = "0.3.0"
METHOD = Message("Student's paired test over documents, Holm-corrected")
FEW_DOCUMENTS = Message(
    "fewer than {FEWEST_CLUSTERS} documents show no spread: there are no intervals", FEWEST_CLUSTERS=FEWEST_CLUSTERS
)
NO_TOKENS = Message("the numbers of tokens are not known: there is no perplexity")
# measure -> the column that it is a ratio over, and the unit of one of its logarithms in nats
MEASURES: Mapping[str, str] = {
    "bits_per_byte": "n_bytes",
    "bits_per_character": "n_characters",
    "perplexity": "n_tokens",
}
_OF_DOCUMENT = tuple(measured(name, since=VERSION) for name in MEASURES)
EACH = DOCUMENTS.extended(*_OF_DOCUMENT)
_BY_DOCUMENTS = Message("by bootstrap-t over documents; NaN for too few")
_SUMS = (
    Column("n_documents", "integer", "documents that every model scored", "documents"),
    Column("n_tokens", "integer or none", "their scored tokens", "tokens"),
    Column("n_characters", "integer", "characters that these account for", "characters"),
    Column("n_bytes", "integer", "bytes in UTF-8 of these characters", "bytes"),
    Column("log_likelihood", "number", "sum of the log-likelihoods of the tokens", "nats", "higher"),
    measured("bits_per_byte", meaning="ratio of the sums over the documents"),
    *interval(_BY_DOCUMENTS),
    measured("bits_per_character", meaning="ratio of the sums over the documents"),
    *interval(_BY_DOCUMENTS, "bits_per_character", "bits_per_character"),
    measured("perplexity", meaning="of the sums over the documents; a pseudo-perplexity under a masked model"),
    *interval(_BY_DOCUMENTS, "perplexity", "perplexity"),
    WHY_UNDEFINED,
)
CORPUS = Table(
    "corpus",
    Message("A row for all documents of running text, and for those of each category, under each model."),
    (
        MODEL,
        Column("category", "text", 'the category, or the value of the column chosen; "" for all documents'),
        *_SUMS,
    ),
    only_with_rows=True,
    since=VERSION,
)
COMPARISONS = Table(
    "corpus_comparisons",
    Message(
        "Each two models once, over the documents that all models scored; a pseudo-log-likelihood with no log-likelihood."
    ),
    (
        MODEL,
        OTHER,
        Column("n", "integer", "documents", "documents"),
        Column("difference", "number", "bits per byte of the model less those of the other", "bits per byte", "lower"),
        *interval(Message("by Student's t over documents; NaN for too few")),
        Column("p_value", "number", "of Student's paired test over documents; NaN for too few"),
        Column("p_holm", "number", "the same, corrected for the number of comparisons by Holm's method"),
        Column("separable", "boolean", Message("whether p_holm is below {SIGNIFICANT}", SIGNIFICANT=SIGNIFICANT)),
    ),
    only_with_rows=True,
    since=VERSION,
    bold=separable_in_bold("difference", METHOD),
)
CHECKPOINTS = Table(
    "corpus_checkpoints",
    Message(
        "A row for all documents, and for those of each category, under each checkpoint of a training: models whose "
        "names differ in the step."
    ),
    (
        Column("series", "text", "the training: what the names of its checkpoints share"),
        Column("step", "number", "step, or epoch, that the name of the model says"),
        *CORPUS.columns,
    ),
    only_with_rows=True,
    since=VERSION,
)
FILES = (EACH, CORPUS, COMPARISONS, CHECKPOINTS)


@returns(EACH)
def documents(result: Result) -> pd.DataFrame:
    """Each document under each model, with its perplexity and its bits per byte and per character."""
    table = result.documents
    sums = table["log_likelihood"].to_numpy()
    return table.assign(
        **{
            name: (perplexity if name == "perplexity" else bits_per)(sums, _counts(table, column))
            for name, column in MEASURES.items()
        }
    )


@returns(CORPUS)
def corpus(result: Result, by: str = CATEGORY) -> pd.DataFrame:
    """The ratios of the sums over all documents, and over those of each category; documents that all models scored.

    by: the column of the categories, as in `views.categories_of`. Raises InputError for a column that the dataset does
    not have.
    """
    rows = []
    for model, table in _common(result):
        values = categories_of(result, _with_items(result, table), by).to_numpy(dtype=object)
        for category in ("", *sorted(set(values) - {""})):
            chosen = table if not category else table[values == category]
            rows.append({"model": model, "category": category, **_of_documents(chosen, result.settings.seed)})
    return CORPUS.frame_of_records(rows)


@returns(COMPARISONS)
def comparisons(result: Result) -> pd.DataFrame:
    """Every two models by bits per byte, paired over the documents that all models scored; empty for one model.

    Two models whose numbers say different things (`comparable_models`) have no row.
    """
    group_of = {model: group for group in comparable_models(result) for model in group}
    rows = []
    for (model, first), (other, second) in combinations(_common(result), 2):
        if group_of[model] is not group_of[other]:
            continue
        found = ratio_difference(
            -first["log_likelihood"] / LN_2, first["n_bytes"], -second["log_likelihood"] / LN_2, second["n_bytes"]
        )
        numbers = [float(of_one[0]) for of_one in (found.mean, found.low, found.high, found.p_value)]
        rows.append((model, other, len(first), *numbers, np.nan, False))
    table = COMPARISONS.frame(rows)
    p = corrected(table["p_value"].to_numpy(dtype=np.float64))
    return table.assign(p_holm=p, separable=p < SIGNIFICANT)


@returns(CHECKPOINTS)
def checkpoints(result: Result, by: str = CATEGORY) -> pd.DataFrame:
    """`corpus` along the steps of each training that the run has two checkpoints of; no row where there is none.

    Two of them are compared by `comparisons`: they have the same documents. Raises as `corpus`.
    """
    series = checkpoint_series(result, result.scored_models)
    found = pd.DataFrame(
        [checkpoint for steps in series.values() for checkpoint in steps], columns=["model", "series", "step"]
    )
    if found.empty:
        return CHECKPOINTS.frame()
    return found.merge(corpus(result, by), on="model").astype({"series": "str"})[list(CHECKPOINTS.headers)]


def comparable_models(result: Result) -> list[tuple[str, ...]]:
    """The models in groups whose numbers say the same, in the order of the run.

    As `seen_by_models`: what sees one side of a token is not compared with what sees both, or the token itself.
    """
    return [tuple(models) for models in seen_by_models(result).values()]


def _common(result: Result) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each model with the documents that all models scored, of which each accounts for a byte at least."""
    table = result.documents
    table = table[(table["n_bytes"] > 0).to_numpy()]
    n_models = table.groupby("row")["model"].nunique()
    shared = n_models.index[n_models == len(result.scored_models)]
    for model in result.scored_models:
        yield model, table[((table["model"] == model) & table["row"].isin(shared)).to_numpy()]


def _with_items(result: Result, table: pd.DataFrame) -> pd.DataFrame:
    """The documents with their place in `items`, by which further columns are looked up."""
    places = pd.Series(np.arange(len(result.items)), index=result.items["row"].to_numpy())
    return table.assign(item=places[table["row"].to_numpy()].to_numpy())


def _counts(table: pd.DataFrame, column: str) -> np.ndarray:
    """Tokens, characters or bytes: float64 (n_documents,), nan where they are not known."""
    return table[column].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)


def _of_documents(table: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Sums, ratios and intervals over some documents of a model, by column of `CORPUS`."""
    sums = table["log_likelihood"].to_numpy(dtype=np.float64)
    n_tokens = _counts(table, "n_tokens")
    is_counted = bool(np.isfinite(n_tokens).all())
    row: dict[str, Any] = {
        "n_documents": len(table),
        "n_tokens": int(n_tokens.sum()) if is_counted else pd.NA,
        "n_characters": int(table["n_characters"].sum()),
        "n_bytes": int(table["n_bytes"].sum()),
        "log_likelihood": float(sums.sum()),
        "reason": NO_TOKENS if not is_counted else FEW_DOCUMENTS if len(table) < FEWEST_CLUSTERS else "",
    }
    for name, column in MEASURES.items():
        ends = ("ci_low", "ci_high") if name == "bits_per_byte" else (f"{name}_low", f"{name}_high")
        counts = _counts(table, column)
        if not len(counts) or not np.isfinite(counts).all():
            row |= dict.fromkeys((name, *ends), np.nan)
            continue
        found = corpus_ratios(sums, counts, seed)
        nats = np.maximum([found.mean[0], found.low[0], found.high[0]], 0)  # no probability is above 1
        values = np.exp(nats) if name == "perplexity" else nats / LN_2
        row |= dict(zip((name, *ends), map(float, values), strict=True))
    return row
