"""The clusters evaluation, on vectors that are noise from each text."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import InputError, ModelError
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.clusters.notices import NO_UPPER_END
from engine.evaluations.clusters.records import RANKS, Result, Settings
from engine.measures.cards.catalog import CARDS
from engine.runs.storage.packing import pack, unpack
from tests.support.session_fake import TOO_LONG, SessionFake, vector

TOO_LONG_TEXT = "長" * (TOO_LONG + 1)


def dataset(texts: list[str], labels: list[str]) -> LabelledSentences:
    return LabelledSentences("made up", tuple(texts), tuple(labels), tuple(range(1, len(texts) + 1)))


MADE_UP = dataset([f"文{i}" for i in range(12)], ["甲", "乙", "丙"] * 4)


def weigh(
    data: LabelledSentences = MADE_UP, *models: str, session: SessionFake | None = None, **settings: object
) -> Result:
    given = {"resamples": 100, **settings}
    return evaluate(Settings(models or ("m",), **given), data, session or SessionFake())  # type: ignore[arg-type]


def test_the_numbers_are_those_of_a_float64_loop_over_the_vectors() -> None:
    result = weigh()
    rows = [[float(entry) for entry in vector("m", text, 4)] for text in MADE_UP.texts]
    members = {label: rows[i::3] for i, label in enumerate("甲乙丙")}
    centroids = {label: [math.fsum(column) / 4 for column in zip(*its, strict=True)] for label, its in members.items()}
    middle = [math.fsum(column) / 3 for column in zip(*centroids.values(), strict=True)]
    in_class = math.fsum(
        (a - b) ** 2
        for label, its in members.items()
        for row in its
        for a, b in zip(row, centroids[label], strict=True)
    )
    out_of_class = math.fsum((a - b) ** 2 for own in centroids.values() for a, b in zip(own, middle, strict=True))
    row = result.models.iloc[0]
    # float64 against float64, in another order of summing
    assert row["in_class_dispersion"] == pytest.approx(in_class, rel=1e-9)
    assert row["out_of_class_dispersion"] == pytest.approx(out_of_class, rel=1e-9)
    assert row["score"] == pytest.approx(in_class / out_of_class, rel=1e-9)
    assert row["in_class_variance"] == pytest.approx(in_class / 12, rel=1e-9)
    assert row["out_of_class_variance"] == pytest.approx(out_of_class / 3, rel=1e-9)
    assert result.classes["dispersion"].sum() == pytest.approx(in_class, rel=1e-9)
    assert np.square(result.points["own_distance"]).sum() == pytest.approx(in_class, rel=1e-9)


def test_models_are_ranked_the_smallest_score_first_and_each_has_its_map() -> None:
    result = weigh(MADE_UP, "a", "b", "c", projection="pca")
    assert result.models.sort_values("rank")["score"].is_monotonic_increasing
    assert sorted(result.models["rank"]) == [1, 2, 3]
    for model in "abc":
        points = result.points[result.points["model"] == model]
        assert points["text"].tolist() == list(MADE_UP.texts)
        expected = np.array([vector(model, text, 4)[:2] for text in MADE_UP.texts])
        assert points[["x", "y"]].to_numpy() == pytest.approx(expected) and points["z"].isna().all()
        own = result.centroids[result.centroids["model"] == model].set_index("class")
        np.testing.assert_allclose(own.loc["乙", ["x", "y"]].to_numpy(float), expected[1::3].mean(axis=0), rtol=1e-6)


def test_a_map_in_space_and_its_settings() -> None:
    session = SessionFake()
    result = weigh(session=session, dimensions=3, n_neighbors=4, min_dist=0.5, metric="euclidean", seed=9)
    expected = np.array([vector("m", text, 4)[:3] for text in MADE_UP.texts])
    # The fake's map and its widest directions are the same.
    assert result.points[["x", "y", "z"]].to_numpy() == pytest.approx(expected - expected.mean(axis=0), abs=1e-6)
    assert (
        "project",
        "umap",
        {"n_neighbors": 4, "min_dist": 0.5, "metric": "euclidean", "seed": 9, "n_components": 3},
    ) in session.calls
    weigh(session=session, projection="pca")
    assert session.calls[-1] == ("project", "pca", {"n_components": 2})


@pytest.mark.parametrize(("given", "asked"), [(None, 4), (-1, 4), (0, 0), (2, 2), (-5, 0)])
def test_layers_count_from_the_embeddings(given: int | None, asked: int) -> None:
    session = SessionFake()
    result = weigh(session=session, layer=given, pooling="mean")
    assert session.calls[0] == ("sentence_vectors", "m", (asked,), "mean")
    assert result.signature["layers"] == {"m": asked} and result.layers.empty


def test_a_layer_curve_takes_one_pass_and_changes_nothing_else() -> None:
    session = SessionFake()
    curve, plain = weigh(session=session, layer=2, layer_curve=True), weigh(layer=2)
    assert [call for call in session.calls if call[0] == "sentence_vectors"] == [
        ("sentence_vectors", "m", (0, 1, 2, 3, 4), "cls")
    ]
    assert curve.layers["layer"].tolist() == [0, 1, 2, 3, 4]
    pd.testing.assert_frame_equal(curve.models, plain.models)
    for layer in range(5):
        alone = weigh(layer=layer).models.iloc[0]
        of_curve = curve.layers.iloc[layer]
        for name in ("in_class_dispersion", "out_of_class_dispersion", "score"):
            assert of_curve[name] == alone[name]


def test_texts_are_normalised_before_the_model_and_shown_as_given() -> None:
    texts = ["ＣＤ", "ﾈｺ", "Cat", "犬", "とり", "さかな"]
    points = weigh(dataset(texts, ["a", "b"] * 3), normalize=("lower", "nfkc"), projection="pca").points.set_index(
        "text"
    )
    assert points.loc["ＣＤ", "x"] == vector("m", "cd", 4)[0]
    assert points.loc["ﾈｺ", "x"] == vector("m", "ネコ", 4)[0]


def test_centring_moves_cosines_and_no_dispersion() -> None:
    plain, centred = weigh(), weigh(centre=True)
    for table in ("models", "classes", "intervals", "null", "validity"):
        pd.testing.assert_frame_equal(getattr(plain, table), getattr(centred, table))
    vectors = np.array([vector("m", text, 4) for text in MADE_UP.texts], dtype=np.float64)
    expected = (vectors - vectors.mean(axis=0))[:, :2]
    assert centred.points[["x", "y"]].to_numpy() == pytest.approx(expected, abs=1e-6)
    assert not centred.neighbours["distance"].equals(plain.neighbours["distance"])
    assert any("mean-centred" in notice for notice in centred.notices) and plain.notices == ()
    assert centred.signature["settings"]["centre"] is True


def test_why_each_sentence_and_each_class() -> None:
    result = weigh()
    vectors = np.array([vector("m", text, 4) for text in MADE_UP.texts], dtype=np.float64)
    labels = np.array(MADE_UP.labels)
    centroids = {label: vectors[labels == label].mean(axis=0) for label in "甲乙丙"}
    for (_, point), own in zip(result.points.iterrows(), vectors, strict=True):
        distances = {label: np.linalg.norm(own - centroid) for label, centroid in centroids.items()}
        assert point["own_distance"] == pytest.approx(distances[point["label"]])
        assert point["nearest_class"] == min(distances, key=lambda label: distances[label])
        assert point["nearest_distance"] == pytest.approx(min(distances.values()))
    table = result.centroid_distances.pivot(index="class", columns="other", values="distance")
    assert table.shape == (3, 3) and table.loc["甲", "甲"] == 0
    apart = np.linalg.norm(centroids["甲"] - centroids["丙"])
    assert table.loc["甲", "丙"] == table.loc["丙", "甲"] == pytest.approx(apart)


def test_neighbours_are_rows_of_the_file_nearest_first() -> None:
    data = LabelledSentences("rows", MADE_UP.texts, MADE_UP.labels, tuple(range(101, 125, 2)))
    result = weigh(data, metric="euclidean")
    assert len(result.neighbours) == 12 * 10
    vectors = {row: vector("m", text, 4).astype(np.float64) for row, text in zip(data.rows, data.texts, strict=True)}
    of_row = result.neighbours[result.neighbours["row"] == 105]
    distances = {row: np.linalg.norm(own - vectors[105]) for row, own in vectors.items() if row != 105}
    assert of_row["neighbour"].tolist() == sorted(distances, key=lambda row: distances[row])[:10]
    assert of_row["distance"].tolist() == pytest.approx(sorted(distances.values())[:10])
    assert of_row["rank"].tolist() == list(range(1, 11))


def test_a_sentence_beyond_the_models_length_is_left_out_and_listed() -> None:
    result = weigh(dataset([TOO_LONG_TEXT, *MADE_UP.texts], ["甲", *MADE_UP.labels]))
    assert result.excluded[["model", "row"]].to_numpy().tolist() == [["m", 1]]
    assert result.models.loc[0, "n_sentences"] == 12
    assert any(notice.startswith("1 of 13 sentences") for notice in result.notices)


def test_a_class_that_is_left_out_whole_leaves_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="can read 2 of 3 sentences, of 1 classes"):
        weigh(dataset([TOO_LONG_TEXT, "短い", "みじかい"], ["甲", "乙", "乙"]))


def test_classes_of_one_sentence_are_kept_or_left_out_and_said() -> None:
    data = dataset([*MADE_UP.texts, "孤", "独", TOO_LONG_TEXT], [*MADE_UP.labels, "丁", "戊", "戊"])
    kept = weigh(data, lone_classes="keep")
    assert kept.models.loc[0, "n_classes"] == 5 and kept.classes.set_index("class").loc["丁", "dispersion"] == 0
    assert any(notice.startswith("2 classes have only one sentence ('丁', '戊'); kept.") for notice in kept.notices)
    left = weigh(data)
    assert (left.models.loc[0, "n_sentences"], left.models.loc[0, "n_classes"]) == (12, 3)
    assert left.excluded["row"].tolist() == [13, 14, 15]
    assert left.excluded.loc[0, "reason"] == "It is the only sentence of the class '丁'."
    assert any(notice.endswith("('丁', '戊'); left out.") for notice in left.notices)
    assert left.models.loc[0, "score"] == weigh().models.loc[0, "score"]
    scores = f"{kept.models.loc[0, 'score']:,.4g}", f"{left.models.loc[0, 'score']:,.4g}"
    assert f"With the classes of one sentence M_m would be {scores[0]}; it is {scores[1]}." in left.notices
    assert f"Without the classes of one sentence M_m would be {scores[1]}; it is {scores[0]}." in kept.notices
    assert left.signature["classes_of_one_sentence"] == ("丁", "戊")
    with pytest.raises(
        InputError, match=r"only one of their class \(2\) are left out; the number of classes is then 0, and"
    ):
        weigh(dataset(["一", "二"], ["甲", "乙"]))


def test_three_sentences_have_numbers_but_no_map() -> None:
    session = SessionFake()
    result = weigh(dataset(["一", "二", "三"], ["甲", "乙", "乙"]), session=session, lone_classes="keep")
    assert result.points[["x", "y"]].isna().all().all() and result.models["score"].notna().all()
    assert any("map in 2 dimensions needs at least 4" in notice for notice in result.notices)
    assert not [call for call in session.calls if call[0] == "project"]
    assert result.neighbours.groupby("row").size().tolist() == [2, 2, 2]


def test_two_sentences_of_two_classes_have_no_score() -> None:
    result = weigh(dataset(["一", "二"], ["甲", "乙"]), lone_classes="keep")
    assert result.models[["score", "rank"]].isna().all(axis=None) and result.validity["silhouette"].isna().all()
    assert any("silhouette is undefined" in notice for notice in result.notices)
    assert any(notice.startswith("Every class has one sentence, so A_m is 0") for notice in result.notices)
    assert not any("centroids coincide" in notice for notice in result.notices)
    assert np.isnan(result.null.loc[0, "p_value"])
    intervals = result.intervals.set_index("measure")["ci_low"]
    assert np.isnan(intervals["dispersion_score"]) and intervals["in_class_dispersion"] == 0


def test_classes_with_one_centroid_have_no_score_and_no_rank() -> None:
    class Blind(SessionFake):
        """Under one model all sentences are the same."""

        def sentence_vectors(self, model: str, texts: list[str], **settings: object) -> list[dict]:  # type: ignore[override]
            return super().sentence_vectors(model, ["同じ"] * len(texts) if model == "blind" else texts, **settings)  # type: ignore[arg-type]

    result = weigh(MADE_UP, "blind", "m", session=Blind())
    blind, other = result.models.iloc[0], result.models.iloc[1]
    assert np.isnan(blind["score"]) and blind[list(RANKS)].isna().all()
    assert other[list(RANKS)].tolist() == [1, 1, 1, 1]
    assert "blind: All class centroids coincide, so the score A_m / B_m is undefined." in result.notices
    unsure = result.intervals[result.intervals["model"] == "blind"].set_index("measure")
    assert unsure.loc["dispersion_score", ["value", "ci_low", "ci_high"]].isna().all()
    assert result.null.set_index("model").loc["blind", ["score", "null_mean", "p_value"]].isna().all()
    (compared,) = result.comparisons.to_dict("records")
    assert np.isnan(compared["difference"]) and compared["separable"] is False
    assert weigh(dataset(["同じ"] * 4, ["甲", "乙"] * 2)).models["rank"].isna().all()


def test_equal_vectors_when_centred_have_no_direction() -> None:
    result = weigh(dataset(["同じ"] * 6, ["甲", "乙"] * 3), centre=True)
    assert result.points["x"].isna().all() and result.neighbours.empty
    said = [notice for notice in result.notices if notice.startswith("6 of 6 sentence vectors are 0")]
    assert ["no map" in notice for notice in said] == [True]
    equal = [notice for notice in result.notices if notice.startswith("All sentence vectors are equal")]
    assert len(equal) == 1 and equal[0].endswith("no neighbours are named.")
    euclidean = weigh(dataset(["同じ"] * 6, ["甲", "乙"] * 3), centre=True, metric="euclidean")
    assert euclidean.points["x"].notna().all() and euclidean.neighbours.empty and equal[0] in euclidean.notices


def test_two_models_to_which_all_sentences_are_equal_have_no_neighbours_in_common() -> None:
    result = weigh(dataset(["同じ"] * 6, ["甲", "乙"] * 3), "a", "b")
    assert np.isnan(result.overlap.loc[0, "mean_overlap"])
    assert sum(notice.startswith("All sentence vectors are equal") for notice in result.notices) == 1


def test_a_file_of_two_sentences_in_two_classes_has_no_index_and_says_why() -> None:
    result = weigh(dataset(["文一", "文二"], ["甲", "乙"]), lone_classes="keep")
    undefined = ("silhouette", "calinski_harabasz", "davies_bouldin", "v_measure", "ari", "nmi")
    assert result.validity.loc[0, list(undefined)].isna().all()
    for name in undefined:
        assert CARDS[name].undefined in result.notices


def test_permuted_labels_with_one_centroid_give_no_infinite_end() -> None:
    # A third of the permutations puts five of each sentence in both classes: C(10, 5)² / C(20, 10).
    result = weigh(dataset(["同じ", "違う"] * 10, ["甲"] * 9 + ["乙", "甲"] + ["乙"] * 9))
    null = result.null.loc[0]
    assert np.isfinite([null["score"], null["null_mean"], null["null_low"]]).all() and np.isnan(null["null_high"])
    assert NO_UPPER_END in result.notices


def test_the_same_sentence_twice_is_its_own_nearest_neighbour() -> None:
    result = weigh(dataset([*MADE_UP.texts, "文0"], [*MADE_UP.labels, "乙"]))
    nearest = result.neighbours[result.neighbours["rank"] == 1].set_index("row")
    assert nearest.loc[1, ["neighbour", "distance"]].tolist() == [13, 0]
    assert nearest.loc[13, ["neighbour", "distance"]].tolist() == [1, 0]


def test_a_model_without_cls_is_refused_before_any_model_works() -> None:
    session = SessionFake({"gpt": "causal"})
    with pytest.raises(ModelError, match=r"No CLS token: gpt\. Choose mean pooling"):
        weigh(MADE_UP, "m", "gpt", session=session)
    assert session.calls == []
    assert weigh(MADE_UP, "m", "gpt", session=session, pooling="mean").models["score"].notna().all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (Settings(()), "No model is chosen"),
        (Settings(("m", "m")), "more than once: m"),
        (Settings(("m",), pooling="max"), "pooling is one of published, cls, mean, .*; got 'max'"),
        (Settings(("m",), layer=9), "layers 0 .embeddings. to 4, or -1 to -5 from the end; got layer 9"),
        (Settings(("m",), n_neighbors=1), "at least 2"),
        (Settings(("m",), min_dist=2), "between 0 and 1"),
        (Settings(("m",), normalize=("upper",)), "upper"),
        (Settings(("m",), dimensions=4), "one of 2, 3; got 4"),
        (Settings(("m",), lone_classes="drop"), "lone_classes is one of keep, exclude; got 'drop'"),
        (Settings(("m",), resamples=99), "resamples must be between 100 and 10,000; got 99"),
        (Settings(("m",), resamples=10_001), "got 10001"),
        (Settings(("m",), seed=-1), "seed must be between 0 and 4,294,967,295; got -1"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: Settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(settings, MADE_UP, SessionFake())  # type: ignore[arg-type]


def test_the_signature_holds_all_that_determines_the_numbers() -> None:
    signature = weigh(seed=7, resamples=120).signature
    assert signature["settings"]["seed"] == 7 and signature["settings"]["resamples"] == 120
    assert signature["vectors"] == {"m": "cls"}
    assert signature["dataset"] == MADE_UP.content_hash[:12] and signature["models"][0]["fingerprint"] == "f" * 12
    assert {"hakari", "torch", "transformers", "umap-learn", "scikit-learn", "scipy"} <= set(signature["versions"])


def test_a_result_is_kept_and_read_again_as_it_was() -> None:
    result = weigh(dataset([*MADE_UP.texts, "孤"], [*MADE_UP.labels, "丁"]), "a", "b")
    files = pack(result)
    again = unpack(Result, lambda name: files[name], "The result")
    for field in fields(Result):
        before, after = getattr(result, field.name), getattr(again, field.name)
        if isinstance(before, pd.DataFrame):
            pd.testing.assert_frame_equal(after, before)
            kinds = {str(dtype) for column, dtype in before.dtypes.items() if column != "reason"}
            assert "object" not in kinds, field.name
        elif field.name != "signature":  # JSON has no tuples
            assert after == before


def test_the_same_seed_gives_the_same_numbers_and_another_others() -> None:
    one, same, other = weigh(seed=1), weigh(seed=1), weigh(seed=2)
    for field in fields(Result):
        value = getattr(one, field.name)
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, getattr(same, field.name))
    assert not one.intervals.equals(other.intervals) and not one.null.equals(other.null)
    pd.testing.assert_frame_equal(one.models, other.models)
