"""The tables of a card as its page and its report show them: numbers in words, columns by key with their heads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dashboard.model_card.choice import evaluation_title
from dashboard.shared.headlines import shown_dataset
from dashboard.shared.theme import measure_note, short_names
from engine.evaluations.model_card.card import BETTER, NOT_SEPARABLE, WORSE, CardOfModel
from engine.evaluations.shared.finding import FEWEST
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of

NUMBER = ("run", "measure", "setting", "items")  # what tells a number of a card
PER_CENT = {"accuracy": 1, "classification_accuracy": 1, "mask_probability": 2}  # decimals
# Measures that lie between -1 and 1, the ends of whose intervals may be near 0, in decimals.
DECIMALS = dict.fromkeys(("pearson", "acquisition_correlation", "f1", "penalized_f1"), 3)
OUTCOMES = {BETTER: mark("better"), WORSE: mark("worse"), NOT_SEPARABLE: mark("not separable")}


def numbers_table(card: CardOfModel) -> pd.DataFrame:
    """Every number of the card in words; the columns are those of `numbers_heads`."""
    return pd.DataFrame(
        [
            {
                "evaluation": evaluation_title(row["evaluation"]),
                "dataset": data(row),
                "number": words(row),
                "n": row["n"],
                "value": number(row["value"], row["measure"]),
                "interval": interval(row),
                "better": measure_note(row["measure"]) if row["better"] != "neither" else "–",
                "rank": rank(row, card),
            }
            for row in card.headlines.to_dict("records")
        ]
    )


def numbers_heads() -> dict[str, str]:
    """The heads of `numbers_table`, by column."""
    return {
        "evaluation": tr("Evaluation"),
        "dataset": tr("Data"),
        "number": tr("Number"),
        "n": "n",
        "value": tr("Value"),
        "interval": tr("95% interval"),
        "better": tr("Better"),
        "rank": tr("Rank"),
    }


def others_table(card: CardOfModel) -> pd.DataFrame:
    """The model against each other one in words; the columns are those of `others_heads`."""
    short = short_names((card.model, *card.others["other"]))
    return pd.DataFrame(
        [
            {
                "evaluation": evaluation_title(row["evaluation"]),
                "dataset": data(row),
                "other": short[row["other"]],
                "outcome": _outcome(row),
                "number": words(row),
                "n": row["n"],
                "value": number(row["value"], row["measure"]),
                "other_value": number(row["other_value"], row["measure"]),
                "interval": interval(row),
                "reason": translated(row["reason"]),
            }
            for row in card.others.to_dict("records")
        ]
    )


def others_heads() -> dict[str, str]:
    """The heads of `others_table`, by column."""
    return {
        "evaluation": tr("Evaluation"),
        "dataset": tr("Data"),
        "other": tr("Other model"),
        "outcome": tr("This model is"),
        "number": tr("Number"),
        "n": "n",  # untranslated
        "value": tr("This model"),
        "other_value": tr("The other"),
        "interval": tr("95% interval of the difference"),
        "reason": tr("Remark"),
    }


def length_table(card: CardOfModel) -> pd.DataFrame:
    """The length bias by normalisation in words; the columns are those of `length_heads`."""
    return pd.DataFrame(
        [
            {
                "dataset": data(row),
                "normalization": row["normalization"],
                "slope": number(row["slope"], "length_slope"),
                "interval": interval(row | {"measure": "length_slope"}),
                "n": row["n"],
                "reason": translated(row["reason"]),
            }
            for row in card.length_bias.to_dict("records")
        ]
    )


def length_heads() -> dict[str, str]:
    """The heads of `length_table`, by column."""
    return {
        "dataset": tr("Data"),
        "normalization": tr("Normalisation"),
        "slope": tr("Slope"),
        "interval": tr("95% interval"),
        "n": "n",
        "reason": tr("Remark"),
    }


def number(value: float, measure: str) -> str:
    """A number as the page shows it: shares in per cent, correlations and F1 with the decimals of their own pages.

    >>> number(0.671, "accuracy"), number(127.39, "dispersion_score"), number(0.00213, "mask_probability")
    ('67.1%', '127.4', '0.21%')
    >>> number(-0.01817, "pearson"), number(-0.01817, "length_slope")
    ('−0.018', '−0.01817')
    """
    if pd.isna(value):
        return tr("undefined")
    form = (
        f".{PER_CENT[measure]}%" if measure in PER_CENT else f".{DECIMALS[measure]}f" if measure in DECIMALS else ",.4g"
    )
    return format(value, form).replace("-", "−")


def words(row: Mapping[Any, Any]) -> str:
    """What a number is, beside its evaluation: measure, setting and items."""
    parts = CARDS[row["measure"]].name, row["setting"], row["items"]
    return translated(list_of(translated(part) for part in parts if part))


def data(row: Mapping[Any, Any]) -> str:
    """The data that a number is of, in the reader's language."""
    return shown_dataset(str(row["dataset"]))


def interval(row: Mapping[Any, Any]) -> str:
    """The interval of a number or a difference in words; a dash where it has none."""
    if pd.isna(row["ci_low"]) or pd.isna(row["ci_high"]):
        return "–"
    ends = number(row["ci_low"], row["measure"]), number(row["ci_high"], row["measure"])
    return tr("{low} to {high}", low=ends[0], high=ends[1])


def rank(row: Mapping[Any, Any], card: CardOfModel) -> str:
    """The place of the model under a number, in words; a dash where it has none.

    Where the model was tested against each other one, those that it does not differ from significantly share places.
    """
    if pd.isna(row["rank"]):
        return "–"
    n = int(row["n_models"])
    others = card.others
    for name in ("run", "measure", "setting"):
        others = others[(others[name] == row[name]).to_numpy()]
    # A comparison may call the items of the number otherwise; as many of one measure are the same.
    others = others[((others["items"] == row["items"]) | (others["n"] == row["n"])).to_numpy()]
    tested = others[(others["p_holm"].notna() | others["ci_low"].notna()).to_numpy()]
    if len(tested) < n - 1:
        return tr("place {rank} of {n}, not tested", rank=int(row["rank"]), n=n)
    is_enough = row["n"] >= FEWEST
    n_ahead, n_behind = (int(is_enough and (tested["outcome"] == outcome).sum()) for outcome in (WORSE, BETTER))
    if n_ahead + n_behind == n - 1:
        return tr("place {rank} of {n}", rank=1 + n_ahead, n=n)
    return tr("places {first}–{last} of {n}, tied", first=1 + n_ahead, last=n - n_behind, n=n)


def _outcome(row: Mapping[Any, Any]) -> str:
    """Which model is better; a dash where there is neither a test nor an interval of the difference."""
    is_tested = row["n"] >= FEWEST and not (pd.isna(row["p_holm"]) and pd.isna(row["ci_low"]))
    return tr(OUTCOMES[row["outcome"]]) if is_tested else "–"
