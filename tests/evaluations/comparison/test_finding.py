"""What is said of two sides beside which is better."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.evaluations.comparison.finding import corrected
from engine.evaluations.comparison.records import Comparison


@pytest.mark.parametrize(
    ("p_value", "p_holm", "said"),
    [
        (0.02, 0.06, ["Corrected for the 2 numbers of this comparison it is not significant (p = 0.060)."]),
        (0.02, 0.04, []),
        (0.06, 0.18, []),
        (np.nan, np.nan, []),
    ],
)
def test_the_correction_is_told_where_it_decides(p_value: float, p_holm: float, said: list[str]) -> None:
    numbers = pd.DataFrame(
        {"measure": ["f1", "precision", "recall"], "p_value": [p_value, 0.5, np.nan], "p_holm": [p_holm, 0.5, np.nan]}
    )
    assert corrected(Comparison(numbers, pd.DataFrame(), "", 0, 0), "f1") == said
