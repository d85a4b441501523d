"""The classifier of the check by classification: a small network on sentence vectors, trained in a worker."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from engine.measures.checks import finite_vectors


def train_and_predict(
    vectors: ArrayLike,
    *,
    labels: Sequence[int],
    is_test: Sequence[bool],
    hidden: Sequence[int],
    epochs: int,
    batch_size: int,
    standardize: bool,
    seed: int,
) -> dict[str, Any]:
    """Train on the sentences that are not test sentences, and predict the classes of the test sentences.

    vectors: (n_sentences, n_dims). labels: (n_sentences,) class numbers. is_test: (n_sentences,). hidden: the widths
    of the hidden layers. Relu between layers, softmax at the end, cross-entropy with scikit-learn's small L2 term
    (1e-4), Adam at its usual rate of 0.001; exactly `epochs` passes, each in a new random order. `standardize`: each
    dimension to mean 0 and variance 1 over the training sentences first. In float64, so that the order in which threads
    add does not change a prediction, and no vector of a model overflows.

    Returns {"predicted": int32 (n_test,), "train_accuracy": float}, both of the network after the last epoch. The same
    input, seed and libraries give the same answer.

    Raises InputError for vectors that are not finite.
    """
    # scikit-learn takes a second to import; a worker that trains no classifier does not need it.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.preprocessing import StandardScaler

    array = finite_vectors(vectors)  # (n_sentences, n_dims)
    classes, is_test_sentence = np.asarray(labels, dtype=np.int32), np.asarray(is_test, dtype=bool)
    training_vectors, test_vectors = array[~is_test_sentence], array[is_test_sentence]
    if standardize:
        scaler = StandardScaler().fit(training_vectors)
        training_vectors, test_vectors = scaler.transform(training_vectors), scaler.transform(test_vectors)
    network = MLPClassifier(
        hidden_layer_sizes=tuple(hidden),
        solver="adam",
        max_iter=epochs,
        batch_size=min(batch_size, len(training_vectors)),
        random_state=seed,
        tol=0.0,
        n_iter_no_change=epochs,  # no early stopping
    )
    with warnings.catch_warnings():
        # Training stops after `epochs` by intention.
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(training_vectors, classes[~is_test_sentence])
    return {
        "predicted": network.predict(test_vectors).astype(np.int32),
        "train_accuracy": float(network.score(training_vectors, classes[~is_test_sentence])),
    }
