"""The card of a model from the results of its runs. Pure arithmetic on results: no model is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from engine.errors import EngineError, InputError
from engine.evaluations.agreement.evaluate import different_files
from engine.evaluations.comparison.compare import SIGNIFICANT, compare
from engine.evaluations.comparison.records import Side
from engine.evaluations.model_card.card import (
    BETTER,
    FILES,
    HEADLINES,
    KINDS,
    NOT_SEPARABLE,
    ON_CARDS,
    OTHERS,
    WORSE,
    CardOfModel,
    CardRun,
    OtherModel,
    left_out_notice,
)
from engine.evaluations.shared.on_card import Headline, rows_of
from engine.evaluations.shared.signature import FINGERPRINT_DIGITS
from engine.evaluations.shared.vectors.sentence_vectors import vector_notices
from engine.measures.cards.catalog import CARDS
from engine.measures.statistics.correlations.rank_agreement import ranks
from engine.measures.statistics.paired_tests import holm
from engine.measures.statistics.rank_groups import is_separable
from engine.messages.earlier_texts import read_message
from engine.messages.message import Message, list_of, together
from engine.models.sources.facts import LoadingChecks, ModelFacts
from engine.models.sources.names import without_label
from engine.version import VERSION

Row = dict[str, Any]


def card_of(
    model: str,
    runs: Sequence[CardRun],
    facts: ModelFacts | None = None,
    checks: LoadingChecks | None = None,
    refusal: str = "",
    left_out: Sequence[str] = (),
) -> CardOfModel:
    """What `runs` say of a model, each held against the models with the same data and settings.

    left_out: a sentence for each run that could not be opened. A run whose numbers cannot be made, for want of a
    dictionary for example, is left out as well, and a notice names it. Raises InputError where no run is left, or one
    is of a kind that a card does not hold.
    """
    if strange := [run.kind for run in runs if run.kind not in KINDS]:
        raise InputError(
            Message("A card is made of runs of {KINDS}; got {strange}.", KINDS=list_of(KINDS), strange=list_of(strange))
        )
    runs = sorted(runs, key=lambda run: KINDS.index(run.kind))
    tables: dict[str, list[Row]] = {table.name: [] for table in FILES}
    notices: dict[str, None] = {}
    not_made = list(left_out)
    kept: list[CardRun] = []
    for run in runs:
        of_run = {"evaluation": run.kind, "dataset": run.dataset_name, "run": run.run_id}
        try:
            of_tables = list(_rows(run, notices))
        except EngineError as error:
            not_made.append(left_out_notice(run.kind, run.run_id, run.dataset_name, str(error)))
            continue
        kept.append(run)
        for name, rows in of_tables:
            tables[name] += [of_run | row for row in rows]
        notices |= dict.fromkeys(notice for notice in run.result.notices if not _is_of_another(notice, run))
        notices |= dict.fromkeys((*run.left_out, *vector_notices(_descriptions(run))))
    if not kept:
        raise InputError(
            together(" ", not_made)
            or Message("There is no finished run of {model} to make a card of. Evaluate it first.", model=model)
        )
    signatures = {
        f"{run.kind} {run_id}": result.signature
        for run in kept
        for run_id, result in ((run.run_id, run.result), *((other.run_id, other.result) for other in run.others))
    }
    frames = {table.name: table.frame_of_records(tables[table.name]) for table in FILES}
    return CardOfModel(
        model,
        **frames,
        facts=facts,
        checks=checks,
        refusal=refusal,
        notices=(*not_made, *different_files(_with_models(signatures)), *notices),
        left_out=tuple(not_made),
        signature=signed(model, kept),
    )


def signed(model: str, runs: Sequence[CardRun]) -> dict[str, Any]:
    """What determines a card: its runs with their signatures, and the runs of the other models."""
    return {
        "model": model,
        "runs": [
            {
                "evaluation": run.kind,
                "run": run.run_id,
                "dataset": run.dataset_hash[:FINGERPRINT_DIGITS],
                "signature": run.result.signature,
                "others": {other.model: other.run_id for other in run.others},
            }
            for run in runs
        ],
        "versions": {"hakari": VERSION},
    }


def _rows(run: CardRun, notices: dict[str, None]) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each table that a run gives, without the columns that name the run."""
    on_card = ON_CARDS[run.kind]
    own = on_card.headlines(run.result, run.model)
    of_others = [on_card.headlines(other.result, other.model) for other in run.others]
    yield (
        HEADLINES.name,
        [_headline(headline, [numbers[place] for numbers in of_others]) for place, headline in enumerate(own)],
    )
    yield OTHERS.name, [row for headline in own if headline.is_compared for row in _compared(run, headline, notices)]
    yield from on_card.details(run.result, run.model).items()


