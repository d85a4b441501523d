"""Surprisals by suite and means of many groups against what is slow: pandas group by group, scipy value by value."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from engine.evaluations.minimal_pairs.designs.arrays import by_suite, mean_with_interval, means_with_intervals


def random_surprisals(seed: int = 0) -> pd.DataFrame:
    """Two models; suites of several sizes with gaps, and with items and conditions that other suites have, too."""
    random = np.random.default_rng(seed)
    lines = []
    for model in ("m/a", "m/b"):
        row = 0
        for suite in range(12):
            n_regions = int(random.integers(1, 4))
            for item in random.permutation(int(random.integers(1, 9))):
                for condition in random.permutation(["x", "y", f"of {suite}"]):
                    row += 1
                    if random.random() < 0.8:
                        lines += [
                            (model, row, f"suite {suite}", str(item), str(condition), region, random.normal())
                            for region in range(n_regions + 1)
                        ]
    return pd.DataFrame(lines, columns=["model", "row", "suite", "item", "condition", "region", "surprisal"]).astype(
        dict.fromkeys(("model", "suite", "item", "condition"), "str")
    )


def test_each_suite_has_its_items_as_they_come_with_the_surprisals_of_its_regions() -> None:
    table = random_surprisals()
    scored = by_suite(table)
    groups = dict(iter(table.groupby(["model", "suite"], sort=False)))
    assert scored.keys() == groups.keys() and len(scored) > 20
    for key, of_suite in groups.items():
        items, rows, of_region = scored[key]
        firsts = of_suite.drop_duplicates("item")
        assert items == firsts["item"].tolist() and rows == firsts["row"].tolist()
        wide = of_suite.pivot(index="item", columns=["region", "condition"], values="surprisal").reindex(items)
        assert set(of_region) == set(wide.columns.to_list())
        for region, values in of_region.items():
            np.testing.assert_array_equal(values, wide[region])
    assert any(np.isnan(values).any() for _, _, of_region in scored.values() for values in of_region.values())
    assert by_suite(table.iloc[::-1]).keys() == scored.keys()


def test_many_means_at_once_are_those_of_scipy_one_by_one() -> None:
    random = np.random.default_rng(1)
    for size in (2, 3, 8, 9, 127, 400):
        values = random.normal(3, 2, (7, size))
        for row, mean, low, high in zip(values, *means_with_intervals(values), strict=True):
            expected = stats.t.interval(0.95, size - 1, row.mean(), stats.sem(row))
            np.testing.assert_allclose((low, high), expected, rtol=1e-12)
            assert mean == row.mean() and mean_with_interval(row) == (mean, low, high)
    np.testing.assert_array_equal(mean_with_interval(np.array([4.0])), (4, np.nan, np.nan))
    assert np.isnan(mean_with_interval(np.array([]))).all()
