"""Corrections as a setting, models against each other, seeds, and other columns as classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.errors import InputError
from engine.evaluations.clusters import further, records
from engine.evaluations.clusters.records import Result
from engine.measures.clusters import model_similarity as similarity
from engine.measures.clusters import validity_inputs
from engine.measures.clusters.correction import whitened, without_top
from engine.measures.clusters.dispersion import dispersion
from engine.measures.clusters.model_similarity import model_similarity
from engine.measures.clusters.sphere import class_alignment, uniformity
from engine.runs.storage.packing import pack, unpack
from tests.evaluations.clusters.test_evaluate import MADE_UP, dataset, weigh
from tests.support.session_fake import SessionFake, vector

VECTORS = {model: np.array([vector(model, text, 4) for text in MADE_UP.texts]) for model in "ab"}
COLUMNS = replace(MADE_UP, further={"作者": tuple("春夏 " * 4), "番号": tuple(map(str, range(12))), "同": ("一",) * 12})


def vector_calls(session: SessionFake) -> list[tuple]:
    return [call for call in session.calls if call[0] == "sentence_vectors"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"correction": "whitening"}, whitened(VECTORS["a"])),
        ({"correction": "whitening", "whitened_dims": 3}, whitened(VECTORS["a"], 3)),
        ({"correction": "all-but-the-top"}, without_top(VECTORS["a"])),
        ({"correction": "all-but-the-top", "removed_components": 2}, without_top(VECTORS["a"], 2)),
    ],
)
def test_every_number_is_of_the_corrected_vectors_and_the_model_is_asked_the_same(
    settings: dict[str, object], expected: np.ndarray
) -> None:
    plain_session, session = SessionFake(), SessionFake()
    plain, result = weigh(MADE_UP, "a", session=plain_session), weigh(MADE_UP, "a", session=session, **settings)
    assert vector_calls(session) == vector_calls(plain_session) != []
    observed = dispersion(expected.astype(np.float32), MADE_UP.labels)
    assert result.models.loc[0, "score"] == pytest.approx(observed.score, rel=1e-6)
    assert result.models.loc[0, "score"] != pytest.approx(plain.models.loc[0, "score"], rel=1e-3)
    assert result.points["own_distance"].pow(2).sum() == pytest.approx(observed.in_class, rel=1e-6)
    assert not result.neighbours["distance"].equals(plain.neighbours["distance"])
    assert result.signature["settings"]["correction"] == settings["correction"]
    dims = {"a": expected.shape[1]} if settings["correction"] == "whitening" else None
    assert result.signature.get("corrected_dims") == dims and "corrected_dims" not in plain.signature
    assert any("were corrected by" in notice for notice in result.notices)
    assert not any("corrected" in notice for notice in plain.notices)


def test_the_curve_over_layers_is_corrected_too() -> None:
    result = weigh(MADE_UP, "a", correction="all-but-the-top", layer_curve=True)
    assert result.layers.set_index("layer").loc[4, "score"] == result.models.loc[0, "score"]


def test_whitened_vectors_are_isotropic() -> None:
    plain, result = weigh(MADE_UP, "a"), weigh(MADE_UP, "a", correction="whitening", whitened_dims=4)
    assert result.validity.loc[0, "isoscore"] == pytest.approx(1, abs=1e-6) != plain.validity.loc[0, "isoscore"]


def test_alignment_and_uniformity_are_of_the_same_vectors() -> None:
    result = weigh(MADE_UP, "a", "b")
    for model, row in result.validity.set_index("model").iterrows():
        inputs = validity_inputs.validity_inputs(VECTORS[str(model)], MADE_UP.labels)
        assert row["class_alignment"] == pytest.approx(class_alignment(inputs), rel=1e-6)
        assert row["uniformity"] == pytest.approx(uniformity(inputs), rel=1e-6)
    own = result.validity.loc[0, "uniformity"]
    # Cosines around the mean are of neighbours; a correction is of every number.
    assert weigh(MADE_UP, "a", centre=True).validity.loc[0, "uniformity"] == own
    assert weigh(MADE_UP, "a", correction="all-but-the-top").validity.loc[0, "uniformity"] != own


def test_too_many_whitened_dimensions_are_refused_in_words() -> None:
    few = dataset(["一", "二", "三", "四"], ["甲", "乙"] * 2)
    with pytest.raises(InputError, match="any 4 sentences are equally far"):
        weigh(few, correction="whitening", whitened_dims=3)


def test_models_are_compared_over_the_sentences_that_both_read() -> None:
    result = weigh(MADE_UP, "a", "b")
    (row,) = result.overlap.to_dict("records")
    expected = model_similarity(VECTORS["a"], VECTORS["b"])
    assert (row["cka"], row["expected_cka"], row["rsa"], row["n_rsa"]) == (
        expected.cka,
        expected.expected_cka,
        expected.rsa,
        12,
    )
    centred = weigh(MADE_UP, "a", "b", centre=True).overlap.loc[0]
    assert centred["cka"] == pytest.approx(expected.cka, rel=1e-5) and centred["rsa"] != expected.rsa


def test_two_sentences_are_too_few_to_compare_models() -> None:
    row = weigh(dataset(["一", "二"], ["甲", "乙"]), "a", "b", lone_classes="keep").overlap.loc[0]
    assert np.isnan(row["cka"]) and row["n_rsa"] == 0 and row["mean_overlap"] == 1


def test_the_spread_over_seeds() -> None:
    assert weigh().clusterings.empty and list(weigh().clusterings.columns)[:2] == ["model", "measure"]
    assert weigh(clusterings=1).clusterings["deviation"].isna().all()  # one says nothing of a spread
    result = weigh(MADE_UP, "a", "b", clusterings=4, seed=3)
    table = result.clusterings.set_index(["model", "measure"])
    assert len(table) == 8 and (table["n_seeds"] == 4).all()
    assert ((table["minimum"] <= table["mean"]) & (table["mean"] <= table["maximum"])).all()
    for index in ("v_measure", "ari", "nmi"):
        own = result.validity.set_index("model")[index]
        assert table.loc[("a", index), "minimum"] <= own["a"] <= table.loc[("a", index), "maximum"]


def test_the_values_of_another_column_are_classes_too() -> None:
    assert weigh(COLUMNS, "a").class_columns.empty
    result = weigh(COLUMNS, "a", class_columns=("作者",))
    by_column = result.class_columns.set_index("column")
    assert by_column.index.tolist() == ["", "作者"]
    own = result.models.loc[0]
    assert (by_column.loc["", ["in_class_dispersion", "score"]] == own[["in_class_dispersion", "score"]]).all()
    assert by_column.loc["", "p_value"] == result.null.loc[0, "p_value"]
    usable = [i for i in range(12) if i % 3 != 2]  # a sentence without a value has no class
    observed = dispersion(VECTORS["a"][usable], [COLUMNS.further["作者"][i] for i in usable])
    row = by_column.loc["作者"]
    assert (row["n_sentences"], row["n_classes"], row["score"]) == (8, 2, observed.score)
    files = pack(result)
    read = unpack(Result, lambda name: files[name], "The result")
    for table in ("class_columns", "clusterings"):
        pd.testing.assert_frame_equal(getattr(read, table), getattr(result, table))


def test_each_sentence_a_class_of_its_own_has_no_score() -> None:
    for lone, n_classes in (("keep", 12), ("exclude", 0)):
        of_column = weigh(COLUMNS, "a", class_columns=("番号",), lone_classes=lone).class_columns.set_index("column")
        row = of_column.loc["番号"]
        assert row["n_classes"] == n_classes and np.isnan(row["score"]) and np.isnan(row["p_value"])


def test_a_value_that_one_sentence_has_is_left_out_of_a_column_as_of_the_labels() -> None:
    values = ["一人", *("春", "秋") * 5, "春"]
    data = replace(COLUMNS, further={"作者": tuple(values)})
    row = weigh(data, "a", class_columns=("作者",)).class_columns.set_index("column").loc["作者"]
    assert (row["n_sentences"], row["n_classes"]) == (11, 2)
    assert row["score"] == dispersion(VECTORS["a"][1:], values[1:]).score
    kept = weigh(data, "a", class_columns=("作者",), lone_classes="keep").class_columns.set_index("column").loc["作者"]
    assert (kept["n_sentences"], kept["n_classes"]) == (12, 3)


def test_a_column_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="made up has no further column '題' to take classes from; it has '作者'"):
        weigh(COLUMNS, "a", class_columns=("題",))


def test_a_column_that_holds_no_classes_is_a_row_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    data = replace(COLUMNS, further={**COLUMNS.further, "空": ("",) * 12})
    table = weigh(data, "a", class_columns=("作者", "同", "番号", "空")).class_columns.set_index("column")
    assert table.index.tolist() == ["", "作者", "同", "番号", "空"]
    assert table["reason"].tolist() == ["", "", further.ONE_VALUE, further.ALL_DIFFERENT, further.NO_VALUE]
    without = table.loc[["同", "番号", "空"]]
    assert without[["in_class_dispersion", "out_of_class_dispersion", "score", "p_value"]].isna().all(axis=None)
    assert np.isfinite(table.loc[["", "作者"], "score"]).all()
    kept = weigh(data, "a", class_columns=("番号",), lone_classes="keep").class_columns.set_index("column")
    assert kept.loc["番号", "reason"] == further.WITHOUT_SCORE and np.isnan(kept.loc["番号", "score"])
    monkeypatch.setattr(further, "MAX_LABELS", 3)
    crowded = weigh(data, "a", class_columns=("番号",), lone_classes="keep").class_columns.set_index("column")
    assert crowded.loc["番号", "reason"] == "12 different values; at most 3 are supported"


def test_numbers_of_a_sample_have_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = weigh(MADE_UP, "a", "b")
    assert whole.validity["silhouette_error"].isna().all() and whole.overlap["rsa_error"].isna().all()
    for module in (records, validity_inputs):
        monkeypatch.setattr(module, "SILHOUETTE_SENTENCES", 9)
    for module in (further, similarity):
        monkeypatch.setattr(module, "RSA_SENTENCES", 8)
    result = weigh(MADE_UP, "a", "b")
    assert (result.validity["silhouette_error"] > 0).all() and (result.overlap["rsa_error"] > 0).all()
    assert (result.validity["sample_size"] == 9).all() and result.overlap.loc[0, "n_rsa"] == 8


def test_the_draw_of_sentences_that_models_are_compared_on_has_the_seed_of_the_run() -> None:
    class Asked(SessionFake):
        def on_vectors(self, operation: str, array: np.ndarray, **settings: Any) -> Any:
            asked.append((operation, settings.get("seed")))
            return super().on_vectors(operation, array, **settings)

    for seed in (0, 7):
        asked: list[tuple[str, object]] = []
        weigh(MADE_UP, "a", "b", session=Asked(), seed=seed)
        assert ("model_similarity", seed) in asked
