"""Models whose vectors were computed elsewhere: the numbers of a model that is loaded, from its own vectors in a file."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.vectors.files import vectors_of_array
from engine.datasets.vectors.matching import attached
from engine.errors import InputError, ModelError
from engine.evaluations.classification import evaluate as classification
from engine.evaluations.clusters import evaluate as clusters
from engine.evaluations.shared.signature import require_models
from engine.models.sources.model_location import locate
from tests.support.session_fake import SessionFake, vector

DATA = LabelledSentences("made up", tuple(f"文{i}" for i in range(24)), tuple("甲乙丙" * 8), tuple(range(1, 25)))
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "clusters": (clusters, {"resamples": 100, "layer_curve": True}),
    "classification": (classification, {"seeds": 2, "epochs": 2}),
}


def evaluated(kind: str, data: LabelledSentences, *models: str) -> Any:
    module, settings = KINDS[kind]
    return module.evaluate(module.Settings(models, **settings), data, SessionFake())


def with_files(**arrays: np.ndarray) -> LabelledSentences:
    return attached(DATA, [vectors_of_array(array, name) for name, array in arrays.items()])


OWN = np.stack([vector("m", text, 4) for text in DATA.texts])
# What is known of a model that is loaded alone: its layers, and its unknown tokens.
OF_LOADED = {"layers"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_vectors_of_a_model_in_a_file_give_its_numbers(kind: str) -> None:
    data = with_files(m=OWN)
    own, outside = evaluated(kind, DATA, "m", "other"), evaluated(kind, data, "vectors/m", "other")
    for table in fields(own):
        frame = getattr(own, table.name)
        if not isinstance(frame, pd.DataFrame) or table.name in OF_LOADED:
            continue
        expected = frame.replace({"m": "vectors/m"})
        if "unknown_share" in expected:
            expected.loc[expected["model"] == "vectors/m", "unknown_share"] = np.nan
        pd.testing.assert_frame_equal(getattr(outside, table.name), expected, check_exact=True)
    [signed, _] = outside.signature["models"]
    assert signed["vectors"]["file"] == "m" and signed["name"] == "vectors/m"
    assert outside.signature["dataset"] == own.signature["dataset"]  # so that the runs may be compared
    assert outside.signature["layers"] == {"other": 4}
    assert any("vectors/m: vectors from m (array), used as they are" in notice for notice in outside.notices)
    if kind == "clusters":
        assert set(outside.layers["model"]) == {"other"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_without_a_vector_is_left_out_for_all(kind: str) -> None:
    partly = OWN.copy()
    partly[5] = np.nan
    result = evaluated(kind, with_files(m=partly), "vectors/m", "other")
    kept = [i for i in range(DATA.n) if i != 5]
    columns = {name: tuple(getattr(DATA, name)[i] for i in kept) for name in ("texts", "labels", "rows")}
    without = replace(DATA, **columns)
    expected = evaluated(kind, without, "m", "other")
    own, other = (
        found.models.replace({"m": "vectors/m"}).drop(columns="unknown_share", errors="ignore")
        for found in (result, expected)
    )
    pd.testing.assert_frame_equal(own, other)
    [row] = result.excluded.to_dict("records")
    assert (row["row"], row["reason"]) == (6, "the file has no vector of it")


def test_a_file_alone_needs_no_model() -> None:
    result = evaluated("clusters", with_files(a=OWN, b=OWN[:, :2].copy()), "vectors/a", "vectors/b")
    assert result.models["model"].tolist() == ["vectors/a", "vectors/b"]
    assert result.models["score"].notna().all() and len(result.layers) == 0


def test_names_without_vectors_and_other_evaluations_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="hold no vectors of vectors/x; they hold those of vectors/m"):
        evaluated("clusters", with_files(m=OWN), "vectors/x")
    with pytest.raises(ModelError, match="vectors from a file, which are of labelled sentences"):
        require_models(["vectors/x"])
    with pytest.raises(ModelError, match="vectors from a file, which are of labelled sentences"):
        locate("vectors/x")
