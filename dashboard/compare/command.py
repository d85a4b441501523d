"""The command that computes the comparison shown."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.inputs.compared import ChosenSide
from engine.commands.equivalent import compare_line
from engine.messages.languages import tr


def command_popover(sides: tuple[ChosenSide, ChosenSide]) -> None:
    """Draw, folded, the command that writes the page's tables of numbers and items."""
    with st.popover(tr("The same from a terminal"), icon=":material/terminal:", type="tertiary", key="compare-command"):
        st.caption(
            tr(
                "The command reads both runs from the data directory of this instance (HAKARI_DATA_DIR, or "
                "`--directory`), and writes numbers.csv and items.csv."
            )
        )
        by_letter = {letter: (chosen.run.id, chosen.side) for letter, chosen in zip("ab", sides, strict=True)}
        st.code(compare_line(by_letter), language="bash", wrap_lines=True)
