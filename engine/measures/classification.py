"""Which sentences does a classifier learn from, which is it asked, and how often is it right?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.messages.message import Message

TEST_SHARE = 0.2


def n_test_of(n: int, share: float = TEST_SHARE) -> int:
    """How many of the n sentences of a class are kept for the test: the share, rounded, and both parts get one.

    Halves are rounded up; a class of one sentence has none to spare.

    >>> [n_test_of(n) for n in (1, 2, 7, 8, 100)]
    [0, 1, 1, 2, 20]
    """
    return min(max(1, int(share * n + 0.5)), n - 1) if n > 1 else 0


def tail_split(labels: Sequence[str], share: float = TEST_SHARE) -> NDArray[np.bool_]:
    """Which sentences are the test when the last `share` of each class is?

    Parameters
    ----------
    labels : (n_sentences,), in the order that "last" goes by.
    share : in (0, 1).

    Returns bool (n_sentences,), True = test; `n_test_of` sentences of each class.

    Edges: a class of one sentence is trained on and never tested. The order of the classes among each other
    does not matter.

    Raises InputError for a share that is not within 0 and 1.

    Source: Shibayama et al. 2020 (NLP 2020), section 5.2: "the last 20% of each category". The paper
    doubts it there: the end of a category need not be like the whole.

    >>> tail_split(["a", "b", "a", "b", "a"], 0.4).tolist()
    [False, False, False, True, True]
    """
    test = np.zeros(len(labels), dtype=bool)
    for members in _members(labels, share):
        test[members[len(members) - n_test_of(len(members), share) :]] = True
    return test


def stratified_split(labels: Sequence[str], share: float = TEST_SHARE, *, seed: int) -> NDArray[np.bool_]:
    """Which sentences are the test when a random `share` of each class is?

    Parameters, edges and errors: those of `tail_split`; `seed` decides which sentences.

    Returns bool (n_sentences,), True = test; as many of each class as `tail_split` has.

    Source: Shibayama et al. 2020 (NLP 2020), section 5.2: what the paper recommends in place of the tail.

    >>> split = stratified_split(["a"] * 10 + ["b"] * 5, seed=1)
    >>> int(split[:10].sum()), int(split[10:].sum())
    (2, 1)
    """
    random = np.random.default_rng(seed)
    test = np.zeros(len(labels), dtype=bool)
    for members in _members(labels, share):
        test[random.permutation(members)[: n_test_of(len(members), share)]] = True
    return test


def accuracy(truth: ArrayLike, predicted: ArrayLike) -> float:
    """In how many test sentences is the class right?

        acc = n_right / n_test

    Parameters
    ----------
    truth, predicted : (n_test,) classes, as any values that can be compared.

    Range: [0, 1], a share; 1 is best. What guessing reaches depends on the classes: see `majority_baseline`.

    Edges: nan for no test sentence.

    Raises InputError for columns of different lengths.

    Source: the accuracy of Shibayama et al. 2020 (NLP 2020), section 5.2 and table 3.

    >>> accuracy(["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.75
    """
    true_class, predicted_class = _paired(np.asarray(truth), np.asarray(predicted))
    return float((true_class == predicted_class).mean()) if true_class.size else float("nan")


def majority_baseline(train: Sequence[str], test: Sequence[str]) -> float:
    """The accuracy of always predicting the class that is most frequent in training.

        baseline = n_test of that class / n_test

    Parameters
    ----------
    train, test : the labels of the two parts.

    Range: [0, 1], a share: the accuracy below which nothing was learnt. For classes of one size it is one over
    their number.

    Edges: among classes equally frequent in training the one that is most frequent in the test counts, so that
    no prediction of one class only is better. nan without training or test sentences.

    Source: the usual ZeroR classifier.

    >>> majority_baseline(["a", "a", "b"], ["a", "b", "b", "b"])
    0.25
    """
    if not len(train) or not len(test):
        return float("nan")
    classes, counts = np.unique(np.asarray(train, dtype=object), return_counts=True)
    most_frequent = classes[counts == counts.max()]
    return max(float((np.asarray(test, dtype=object) == label).mean()) for label in most_frequent)


def confusion_counts(truth: ArrayLike, predicted: ArrayLike, n_classes: int) -> NDArray[np.int64]:
    """Confusion matrix: which classes are predicted in place of which?

        counts[i, j] = number of test sentences of class i that were called j

    Parameters
    ----------
    truth, predicted : (n_test,) class numbers from 0 below `n_classes`.

    Returns int64 (n_classes, n_classes): rows are the true classes, their sums the test sentences of each; the
    diagonal is what is right. A count; larger is better on the diagonal, smaller beside it.

    Edges: a class without test sentences has a row of zeros. Matrices of several runs may be added.

    Raises InputError for columns of different lengths or a number outside the range.

    Source: the same numbers as scikit-learn's `confusion_matrix(labels=range(n_classes))`.

    >>> confusion_counts([0, 0, 1], [0, 1, 1], 2).tolist()
    [[1, 1], [0, 1]]
    """
    true_class, predicted_class = _paired(np.asarray(truth, dtype=np.int64), np.asarray(predicted, dtype=np.int64))
    both = np.concatenate([true_class, predicted_class])
    if both.size and (both.min() < 0 or both.max() >= n_classes):
        raise InputError(
            Message(
                "Class numbers lie between 0 and {n_classes}; got {min} to {max}.",
                n_classes=n_classes - 1,
                min=both.min(),
                max=both.max(),
            )
        )
    cells = np.bincount(true_class * n_classes + predicted_class, minlength=n_classes**2)
    return cells.reshape(n_classes, n_classes).astype(np.int64)  # (true class, predicted class)


def _paired(truth: NDArray[Any], predicted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if truth.ndim != 1 or truth.shape != predicted.shape:
        raise InputError(
            Message(
                "Each test sentence has one class and one prediction; got {shape} and {other_shape}.",
                shape=truth.shape,
                other_shape=predicted.shape,
            )
        )
    return truth, predicted


def _members(labels: Sequence[str], share: float) -> list[NDArray[np.intp]]:
    if not 0 < share < 1:
        raise InputError(
            Message("The share of sentences kept for the test must be between 0 and 1; got {share}.", share=share)
        )
    coded = np.unique(np.asarray(labels, dtype=object), return_inverse=True)[1]
    return [np.flatnonzero(coded == code) for code in range(int(coded.max()) + 1)] if len(labels) else []
