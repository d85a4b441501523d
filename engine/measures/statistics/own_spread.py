"""Numbers in the unit of their own spread, so that those of two models can be compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def in_own_spread(values: NDArray[np.float64], *, centred: bool) -> NDArray[np.float64]:
    """How many of its own spreads is each number?

        centred: (x_i − x̄) / sqrt(Σ (x_i − x̄)² / n);    else: x_i / sqrt(Σ x_i² / n)

    Parameters
    ----------
    values : (n,) numbers; NaN stays and counts nowhere.
    centred : False where 0 has a meaning that must stay, such as a margin's.

    Edges: numbers without any spread are divided by 1.

    Source: the z-score; without its centre the root mean square, ours.

    >>> in_own_spread(np.array([-2.0, 2.0]), centred=False).tolist()
    [-1.0, 1.0]
    """
    defined = values[~np.isnan(values)]
    centre = float(defined.mean()) if centred and len(defined) else 0.0
    spread = float(np.sqrt(np.mean(np.square(defined - centre)))) if len(defined) else 0.0
    return (values - centre) / (spread or 1.0)
