"""The clusters evaluation, on vectors that are noise from each text."""

from __future__ import annotations

import numpy as np
import pytest

from engine.datasets.labelled_sentences import LabelledSentences
from engine.errors import InputError
from engine.evaluations.clusters import Settings, evaluate
from tests.session_fake import TOO_LONG, SessionFake, vector


def dataset(texts: list[str], labels: list[str]) -> LabelledSentences:
    return LabelledSentences("made up", tuple(texts), tuple(labels), tuple(range(1, len(texts) + 1)))


MADE_UP = dataset([f"文{i}" for i in range(12)], ["甲", "乙", "丙"] * 4)


def test_the_numbers_are_those_of_the_vectors_in_float64() -> None:
    result = evaluate(Settings(("m",)), MADE_UP, SessionFake())  # type: ignore[arg-type]
    vectors = np.array([vector("m", text, 4) for text in MADE_UP.texts], dtype=np.float64)
    labels = np.array(MADE_UP.labels)
    centroids = {label: vectors[labels == label].mean(0) for label in set(labels)}
    in_class = sum(((vectors[labels == label] - centroid) ** 2).sum() for label, centroid in centroids.items())
    middle = np.mean(list(centroids.values()), axis=0)
    out_of_class = sum(((centroid - middle) ** 2).sum() for centroid in centroids.values())
    row = result.models.iloc[0]
    # float64 against float64, in another order of summing
    assert row["in_class_dispersion"] == pytest.approx(in_class, rel=1e-9)
    assert row["out_of_class_dispersion"] == pytest.approx(out_of_class, rel=1e-9)
    assert row["score"] == pytest.approx(in_class / out_of_class, rel=1e-9)
    assert result.classes["dispersion"].sum() == pytest.approx(in_class, rel=1e-9)


def test_models_are_ranked_the_smallest_score_first_and_each_has_its_map() -> None:
    result = evaluate(Settings(("a", "b", "c")), MADE_UP, SessionFake())  # type: ignore[arg-type]
    assert result.models.sort_values("rank")["score"].is_monotonic_increasing
    assert sorted(result.models["rank"]) == [1, 2, 3]
    for model in "abc":
        points = result.points[result.points["model"] == model]
        assert points["text"].tolist() == list(MADE_UP.texts)
        expected = np.array([vector(model, text, 4)[:2] for text in MADE_UP.texts])
        assert points[["x", "y"]].to_numpy() == pytest.approx(expected)


@pytest.mark.parametrize(("given", "asked"), [(None, 4), (-1, 4), (0, 0), (2, 2), (-5, 0)])
def test_layers_count_from_the_embeddings(given: int | None, asked: int) -> None:
    session = SessionFake()
    result = evaluate(Settings(("m",), layer=given, pooling="mean"), MADE_UP, session)  # type: ignore[arg-type]
    assert session.calls[0] == ("sentence_vectors", "m", (asked,), "mean")
    assert result.signature["layers"] == {"m": asked}


def test_texts_are_normalised_before_the_model_and_shown_as_given() -> None:
    texts = ["ＣＤ", "ﾈｺ", "Cat", "犬", "とり", "さかな"]
    result = evaluate(Settings(("m",), normalize=("lower", "nfkc")), dataset(texts, ["a", "b"] * 3), SessionFake())  # type: ignore[arg-type]
    points = result.points.set_index("text")
    assert points.loc["ＣＤ", "x"] == vector("m", "cd", 4)[0]
    assert points.loc["ﾈｺ", "x"] == vector("m", "ネコ", 4)[0]


def test_a_sentence_beyond_the_models_length_is_left_out_and_listed() -> None:
    texts = ["長" * (TOO_LONG + 1), *MADE_UP.texts]
    result = evaluate(Settings(("m",)), dataset(texts, ["甲", *MADE_UP.labels]), SessionFake())  # type: ignore[arg-type]
    assert result.excluded[["model", "row"]].to_numpy().tolist() == [["m", 1]]
    assert result.models.loc[0, "n_sentences"] == 12
    assert any("1 of 13 sentences" in notice for notice in result.notices)


def test_a_class_that_is_left_out_whole_leaves_nothing_to_compare() -> None:
    texts = ["長" * (TOO_LONG + 1), "短い", "みじかい"]
    with pytest.raises(InputError, match="can read 2 of 3 sentences, of 1 classes"):
        evaluate(Settings(("m",)), dataset(texts, ["甲", "乙", "乙"]), SessionFake())  # type: ignore[arg-type]


def test_three_sentences_have_numbers_but_no_map() -> None:
    session = SessionFake()
    result = evaluate(Settings(("m",)), dataset(["一", "二", "三"], ["甲", "乙", "乙"]), session)  # type: ignore[arg-type]
    assert result.points[["x", "y"]].isna().all().all() and result.models["score"].notna().all()
    assert any("map needs at least 4" in notice for notice in result.notices)
    assert not [call for call in session.calls if call[0] == "project"]


def test_classes_with_one_centroid_have_no_score() -> None:
    result = evaluate(Settings(("m",)), dataset(["同じ"] * 4, ["甲", "乙"] * 2), SessionFake())  # type: ignore[arg-type]
    assert np.isnan(result.models.loc[0, "score"])
    assert any("undefined" in notice for notice in result.notices)


@pytest.mark.parametrize(("settings", "message"), [
    (Settings(()), "No model is chosen"), (Settings(("m", "m")), "more than once: m"),
    (Settings(("m",), pooling="max"), "pooling is one of cls, mean; got 'max'"),
    (Settings(("m",), layer=9), "layers 0 .embeddings. to 4; got layer 9"),
    (Settings(("m",), n_neighbors=1), "at least 2"), (Settings(("m",), min_dist=2), "between 0 and 1"),
    (Settings(("m",), normalize=("upper",)), "upper"),
])
def test_settings_that_cannot_be_are_refused(settings: Settings, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(settings, MADE_UP, SessionFake())  # type: ignore[arg-type]


def test_the_signature_holds_all_that_determines_the_numbers() -> None:
    signature = evaluate(Settings(("m",), seed=7), MADE_UP, SessionFake()).signature  # type: ignore[arg-type]
    assert signature["settings"]["seed"] == 7 and signature["dataset"] == MADE_UP.content_hash[:12]
    assert signature["models"][0]["fingerprint"] == "f" * 12
    assert {"hakari", "torch", "transformers", "umap-learn"} <= set(signature["versions"])
