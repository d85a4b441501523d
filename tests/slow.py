"""The slow tests: `python -m tests.slow` prints where they are, so that nothing else is collected for them."""

from __future__ import annotations

# In `make slow`, not in `make check`: whole journeys through a browser. What looks at every page (axe) and the keyboard are
# in every check.
SLOW = ("tests/browser/",)
NOT_SLOW = ("tests/browser/test_accessibility.py",)
# In `make nightly` alone: what seldom changes and takes long. Killed servers and a proxy before a browser, every choice of a
# page in its address (a browser opens the links of each page in `make slow`), every printed figure as a picture, code of
# models that takes too much, the lost nodes of a cluster, a model of a billion parameters, pretraining to the same
# weights and as a run.
NIGHTLY = (
    "tests/browser/test_behind_nginx.py",
    "tests/browser/test_survival.py",
    "tests/dashboard/alignment/test_address.py",
    "tests/dashboard/clusters/test_address.py",
    "tests/dashboard/metric_study/test_address.py",
    "tests/dashboard/minimal_pairs/test_address.py",
    "tests/dashboard/shared/exports/print/test_every_figure.py",
    "tests/dashboard/shared/exports/print/test_overlaps.py",
    "tests/dashboard/shared/exports/test_two_columns.py",
    "tests/inference/own_code/test_bounds.py",
    "tests/inference/ray/test_cluster.py",
    "tests/models/loading/test_large_models.py",
    "tests/models/pretraining/test_pretrain.py",
    "tests/models/pretraining/test_starting_points.py",
    "tests/runs/test_pretraining_jobs.py",
)


def is_slow(path: str) -> bool:
    """Whether a file of the tests, as a path from the root with "/", is one of slow tests."""
    return path.endswith(".py") and path.startswith(SLOW) and not path.startswith(NOT_SLOW)


def is_nightly(path: str) -> bool:
    """Whether all tests of a file, as a path from the root with "/", are for the nightly run."""
    return path in NIGHTLY


if __name__ == "__main__":
    print(*SLOW)
