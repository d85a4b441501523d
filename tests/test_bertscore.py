"""The alignment evaluation, on token similarities that depend on the characters alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import InputError
from engine.evaluations.bertscore import Result, Scoring, Settings, evaluate, matrix, rescore
from engine.evaluations.dictionaries import build_dictionary
from engine.evaluations.idf_files import write_idf
from engine.measures.idf import count_documents
from tests.session_fake import TOO_LONG, SessionFake, similarities

REFERENCES = ("斉藤は笑った", "猫がいる", "雨が降る")
CANDIDATES = ("尾崎は笑った", "犬がいる", "雨が降る")
PAIRS = SentencePairs("made up", REFERENCES, CANDIDATES, ("swapped name", "changed meaning", "same"), (0.4, 0.3, 1.0),
                      (1, 2, 5))


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
    pairs = SentencePairs("long", ("猫", long), ("犬", "犬"), ("", ""), (float("nan"),) * 2, (1, 4))
    result = run(pairs)
    assert result.excluded["row"].tolist() == [4, 4] and any("1 of 2 pairs" in notice for notice in result.notices)
    with pytest.raises(InputError, match="none of the 1 pairs; the first: row 4, too long"):
        run(SentencePairs("long", (long,), ("犬",), ("",), (float("nan"),), (4,)))


def test_a_pair_whose_weights_are_all_zero_is_said_to_have_no_score() -> None:
    one = SentencePairs("one", ("猫がいる",), ("猫がいる",), ("",), (float("nan"),), (1,))
    scores = rescore(run(one), Scoring("references"))  # every token in the one reference: idf log(2/2) = 0
    assert scores.pairs["f1"].isna().all() and any("no score" in notice for notice in scores.notices)


@pytest.mark.parametrize(("scoring", "message"), [
    (Scoring(penalty="reading"), "low-frequency tokens"), (Scoring(penalty="idf"), "penalty is one of"),
    (Scoring(pairing="all"), "pairing is one of"), (Scoring(threshold=70), "between 0 and 1; got 70"),
    (Scoring(idf="missing.json"), "neither built in"), (Scoring(idf="novel"), "not counted with m's tokenizer"),
])
def test_choices_that_cannot_be_are_refused_before_the_work(scoring: Scoring, message: str) -> None:
    session = SessionFake()
    with pytest.raises(InputError, match=message):
        evaluate(Settings(("m",), scoring=scoring), PAIRS, session)  # type: ignore[arg-type]
    assert not session.calls


def test_a_dictionary_of_another_tokenizer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.json.gz"
    write_idf(count_documents([["猫"]], "other", "another", "line"), path)
    with pytest.raises(InputError, match="counted with another tokenizer"):
        rescore(run(), Scoring(str(path)))


def test_a_dictionary_is_counted_by_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("猫猫\n犬", encoding="utf-8")
    (tmp_path / "b.txt").write_text("猫", encoding="utf-8")
    done: list[int] = []
    by_file = build_dictionary("m", [tmp_path], SessionFake(), name="d", report=done.append)  # type: ignore[arg-type]
    by_line = build_dictionary("m", [tmp_path], SessionFake(), name="d", unit="line")  # type: ignore[arg-type]
    assert (by_file.n_documents, by_file.document_counts["猫"], by_file.document_counts["犬"]) == (2, 2, 1)
    assert (by_line.n_documents, by_line.document_counts["猫"]) == (3, 2)
    assert done == [2] and by_file.tokenizer == "t" * 64
