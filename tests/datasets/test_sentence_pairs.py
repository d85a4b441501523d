"""engine.datasets.sentence_pairs: columns of published files, human scores, categories."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats.files import paste_table, read_table
from engine.datasets.rows import empty_reason
from engine.datasets.sentence_pairs import ROLES, SentencePairs, from_table, guess_columns
from engine.errors import BadRow, InputError
from tests.support.shared_data import shared_data

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


def dataset(csv: str, columns: dict[str, Any] | None = None) -> SentencePairs:
    return from_table(read_table(csv.encode(), "a.csv"), columns)


def error_of(csv: str, columns: dict[str, Any] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        dataset(csv, columns)
    return caught.value


def test_a_dataset_is_what_the_file_says() -> None:
    pairs = dataset("reference,candidate,change,score\n雨だ。, 雨だ！,言い換え ,4.5\nﾊﾟﾝ,パン,,\n")
    assert pairs == SentencePairs(
        "a.csv", ("雨だ。", "ﾊﾟﾝ"), (" 雨だ！", "パン"), ("言い換え", ""), {"score": (4.5, math.nan)}, (1, 2)
    )
    assert (pairs.n, len(pairs)) == (2, 2)
    assert pairs.notices == (
        "1 row has a space at an end, or two together, in one sentence of the pair alone (kept; "
        "it may change the scores): 1.",
        "Human scores 'score': 4.5 to 4.5, taken to be on the scale 1-5.",
        "1 row lacks a score in 'score' (left out of correlations): 2.",
    )


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("reference,candidate", ("reference", "candidate", None, (), ())),
        ("hyp,ref,Human-Score", ("ref", "hyp", None, ("Human-Score",), ())),
        ("参照,候補,分類,評価", ("参照", "候補", "分類", ("評価",), ())),
        ("id,sentence1,sentence2,similarity", ("sentence1", "sentence2", None, ("similarity",), ())),
        ("a,b,type", (None, None, "type", (), ())),
        ("reference,reference2,ref_3,candidate", ("reference", "candidate", None, (), ("reference2", "ref_3"))),
        ("ref,hyp,annotator1,Rater B,評価者3,worker", ("ref", "hyp", None, ("annotator1", "Rater B", "評価者3"), ())),
    ],
)
def test_columns_are_guessed_by_their_names(header: str, expected: tuple[object, ...]) -> None:
    table = read_table(f"{header}\n{','.join('3' for _ in header.split(','))}\n".encode(), "a.csv")
    assert tuple(guess_columns(table).values()) == expected
    assert list(guess_columns(table)) == [name for name, _, _ in ROLES]


def test_a_column_label_is_a_score_when_it_holds_numbers_and_else_the_category() -> None:
    numbers = dataset("sentence1,sentence2,label\na,b,3.0\nc,d,5\n")
    assert (numbers.human, numbers.categories) == ({"label": (3.0, 5.0)}, ("", ""))
    words = dataset("sentence1,sentence2,label\na,b,entailment\nc,d,neutral\n")
    assert words.categories == ("entailment", "neutral")
    assert words.human == {}
    # Mostly numbers: the odd one is a mistake to be shown, not a category.
    assert [bad.row for bad in error_of("sentence1,sentence2,label\na,b,3.0\nc,d,5\ne,f,four\n").rows] == [3]


def test_a_column_label_beside_columns_of_either_name() -> None:
    table = read_table(b"sentence1,sentence2,label,score\na,b,3,4\n", "a.csv")
    assert guess_columns(table)["human"] == ("score",)


def test_roles_not_mentioned_are_guessed_and_an_empty_one_is_none() -> None:
    csv = "x,candidate,category,human\na,b,kind,3\n"
    assert dataset(csv, {"reference": "x"}).categories == ("kind",)
    assert dataset(csv, {"reference": "x", "category": ""}).categories == ("",)
    assert dataset(csv, {"reference": "x", "human": None}).human == {}
    assert dataset(csv, {"reference": "x", "human": ()}).human == {}


def test_every_score_that_is_no_number_is_listed() -> None:
    error = error_of(
        "reference,candidate,human\na,b,3\nc,d,high\ne,f,\ng,h,nan\ni,j,inf\nk,l,1_0\nm,n,４．５\no,p, 2e-1 \n"
    )
    assert error.rows == (
        BadRow(2, "'human' holds 'high'"),
        BadRow(5, "'human' holds 'inf'"),
        BadRow(6, "'human' holds '1_0'"),
    )
    assert "3 of 8 rows have a human score that is not a number. Write a number such as 3.5" in error.message
    assert dataset("reference,candidate,human\nm,n,４．５\no,p, 2e-1 \n").human == {"human": (4.5, 0.2)}


ANNOTATED = "ref,hyp,annotator1,annotator2,annotator3\na,b,1,2,\nc,d,3,,5\ne,f,5,5,5\n"


def test_every_annotator_has_scores() -> None:
    pairs = dataset(ANNOTATED)
    assert list(pairs.human) == ["annotator1", "annotator2", "annotator3"]
    assert pairs.human["annotator1"] == (1.0, 3.0, 5.0)
    assert [math.isnan(score) for score in pairs.human["annotator2"]] == [False, True, False]
    assert "1 row lacks a score in 'annotator2' (left out of correlations): 2." in pairs.notices
    assert dataset(ANNOTATED, {"human": "annotator2"}).human.keys() == {"annotator2"}
    assert list(dataset(ANNOTATED, {"human": ("annotator3", "annotator1")}).human) == ["annotator3", "annotator1"]


def test_faults_of_several_annotators_are_listed_together() -> None:
    error = error_of("ref,hyp,human,rater1\na,b,3,x\nc,d,high,2\ne,f,?,y\n")
    assert error.rows == (BadRow(2, "'human' holds 'high'"), BadRow(3, "'human' holds '?'"))  # rater1: no scores
    assert dataset("ref,hyp,rater1\na,b,anna\nc,d,ben\n").human == {}  # names of raters are no scores


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"human": ("annotator1", "nobody")}, "no column 'nobody' for the role 'human'"),
        ({"reference": ("ref", "hyp")}, "The role 'reference' is played by one column; got 'ref', 'hyp'"),
        ({"gold": "annotator1"}, "no role 'gold'"),
    ],
)
def test_columns_that_cannot_be(columns: dict[str, Any], said: str) -> None:
    assert said in error_of(ANNOTATED, columns).message


def test_further_references_are_those_that_are_there() -> None:
    pairs = dataset("reference,reference2,reference3,candidate\na,b,,x\nc,,d,y\ne,, ,z\n")
    assert pairs.more_references == (("b",), ("d",), ())
    assert list(pairs.to_frame()) == ["row", "reference", "candidate", "category", "reference 2"]
    assert dataset("reference,reference2,candidate\na,,x\n").more_references == ()


def test_every_empty_sentence_is_listed() -> None:
    error = error_of("ref,hyp\na,b\n,b\nc, \n,\nd,e\n \u3000, \n")
    assert error.rows == (
        BadRow(2, "'ref' is empty"),
        BadRow(3, "'hyp' holds only spaces"),
        BadRow(6, "'ref' holds only spaces and 'hyp' holds only spaces"),
    )


def test_wrong_columns() -> None:
    message = error_of("a,b\nx,y\n").message
    assert "'reference' (the sentence to be matched" in message
    assert "'candidate' (the sentence that is judged" in message
    assert "Found: 'a', 'b'." in message


def test_one_pasted_pair_is_enough() -> None:
    pairs = from_table(paste_table("雨が降る。\t雨降りだ。", ["reference", "candidate"]))
    assert (pairs.references, pairs.candidates) == (("雨が降る。",), ("雨降りだ。",))


def test_repeated_pairs_are_kept_and_noticed() -> None:
    pairs = dataset("ref,hyp\na,b\nb,a\na,b\n")  # the other way round is another pair
    assert pairs.n == 3
    assert pairs.notices == ("1 row repeats an earlier pair (kept): 3.",)


def test_the_hash_knows_scores_and_takes_any_nan_as_none() -> None:
    def pairs(*human: float) -> SentencePairs:
        return SentencePairs("any", ("a", "b"), ("c", "d"), ("", ""), {"a": human}, (1, 2))

    assert pairs(1.0, math.nan).content_hash == pairs(1.0, -float("nan")).content_hash
    assert pairs(0.0, 1.0).content_hash == pairs(-0.0, 1.0).content_hash
    assert len({pairs(1.0, math.nan).content_hash, pairs(1.0, 0.0).content_hash, pairs(0.0, 1.0).content_hash}) == 3
    one = pairs(1.0, 2.0)
    others = [
        replace(one, human={"b": one.human["a"]}),
        replace(one, human={}),
        replace(one, more_references=(("e",), ())),
    ]
    assert len({one.content_hash, *(other.content_hash for other in others)}) == 4


@settings(max_examples=50)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.floats(), st.integers(1, 2**31), st.lists(TEXTS, max_size=2))))
def test_frames_and_back(rows: list[tuple[str, str, str, float, int, list[str]]]) -> None:
    references, candidates, categories, human, numbers, more = (tuple(row[place] for row in rows) for place in range(6))
    further = tuple(tuple(text for text in texts if empty_reason(text) is None) for texts in more)
    scores = tuple(math.nan if math.isnan(score) else score for score in human)
    pairs = SentencePairs(
        "any",
        references,
        candidates,
        categories,
        {"anna": scores, "ben": scores[::-1]},
        numbers,
        further if any(further) else (),
    )
    again = SentencePairs.from_frame(pairs.to_frame(), "any")
    assert again == pairs
    assert again.content_hash == pairs.content_hash


def test_a_frame_of_ones_own() -> None:
    frame = dataset("reference,candidate,human\na,b,1\n").to_frame()
    assert list(frame.columns) == ["row", "reference", "candidate", "category", "human:human"]
    again = SentencePairs.from_frame(frame[["reference", "candidate"]], "a.csv")
    assert again == dataset("reference,candidate\na,b\n")


def test_jsts() -> None:
    pairs = from_table(read_table(shared_data("jsts", "valid-v1.3.json")))
    assert pairs.n == 1457
    assert all(0 <= score <= 5 for score in pairs.human["label"])
    assert len(set(pairs.human["label"])) > 10
    assert "Human scores 'label': 0 to 5, taken to be on the scale 0-5." in pairs.notices
    assert set(pairs.categories) == {""}
    assert pairs.rows == tuple(range(1, 1458))


def test_a_sentence_as_programs_write_a_missing_one_is_noticed() -> None:
    pairs = dataset("reference,candidate\n雨だ。,nan\n晴れだ。,晴れ。\n")
    assert pairs.notices == ("1 row holds 'nan' in 'candidate', as programs write a missing value (kept as it is): 1.",)


def test_categories_that_look_alike_are_one() -> None:
    assert dataset("reference,candidate,category\nか\u3099,が,が\nき,く,か\u3099\n").categories == ("が", "が")
