"""Which tests `make check` leaves to a landing (`make slow`), and both to the night (`make nightly`)."""

from __future__ import annotations

# In `make slow`, not in `make check`: whole journeys through a browser; rooms that are tried once for each of many kinds
# (models of every architecture, file formats of weights, servers that answer wrongly, exports); pages beside the five
# evaluations; what goes through all pages in a language; programs that try the code. `make affected` has those of what
# was changed, `make landing` has all.
SLOW = (
    "tests/browser/",
    "tests/commands/test_adopt.py",
    "tests/dashboard/agreement/",
    "tests/dashboard/dictionary/",
    "tests/dashboard/lessons/",
    "tests/dashboard/minimal_pairs/test_outside_scores.py",
    "tests/dashboard/model_card/",
    "tests/dashboard/rating/",
    "tests/dashboard/serving/",
    "tests/dashboard/shared/comments/",
    "tests/dashboard/shared/exports/",
    "tests/dashboard/shared/test_guided_reading.py",
    "tests/dashboard/shared/test_presets.py",
    "tests/dashboard/test_japanese_pages.py",
    "tests/dashboard/test_labels.py",
    "tests/dashboard/test_sample_languages.py",
    "tests/evaluations/minimal_pairs/designs/",
    "tests/evaluations/minimal_pairs/outside/",
    "tests/evaluations/minimal_pairs/prompts/",
    "tests/evaluations/minimal_pairs/test_endpoint.py",
    "tests/fuzzing/",
    "tests/gpu/",
    "tests/hakari/",
    "tests/inference/endpoint/",
    "tests/inference/local/",
    "tests/inference/own_code/",
    "tests/inference/ray/",
    "tests/models/loading/",
    "tests/models/scoring/vectors/",
    "tests/models/sources/",
    "tests/models/tokenization/files/",
    "tests/models/zoo/",
    "tests/mutants/",
    "tests/runs/test_run_process.py",
)
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
    ("tests/browser/test_accessibility.py", 2),
    ("tests/browser/test_addresses_in_browser.py", 1),
    ("tests/browser/test_pages_in_browser.py", 2),
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
    ("tests/inference/endpoint/", 4),
    ("tests/inference/own_code/", 1),
    ("tests/measures/statistics/correlations/test_rank_intervals.py", 4),
    ("tests/measures/statistics/test_clustered_means.py", 3),
    ("tests/models/loading/gguf/test_weights.py::test_the_numbers_are_those_of_the_blocks", 5),
    ("tests/models/loading/test_adapters.py", 5),
    ("tests/models/scoring/vectors/", 3),
    ("tests/models/sources/hub/test_errors.py", 6),
    ("tests/models/tokenization/test_batches.py", 6),
    ("tests/models/zoo/", 3),
)


def is_slow(path: str) -> bool:
    """Whether a file of the tests, as a path from the root with "/", is left to a landing."""
    return path.endswith(".py") and path.startswith(SLOW)


def is_nightly(path: str) -> bool:
    """Whether all tests of a file, as a path from the root with "/", are for the nightly run."""
    return path in NIGHTLY


def left_for_the_night(test: str, cases: int) -> set[int]:
    """Which cases of a test, by their number from 0, no check has. test: "path::name", the path from the root with "/"."""
    few = next((few for part, few in FEW_CASES if test.startswith(part)), cases)
    if few >= cases:
        return set()
    return set(range(cases)) - {round(i * (cases - 1) / max(few - 1, 1)) for i in range(few)}
