"""Do the evaluations agree about the models? One number of each finished run by model, ranked and correlated.

Beside the runs may stand the scores of an embedding benchmark (`benchmark`). Pure arithmetic on results: nothing is
asked of a model. Shibayama et al. 2020 (PACLIC 34, sections 4 and 5; NLP 2020, section 5.2) hold their score against
filling masks and against classification in this way, by eye.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from engine.errors import InputError
from engine.evaluations.fill_mask.records import ALL
from engine.evaluations.paper_tables.sentence_clustering import COMPARED, TABLES
from engine.evaluations.shared.common_columns import MODEL, RANK_FIRST, RANK_GROUP, RANK_LAST, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import Column, Table, measured, returns
from engine.evaluations.shared.rank_ranges import range_columns, ranges_of, says_who_differs
from engine.measures.cards.catalog import CARDS
from engine.measures.statistics.correlations.rank_agreement import rank_agreement, ranks
from engine.messages.message import Message, list_of
from engine.models.sources.names import without_label

BENCHMARK = "benchmark"  # beside the kinds of runs: scores from files
# Kind -> the card of the number that stands for a model.
MEASURES = {
    "clusters": "dispersion_score",
    "fill-mask": "mask_probability",
    "classification": "classification_accuracy",
    BENCHMARK: "benchmark_score",
}
RUNS = tuple(kind for kind in MEASURES if kind != BENCHMARK)
# Kind -> the table of its result and the column that hold this number.
SCORES = {
    "clusters": ("models", "score"),
    "fill-mask": ("common", "mean_probability"),
    "classification": ("models", "accuracy_mean"),
    BENCHMARK: ("models", "score"),
}

ON_SENTENCES = ("clusters", "classification")  # the kinds that take the vectors of labelled sentences

MODELS = Table(
    "models",
    Message("A row for each model of any of the runs, in the order they are first named."),
    (
        MODEL,
        *(
            column
            for kind, card in MEASURES.items()
            for column in (
                measured(
                    card,
                    kind,
                    Message(
                        "{name} in the run of {kind}; NaN where it has no such model", name=CARDS[card].name, kind=kind
                    )
                    if kind in RUNS
                    else "mean score of the benchmark over the tasks that all models have; NaN where it has no such model",
                ),
                Column(
                    f"rank {kind}",
                    "integer or none",
                    "1 is the best of that run; none where a model is alone",
                    better="lower",
                ),
            )
        ),
        *(
            replace(column, name=f"{column.name} {kind}", type="integer or none")
            for kind in MEASURES
            for column in (RANK_FIRST, RANK_LAST)
        ),
    ),
)
AGREEMENT = Table(
    "agreement",
    Message("Each two evaluations once, over the models that both have; larger is more agreement."),
    (
        Column("first", "text", "kind of the one run"),
        Column("second", "text", "kind of the other"),
        Column("n", "integer", "models that both have", "models"),
        measured("spearman"),
        *interval(names="spearman"),
        measured("kendall"),
        *interval(names="kendall"),
        WHY_UNDEFINED,
    ),
)
FILES = (MODELS, AGREEMENT)


def scores_of(kind: str, result: Any) -> pd.Series:
    """The number by which a result of `kind` (one of MEASURES) judges each model, by model.

    clusters: M_m. fill-mask: the mean probability over all domains, over the sentences that every model of the run
    could fill. classification: the mean accuracy. benchmark: the mean over its tasks. Raises InputError for another kind.
    """
    if kind not in MEASURES:
        raise InputError(
            Message("Agreement can be computed for {MEASURES}; got {kind!r}.", MEASURES=list_of(MEASURES), kind=kind)
        )
    return _judged(kind, result).set_index("model")[SCORES[kind][1]].rename(kind)


@returns(MODELS)
def model_table(results: Mapping[str, Any]) -> pd.DataFrame:
    """One row for each model of any of the results (by kind), in the order they are first named.

    A model is known by its name without a label, and called as it is first named. The columns of a kind that there is
    no result of are left out. A model that its run does not rank, or that is alone in it, has its number and no rank.
    """
    columns = {kind: scores_of(kind, results[kind]) for kind in MEASURES if kind in results}
    places = {kind: places_of(kind, results[kind]) for kind in columns}
    names: dict[str, str] = {}
    for name in (name for column in columns.values() for name in column.index):
        names.setdefault(without_label(name), name)
    table = pd.DataFrame({"model": list(names.values())})
    for kind, column in columns.items():
        table[kind] = column.rename(index=without_label).reindex(list(names)).to_numpy(dtype=float)
        table[f"rank {kind}"] = _by_name(places[kind]["rank"], names)
    for kind in columns:
        for end in (RANK_FIRST, RANK_LAST):
            table[f"{end.name} {kind}"] = _by_name(places[kind][end.name], names)
    return table


def places_of(kind: str, result: Any) -> pd.DataFrame:
    """The rank of each model in a result of `kind`, and its range as rank_first and rank_last, by model.

    NA for a model that the run does not rank or that is alone in it; no range where the result does not say which
    models differ.
    """
    scores = scores_of(kind, result)
    ranked = scores.mask(scores.index.isin(unranked_models(kind, result)) | (len(scores) == 1))
    own = pd.array(ranks(ranked, CARDS[MEASURES[kind]].better), dtype="Float64").astype("Int64")
    judged = _judged(kind, result).reset_index(drop=True).assign(rank=own)
    compared = getattr(result, "comparisons", None)
    has_groups = RANK_GROUP.name in judged and judged[RANK_GROUP.name].notna().any()
    ranges = ranges_of(judged, compared) if has_groups or says_who_differs(compared) else [None] * len(judged)
    return pd.DataFrame({"rank": own, **range_columns(ranges)}).set_index(scores.index)


def counted(table: pd.DataFrame, kind: str) -> pd.Series:
    """The numbers of a `model_table` that other evaluations are held against, NaN elsewhere.

    They are those of models with a rank, and of one that is alone: it is ranked among nobody.
    """
    return table[kind].where(table[f"rank {kind}"].notna() | (table[kind].count() == 1))


def _judged(kind: str, result: Any) -> pd.DataFrame:
    """The rows of a result of `kind` that judge its models, one for each."""
    frame: pd.DataFrame = getattr(result, SCORES[kind][0])
    return frame[frame["domain"] == ALL] if kind == "fill-mask" else frame


def _by_name(column: pd.Series, names: Mapping[str, str]) -> pd.Series:
    """A column by model for the models that have these names without labels."""
    return column.rename(index=without_label).reindex(list(names)).reset_index(drop=True)


def unranked_models(kind: str, result: Any) -> list[str]:
    """The models that have a number in a result of `kind`, but that the run itself does not rank."""
    frame = getattr(result, SCORES[kind][0])
    if "rank" not in frame:
        return []
    return [
        str(model) for model in frame.loc[(frame["rank"].isna() & frame[SCORES[kind][1]].notna()).to_numpy(), "model"]
    ]


def agreement_notices(results: Mapping[str, Any]) -> tuple[str, ...]:
    """What keeps results (by kind) from being held against each other: other files, vectors or data, no rank."""
    signatures = {kind: result.signature for kind, result in results.items()}
    notices = [*different_files(signatures), *(results[BENCHMARK].notices if BENCHMARK in results else ())]
    notices += [
        Message(
            "{kind}: without a rank in its run, so not in the agreement: {models}.", kind=kind, models=list_of(models)
        )
        for kind in results
        if (models := unranked_models(kind, results[kind]))
    ]
    if all(kind in signatures for kind in ON_SENTENCES):
        first, second = (signatures[kind] for kind in ON_SENTENCES)
        if first.get("dataset") != second.get("dataset"):
            notices.append(Message("The runs of clusters and of classification are of different data."))
        of_both = [
            {without_label(model): words for model, words in signature.get("vectors", {}).items()}
            for signature in (first, second)
        ]
        differing: dict[tuple[str, str], list[str]] = {}
        for model, words in of_both[0].items():
            if (other_way := of_both[1].get(model, words)) != words:
                differing.setdefault((words, other_way), []).append(model)
        notices += [
            Message(
                "Sentence vectors are made in different ways in clusters ({words}) and in classification ({other_way}): "
                "{models}.",
                models=list_of(models),
                words=words,
                other_way=other_way,
            )
            for (words, other_way), models in differing.items()
        ]
    return tuple(notices)


def models_with_different_files(signatures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Models whose name stands for different files in different results; `signatures` of the results, by kind."""
    fingerprints_by_name: dict[str, set[str]] = {}
    for signature in signatures.values():
        for model in signature["models"]:
            fingerprints_by_name.setdefault(without_label(model["name"]), set()).add(model["fingerprint"])
    return [name for name, fingerprints in fingerprints_by_name.items() if len(fingerprints) > 1]


