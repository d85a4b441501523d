"""Do sentence vectors use all directions of their space alike? IsoScore."""

from __future__ import annotations

import numpy as np

from engine.measures.clusters.validity_inputs import ValidityInputs


def isoscore(inputs: ValidityInputs) -> float:
    """Do the vectors scatter alike in all directions, labels aside?

        (φ d − 1) / (d − 1),    φ = (Σ λ_i)² / (d Σ λ_i²)

    λ_i are the variances along the d principal components. φ d is their participation ratio: with k equal variances
    and no other the score is (k − 1) / (d − 1).

    In [0, 1], no unit; 1 = alike in every direction, 0 = along one line. Neither end is better: vectors that lie in
    clusters are not isotropic, and an isotropic cloud has no clusters (Mickus, Grönroos, Attieh 2024, arXiv
    2402.03191). n sentences have n − 1 directions at most, so that few sentences keep the score below
    (n − 2) / (d − 1). Vectors of one dimension and equal vectors leave it undefined: nan.

    Source: Rudman, Gillman, Rayne, Eickhoff 2022 (IsoScore, Findings of ACL), algorithm 1. Its isotropy defect
    δ = ||λ̂ − 1|| / sqrt(2 (d − √d)) with λ̂ = √d λ / ||λ|| gives d − δ² (d − √d) = Σ λ̂_i, and so the φ above.
    """
    n_dims = inputs.array.shape[1]
    if inputs.all_equal or n_dims < 2:
        return float("nan")
    centred = inputs.array - inputs.array.mean(axis=0)
    # Σ λ_i is the trace of the covariance, Σ λ_i² the squared length of it, or of the smaller matrix of products
    products = centred.T @ centred if n_dims <= len(centred) else centred @ centred.T
    ratio = float(np.trace(products)) ** 2 / float(np.square(products).sum())
    return float(np.clip((ratio - 1) / (n_dims - 1), 0.0, 1.0))
