"""The card of a model as a record: the runs that it is made of (CardRun), and what it says (CardOfModel)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from engine.evaluations.catalog import ALIGNMENT, CLASSIFICATION, CLUSTERS, FILL_MASK, METRIC_STUDY, MINIMAL_PAIRS
from engine.evaluations.clusters.records import POINTS
from engine.evaluations.comparison.records import NUMBERS
from engine.evaluations.minimal_pairs.length_effects import SLOPES
from engine.evaluations.shared.common_columns import OTHER, WHY_UNDEFINED, interval
from engine.evaluations.shared.declared_tables import MESSAGE, Column, Table, declared, documented
from engine.messages.message import Message, named
from engine.models.sources.facts import LoadingChecks, ModelFacts

# The evaluations that a card can hold, in the order in which it shows them.
ON_CARDS = {
    each.kind: each.card
    for each in (MINIMAL_PAIRS, FILL_MASK, CLUSTERS, CLASSIFICATION, METRIC_STUDY, ALIGNMENT)
    if each.card is not None
}
KINDS = tuple(ON_CARDS)
BETTER, WORSE, NOT_SEPARABLE = "better", "worse", named("not separable")

_SINCE = "0.3.0"
EVALUATION = Column("evaluation", "text", "kind of the run")
DATASET = Column("dataset", "text", "the name of the data")
RUN = Column("run", "text", "id of the run")
MEASURE = Column("measure", "text", "key of the measure's card")
SETTING = Column(
    "setting", "text", 'the choice that the number is under, such as the normalisation; "" for none', dtype=MESSAGE
)
ITEMS = Column("items", "text", "the items that it is over", dtype=MESSAGE)
OF_RUN = (EVALUATION, DATASET, RUN)

HEADLINES = Table(
    "headlines",
    Message("A row for each number of the card."),
    (
        *OF_RUN,
        MEASURE,
        SETTING,
        ITEMS,
        Column("n", "integer", "items", "items"),
        Column("value", "number", "the number"),
        *interval(Message("as the evaluation gives it")),
        Column("unit", "text", 'its unit; "" for a pure number'),
        Column("better", "text", "which end is better: higher, lower or neither"),
        Column(
            "rank",
            "integer or none",
            "its place among the models with the same data, settings and items, 1 is the "
            "best; none where no end is better, and where all others have other items",
            better="lower",
        ),
        Column("n_models", "integer", "models with this number over the same items, this one included", "models"),
        WHY_UNDEFINED,
    ),
    since=_SINCE,
)
OTHERS = Table(
    "others",
    Message("A row for each other model with the same data and settings, under each number that has a paired test."),
    (
        *OF_RUN,
        replace(OTHER, meaning="the other model"),
        Column("other_run", "text", "id of the run that it is of"),
        MEASURE,
        SETTING,
        *(NUMBERS[name] for name in ("items", "n")),
        Column("value", "number", "the number of this model over the items that both have"),
        Column("other_value", "number", "the same of the other model"),
        Column("difference", "number", "this model less the other"),
        *interval(Message("of the difference")),
        *(NUMBERS[name] for name in ("test", "p_value")),
        Column("p_holm", "number", "the same, corrected for the other models under this number by Holm's method"),
        Column(
            "outcome",
            "text",
            Message(
                "{BETTER} or {WORSE} than the other model where p_holm is below 0.05, or "
                "without a p-value the interval leaves out 0; else {NOT_SEPARABLE}",
                BETTER=BETTER,
                WORSE=WORSE,
                NOT_SEPARABLE=NOT_SEPARABLE,
            ),
        ),
        WHY_UNDEFINED,
    ),
    since=_SINCE,
)
LENGTH_BIAS = Table(
    "length_bias",
    Message("A row for each normalisation of each run of minimal pairs: the length bias as one number."),
    (*OF_RUN, *SLOPES.columns[1:]),
    since=_SINCE,
)
READINGS = Table(
    "readings",
    Message(
        "A row for each run of alignment: how the tokenizer cuts the sentences and their "
        "names, and what of it has a reading."
    ),
    (
        *OF_RUN,
        Column("n_tokens", "integer", "tokens, special ones left out", "tokens"),
        Column("n_unknown", "integer", "of them, those that stand for text out of the vocabulary", "tokens", "lower"),
        Column("n_unread", "integer", "of them, those without a whole reading", "tokens", "lower"),
        Column("n_names", "integer", "names in the sentences: proper nouns, unknown words, numbers", "names"),
        Column("n_whole_names", "integer", "of them, those that are one token", "names"),
        Column("tokens_per_name", "number", "tokens of a name in the mean", "tokens"),
        Column("n_read_names", "integer", "names of which every token has a whole reading", "names", "higher"),
    ),
    since=_SINCE,
)
MAPS = replace(
    POINTS,
    name="maps",
    meaning=Message("A row for each point of each map of the model."),
    columns=(*OF_RUN, *POINTS.columns[1:]),
    since=_SINCE,
)
FILES = (HEADLINES, OTHERS, LENGTH_BIAS, READINGS, MAPS)


@dataclass(frozen=True)
class OtherModel:
    """Another model with the same data and settings: its name in its run, and the result of that."""

    model: str
    run_id: str
    result: Any


@dataclass(frozen=True)
class CardRun:
    """A finished run of the card's model. model: its name there. dataset_hash: of the content.

    left_out: a sentence for each run of other models that could not be opened (`left_out_notice`).
    """

    kind: str
    run_id: str
    dataset_name: str
    dataset_hash: str
    model: str
    result: Any
    others: tuple[OtherModel, ...] = ()
    left_out: tuple[str, ...] = ()


def left_out_notice(kind: str, run_id: str, dataset_name: str, why: str) -> str:
    """What a card says of a run that it is not made of."""
    return Message(
        "The run {run_id} ({kind}, {dataset_name}) is left out: {why}",
        run_id=run_id,
        kind=kind,
        dataset_name=dataset_name,
        why=why,
    )


@documented
@dataclass(frozen=True)
class CardOfModel:
    """What the finished runs of one model say of it, held against the models with the same data and settings.

    facts, checks: of the model, and what loading it found; None where it was not opened. refusal: why it could not be
    loaded, "" where it could. notices: what a reader must know. left_out: those of them that name a run of this model
    which is not on the card.
    """

    model: str
    headlines: pd.DataFrame = field(metadata=declared(HEADLINES))
    others: pd.DataFrame = field(metadata=declared(OTHERS))
    length_bias: pd.DataFrame = field(metadata=declared(LENGTH_BIAS))
    readings: pd.DataFrame = field(metadata=declared(READINGS))
    maps: pd.DataFrame = field(metadata=declared(MAPS))
    facts: ModelFacts | None = None
    checks: LoadingChecks | None = None
    refusal: str = ""
    notices: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    signature: dict[str, Any] = field(default_factory=dict)
