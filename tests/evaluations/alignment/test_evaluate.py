"""The alignment evaluation, on token similarities that depend on the characters alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.alignment import evaluate as aligning
from engine.evaluations.alignment import pair_tokens, rescoring
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.records import Result, Scoring, Settings
from engine.evaluations.alignment.rescoring import matrix, rescore
from engine.evaluations.shared.idf_files import write_idf
from engine.measures.bertscore import best_matches
from engine.measures.idf import count_documents
from engine.runs.storage.artifacts import Artifacts
from tests.support.session_fake import TOO_LONG, SessionFake, similarities

REFERENCES = ("斉藤は笑った", "猫がいる", "雨が降る")
CANDIDATES = ("尾崎は笑った", "犬がいる", "雨が降る")
PAIRS = SentencePairs(
    "made up", REFERENCES, CANDIDATES, ("swapped name", "changed meaning", "same"), {"a": (0.4, 0.3, 1.0)}, (1, 2, 5)
)
NO_NAME = Scoring("references", penalty="reading", threshold=2.0, threshold_kind="value")


def run(pairs: SentencePairs = PAIRS, **settings: object) -> Result:
    return evaluate(Settings(("m", "n"), **settings), pairs, SessionFake())  # type: ignore[arg-type]


def test_a_matrix_comes_back_as_the_model_gave_it() -> None:
    result = run()
    for model in ("m", "n"):
        for row, reference, candidate in zip(PAIRS.rows, REFERENCES, CANDIDATES, strict=True):
            given = similarities(model, reference, candidate)["similarity"][0]
            np.testing.assert_array_equal(matrix(result, model, row), given)
    with pytest.raises(InputError, match="no pair in row 3"):
        matrix(result, "m", 3)


def test_a_sentence_paired_with_itself_scores_1_and_costs_nothing() -> None:
    scores = rescore(run(), Scoring("references", penalty="reading")).pairs
    same = scores[scores["row"] == 5]
    assert same[["precision", "recall", "f1", "penalized_f1"]].to_numpy() == pytest.approx(1.0)


def test_precision_and_recall_by_hand() -> None:
    # Without idf every character weighs 1: P is the mean over the candidate's characters of the best similarity
    # in the reference, [CLS] and [SEP] of the reference included as bert_score does.
    scores = rescore(run(), Scoring()).pairs.set_index(["model", "row"])
    cosine = similarities("m", REFERENCES[0], CANDIDATES[0])["similarity"][0]
    precision, recall = cosine.max(0)[1:-1].mean(), cosine.max(1)[1:-1].mean()
    assert scores.loc[("m", 1), "precision"] == pytest.approx(precision, rel=1e-6)  # float32 means
    assert scores.loc[("m", 1), "recall"] == pytest.approx(recall, rel=1e-6)
    assert scores.loc[("m", 1), "f1"] == pytest.approx(2 * precision * recall / (precision + recall), rel=1e-6)


def test_the_penalty_by_hand(tmp_path: Path) -> None:
    # A dictionary in which は笑った and the rest are everywhere and 斉藤尾崎 nowhere: those four are low-frequency.
    everywhere = sorted(set("は笑ったがいる雨降猫犬"))
    path = tmp_path / "names.json"
    write_idf(count_documents([everywhere] * 9, "names", "t" * 64, "line"), path)
    scores = rescore(run(), Scoring(str(path), threshold=0.5, penalty="reading"))
    tokens = scores.tokens[(scores.tokens["model"] == "m") & (scores.tokens["row"] == 1)]
    rare = tokens[tokens["low_frequency"]]
    assert set(rare["token"]) == set("斉藤尾崎")
    # Each of 尾 and 崎 has M = 1 - distance / longer reading to what it was matched with; the others have 1.
    candidate = rare[rare["side"] == "candidate"]
    expected = (candidate["agreement"].sum() + 4) / 6
    pair = scores.pairs[(scores.pairs["model"] == "m") & (scores.pairs["row"] == 1)].iloc[0]
    assert pair["precision_penalty"] == pytest.approx(expected)
    assert pair["penalized_precision"] == pytest.approx(pair["precision"] * expected)
    assert pair["penalized_f1"] <= pair["f1"]


def test_special_tokens_may_be_barred_as_matches() -> None:
    tokens = rescore(run(), Scoring(match_special=False)).tokens
    assert not tokens["match_special"].any()
    assert rescore(run(), Scoring()).tokens["match_special"].any()


def test_too_long_pairs_are_left_out_and_listed() -> None:
    long = "あ" * (TOO_LONG + 1)
    pairs = SentencePairs("long", ("猫", long), ("犬", "犬"), ("", ""), {}, (1, 4))
    result = run(pairs)
    assert result.excluded["row"].tolist() == [4, 4] and any("1 of 2 pairs" in notice for notice in result.notices)
    with pytest.raises(InputError, match=r"none of the 1 pair\. The first, row 4: too long"):
        run(SentencePairs("long", (long,), ("犬",), ("",), {}, (4,)))


def test_a_pair_whose_weights_are_all_zero_is_said_to_have_no_score() -> None:
    one = SentencePairs("one", ("猫がいる",), ("猫がいる",), ("",), {}, (1,))
    scores = rescore(run(one), Scoring("references"))  # every token in the one reference: idf log(2/2) = 0
    assert scores.pairs["f1"].isna().all() and any("no score" in notice for notice in scores.notices)
    assert scores.dictionaries["m"].startswith("references (1 document, ")


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (Scoring(penalty="reading"), "low-frequency tokens"),
        (Scoring(penalty="idf"), "penalty is one of"),
        (Scoring(penalty="reading", criterion="both"), "low-frequency"),
        (Scoring(criterion="x"), "criterion is one of"),
        (Scoring(pairing="all"), "pairing is one of"),
        (Scoring(unit="sentence"), "unit is one of subword, word"),
        (Scoring(reading_engine="x"), "reading_engine is one of"),
        (Scoring(reading_scope="x"), "reading_scope is one of"),
        (Scoring(threshold_kind="x"), "threshold_kind is one of"),
        (Scoring(threshold=70), r"between 0 and 1 \(share of the entries\); got 70"),
        (Scoring(threshold=-1, threshold_kind="value"), "at least 0; got -1"),
        (Scoring(threshold=float("nan"), threshold_kind="value"), "at least 0; got nan"),
        (Scoring(idf="missing.json"), "neither built in"),
        (Scoring(idf="saved/gone"), "no longer there"),
        (Scoring(idf="novel"), "'novel' was not counted with the tokenizer of 'm'"),
    ],
)
def test_choices_that_cannot_be_are_refused_before_the_work(scoring: Scoring, message: str) -> None:
    session = SessionFake()
    with pytest.raises(InputError, match=message):
        evaluate(Settings(("m",), scoring=scoring), PAIRS, session)  # type: ignore[arg-type]
    assert not session.calls


def test_a_dictionary_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json.gz"
    write_idf(count_documents([["猫"]], "other", "another", "line"), path)
    said = r"'other' was counted with another tokenizer \(another\) than that of 'm' \(tttttttttttt\)"
    with pytest.raises(InputError, match=said):
        rescore(run(), Scoring(str(path)))


def test_layers_are_held_and_chosen_among() -> None:
    result = run(all_layers=True)
    assert result.layers == {"m": (0, 1, 2, 3, 4), "n": (0, 1, 2, 3, 4)}
    last = similarities("m", REFERENCES[0], CANDIDATES[0])["similarity"][0]
    for layer, share in ((None, 1.0), (4, 1.0), (-1, 1.0), (2, 0.75), (-5, 0.5), (0, 0.5)):
        np.testing.assert_array_equal(matrix(result, "m", 1, layer), last * np.float32(share))
    f1 = {layer: rescore(result, Scoring(), layer).pairs["f1"].to_numpy() for layer in (0, 2, 4)}
    np.testing.assert_allclose(f1[0], f1[4] * 0.5, rtol=1e-6)
    np.testing.assert_array_equal(rescore(result, Scoring()).pairs["f1"], f1[4])


def test_the_layer_of_the_settings_is_the_one_shown() -> None:
    one, many = run(layer=-2), run(layer=-2, all_layers=True)
    assert one.layers["m"] == (3,) and one.layer_index("m") == 0 and many.layer_index("m") == 3
    np.testing.assert_array_equal(rescore(one, Scoring()).pairs["f1"], rescore(many, Scoring()).pairs["f1"])
    with pytest.raises(InputError, match=r"holds layer 3 of m; got layer 4\. Evaluate with all layers"):
        rescore(one, Scoring(), 4)
    with pytest.raises(InputError, match="holds layer 0, 1, 2, 3, 4 of m; got layer 7"):
        matrix(many, "m", 1, 7)


def test_some_models_alone_are_scored_as_among_all() -> None:
    result = run()
    both, alone = rescore(result, NO_NAME), rescore(result, NO_NAME, models=["n"])
    of_n = both.pairs[both.pairs["model"] == "n"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone.pairs, of_n)
    pd.testing.assert_frame_equal(both.tokens_of("n", 2), alone.tokens_of("n", 2))
    with pytest.raises(InputError, match="no pair in row 2 under m"):
        alone.tokens_of("m", 2)


def test_a_pair_s_tokens_and_parts_of_all_are_what_the_table_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rescoring, "ROWS_AT_ONCE", 2)
    scores = rescore(run(), NO_NAME)
    whole = scores.tokens
    assert whole["model"].unique().tolist() == ["m", "n"]
    of_pair = whole[(whole["model"] == "n") & (whole["row"] == 5)].reset_index(drop=True)
    pd.testing.assert_frame_equal(scores.tokens_of("n", 5), of_pair)
    pd.testing.assert_frame_equal(pd.concat(scores.token_parts(), ignore_index=True), whole)


def test_scores_depend_neither_on_the_order_of_the_file_nor_on_the_other_pairs() -> None:
    forth = rescore(run(), Scoring()).pairs
    turned = SentencePairs("turned", REFERENCES[::-1], CANDIDATES[::-1], ("",) * 3, {}, (5, 2, 1))
    back = rescore(run(turned), Scoring()).pairs
    for model in ("m", "n"):
        ours, theirs = (pairs[pairs["model"] == model].sort_values("row") for pairs in (forth, back))
        np.testing.assert_array_equal(ours.drop(columns="model"), theirs.drop(columns="model"))
    one = SentencePairs("one", REFERENCES[:1], CANDIDATES[:1], ("",), {}, (1,))
    np.testing.assert_array_equal(rescore(run(one), Scoring()).pairs["f1"], forth[forth["row"] == 1]["f1"])


def test_several_references() -> None:
    pairs = SentencePairs(
        "several",
        ("猫がいる", "雨が降る"),
        ("犬がいる", "雪が降る"),
        ("", ""),
        {},
        (3, 4),
        (("犬がいる", "犬がいた"), ()),
    )
    result = run(pairs)
    assert result.shapes[result.shapes["model"] == "m"][["row", "reference"]].to_numpy().tolist() == [
        [3, 1],
        [3, 2],
        [3, 3],
        [4, 1],
    ]
    scores = rescore(result, Scoring("references"))
    of_m = scores.pairs[scores.pairs["model"] == "m"].set_index("row")
    assert of_m.loc[3, ["precision", "recall", "f1", "best_reference"]].tolist() == pytest.approx([1, 1, 1, 2])
    tokens = scores.tokens_of("m", 3)
    assert "".join(tokens[tokens["side"] == "reference"]["surface"]) == "[CLS]犬がいる[SEP]"
    assert (tokens["best_reference"] == 2).all()
    # each reference is a document: が is in all four, 犬 in two
    idf = tokens.set_index("token")["idf"]
    assert idf["が"].max() == pytest.approx(0) and idf["犬"].max() == pytest.approx(np.log(5 / 3))
    given = similarities("m", "犬がいた", "犬がいる")["similarity"][0]
    np.testing.assert_array_equal(matrix(result, "m", 3, reference=3), given)
    with pytest.raises(InputError, match="no pair in row 4 with reference 2"):
        matrix(result, "m", 4, reference=2)


def test_a_reference_that_is_too_long_leaves_the_others() -> None:
    pairs = SentencePairs("several", ("猫",), ("犬",), ("",), {}, (3,), (("あ" * (TOO_LONG + 1), "犬"),))
    result = run(pairs)
    assert result.excluded["reason"].tolist() == ["reference 2: too long"] * 2
    assert rescore(result, Scoring()).pairs["best_reference"].tolist() == [3, 3]


def test_the_matrix_of_words() -> None:
    result = run()
    words = matrix(result, "m", 1, unit="word")
    assert words.shape == (6, 6)  # [CLS] 斉藤 は 笑っ た [SEP], [CLS] 尾崎 は 笑っ た [SEP]
    block = matrix(result, "m", 1)[1:3, 1:3]  # 斉藤 and 尾崎, in characters
    assert words[1, 1] == pytest.approx((block.max(0).mean() + block.max(1).mean()) / 2)
    tokens = rescore(result, Scoring(unit="word", penalty="none")).tokens_of("m", 1)
    np.testing.assert_allclose(tokens[tokens["side"] == "reference"]["similarity"], words.max(1))
    assert tokens["surface"].tolist()[:5] == ["[CLS]", "斉藤", "は", "笑っ", "た"]


def test_a_penalty_on_proper_nouns_needs_no_dictionary() -> None:
    scores = rescore(run(), Scoring(penalty="reading", criterion="proper-nouns", unit="word", reading_scope="word"))
    tokens = scores.tokens_of("m", 1)
    assert tokens[tokens["penalised"]]["surface"].tolist() == ["斉藤", "尾崎"]
    assert not tokens["low_frequency"].any() and np.isnan(scores.thresholds["m"])
    pair = scores.pairs.iloc[0]
    assert pair["recall_penalty"] == 0.75  # 斉藤 of four words is read otherwise than 尾崎 in every kana
    others = scores.pairs[scores.pairs["row"] != 1]
    assert (others["penalized_f1"] == others["f1"]).all()


def test_spaces_round_a_sentence_move_no_surface() -> None:
    spaced = SentencePairs("spaced", ("　猫がいる ",), ("犬がいる",), ("",), {}, (1,))
    tokens = rescore(evaluate(Settings(("m",)), spaced, ShiftedSession()), Scoring()).tokens  # type: ignore[arg-type]
    assert "".join(tokens[(tokens["side"] == "reference") & ~tokens["special"]]["surface"]) == "猫がいる"


class ShiftedSession(SessionFake):
    """Spans are of the text as given, as the gateway's are."""

    def token_similarities(self, model: str, pairs: Sequence[tuple[str, str]], **settings: Any) -> list[dict[str, Any]]:
        pieces = super().token_similarities(model, pairs, **settings)
        for (reference, _), piece in zip(pairs, pieces, strict=True):
            shift = len(reference) - len(reference.lstrip())
            piece["reference_spans"] = np.where(piece["reference_spans"] < 0, -1, piece["reference_spans"] + shift)
        return pieces


