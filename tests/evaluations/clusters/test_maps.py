"""Maps: the same to the last bit whatever came before, and turned alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.__main__ import main
from engine.datasets.sample_data import labelled_sentences
from engine.evaluations.clusters import maps
from engine.measures.clusters.projection import turned_onto
from tests.evaluations.clusters.test_evaluate import MADE_UP, dataset, weigh
from tests.support.session_fake import SessionFake, vector


def written(folder: Path, frame: pd.DataFrame, cache: Path, *options: str) -> dict[str, tuple[str, str]]:
    """The place of each sentence on the map that the command writes, in all digits."""
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_csv(folder / "data.csv", index=False)
    assert (
        main(
            [
                "clusters",
                "--data",
                str(folder / "data.csv"),
                "--model",
                "builtin/bert-mini-ja",
                "--out",
                str(folder / "out"),
                "--cache",
                str(cache),
                "--resamples",
                "100",
                *options,
            ]
        )
        == 0
    )
    points = pd.read_csv(folder / "out" / "points.csv", dtype=str)
    return dict(zip(points["text"], zip(points["x"], points["y"], strict=True), strict=True))


@pytest.mark.usefixtures("commands_share_workers")
@pytest.mark.parametrize("options", [(), ("--correction", "whitening", "--centre")])
def test_a_shuffled_data_set_and_a_half_filled_cache_give_the_same_map(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    sample = labelled_sentences()
    frame = pd.DataFrame({"text": sample.texts, "label": sample.labels}).drop_duplicates("text")
    plain = written(tmp_path / "plain", frame, tmp_path / "one cache", *options)
    assert len(plain) == len(frame)
    shuffled = frame.sample(frac=1, random_state=5)
    assert written(tmp_path / "shuffled", shuffled, tmp_path / "another cache", *options) == plain
    half = frame.sample(frac=0.5, random_state=6)
    written(tmp_path / "half", half, tmp_path / "a third cache", *options)  # other batches, and what the next one finds
    assert written(tmp_path / "rest", shuffled, tmp_path / "a third cache", *options) == plain


def places(result: object, model: str) -> np.ndarray:
    points = result.points[result.points["model"] == model]  # type: ignore[attr-defined]
    return points[["x", "y"]].to_numpy()


def test_maps_are_turned_onto_the_widest_directions_and_onto_the_first_model() -> None:
    class Session(SessionFake):
        """Its maps of a model are a part of the vectors, its widest directions another one."""

        def project(self, vectors: np.ndarray, *, method: str, **settings: object) -> np.ndarray:
            self.calls.append(("project", method, settings))
            return np.asarray(vectors)[:, :2] if method == "umap" else np.asarray(vectors)[:, 2:4]

    drawn, widest = (
        {model: np.array([vector(model, text, 4)[part] for text in MADE_UP.texts]) for model in "ab"}
        for part in (slice(0, 2), slice(2, 4))
    )
    result = weigh(MADE_UP, "a", "b", session=Session())
    first = turned_onto(drawn["a"], widest["a"])
    np.testing.assert_allclose(places(result, "a"), first, atol=1e-6)
    np.testing.assert_allclose(places(result, "b"), turned_onto(drawn["b"], first), atol=1e-6)
    by_pca = weigh(MADE_UP, "a", "b", session=Session(), projection="pca")
    np.testing.assert_array_equal(places(by_pca, "b"), widest["b"].astype(np.float32))  # has its own directions


def test_too_few_sentences_or_dimensions_have_no_map() -> None:
    result = weigh(dataset(["甲", "乙", "丙"], ["一", "一", "二"]), "a", "b", lone_classes="keep")
    assert np.isnan(places(result, "a")).all()
    narrow = weigh(MADE_UP, "a", projection="pca", dimensions=3, correction="whitening", whitened_dims=2)
    assert np.isnan(places(narrow, "a")).all()
    assert "The vectors have 2 dimensions: no map in 3 is drawn by PCA." in narrow.notices


def test_above_a_size_umap_is_fitted_to_a_sample_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, below = SessionFake(), weigh(MADE_UP, "a")
    monkeypatch.setattr(maps, "UMAP_SENTENCES", len(MADE_UP.texts))
    same = weigh(MADE_UP, "a", session=plain)
    assert same.signature == below.signature and "umap_fitted_to" not in below.signature
    assert same.notices == below.notices
    assert all("n_fitted" not in call[2] for call in plain.calls if call[0] == "project")
    monkeypatch.setattr(maps, "UMAP_SENTENCES", 5)
    session = SessionFake()
    result = weigh(MADE_UP, "a", "b", session=session, seed=3)
    asked = [call[2] for call in session.calls if call[:2] == ("project", "umap")]
    class_of = np.unique(MADE_UP.labels, return_inverse=True)[1].tolist()
    assert [(settings["n_fitted"], settings["class_of"]) for settings in asked] == [(5, class_of)] * 2
    assert result.signature["umap_fitted_to"] == 5
    [said] = [notice for notice in result.notices if "fitted to" in notice]
    assert said.startswith(f"Maps by UMAP were fitted to 5 of {len(MADE_UP.texts)} sentences") and "(seed 3)" in said
    by_pca = weigh(MADE_UP, "a", projection="pca")
    assert "umap_fitted_to" not in by_pca.signature and not any("fitted to 5" in notice for notice in by_pca.notices)
