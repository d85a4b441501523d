"""The words of the printed alignment, in English and Japanese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.evaluations.alignment.token_table import SIDES

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "reference": "Reference", "candidate": "Candidate",
        "shade": "Shade, width and number: similarity to the best match, pale at {ground:.2f}, the median of this "
                 "pair; strong where each is the best match of the other.",
        "low": "Dashed frame: low-frequency.", "name": "Underlined: proper noun.",
        "names": "Underlined: name.", "m of names": "M: agreement of the readings of names.",
        "m": "M: agreement of readings, used by the penalty.", "special": "◦: the best match is a special token.",
        "away": "→ and ←: a best match in a later or an earlier line.",
    },
    "ja": {
        "reference": "参照文", "candidate": "候補文",
        "shade": "濃さ・太さ・数値：最良対応との類似度（この文対の中央値 {ground:.2f} で最も薄い）。"
                 "双方が互いの最良対応である線は濃い。",
        "low": "破線の枠：低頻度。", "name": "下線：固有名詞。", "m": "M：罰則で用いる読みの一致度。",
        "names": "下線：名前。", "m of names": "M：名前の読みの一致度。",
        "special": "◦：最良対応は特殊トークン。", "away": "→・←：最良対応が後の行・前の行にある。",
    },
}


def legend_words(data: Mapping[str, Any], language: str, *, cut: bool) -> str:
    """How to read the picture, as far as it occurs in this pair. cut: it has several lines."""
    words = WORDS[language]
    tokens = [token for side in SIDES for token in data[side] if not token["special"]]
    by_name = data["by_name"]
    shown = {
        "shade": True, "low": any(token["low"] for token in tokens),
        "names" if by_name else "name": data["names"] and any(token["name"] for token in tokens),
        "m of names" if by_name else "m": data["penalised"] and any(token["counted"] for token in tokens),
        "special": any(token["match_special"] for token in tokens), "away": cut,
    }
    gap = " " if language == "en" else ""
    return gap.join(words[name].format(ground=data["ground"]) for name, is_shown in shown.items() if is_shown)
