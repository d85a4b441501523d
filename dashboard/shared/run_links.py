"""Links from a run: to its page, and to the comparison with another run."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.shared.address.texts import to_texts
from dashboard.shared.wording import verbatim
from engine.messages.languages import tr
from engine.runs.storage.run_record import RunRecord


def run_link(view: RunRecord, label: str) -> None:
    """A link to the page and the result of a run; none for a kind of another version."""
    if (page := pages.of_kind(view.kind)) is not None:
        st.page_link(pages.path(page.name), label=verbatim(label), icon=page.icon, query_params={"run": view.id})


def card_link(model: str) -> None:
    """A link to the card of a model."""
    st.page_link(
        pages.path("model_card"),
        label=tr("Card of this model"),
        icon=pages.card("model_card").icon,
        query_params={"model": model},
    )


def compare_link(
    label: str, run_id: str, choices: Mapping[str, Any] = MappingProxyType({}), other_id: str | None = None
) -> None:
    """A link to the comparison of a run, shown with these choices, with another run (None: chosen there)."""
    query = {
        "a-run": run_id,
        **{f"a-{name.replace('_', '-')}": text for name, value in choices.items() for text in to_texts(value)},
        **({"b-run": other_id} if other_id else {}),
    }
    st.page_link(pages.path("compare"), label=label, icon=pages.card("compare").icon, query_params=query)


def rating_link(run_id: str) -> None:
    """A link to where several people rate the pairs of a run."""
    page = pages.card("rating")
    st.page_link(pages.path("rating"), label=tr(page.title), icon=page.icon, query_params={"run": run_id})
