"""Baselines of an alignment: random pairs of its own sentences, bert_score's files, what is refused; and bert_score."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets import sample_data
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment.baseline import in_one_line, listed_baselines, random_pairs
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import rescore
from engine.models.loading.weights import load
from engine.runs.storage.packing import pack, unpack
from tests.evaluations.alignment.direct_session import DirectSession
from tests.stored_runs.directories import repacked
from tests.support.session_fake import SessionFake

SCORES = ["precision", "recall", "f1"]
RESCALED = [f"rescaled_{score}" for score in SCORES]
FILE = "LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.2,0.3,0.4\n2,0,0,0\n3,0.1,0.1,0.1\n4,0.25,0.5,0.375\n"


@pytest.fixture(scope="module")
def pairs() -> SentencePairs:
    return sample_data.scored_pairs()


def aligned(dataset: SentencePairs, *models: str, **settings: Any) -> Result:
    return evaluate(Settings(models or ("m/a",), **settings), dataset, SessionFake())


def test_without_it_there_is_no_column_and_no_word_of_it(pairs: SentencePairs) -> None:
    result = aligned(pairs)
    assert result.baselines.empty and "rescaled" not in result.signature
    assert not set(rescore(result, Scoring()).pairs.columns) & set(RESCALED)


def test_a_list_rescales_each_score_with_its_own_baseline(pairs: SentencePairs) -> None:
    plain, result = aligned(pairs), aligned(pairs, rescale=FILE, all_layers=True)
    before, after = rescore(plain, Scoring()).pairs, rescore(result, Scoring()).pairs
    assert before.equals(after[before.columns])  # nothing else changes
    # Layer 4, the last: (score - 0.25) / 0.75, (score - 0.5) / 0.5, (score - 0.375) / 0.625.
    expected = (before[SCORES].to_numpy() - [0.25, 0.5, 0.375]) / [0.75, 0.5, 0.625]
    np.testing.assert_allclose(after[RESCALED], expected, rtol=1e-12)
    embeddings = rescore(result, Scoring(), 0).pairs
    np.testing.assert_allclose(embeddings["rescaled_f1"], (embeddings["f1"] - 0.3) / 0.7, rtol=1e-12)
    assert result.signature["rescaled"].startswith("custom-rescaled, a list of baselines (")
    one_line = in_one_line(FILE.replace(",", "\t"))
    assert "\n" not in one_line and listed_baselines(one_line) == listed_baselines(FILE)
    assert aligned(pairs, rescale=one_line).signature["rescaled"] == result.signature["rescaled"]


def test_the_runs_own_sentences_in_random_pairs_are_the_baseline(pairs: SentencePairs) -> None:
    result = aligned(pairs, "m/a", "m/b", rescale="own", rescale_pairs=50, rescale_seed=3)
    drawn = random_pairs(pairs, 50, 3)
    unrelated = SentencePairs(
        "random", *(tuple(side) for side in zip(*drawn, strict=True)), ("",) * 50, {}, tuple(range(1, 51))
    )
    of_random = rescore(aligned(unrelated, "m/a", "m/b"), Scoring(penalty="none")).pairs
    means = of_random.groupby("model", sort=False)[SCORES].mean()
    np.testing.assert_allclose(result.baselines[SCORES], means, rtol=1e-12)
    assert result.baselines["n"].tolist() == [50, 50] and "seed 3" in result.signature["rescaled"]
    # The same random pairs, rescaled with their own mean, have the mean 0.
    again = rescore(aligned(unrelated, rescale="own", rescale_pairs=50), Scoring()).pairs
    assert set(RESCALED) <= set(again.columns)


@pytest.mark.nightly
def test_the_error_of_a_baseline_is_its_spread_over_seeds(pairs: SentencePairs) -> None:
    drawn = pd.concat(
        [aligned(pairs, rescale="own", rescale_pairs=40, rescale_seed=seed).baselines for seed in range(24)]
    )
    for score in SCORES:
        # 24 draws know a standard deviation to about 15%.
        assert drawn[f"{score}_error"].mean() == pytest.approx(drawn[score].std(), rel=0.45)
        assert drawn[score].std() > 0
    of_list = aligned(pairs, rescale=FILE).baselines
    assert of_list[[f"{score}_error" for score in SCORES]].isna().all(axis=None)


def test_random_pairs_are_seeded_and_never_of_one_reference() -> None:
    references = ("一", "一", "二", "三", "一")
    dataset = SentencePairs("made up", references, ("a", "b", "c", "d", "e"), ("",) * 5, {}, (1, 2, 3, 4, 5))
    drawn = random_pairs(dataset, 4000, 0)
    assert drawn == random_pairs(dataset, 4000, 0) != random_pairs(dataset, 4000, 1)
    of_reference = dict.fromkeys(references, "") | {
        name: "".join(sorted({candidate for reference, candidate in drawn if reference == name})) for name in references
    }
    assert of_reference == {"一": "cd", "二": "abde", "三": "abce"}
    # Rows are drawn alike, then the other rows alike: 二 stands in a fifth, with each of four in a twentieth.
    assert drawn.count(("二", "a")) / 4000 == pytest.approx(0.05, abs=0.014)  # four standard deviations
    with pytest.raises(InputError, match="different references"):
        random_pairs(SentencePairs("same", ("一", "一"), ("a", "b"), ("", ""), {}, (1, 2)), 10, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LAYER,P,R\n0,1,2\n", "lacks the column F"),
        ("LAYER,P,R,F\n", "it has no line"),
        (
            "LAYER,P,R,F\n0,0.1,0.1,0.1\n0,0.2,0.2,0.2\n1,x,0,0\n2,1,0,0\n",
            r"3 \(0, 0.2, 0.2, 0.2\), 4 \(1, x, 0, 0\), 5",
        ),
    ],
)
def test_a_list_that_is_none_of_baselines_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        listed_baselines(text)


def test_what_does_not_fit_is_refused(pairs: SentencePairs) -> None:
    with pytest.raises(InputError, match="no baseline of layer 4 of m/a; it has layers 0"):
        aligned(pairs, rescale="LAYER,P,R,F;0,0.1,0.1,0.1")
    with pytest.raises(InputError, match="one model; got 2"):
        aligned(pairs, "m/a", "m/b", rescale=FILE)


def test_settings_make_no_evaluation_read_a_file(pairs: SentencePairs, tmp_path: Path) -> None:
    path = tmp_path / "baseline.csv"
    path.write_text(FILE, encoding="utf-8")
    for named in (path, tmp_path / "nowhere.csv"):  # one that is there is refused in the words of one that is not
        with pytest.raises(InputError, match=r"is no list of baselines: .* by the command line alone") as refusal:
            aligned(pairs, rescale=str(named))
        assert "0.1" not in str(refusal.value)


def test_a_result_stored_before_there_were_baselines_is_read(pairs: SentencePairs) -> None:
    result = aligned(pairs)
    files = repacked(pack(result), {"baselines": None}, "0.2.0")
    earlier = unpack(Result, files.__getitem__, "The result of run r1")
    assert earlier.baselines.empty and list(earlier.baselines.columns) == list(result.baselines.columns)
    pd.testing.assert_frame_equal(rescore(earlier, Scoring()).pairs, rescore(result, Scoring()).pairs)


def test_numbers_equal_those_of_bert_score(pairs: SentencePairs, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own imports
        bert_score = pytest.importorskip("bert_score")
    folder = tmp_path / "model"
    shutil.copytree(load("builtin/bert-mini-ja", "encode").facts.path, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "dtype": "float32"}))
    loaded = load(str(folder), "encode")
    n_layers = loaded.facts.n_layers
    session = DirectSession(loaded)
    own = evaluate(Settings((str(folder),), rescale="own", rescale_pairs=30), pairs, session)
    peer = bert_score.BERTScorer(model_type=str(folder), num_layers=n_layers, device="cpu", nthreads=0)
    drawn = random_pairs(pairs, 30, 0)
    references, candidates = map(list, zip(*drawn, strict=True))
    means = [float(scores.mean()) for scores in peer.score(candidates, references)]
    np.testing.assert_allclose(own.baselines[SCORES].to_numpy()[0], means, atol=1e-5)  # float32 on both sides
    path = tmp_path / "baseline.tsv"
    path.write_text(
        "LAYER,P,R,F\n" + "".join(f"{layer},{layer / 20},{layer / 10},{layer / 15}\n" for layer in range(n_layers + 1)),
        encoding="utf-8",
    )
    result = evaluate(Settings((str(folder),), rescale=path.read_text(encoding="utf-8")), pairs, session)
    peer = bert_score.BERTScorer(
        model_type=str(folder),
        num_layers=n_layers,
        device="cpu",
        nthreads=0,
        lang="ja",
        rescale_with_baseline=True,
        baseline_path=str(path),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it makes a tensor of a read-only array
        expected = np.stack(
            [scores.numpy() for scores in peer.score(list(pairs.candidates), list(pairs.references))], axis=1
        )
    np.testing.assert_allclose(rescore(result, Scoring()).pairs[RESCALED], expected, atol=2e-5)
    assert "custom-rescaled" in peer.hash and "custom-rescaled" in result.signature["rescaled"]
