"""The classifier of sentence vectors: it learns what can be learnt, is that of scikit-learn, and prints nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier

from engine.errors import InputError
from engine.measures.classification import stratified_split
from engine.models.scoring.classifier import train_and_predict
from engine.models.worker import run_chunk

SETTINGS: dict[str, Any] = {"hidden": [200, 200], "epochs": 20, "batch_size": 32, "standardize": False, "seed": 0}


def two_classes(n: int = 60, apart: float = 4.0) -> tuple[np.ndarray, list[int], list[bool]]:
    """Two clouds in 6 dimensions, in turns; the last fifth is the test."""
    labels = [i % 2 for i in range(n)]
    vectors = np.random.default_rng(1).normal(size=(n, 6)) + apart * np.array(labels)[:, None]
    return vectors.astype(np.float32), labels, [i >= 0.8 * n for i in range(n)]


def test_clouds_that_lie_apart_are_told_apart() -> None:
    vectors, labels, is_test = two_classes()
    piece = train_and_predict(vectors, labels=labels, is_test=is_test, **SETTINGS)
    assert piece["predicted"].dtype == np.int32
    assert piece["predicted"].tolist() == [label for label, test in zip(labels, is_test, strict=True) if test]
    assert piece["train_accuracy"] == 1.0


def test_fishers_iris_reaches_what_every_textbook_reports() -> None:
    data = load_iris()
    right = []
    for seed in range(3):
        test = stratified_split([str(one) for one in data.target], seed=seed)
        piece = train_and_predict(data.data, labels=data.target, is_test=test, **{**SETTINGS, "seed": seed})
        right.append((piece["predicted"] == data.target[test]).mean())
    assert np.mean(right) > 0.93  # versicolor and virginica overlap; 95 to 98% are reported everywhere


def test_what_is_noise_is_not_learnt() -> None:
    # 300 labels that have nothing to do with the vectors: on 60 new ones guessing gives 1/2, sd sqrt(1/4/60) = 0.065
    random = np.random.default_rng(0)
    vectors, labels = random.normal(size=(300, 6)), random.integers(0, 2, 300)
    test = np.arange(300) >= 240
    piece = train_and_predict(vectors, labels=labels, is_test=test, **SETTINGS)
    assert abs((piece["predicted"] == labels[test]).mean() - 0.5) < 4 * 0.065


def test_it_is_scikit_learns_network_with_the_papers_settings() -> None:
    vectors, labels, is_test = two_classes(apart=0.5)
    train = ~np.array(is_test)
    with pytest.warns(UserWarning, match="Maximum iterations"):
        network = MLPClassifier(
            (200, 200), solver="adam", max_iter=20, batch_size=32, random_state=5, tol=0, n_iter_no_change=20
        ).fit(vectors[train].astype(float), np.array(labels)[train])
    piece = train_and_predict(vectors, labels=labels, is_test=is_test, **{**SETTINGS, "seed": 5})
    assert piece["predicted"].tolist() == network.predict(vectors[~train].astype(float)).tolist()
    assert piece["train_accuracy"] == network.score(vectors[train].astype(float), np.array(labels)[train])


def test_every_epoch_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    epochs = []
    fit = MLPClassifier.fit
    monkeypatch.setattr(MLPClassifier, "fit", lambda self, x, y: epochs.append(fit(self, x, y).n_iter_) or self)
    vectors, labels, is_test = two_classes(apart=100)  # learnt at once: an early stop would come
    for asked in (1, 7, 60):
        train_and_predict(vectors, labels=labels, is_test=is_test, **{**SETTINGS, "epochs": asked, "hidden": [4]})
    assert epochs == [1, 7, 60]


def test_the_same_seed_says_the_same_and_another_may_not() -> None:
    vectors, labels, is_test = two_classes(200, apart=0.3)

    def said(seed: int) -> list[int]:
        return train_and_predict(vectors, labels=labels, is_test=is_test, **{**SETTINGS, "seed": seed})[
            "predicted"
        ].tolist()

    assert said(3) == said(3)
    assert len({tuple(said(seed)) for seed in range(4)}) > 1


def test_the_test_sentences_teach_nothing() -> None:
    vectors, labels, is_test = two_classes()
    changed = vectors.copy()
    changed[-1] += 50  # a test sentence far off, which standardising must not see either
    for standardize in (False, True):
        settings = {**SETTINGS, "standardize": standardize}
        before, after = (train_and_predict(v, labels=labels, is_test=is_test, **settings) for v in (vectors, changed))
        assert before["predicted"][:-1].tolist() == after["predicted"][:-1].tolist()
        assert before["train_accuracy"] == after["train_accuracy"]


def test_standardising_takes_offset_and_scale_away() -> None:
    vectors, labels, is_test = two_classes(apart=1.0)
    moved = vectors.astype(np.float64) * [1e-4, 1, 10, 1e3, 1, 1] + [0, 1e3, -50, 0, 3, 1]
    said = [
        train_and_predict(v, labels=labels, is_test=is_test, **{**SETTINGS, "standardize": True})["predicted"]
        for v in (vectors, moved)
    ]
    assert said[0].tolist() == said[1].tolist()


def test_a_class_without_training_sentence_is_never_said() -> None:
    vectors, _, is_test = two_classes()
    labels = [2 if test else i % 2 for i, test in enumerate(is_test)]
    piece = train_and_predict(vectors, labels=labels, is_test=is_test, **SETTINGS)
    assert set(piece["predicted"]) <= {0, 1}


def test_the_largest_vectors_that_float32_holds_are_learnt_from() -> None:
    vectors, labels, is_test = two_classes()
    largest = vectors / np.abs(vectors).max() * np.finfo(np.float32).max
    piece = train_and_predict(largest, labels=labels, is_test=is_test, **SETTINGS)
    assert piece["train_accuracy"] > 0.9


def test_vectors_that_are_not_finite_are_refused() -> None:
    broken, labels, is_test = two_classes()
    broken[3, 0] = np.nan
    with pytest.raises(InputError, match="not finite"):
        train_and_predict(broken, labels=labels, is_test=is_test, **SETTINGS)


def test_nothing_is_written_into_the_vectors() -> None:
    vectors, labels, is_test = two_classes()
    before = vectors.copy()
    train_and_predict(vectors, labels=labels, is_test=is_test, **{**SETTINGS, "standardize": True})
    assert np.array_equal(vectors, before)


def test_a_worker_classifies_each_item_by_itself() -> None:
    vectors, labels, is_test = two_classes()
    request = {
        "model": "",
        "revision": None,
        "items": [vectors, -vectors],
        "settings": {**SETTINGS, "labels": labels, "is_test": is_test},
    }
    first, second = run_chunk("classify", request)
    alone = [train_and_predict(v, labels=labels, is_test=is_test, **SETTINGS)["predicted"] for v in request["items"]]
    assert [first["predicted"].tolist(), second["predicted"].tolist()] == [one.tolist() for one in alone]


def test_scikit_learn_is_imported_only_to_classify() -> None:
    code = "import sys, engine.models.scoring.classifier; print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
