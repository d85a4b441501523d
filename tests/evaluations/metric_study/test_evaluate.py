"""The metric study: every cell is the correlation of its own scores, and what cannot be known is said."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment import evaluate as aligning
from engine.evaluations.alignment import records as alignment
from engine.evaluations.alignment.records import Scoring
from engine.evaluations.alignment.rescoring import rescore
from engine.evaluations.metric_study.evaluate import evaluate
from engine.evaluations.metric_study.on_card import NO_HUMANS, headlines
from engine.evaluations.metric_study.records import Result, Settings
from engine.evaluations.metric_study.tables import grid_table, method_table, score_table
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.idf import count_documents
from engine.measures.statistics.correlations.williams import williams_test
from engine.measures.surface import chrf, sentence_bleu
from engine.measures.vector_cosine import vector_cosines
from engine.messages.languages import in_language, translated
from engine.models.sources.facts import ModelFacts
from tests.support.session_fake import TOO_LONG, SessionFake, vector

NAN = math.nan
A, B = "m/a", "m/b"
NAMES = ["斉藤", "尾崎", "渡辺", "田中", "小林", "神戸", "長崎", "横浜", "良子", "花子", "次郎", "三郎"]
# Twelve pairs: the name changes in every second one, the ending in every third.
REFERENCES = tuple(f"{name}は雨の降る町を歩いた" for name in NAMES)
CANDIDATES = tuple(f"{NAMES[i - i % 2]}は{'雪' if i % 3 == 2 else '雨'}の町を歩く" for i in range(12))
SCORES = {
    "first": (90, 20, 40, 30, 95, 10, 80, 25, 35, 15, 100, 5),
    "second": (4, 1, 2.5, 2, 5, NAN, 4.5, 1, 3, 1, 5, 0),
    "third": (0.8, 0.3, NAN, 0.5, 0.9, 0.2, NAN, 0.2, 0.4, 0.3, 0.7, 0.1),
}


def pairs(human: dict[str, tuple[float, ...]] | None = None, **changes: Any) -> SentencePairs:
    n = len(REFERENCES)
    given = SentencePairs(
        "made up", REFERENCES, CANDIDATES, ("",) * n, SCORES if human is None else human, tuple(range(3, n + 3))
    )
    return replace(given, **changes)


def study(dataset: SentencePairs | None = None, session: SessionFake | None = None, **settings: Any) -> Result:
    given = {"models": (A, B), "idfs": ("none", "references"), **settings}
    return evaluate(Settings(**given), pairs() if dataset is None else dataset, session or SessionFake())  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result() -> Result:
    return study()


def test_the_card_of_a_model_has_its_own_greatest_correlation(result: Result) -> None:
    table = result.correlations[result.correlations["kind"] == "bertscore"].groupby("model")["pearson"].max()
    assert table[A] != table[B]
    for model in (A, B):
        (found,) = headlines(result, model)
        assert (found.value, found.reason) == (table[model], "")
    (none,) = headlines(result, "m/other")
    assert math.isnan(none.value) and none.reason == NO_HUMANS


class ReadsLess(SessionFake):
    """One of the models cannot read three pairs."""

    def token_similarities(self, model: str, pairs: Any, **settings: Any) -> list[dict[str, Any]]:
        pieces = super().token_similarities(model, pairs, **settings)
        unread = {REFERENCES[index] for index in (0, 4, 10)} if model == B else set()
        return [
            {"excluded": "too long"} if pair[0] in unread else piece for pair, piece in zip(pairs, pieces, strict=True)
        ]


def test_settings_are_compared_over_the_pairs_that_every_model_scores() -> None:
    found = study(session=ReadsLess())
    ours = found.correlations[found.correlations["kind"] == "bertscore"]
    assert set(ours["model"]) == {A, B} and set(ours["n"]) == {9}
    gold = found.pairs["gold"].to_numpy()
    kept = [index for index in range(12) if index not in (0, 4, 10)]
    for line, values in zip(ours.to_dict("records"), found.scores, strict=False):
        assert line["pearson"] == pytest.approx(stats.pearsonr(values[kept], gold[kept]).statistic)
    assert any(notice.endswith("because a model has no score of them: 3 pairs.") for notice in found.notices)
    assert not any("has no score of them" in notice for notice in study().notices)


@pytest.fixture
def dictionary(tmp_path: Path) -> str:
    """A dictionary that holds names for rare and everything else for common."""
    path = tmp_path / "own.json.gz"
    common = sorted(set("".join(REFERENCES + CANDIDATES)) - set("".join(NAMES)))
    write_idf(count_documents([common] * 9, "own", "t" * 64, "line"), path)
    return str(path)


def test_the_grid_is_every_model_with_every_dictionary_without_and_with_the_penalty(result: Result) -> None:
    cells = [("none", "none"), ("references", "none"), ("references", "reading")]  # no penalty without a dictionary
    expected = [("bertscore", model, *cell) for model in (A, B) for cell in cells]
    expected += [
        ("surface", "sentbleu", "", ""),
        ("surface", "chrf", "", ""),
        ("vectors", A, "", ""),
        ("vectors", B, "", ""),
    ]
    found = result.correlations[["kind", "model", "idf", "penalty"]]
    assert list(found.itertuples(index=False, name=None)) == expected
    assert result.scores.shape == (len(expected), 12)


def test_the_papers_grid_has_sixteen_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("engine.evaluations.shared.dictionaries.FOLDER", tmp_path)
    for name in ("novel", "wiki"):
        write_idf(count_documents([["は", name]], name, "t" * 64, "file"), tmp_path / f"{name}.fake.json.gz")
    table = grid_table(
        evaluate(
            Settings(("multilingual", "wikipedia", "sns", "novel"), surface=False, pooling="none"),
            pairs(),
            SessionFake(),
        )
    )  # type: ignore[arg-type]
    assert len(table) == 16 and table[["model", "idf", "penalty"]].drop_duplicates().shape == (16, 3)


@pytest.mark.parametrize("score", ["f1", "precision", "recall"])
def test_scores_are_those_of_an_alignment_with_the_same_setting(dictionary: str, score: str) -> None:
    base = Scoring(threshold=0.5, pairing="joined")
    found = study(idfs=("none", "references", dictionary), scoring=base, score=score)
    for line, values in zip(found.correlations.itertuples(), found.scores, strict=True):
        if line.kind != "bertscore":
            continue
        scoring = replace(base, idf=line.idf, penalty=line.penalty)
        alone = aligning.evaluate(alignment.Settings((line.model,)), pairs(), SessionFake())  # type: ignore[arg-type]
        expected = rescore(alone, scoring).pairs[f"penalized_{score}"]  # without a penalty M is 1
        np.testing.assert_array_equal(values, expected)
    penalised, plain = (found.scores_of(A, dictionary, penalty) for penalty in ("reading", "none"))
    assert (penalised <= plain).all() and (penalised < plain).any()


def test_gold_is_the_mean_of_the_annotators_z_scores(result: Result) -> None:
    z = [stats.zscore(np.array(scores), nan_policy="omit") for scores in SCORES.values()]
    np.testing.assert_allclose(result.pairs["gold"], np.nanmean(z, axis=0), atol=1e-12)  # the same sums
    for name, values in zip(SCORES, z, strict=True):
        np.testing.assert_allclose(result.pairs[f"z:{name}"], values, atol=1e-12)
        np.testing.assert_array_equal(result.pairs[f"human:{name}"], SCORES[name])
    assert result.annotators["scale"].tolist() == ["0-100", "0-5", "0-1"]
    assert result.annotators["missing"].tolist() == [0, 1, 2]
    assert result.agreement["n"].tolist() == [11, 10, 9]
    assert result.mean_agreement == pytest.approx(result.agreement["pearson"].mean())
    first = result.agreement["pearson"][result.agreement["annotator"] == "first"]
    assert result.annotators["agreement"][0] == pytest.approx(first.mean())


def test_one_annotator_is_their_own_gold() -> None:
    found = study(pairs({"only": SCORES["second"]}))
    np.testing.assert_allclose(found.pairs["gold"], stats.zscore(SCORES["second"], nan_policy="omit"), atol=1e-12)
    assert math.isnan(found.mean_agreement) and found.agreement.empty
    assert (found.correlations["n"] == 11).all()


def test_every_line_is_the_correlation_of_its_scores(result: Result) -> None:
    gold = result.pairs["gold"].to_numpy()
    for line, values in zip(result.correlations.itertuples(), result.scores, strict=True):
        # scipy's own sums, in another order
        assert line.pearson == pytest.approx(stats.pearsonr(values, gold).statistic, abs=1e-12)
        assert line.spearman == pytest.approx(stats.spearmanr(values, gold).statistic, abs=1e-12)
        assert line.kendall == pytest.approx(stats.kendalltau(values, gold).statistic, abs=1e-12)
        assert line.n == 12 and line.ci_low < line.pearson < line.ci_high
        assert line.kendall_low < line.kendall < line.kendall_high and line.spearman_low < line.spearman_high


def test_the_best_is_held_against_each_by_williams_test(result: Result) -> None:
    table, gold = result.correlations, result.pairs["gold"].to_numpy()
    grid = table[table["kind"] == "bertscore"]
    assert table["best"].sum() == 1 and table["best"][grid["pearson"].idxmax()]
    best = result.scores[int(grid["pearson"].idxmax())]
    for line, values in zip(table.itertuples(), result.scores, strict=True):
        expected = williams_test(gold, best, values)
        if line.best:
            assert math.isnan(line.williams_p) and not line.separable
        else:
            assert (line.williams_t, line.williams_p) == (expected.t, expected.p_value)
            assert line.separable == (expected.p_value < 0.05)
            assert np.sign(line.williams_t) == np.sign(grid["pearson"].max() - line.pearson)


def test_methods_of_other_kinds_stand_beside(result: Result) -> None:
    _, bleu, character, first, second = np.split(result.scores, [6, 7, 8, 9])
    np.testing.assert_array_equal(bleu[0], sentence_bleu([[one] for one in REFERENCES], CANDIDATES))
    np.testing.assert_array_equal(character[0], chrf([[one] for one in REFERENCES], CANDIDATES))
    for model, values in ((A, first[0]), (B, second[0])):
        expected = vector_cosines(
            [vector(model, text, 4) for text in REFERENCES], [vector(model, text, 4) for text in CANDIDATES]
        )
        np.testing.assert_array_equal(values, expected)
    assert set(study(surface=False, pooling="none").correlations["kind"]) == {"bertscore"}
    session = SessionFake()
    study(session=session, pooling="cls", layer=2)
    assert ("sentence_vectors", A, (2,), "cls") in session.calls


def test_surface_scores_cut_japanese_by_mecab_and_other_text_at_spaces() -> None:
    session = SessionFake()
    study(session=session)
    english = tuple(f"the cat sat on mat {i}" for i in range(12))
    other = study(pairs(references=english, candidates=english[::-1]), session)
    assert [call[2] for call in session.calls if call[0] == "surface_scores"] == ["ja-mecab", "13a"]
    assert "tok:13a" in other.signature["surface"]["sentbleu"]


def test_every_layer_when_asked(result: Result) -> None:
    assert result.layers.empty
    found = study(all_layers=True, layer=3)
    assert len(found.layers) == 5 * 6 and set(found.layers["layer"]) == set(range(5))
    own = found.layers[found.layers["layer"] == 3].drop(columns="layer").reset_index(drop=True)
    grid = grid_table(found)[["model", "idf", "penalty", "n", "pearson", "ci_low", "ci_high"]]
    pd.testing.assert_frame_equal(own, grid)


def test_each_model_is_asked_once() -> None:
    session = SessionFake()
    study(session=session)
    assert [call[1] for call in session.calls if call[0] == "token_similarities"] == [A, B]


def test_the_order_of_the_file_does_not_matter(result: Result) -> None:
    order = np.random.default_rng(0).permutation(12)
    given = pairs(
        {name: tuple(scores[i] for i in order) for name, scores in SCORES.items()},
        references=tuple(REFERENCES[i] for i in order),
        candidates=tuple(CANDIDATES[i] for i in order),
        rows=tuple(int(i) + 3 for i in order),
    )
    turned = study(given)
    for name in ("pearson", "spearman", "kendall", "williams_p"):
        # sums in another order
        np.testing.assert_allclose(turned.correlations[name], result.correlations[name], atol=1e-9)
    np.testing.assert_allclose(turned.scores, result.scores[:, order], atol=1e-12)


def test_a_pair_beyond_a_models_length_has_no_score_there_and_is_listed() -> None:
    long = (*REFERENCES[:11], "長" * (TOO_LONG + 1))
    found = study(pairs(references=long))
    assert set(found.excluded["row"]) == {14} and set(found.excluded["model"]) == {A, B}
    models = found.correlations["kind"] != "surface"
    assert np.isnan(found.scores[models.to_numpy(), 11]).all() and np.isfinite(found.scores[~models.to_numpy()]).all()
    assert found.correlations["n"].tolist() == [12 if kind == "surface" else 11 for kind in found.correlations["kind"]]
    assert any(A in notice and "left out" in notice for notice in found.notices)


class _OtherTokenizer(SessionFake):
    def describe(self, model: str) -> ModelFacts:
        return replace(super().describe(model), tokenizer_fingerprint=("t" if model == A else "u") * 64)


def test_a_dictionary_of_another_tokenizer_leaves_that_models_settings_out(dictionary: str) -> None:
    found = study(session=_OtherTokenizer(), idfs=("none", dictionary))
    assert grid_table(found)[["model", "idf"]].drop_duplicates().to_numpy().tolist() == [
        [A, "none"],
        [A, dictionary],
        [B, "none"],
    ]
    assert found.left_out["model"].tolist() == [B] and "'own'" in found.left_out["reason"][0]
    assert B in found.left_out["reason"][0] and any(found.left_out["reason"][0] in said for said in found.notices)


def test_a_dictionary_that_fits_no_model_is_refused_before_any_model_is_asked(dictionary: str) -> None:
    session = _OtherTokenizer()
    with pytest.raises(InputError, match="counted with another tokenizer"):
        study(session=session, models=(B,), idfs=("none", dictionary))
    with pytest.raises(InputError, match="no idf dictionary 'nowhere"):
        study(session=session, idfs=("nowhere.json.gz",))
    assert session.calls == []


def test_constant_scores_have_no_correlation_and_it_is_said() -> None:
    found = study(pairs({"first": SCORES["first"], "flat": (3.0,) * 12}))
    assert "3 to every pair" in found.annotators["reason"][1]
    assert found.annotators["reason"][1].in_language("ja") == "すべての対に3を付けており、尺度がない"
    (said,) = (notice for notice in found.notices if "to every pair" in notice)
    assert said.in_language("ja") == "flatはすべての対に3を付けており、尺度がないため、除外しました。"
    assert np.isfinite(found.correlations["pearson"]).all()  # the other annotator's word alone
    flat = study(pairs({"flat": (3.0,) * 12}))
    assert flat.correlations["pearson"].isna().all() and not flat.correlations["best"].any()
    assert "no annotator's scores vary" in flat.correlations["reason"][0]
    with in_language("ja"):
        assert translated(found.annotators["reason"][1]) == "すべての対に3を付けており、尺度がない"
    assert flat.correlations["williams_p"].isna().all() and not flat.correlations["separable"].any()


def test_a_score_that_never_changes_has_no_correlation() -> None:
    same = ("雨が降る町",) * 12
    found = study(pairs(references=same, candidates=same))
    line = found.correlations[found.correlations["model"] == "sentbleu"].iloc[0]
    assert math.isnan(line["pearson"]) and "the score is 100 in all 12 pairs" in line["reason"]


def test_two_scored_pairs_are_too_few() -> None:
    found = study(pairs({"few": (1.0, 2.0) + (NAN,) * 10}))
    assert (found.correlations["n"] == 2).all()
    assert "at least 3 pairs; there are 2" in found.correlations["reason"][0]
    with in_language("ja"):
        assert "2対" in translated(found.correlations["reason"][0])


@pytest.mark.parametrize("human", [{}, {"empty": (NAN,) * 12}])
def test_without_human_scores_there_is_nothing_to_study(human: dict[str, tuple[float, ...]]) -> None:
    with pytest.raises(InputError, match="compared with human scores, and this dataset has none"):
        study(pairs(human))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"models": ()}, "No model"),
        ({"models": (A, A)}, "more than once"),
        ({"score": "f2"}, "f1, precision, recall"),
        ({"pooling": "max"}, "weighted-mean, none"),
        ({"idfs": ()}, "at least one idf dictionary"),
        ({"idfs": ("none", "none")}, "each once"),
        ({"penalties": ()}, "at least one penalty"),
        ({"penalties": ("nowhere",)}, "none, reading, names"),
        ({"idfs": ("none",), "penalties": ("reading",)}, "No setting is left"),
        ({"scoring": Scoring(threshold=7)}, "between 0 and 1"),
        ({"layer": 9}, "layers 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        study(**settings)


def test_proper_nouns_need_no_dictionary() -> None:
    found = study(idfs=("none",), scoring=Scoring(criterion="proper-nouns"))
    assert grid_table(found)["penalty"].tolist() == ["none", "reading"] * 2


def test_tables_for_files(result: Result) -> None:
    assert list(grid_table(result))[:9] == [
        "model",
        "idf",
        "penalty",
        "n",
        "pearson",
        "ci_low",
        "ci_high",
        "spearman",
        "kendall",
    ]
    assert len(grid_table(result)) == 6 and method_table(result)["model"].tolist() == ["sentbleu", "chrf", A, B]
    long = score_table(result)
    assert len(long) == result.scores.size
    place = result.pairs.index[result.pairs["row"] == 7][0]
    wanted = long[(long["model"] == B) & (long["penalty"] == "reading") & (long["row"] == 7)]
    scores = result.scores_of(B, "references", "reading")
    assert scores is not None and wanted["score"].tolist() == [scores[place]]
    assert wanted["gold"].tolist() == [result.pairs["gold"][place]]
    assert result.scores_of(B, "wiki", "none") is None


def test_the_signature_holds_what_determines_the_numbers(result: Result) -> None:
    assert result.signature["settings"]["idfs"] == ("none", "references")
    assert result.signature["layers"] == {A: 4, B: 4} and "tok:ja-mecab" in result.signature["surface"]["sentbleu"]
    assert "scipy" in result.signature["versions"] and "idf" not in result.signature["settings"]["scoring"]


def test_the_signature_names_the_dictionaries_content(dictionary: str) -> None:
    told = study(idfs=(dictionary,), surface=False).signature["dictionaries"]
    assert list(told) == [f"{dictionary}, {A}", f"{dictionary}, {B}"]
    assert all(said.startswith("own (9 documents, ") for said in told.values())
