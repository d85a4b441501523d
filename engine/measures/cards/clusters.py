"""The cards of what stands beside A_m, B_m and M_m: variances, the null, and what the field asks of clusters."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard
from engine.messages.message import Message

_VALIDITY = "engine.measures.clusters.validity"
_FOOTNOTES = Message("Shibayama, Cao, Bai, Ma, Shinnou 2020 (PACLIC 34), section 3.1, footnote")

CLUSTER_CARDS = (
    MeasureCard(
        "in_class_variance", "In-class variance", "A_m / n",
        "A_m / number of sentences", "[0, ∞)", "squared vector entries", "lower",
        "How far does a sentence lie from its class's centroid, squared, on average?",
        Message("{_FOOTNOTES} 1, divided by the number of sentences", _FOOTNOTES=_FOOTNOTES),
        digits=None,
    ),
    MeasureCard(
        "out_of_class_variance", "Out-of-class variance", "B_m / N",
        "B_m / number of classes", "[0, ∞)", "squared vector entries", "higher",
        "How far does a class's centroid lie from the mean of the centroids, squared, on average?",
        f"{_FOOTNOTES} 2",
        digits=None,
    ),
    MeasureCard(
        "permutation_p_value", "Permutation p-value", "p_null",
        "p_null = (1 + permutations with M_m as small) / (1 + permutations)", "(0, 1]", "", "lower",
        "How often would labels given out at random keep the sentences apart as well? It says that they do, not how "
        "well.",
        "Permutation test (Fisher 1935); Phipson and Smyth 2010",
    ),
    MeasureCard(
        "nearest_own_centroid", "Nearest to the own centroid", "NC",
        "NC = sentences whose nearest centroid is that of their class / n", "[0, 1]", "", "higher",
        "How many sentences lie nearer to the centroid of their own class than to any other?",
        "Our addition: the rule of the nearest centroid, on the sentences that the centroids are the means of",
    ),
    MeasureCard(
        "silhouette", "Silhouette", "s",
        "s = mean of (b − a) / max(a, b)", "[−1, 1], 0 is between two classes", "", "higher",
        "Does a sentence lie nearer to its own class (mean distance a) than to the nearest other one (b)?",
        "Rousseeuw 1987, by scikit-learn; euclidean",
        "The silhouette is undefined: as many classes as sentences, or equal vectors.", f"{_VALIDITY}:silhouette",
    ),
    MeasureCard(
        "calinski_harabasz", "Calinski-Harabasz index", "CH",
        "CH = [Σ_i n_i ||g_i − x̄||² / (N − 1)] / [A_m / (n − N)]", "[0, ∞)", "", "higher",
        "How far do the N classes lie apart for each unit that their n sentences scatter, degrees of freedom counted?",
        "Caliński and Harabasz 1974; with classes of one size M_m turned over",
        "The Calinski-Harabasz index is undefined: no class has any spread.", f"{_VALIDITY}:calinski_harabasz",
        digits=None,
    ),
    MeasureCard(
        "davies_bouldin", "Davies-Bouldin index", "DB",
        "DB = mean over i of max over j of (s_i + s_j) / ||g_i − g_j||", "[0, ∞)", "", "lower",
        "How much do each class and the one most like it overlap? s_i is the mean distance of class i to its centroid.",
        "Davies and Bouldin 1979",
        "The Davies-Bouldin index is undefined: two classes have one centroid, or as many classes as sentences.",
        f"{_VALIDITY}:davies_bouldin",
    ),
    MeasureCard(
        "v_measure", "V-measure of k-means", "V",
        "V = 2 h c / (h + c)", "[0, 1]", "", "higher",
        "Does k-means find the classes: does each cluster hold one class (h), and each class lie in one cluster (c)?",
        "Rosenberg and Hirschberg 2007, by scikit-learn",
        "The V-measure is undefined: as many classes as sentences, or equal vectors.", f"{_VALIDITY}:v_measure",
    ),
    MeasureCard(
        "ari", "Adjusted Rand index of k-means", "ARI",
        "ARI = (RI − E[RI]) / (max RI − E[RI])", "[−0.5, 1], 0 is chance", "", "higher",
        "Do k-means and the labels agree, beyond chance, about which sentences belong together?",
        "Hubert and Arabie 1985, by scikit-learn",
        "The adjusted Rand index is undefined: as many classes as sentences, or equal vectors.", f"{_VALIDITY}:ari",
    ),
    MeasureCard(
        "nmi", "Normalised mutual information of k-means", "NMI",
        "NMI = I(labels; clusters) / sqrt(H(labels) H(clusters))", "[0, 1]", "", "higher",
        "How much does k-means' cluster of a sentence say of its label? Not corrected for chance.",
        "Strehl and Ghosh 2002, by scikit-learn; geometric mean, since with the arithmetic one it is the V-measure",
        "The normalised mutual information is undefined: as many classes as sentences, or equal vectors.",
        f"{_VALIDITY}:nmi",
    ),
    MeasureCard(
        "isoscore", "Isotropy (IsoScore)", "IsoScore",
        "IsoScore = ((Σ λ_i)² / Σ λ_i² − 1) / (d − 1)", "[0, 1]", "", "neither",
        "Do the vectors scatter alike in all directions? Isotropy and clusters pull apart: vectors in clusters are not "
        "isotropic. λ_i are the variances along the d principal components; n sentences have n − 1 at most.",
        "Rudman, Gillman, Rayne, Eickhoff 2022 (Findings of ACL); Mickus, Grönroos, Attieh 2024 (arXiv 2402.03191)",
        "IsoScore is undefined: one dimension, or equal vectors.", "engine.measures.clusters.isotropy:isoscore",
    ),
    MeasureCard(
        "v_measure_minibatch", "V-measure of mini-batch k-means", "V (MTEB)",
        "V = 2 h c / (h + c), of MiniBatchKMeans(batch_size=500)", "[0, 1]", "", "higher",
        "Does mini-batch k-means with batches of 500, as the evaluator of MTEB runs it, find the classes?",
        "Muennighoff, Tazi, Magne, Reimers 2023 (MTEB, EACL); Rosenberg and Hirschberg 2007, by scikit-learn",
    ),
    MeasureCard(
        "neighbour_overlap", "Neighbour overlap", "overlap",
        "overlap = mean over sentences of |N_a ∩ N_b| / k", "[0, 1], chance is about k / (n − 1)", "", "neither",
        "Do two models name the same sentences as a sentence's nearest neighbours? Models may agree and both be wrong.",
        "Chen and Buja 2009, there of a space and its map",
    ),
    MeasureCard(
        "linear_cka", "Linear CKA", "CKA",
        "CKA = ||Yᵀ X||² / (||Xᵀ X|| ||Yᵀ Y||), X and Y centred", "[0, 1]", "", "neither",
        "Do two models place the sentences alike, up to a turn and a scale of the whole space? Compare with chance: "
        "with more dimensions than sentences it is near 1 by itself.",
        "Kornblith, Norouzi, Lee, Hinton 2019 (ICML)",
    ),
    MeasureCard(
        "distance_correlation", "Correlation of distances (RSA)", "RSA",
        "RSA = Spearman's ρ of the distances of every two sentences under both models", "[−1, 1], 0 is chance", "",
        "neither",
        "Are sentences that lie far apart under one model far apart under the other?",
        "Kriegeskorte, Mur, Bandettini 2008",
    ),
)