def _descriptions(run: CardRun) -> dict[str, str]:
    """How the sentence vectors of the model and of the others are made, by model; {} where there are none."""
    described = [
        (model, result.signature.get("vectors", {}).get(model))
        for model, result in ((run.model, run.result), *((other.model, other.result) for other in run.others))
    ]
    return {model: read_message(description) for model, description in described if description is not None}


def _is_of_another(notice: str, run: CardRun) -> bool:
    """Whether a notice of a run begins with the name of another of its models, and does not name that of the card."""
    names = [
        name
        for model in run.result.settings.models
        for name in (model, without_label(model))
        if re.match(rf"{re.escape(name)}[:, ]", notice)
    ]
    own = (run.model, without_label(run.model))
    return bool(names) and not any(re.search(rf"(^|, ){re.escape(name)}[:, ]", notice) for name in own)


def _headline(headline: Headline, of_others: Sequence[Headline]) -> Row:
    """The row of a number; its rank is among the models with the same items, none where all others have other items."""
    alike = [other.value for other in of_others if other.is_ranked and headline.is_over_the_items_of(other)]
    values = np.array([headline.value, *alike], dtype=np.float64)
    is_ranked = headline.is_ranked and headline.better != "neither" and (bool(alike) or not of_others)
    own_rank = ranks(values, headline.better)[0] if is_ranked else np.nan
    return {
        **{
            name: getattr(headline, name)
            for name in ("measure", "setting", "items", "n", "value", "ci_low", "ci_high", "better", "reason")
        },
        "unit": CARDS[headline.measure].unit,
        "rank": None if np.isnan(own_rank) else int(own_rank),
        "n_models": int(np.isfinite(values).sum()),
    }


def _compared(run: CardRun, headline: Headline, notices: dict[str, None]) -> list[Row]:
    """The model against each other one under a number, on the items that both have."""
    rows = []
    for other in run.others:
        try:
            comparison = compare(
                run.kind,
                Side(run.model, run.result, run.model, headline.shown),
                Side(other.model, other.result, other.model, headline.shown),
            )
        except InputError as error:
            notices[
                Message(
                    "{kind}: {model} cannot be compared: {message}",
                    kind=run.kind,
                    model=other.model,
                    message=error.message,
                )
            ] = None
            continue
        table = comparison.numbers
        number = rows_of(table[(table["measure"] == headline.measure).to_numpy()])[0]
        rows.append(
            _other(other, headline)
            | {
                name: number[name]
                for name in ("items", "n", "difference", "ci_low", "ci_high", "test", "p_value", "reason")
            }
            | {"value": number["first"], "other_value": number["second"]}
        )
    p_values = np.array([row["p_value"] for row in rows], dtype=np.float64)
    defined = ~np.isnan(p_values)
    p_values[defined] = holm(p_values[defined])
    return [
        row | {"p_holm": p_holm, "outcome": _outcome(row, p_holm, headline.better)}
        for row, p_holm in zip(rows, p_values.tolist(), strict=True)
    ]


def _other(other: OtherModel, headline: Headline) -> Row:
    return {"other": other.model, "other_run": other.run_id, "measure": headline.measure, "setting": headline.setting}


def _outcome(row: Mapping[str, Any], p_holm: float, better: str) -> str:
    """Which of the two models is better, in the words of `OTHERS`."""
    differs = (
        p_holm < SIGNIFICANT if not np.isnan(p_holm) else is_separable(row["difference"], row["ci_low"], row["ci_high"])
    )
    if not differs:
        return NOT_SEPARABLE
    return BETTER if (row["difference"] > 0) == (better == "higher") else WORSE


def _with_models(signatures: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The signatures that name their models with a fingerprint; stored ones of tests and old versions may not."""
    return {
        name: signature
        for name, signature in signatures.items()
        if all("fingerprint" in model for model in signature.get("models", [{}]))
    }


def is_same_model(name: str, other: str) -> bool:
    """Whether two names, with or without a label, name one model.

    >>> is_same_model("Ours=builtin/bert-mini-ja", "builtin/bert-mini-ja")
    True
    """
    return without_label(name) == without_label(other)