def test_a_sentence_of_punctuation_only_is_a_sentence() -> None:
    pairs = SentencePairs("marks", ("。！", "…"), ("！？", "猫"), ("", ""), {}, (1, 2))
    scores = rescore(run(pairs), Scoring(penalty="reading", criterion="proper-nouns", reading_engine="unidic"))
    assert scores.pairs["f1"].notna().all() and (scores.pairs["precision_penalty"] == 1).all()


def test_much_is_asked_for_in_parts_and_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rescore(run(), NO_NAME)
    monkeypatch.setattr(aligning, "PAIRS_AT_ONCE", 2)
    in_parts = rescore(run(), NO_NAME)
    pd.testing.assert_frame_equal(in_parts.tokens, whole.tokens)
    pd.testing.assert_frame_equal(in_parts.pairs, whole.pairs)
    monkeypatch.setattr(aligning, "MAX_SIMILARITY_BYTES", 1000)
    # 8 * 8, 6 * 6 and 6 * 6 cells of 4 bytes are 544 for one model
    with pytest.raises(InputError, match="The similarities of 3 pairs would take about"):
        run()
    one_model = evaluate(Settings(("m",)), PAIRS, SessionFake())  # type: ignore[arg-type]
    assert len(rescore(one_model, Scoring()).pairs) == 3


