"""Numbers in their own spread, worked by hand."""

from __future__ import annotations

import numpy as np

from engine.measures.statistics.own_spread import in_own_spread


def test_a_spread_is_of_the_side_alone() -> None:
    values = np.array([-2.0, 2.0, np.nan])
    assert in_own_spread(values, centred=False)[:2].tolist() == [-1.0, 1.0]
    assert in_own_spread(values + 10, centred=True)[:2].tolist() == [-1.0, 1.0]
    assert in_own_spread(np.array([3.0, 3.0]), centred=True).tolist() == [0.0, 0.0]
