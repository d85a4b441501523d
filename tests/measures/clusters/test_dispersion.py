"""A_m, B_m, M_m: by hand, against the paper's table and scikit-learn, and by their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import calinski_harabasz_score

from engine.errors import InputError
from engine.measures.clusters.dispersion import dispersion

# Shibayama et al. 2020, table 2: A_m, B_m and the score as printed.
TABLE_2 = {
    "Kyoto Univ. Ver.": (240131.79, 337.83, 710.81),
    "SP Ver.": (67744.36, 104.05, 651.06),
    "Tohoku Univ. Ver.": (49991.31, 65.64, 761.58),
    "NICT Ver.": (106698.11, 151.27, 705.37),
    "Laboro Ver.": (153378.22, 273.83, 560.13),
}


def grouped(seed: int, n_classes: int = 4, n_dims: int = 6, spread: float = 3.0) -> tuple[np.ndarray, list[str]]:
    """Random groups of different sizes, the smallest of one sentence."""
    random = np.random.default_rng(seed)
    labels = [f"class {index}" for index in range(n_classes) for _ in range(1 + 3 * index)]
    centres = {label: random.normal(size=n_dims) * spread for label in sorted(set(labels))}
    return np.stack([centres[label] + random.normal(size=n_dims) for label in labels]), labels


def independent(vectors: np.ndarray, labels: list[str]) -> tuple[float, float]:
    """A_m and B_m by loops over float64 numbers, sums by math.fsum: no code in common with the measure."""
    rows = [[float(entry) for entry in vector] for vector in vectors]
    n_dims = len(rows[0])
    centroids = {}
    for label in set(labels):
        members = [row for row, given_label in zip(rows, labels, strict=True) if given_label == label]
        centroids[label] = [math.fsum(row[d] for row in members) / len(members) for d in range(n_dims)]
    middle = [math.fsum(centroid[d] for centroid in centroids.values()) / len(centroids) for d in range(n_dims)]
    in_class = math.fsum(
        (centroids[label][d] - row[d]) ** 2 for row, label in zip(rows, labels, strict=True) for d in range(n_dims)
    )
    out_of_class = math.fsum((middle[d] - centroid[d]) ** 2 for centroid in centroids.values() for d in range(n_dims))
    return in_class, out_of_class


def test_by_hand() -> None:
    # a: (0,0), (0,2), (3,1)  centroid (1,1): squared distances 2 + 2 + 4 = 8
    # b: (7,1)                centroid (7,1): 0
    # A = 8 + 0 = 8.  Mean of the centroids (4,1), not of the sentences (2.5,1).
    # B = 3^2 + 3^2 = 18.  M = 8 / 18.
    result = dispersion([[0, 0], [0, 2], [3, 1], [7, 1]], ["a", "a", "a", "b"])
    assert (result.in_class, result.out_of_class) == (8.0, 18.0)
    assert result.score == pytest.approx(8 / 18, rel=1e-15)  # one division
    assert [(one.label, one.n, one.dispersion, one.centroid_distance) for one in result.classes] == [
        ("a", 3, 8.0, 3.0),
        ("b", 1, 0.0, 3.0),
    ]
    # The variances: 8 over 4 sentences, 18 over 2 classes.
    assert (result.in_class_variance, result.out_of_class_variance) == (2.0, 9.0)


@pytest.mark.parametrize("model", TABLE_2)
def test_the_papers_table_2(model: str) -> None:
    in_class, out_of_class, printed = TABLE_2[model]
    # Two classes at ±sqrt(B/2) along one axis, each of two sentences ±sqrt(A)/2 away along the other:
    # A_m = 4 * A/4 and B_m = 2 * B/2. The paper's vectors are not published, its sums are.
    x, y = math.sqrt(out_of_class / 2), math.sqrt(in_class) / 2
    result = dispersion([[-x, -y], [-x, y], [x, -y], [x, y]], ["left", "left", "right", "right"])
    assert result.in_class == pytest.approx(in_class, rel=1e-12)
    assert result.out_of_class == pytest.approx(out_of_class, rel=1e-12)
    # A, B and the score are each printed to two decimals. (The sixth row, MeCab Ver., is left out: 97536.21 /
    # 154.37 is 631.83, and 631.06 is printed, farther off than rounding goes.)
    rounding = 0.005 + result.score * (0.005 / in_class + 0.005 / out_of_class)
    assert abs(result.score - printed) <= rounding


def test_equal_class_sizes_agree_with_scikit_learns_calinski_harabasz() -> None:
    random = np.random.default_rng(3)
    n_classes, n_each = 5, 8
    labels = [f"c{index}" for index in range(n_classes) for _ in range(n_each)]
    centres = np.repeat(random.normal(size=(n_classes, 10)), n_each, axis=0)
    vectors = centres + random.normal(size=centres.shape)
    # CH = (n_each * B / (k - 1)) / (A / (n - k)) where all classes have n_each sentences
    expected = n_each * (n_classes * n_each - n_classes) / ((n_classes - 1) * calinski_harabasz_score(vectors, labels))
    assert dispersion(vectors, labels).score == pytest.approx(expected, rel=1e-12)  # both in float64


@pytest.mark.parametrize("offset", [0.0, 300.0, -4000.0])
def test_equals_an_independent_float64_computation_also_far_from_the_origin(offset: float) -> None:
    vectors, labels = grouped(seed=1, n_classes=6, n_dims=50)
    narrow = (vectors + offset).astype(np.float32)
    result = dispersion(narrow, labels)
    in_class, out_of_class = independent(narrow, labels)
    # 1e-6 is what is promised; in float32 throughout, an offset of 4000 leaves no digit of it
    assert result.in_class == pytest.approx(in_class, rel=1e-6)
    assert result.out_of_class == pytest.approx(out_of_class, rel=1e-6)
    assert result.score == pytest.approx(in_class / out_of_class, rel=1e-6)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_order_place_and_unit_of_the_vectors_do_not_change_the_score(seed: int, shift: float, scale: float) -> None:
    vectors, labels = grouped(seed)
    plain = dispersion(vectors, labels)
    order = np.random.default_rng(seed).permutation(len(labels))
    moved = dispersion((vectors[order] + shift) * scale, [labels[index] for index in order])
    # rounding in entries of about 100 whose differences are about 1
    assert moved.in_class == pytest.approx(plain.in_class * scale**2, rel=1e-9)
    assert moved.out_of_class == pytest.approx(plain.out_of_class * scale**2, rel=1e-9)
    assert moved.score == pytest.approx(plain.score, rel=1e-9)
    assert [one.label for one in moved.classes] == [one.label for one in plain.classes]
    assert plain.in_class == pytest.approx(sum(one.dispersion for one in plain.classes))
    assert plain.out_of_class == pytest.approx(sum(one.centroid_distance**2 for one in plain.classes))


def test_a_rotation_changes_nothing() -> None:
    vectors, labels = grouped(seed=8)
    rotation, _ = np.linalg.qr(np.random.default_rng(8).normal(size=(6, 6)))
    assert dispersion(vectors @ rotation, labels).score == pytest.approx(dispersion(vectors, labels).score, rel=1e-12)


def test_every_sentence_twice_doubles_a_and_leaves_b() -> None:
    vectors, labels = grouped(seed=2)
    once, twice = dispersion(vectors, labels), dispersion(np.vstack([vectors, vectors]), labels * 2)
    assert twice.in_class == pytest.approx(2 * once.in_class) and twice.out_of_class == pytest.approx(once.out_of_class)
    assert twice.in_class_variance == pytest.approx(once.in_class_variance)  # what a variance is for
    assert twice.out_of_class_variance == pytest.approx(once.out_of_class_variance)


@pytest.mark.parametrize("offset", [0.0, 1e-3, 12345.678])
def test_classes_with_one_centroid_have_no_score(offset: float) -> None:
    # (0.1, 0.2, 0.6) and (0.3, 0.3, 0.3) have the mean 0.3 up to rounding: what B_m is then made of is no distance
    vectors = np.array([[0.1], [0.2], [0.6], [0.3], [0.3], [0.3]]) + offset
    result = dispersion(vectors, ["a"] * 3 + ["b"] * 3)
    assert math.isnan(result.score) and result.out_of_class < 1e-20 and result.in_class > 0


def test_all_vectors_equal_has_no_score() -> None:
    assert math.isnan(dispersion(np.ones((4, 3)), list("aabb")).score)


def test_one_sentence_per_class_has_no_score() -> None:
    alone = dispersion([[0.0], [2.0]], ["a", "b"])
    assert math.isnan(alone.score) and (alone.in_class, alone.out_of_class) == (0.0, 2.0)
    assert dispersion([[0.0], [0.0], [2.0]], ["a", "a", "b"]).score == 0.0  # one class of two will do


def test_the_argument_is_not_written_to() -> None:
    vectors, labels = grouped(seed=5)
    before = vectors.copy()
    dispersion(vectors, labels)
    np.testing.assert_array_equal(vectors, before)


@pytest.mark.parametrize(
    ("vectors", "labels", "said"),
    [
        (np.ones((40, 2)), ["news"] * 40, "Clustering needs at least 2 labels; got 1 ('news') over 40 sentences."),
        (np.ones((0, 2)), [], "got 0 over 0 sentences"),
        (np.ones((3, 2)), ["a", "b"], "got 3 vectors and 2 labels"),
        (np.ones(3), ["a", "b", "c"], "(n_sentences, n_dims); got (3,)"),
        ([[1.0, 2.0], [np.nan, 0.0], [np.inf, 0.0]], ["a", "b", "b"], "2 of 3 sentence vectors"),
    ],
)
def test_what_cannot_be_measured_is_refused(vectors: np.ndarray, labels: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        dispersion(vectors, labels)
    assert said in str(caught.value)


def test_bad_vectors_are_named() -> None:
    vectors = np.ones((9, 2))
    vectors[[1, 2, 3, 4, 5, 8]] = np.nan
    with pytest.raises(InputError, match=r"positions 1, 2, 3, 4, 5, …"):
        dispersion(vectors, list("aaaabbbbb"))
