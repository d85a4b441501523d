"""What workers measure on vectors: plain pieces, and a cache that knows the code they come from."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from engine.inference import keys
from engine.measures.cards.card import MeasureCard
from engine.measures.cards.catalog import CARDS
from engine.measures.clusters.label_permutation import label_permutation
from engine.measures.clusters.neighbours import nearest_neighbours
from engine.measures.clusters.validity import cluster_validity, silhouette
from engine.models.scoring import vector_operations
from engine.models.scoring.vector_operations import VECTOR_OPERATIONS, measure_function

ENGINE = Path(__file__).parents[3] / "engine"
VECTORS = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)
CLASS_OF = [0, 1, 2] * 4


def test_they_answer_as_the_measures_do() -> None:
    null = VECTOR_OPERATIONS["label_permutation"](VECTORS, class_of=CLASS_OF, n_permutations=20, seed=1)
    expected = label_permutation(VECTORS, CLASS_OF, n_permutations=20, seed=1)
    assert null["p_value"] == expected.p_value
    np.testing.assert_array_equal(null["scores"], expected.scores)
    wanted = {"n_neighbours": 3, "metric": "euclidean"}
    found = VECTOR_OPERATIONS["nearest_neighbours"](VECTORS, **wanted)
    for array, same in zip(found.values(), nearest_neighbours(VECTORS, **wanted), strict=True):
        np.testing.assert_array_equal(array, same)
    validity = VECTOR_OPERATIONS["cluster_validity"](
        VECTORS, class_of=CLASS_OF, seed=0, functions={"s": "engine.measures.clusters.validity:silhouette"}
    )
    assert validity == cluster_validity(VECTORS, CLASS_OF, {"s": silhouette}) and validity["sample_size"] == 12


def test_a_function_is_one_of_the_measures() -> None:
    with pytest.raises(ValueError, match=r"one of engine\.measures; got 'os:remove'"):
        measure_function("os:remove")


@pytest.mark.parametrize("card", [card for card in CARDS.values() if card.function], ids=lambda card: card.key)
def test_the_function_of_a_card_is_there_and_in_the_caches_code(card: MeasureCard) -> None:
    assert callable(measure_function(card.function))
    module = ENGINE.parent / (card.function.partition(":")[0].replace(".", "/") + ".py")
    assert any(module in ENGINE.glob(pattern) for pattern in keys._CODE)


def measures_behind(path: Path) -> set[str]:
    """The modules of engine.measures that a file imports, and those that these import."""
    names = {
        node.module.removeprefix("engine.measures.")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine.measures.")
    }
    return names.union(*(measures_behind(ENGINE / "measures" / f"{name.replace('.', '/')}.py") for name in names))


def test_the_cache_knows_the_code_of_all_that_is_measured_on_vectors() -> None:
    measures = ENGINE / "measures"
    known = {
        ".".join(path.relative_to(measures).with_suffix("").parts)
        for pattern in keys._CODE
        for path in ENGINE.glob(pattern)
        if path.is_relative_to(measures)
    }
    assert measures_behind(Path(vector_operations.__file__)) <= known
