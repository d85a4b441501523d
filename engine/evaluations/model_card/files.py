"""What a card is outside of the engine: one JSON value, and the Markdown of its numbers. English, as all files are."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from engine.evaluations.model_card.card import FILES, MAPS, CardOfModel
from engine.evaluations.model_card.model_index import model_card_text
from engine.measures.cards.catalog import CARDS
from engine.version import VERSION

JSON_FORMAT = 1  # raised when a reader of the file would have to change
_ABOUT = f"With Hakari {VERSION}, without fine-tuning. Intervals are 95%."
# What of the facts names the model and says how it reads texts; the rest is of this machine or of every signature.
FACTS = (
    "name",
    "source",
    "revision",
    "fingerprint",
    "tokenizer_fingerprint",
    "architecture",
    "kind",
    "n_layers",
    "hidden_size",
    "vocab_size",
    "max_tokens",
    "n_parameters",
    "tokenizer",
    "dtype",
    "recipe",
    "adapter_of",
    "quantised",
    "own_code",
)


def to_json_value(card: CardOfModel) -> dict[str, Any]:
    """The card as a JSON value; a number that is not finite is null. The points of maps are in the tables alone."""
    facts = card.facts
    return {
        "format": JSON_FORMAT,
        "model": card.model,
        "facts": None if facts is None else {name: getattr(facts, name) for name in FACTS},
        "checks": {
            "tokens": asdict(facts.token_check) if facts is not None and facts.token_check is not None else None,
            "loading": asdict(card.checks) if card.checks is not None else None,
            "refusal": card.refusal,
        },
        **{
            table.name: [_plain(row) for row in getattr(card, table.name).to_dict("records")]
            for table in FILES
            if table.name != MAPS.name
        },
        "notices": list(card.notices),
        "signature": card.signature,
    }


def readme(card: CardOfModel) -> str:
    """A model card for the Hugging Face Hub: the metadata with its model-index, and the numbers as a table."""
    lines = [
        "## Evaluation",
        "",
        _ABOUT,
        "",
        "| Evaluation | Data | Measure | n | Value | 95% interval | Better |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in card.headlines.to_dict("records"):
        details = ", ".join(filter(None, (row["setting"], row["items"])))
        ends = (row["ci_low"], row["ci_high"])
        interval = " to ".join(f"{end:.4g}" for end in ends) if all(map(math.isfinite, ends)) else ""
        value = f"{row['value']:.4g}" if math.isfinite(row["value"]) else row["reason"]
        cells = (
            row["evaluation"],
            row["dataset"],
            f"{CARDS[row['measure']].name} ({details})",
            f"{row['n']:,}",
            value,
            interval,
            row["better"],
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return model_card_text(card, "\n".join(lines))


def _plain(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(name): _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if value is pd.NA or value is None:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
