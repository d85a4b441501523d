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

# Of a test with many cases a check has so many, evenly from the first to the last; `make nightly` has the others. The
# first part of "path::test" that fits counts.
FEW_CASES = (
    ("tests/browser/every_page/test_language.py", 1),
    ("tests/browser/test_accessibility.py", 3),
    ("tests/browser/test_addresses_in_browser.py", 2),
    ("tests/browser/test_pages_in_browser.py", 3),
    ("tests/commands/test_skip_bad_rows.py", 3),
    ("tests/dashboard/clusters/test_page.py", 3),
    ("tests/dashboard/compare/", 4),
    ("tests/dashboard/lessons/test_page.py", 2),
    ("tests/dashboard/minimal_pairs/test_outside_scores.py", 1),
    ("tests/dashboard/shared/exports/test_input_columns.py", 2),
    ("tests/dashboard/shared/test_guided_reading.py", 3),
    ("tests/dashboard/shared/test_presets.py", 4),
    ("tests/dashboard/test_labels.py", 2),
    ("tests/dashboard/test_true_sentences.py", 4),
    ("tests/datasets/test_reader_process.py", 2),
    ("tests/evaluations/alignment/test_bertscore_kinds.py::test_scores_equal_those_of_bert_score", 9),
    ("tests/evaluations/alignment/test_pair_scores.py", 12),
    ("tests/evaluations/clusters/test_maps.py", 1),
    ("tests/evaluations/minimal_pairs/test_exact_decisions.py", 4),
    ("tests/inference/endpoint/", 6),
    ("tests/inference/own_code/", 1),
    ("tests/measures/statistics/correlations/test_rank_intervals.py", 4),
    ("tests/measures/statistics/test_clustered_means.py", 3),
    ("tests/models/loading/gguf/test_weights.py::test_the_numbers_are_those_of_the_blocks", 9),
    ("tests/models/loading/test_adapters.py", 5),
    ("tests/models/scoring/vectors/", 4),
    ("tests/models/sources/hub/test_errors.py", 6),
    ("tests/models/tokenization/test_batches.py", 6),
    ("tests/models/zoo/", 4),
)


def is_slow(path: str) -> bool:
    """Whether a file of the tests, as a path from the root with "/", is one of slow tests."""
    return path.endswith(".py") and path.startswith(SLOW) and not path.startswith(NOT_SLOW)


def is_nightly(path: str) -> bool:
    """Whether all tests of a file, as a path from the root with "/", are for the nightly run."""
    return path in NIGHTLY


def left_for_the_night(test: str, cases: int) -> set[int]:
    """Which cases of a test, by their number from 0, no check has. test: "path::name", the path from the root with "/"."""
    few = next((few for part, few in FEW_CASES if test.startswith(part)), cases)
    if few >= cases:
        return set()
    return set(range(cases)) - {round(i * (cases - 1) / max(few - 1, 1)) for i in range(few)}


if __name__ == "__main__":
    print(*SLOW)
