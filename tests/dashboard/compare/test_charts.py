"""What the figure of a comparison draws."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.compare import charts


def test_of_many_items_half_are_the_first_and_the_others_are_drawn_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    items = pd.DataFrame({"first": [*range(40)], "second": [*range(39), None], "row": [*range(40)]})
    assert len(charts.drawn_items(items)) == 39  # what has both numbers
    monkeypatch.setattr(charts, "DRAWN", 10)
    rows = charts.drawn_items(items)["row"].tolist()
    assert rows[:5] == [0, 1, 2, 3, 4] and len(set(rows)) == 10 and min(rows[5:]) > 4
    assert rows == charts.drawn_items(items)["row"].tolist() != charts.drawn_items(items, seed=1)["row"].tolist()