def different_files(signatures: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """A notice for each of `models_with_different_files`."""
    return tuple(
        Message(
            "{name} stands for different files in these runs: they are different models with the same name.", name=name
        )
        for name in models_with_different_files(signatures)
    )


@returns(AGREEMENT)
def agreement_table(table: pd.DataFrame) -> pd.DataFrame:
    """Spearman and Kendall between each two evaluations of a `model_table`, whichever ends are better.

    Of models that their run does not rank nothing is counted.
    """
    kinds = [kind for kind in MEASURES if kind in table]
    rows = [
        (
            pair.first,
            pair.second,
            pair.spearman.n,
            pair.spearman.value,
            pair.spearman.ci_low,
            pair.spearman.ci_high,
            pair.kendall.value,
            pair.kendall.ci_low,
            pair.kendall.ci_high,
            pair.spearman.reason,
        )
        for pair in rank_agreement(
            {kind: counted(table, kind) for kind in kinds},
            {kind: CARDS[MEASURES[kind]].better for kind in kinds},
        )
    ]
    return AGREEMENT.frame(rows)


def printed_table(first: str, second: str) -> pd.DataFrame | None:
    """What one paper printed of its models under two kinds of evaluation, as `model_table`; None if no paper has both.

    For a table and figures of their own, marked as published: other sentences, other models.
    """
    if (first, second) not in COMPARED:
        return None
    columns = {
        kind: TABLES[key].values(column)
        for kind, (key, column) in zip((first, second), COMPARED[first, second], strict=True)
    }
    table = pd.DataFrame({"model": list(columns[first].index)})
    for kind, column in columns.items():
        table[kind] = column.reindex(table["model"]).to_numpy()
        table[f"rank {kind}"] = ranks(table[kind], CARDS[MEASURES[kind]].better).astype(int)
    return table
