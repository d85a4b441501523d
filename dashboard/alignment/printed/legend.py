"""How to read the printed alignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.evaluations.alignment.token_table import SIDES


def legend_words(data: Mapping[str, Any], words: Mapping[str, str], *, cut: bool) -> str:
    """How to read the picture, as far as it occurs in this pair.

    words: `view_texts.printed_texts`. cut: the picture has several lines.
    """
    tokens = [token for side in SIDES for token in data[side] if not token["special"]]
    by_name = data["by_name"]
    shown = {
        "shade": True,
        "low": any(token["low"] and not token["unknown"] for token in tokens),
        "unknown": any(token["unknown"] for token in tokens),
        "names" if by_name else "name": data["names"] and any(token["name"] for token in tokens),
        "m-of-names" if by_name else "m": data["penalised"] and any(token["counted"] for token in tokens),
        "special": any(token["match_special"] for token in tokens),
        "away": cut,
    }
    sentences = [words[name].format(ground=f"{data['ground']:.2f}") for name, is_shown in shown.items() if is_shown]
    return "".join(text if text.endswith("。") else f"{text} " for text in sentences).strip()
