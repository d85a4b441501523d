"""What a page draws and what it offers to download."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go
import pytest
import streamlit as st

from dashboard.shared.exports import figure_downloads
from dashboard.shared.exports.print.files import Drawing
from dashboard.streamlit_internals import Container


@dataclass
class Recorded:
    """The figures that were drawn on a page, and those that its popover offered, by caption."""

    drawn: list[go.Figure] = field(default_factory=list)
    offered: dict[str, go.Figure] = field(default_factory=dict)
    drawings: dict[str, Drawing] = field(default_factory=dict)

    def forget(self) -> None:
        self.drawn.clear()
        self.offered.clear()
        self.drawings.clear()


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    record = Recorded()
    of_page, of_container, offer = st.plotly_chart, Container.plotly_chart, figure_downloads._one_figure

    def on_page(figure: go.Figure, **named: Any) -> Any:
        record.drawn.append(go.Figure(figure))
        return of_page(figure, **named)

    def in_container(container: Container, figure: go.Figure, **named: Any) -> Any:
        record.drawn.append(go.Figure(figure))
        return of_container(container, figure, **named)

    def choice(figures: Mapping[str, go.Figure], drawings: Mapping[str, Drawing], signature: Mapping[str, Any]) -> None:
        record.offered |= figures
        record.drawings |= drawings
        offer(figures, drawings, signature)

    monkeypatch.setattr(st, "plotly_chart", on_page)
    monkeypatch.setattr(Container, "plotly_chart", in_container)
    monkeypatch.setattr(figure_downloads, "_one_figure", choice)
    return record