def test_a_result_is_kept_and_scored_as_before(tmp_path: Path) -> None:
    result = run(all_layers=True, scoring=NO_NAME)
    artifacts = Artifacts(tmp_path)
    artifacts.save_result("run", result)
    again = artifacts.load_result("run", Result)
    assert again.layers == result.layers and again.settings == result.settings
    pd.testing.assert_frame_equal(again.tokens, result.tokens)
    pd.testing.assert_frame_equal(rescore(again, NO_NAME, 2).tokens, rescore(result, NO_NAME, 2).tokens)


def test_scores_name_their_dictionary_for_the_signature() -> None:
    scores = rescore(run(), NO_NAME)
    counted = count_documents([list(text) for text in REFERENCES], "references", "t" * 64, "reference")
    assert scores.dictionaries["m"].startswith("references (3 documents, ") and scores.thresholds["m"] == 2.0
    assert len(counted.fingerprint) == 64 and rescore(run(), Scoring()).dictionaries == {}


def test_best_matches_are_kept_and_are_those_of_the_layer_and_the_units(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def count_matches(*arguments: Any, **choices: Any) -> Any:
        counted.append(choices)
        return best_matches(*arguments, **choices)

    monkeypatch.setattr(pair_tokens, "best_matches", count_matches)
    result = run(all_layers=True)
    layers = result.layers["m"]
    assert len(layers) > 1
    scorings = [
        Scoring(unit=unit, match_special=special, penalty=penalty)
        for unit in ("subword", "word")
        for special in (True, False)
        for penalty in ("none", "names")
    ]
    for layer in (*layers, *layers):
        for scoring in scorings:
            kept = rescore(result, scoring, layer, models=["m"]).pairs
            pd.testing.assert_frame_equal(kept, rescore(replace(result), scoring, layer, models=["m"]).pairs)
    before = len(counted)
    for scoring in scorings[-4:]:  # of the last unit, layer and both choices of special tokens
        rescore(result, scoring, layers[-1], models=["m"])
    assert len(counted) == before
