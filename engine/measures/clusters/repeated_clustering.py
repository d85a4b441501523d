"""How much do the numbers of k-means depend on its seed? V-measure as MTEB takes it, and k-means, over many seeds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError
from engine.measures.clusters.classes import labelled_vectors
from engine.measures.clusters.validity import ari, nmi, v_measure
from engine.measures.clusters.validity_inputs import validity_inputs
from engine.messages.message import Message

MTEB_BATCH = 500
SEEDS = 2**32  # of scikit-learn
Floats = NDArray[np.float64]


def repeated_clustering(
    vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], *, n_seeds: int, seed: int = 0
) -> dict[str, Floats]:
    """The numbers of k-means with each of the seeds seed, seed + 1 …: (n_seeds,) by the key of the measure's card.

    "v_measure_minibatch" is `minibatch_v_measure`; "v_measure", "ari" and "nmi" are those of `cluster_validity`, whose
    first value here is the one there. Raises InputError as these do, and for n_seeds below 1.
    """
    if n_seeds < 1:
        raise InputError(Message("Clustering takes at least 1 seed; got {n_seeds}.", n_seeds=n_seeds))
    inputs = validity_inputs(vectors, labels, seed=seed)
    drawn: dict[str, list[float]] = {name: [] for name in ("v_measure_minibatch", "v_measure", "ari", "nmi")}
    for own_seed in ((seed + step) % SEEDS for step in range(n_seeds)):
        drawn["v_measure_minibatch"].append(minibatch_v_measure(vectors, labels, seed=own_seed))
        with_seed = replace(inputs, seed=own_seed)  # clusters anew
        for name, index in (("v_measure", v_measure), ("ari", ari), ("nmi", nmi)):
            drawn[name].append(index(with_seed))
    return {name: np.array(values) for name, values in drawn.items()}


def minibatch_v_measure(vectors: ArrayLike, labels: Sequence[object] | NDArray[np.generic], *, seed: int = 0) -> float:
    """Does mini-batch k-means find the classes? The clustering score of MTEB, on one set of sentences.

        V-measure of MiniBatchKMeans(n_clusters = classes, batch_size = 500, n_init = "auto") and the labels

    Parameters
    ----------
    vectors : (n_sentences, n_dims), taken as they are and in the order given. labels : (n_sentences,), any that sort.
    seed : of k-means; MTEB seeds numpy's global generator, which draws the same.

    In [0, 1], no unit; bigger is better, and above 0 at chance. Depends on the seed and on the order of the sentences.
    A sentence of its own in every class leaves it undefined: nan, where MTEB says 1.

    Raises InputError as `dispersion` does.

    Source: Muennighoff, Tazi, Magne, Reimers 2023 (MTEB, EACL), section 3.2, and its ClusteringEvaluator. Its task
    score is the mean over subsets of a data set, each clustered once; here the spread is over seeds on one set. The
    tasks that it calls fast draw bootstrap samples of 2,048 or more sentences with batches of 512 instead.
    """
    from sklearn.cluster import MiniBatchKMeans  # takes a second to import: only workers need it
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import v_measure_score

    labelled = labelled_vectors(vectors, labels)
    if len(labelled.names) == len(labelled.vectors):
        return float("nan")
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = MiniBatchKMeans(len(labelled.names), batch_size=MTEB_BATCH, n_init="auto", random_state=seed).fit(
            np.asarray(vectors)
        )
    return float(v_measure_score(labelled.class_of, fitted.labels_))
