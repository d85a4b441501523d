"""Tables of scores that fit a phone: ranks that do not break, and a single model's measures one below the other."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.shared.wording import JOINER
from engine.messages.languages import tr

N_BEFORE = 2  # rank and model stand before the measures


def draw_score_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw a table of models, Markdown in its cells: `header` is rank, model, then the measures.

    A single model has no rank, and its measures are one below the other: side by side they are wider than a phone.
    """
    if len(rows) == 1:
        [row] = rows
        lines = [
            [tr("Measure"), row[1]],
            [":--", "--:"],
            *([name, value] for name, value in zip(header[N_BEFORE:], row[N_BEFORE:], strict=True)),
        ]
    else:
        lines = [
            list(header),
            [":--:", ":--", *["--:"] * (len(header) - N_BEFORE)],
            *([unbroken(row[0]), *row[1:]] for row in rows),
        ]
    st.markdown("\n".join(f"| {' | '.join(cells)} |" for cells in lines))


def unbroken(text: str) -> str:
    """`text` without spaces that stays on one line: no break between its characters.

    >>> unbroken("2–5").replace(JOINER, "-")
    '2-–-5'
    """
    return JOINER.join(text)
