"""The seeds of settings that are drawn at random: a few in each check, all in `make nightly`."""

from __future__ import annotations

from _pytest.mark import ParameterSet
from pytest import mark, param

IN_A_CHECK = 6  # where data come from is drawn by the seed's rest of 4 or 6 (`tests.dashboard.drawn_sources`)


def seeds(n: int, in_a_check: int = IN_A_CHECK) -> list[ParameterSet]:
    """0 to n - 1, for `parametrize`; those from `in_a_check` on are marked `nightly`."""
    return [param(seed, marks=[mark.nightly] if seed >= in_a_check else []) for seed in range(n)]
