"""engine.datasets.sentence_pairs: columns of published files, human scores, categories."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.files import paste_table, read_table
from engine.datasets.sentence_pairs import ROLES, SentencePairs, from_table, guess_columns
from engine.errors import BadRow, InputError
from tests.shared_data import shared_data

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


def dataset(csv: str, columns: dict[str, str | None] | None = None) -> SentencePairs:
    return from_table(read_table(csv.encode(), "a.csv"), columns)


def error_of(csv: str, columns: dict[str, str | None] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        dataset(csv, columns)
    return caught.value


def test_a_dataset_is_what_the_file_says() -> None:
    pairs = dataset("reference,candidate,change,score\n雨だ。, 雨だ！,言い換え ,4.5\nﾊﾟﾝ,パン,,\n")
    assert pairs == SentencePairs(
        "a.csv", ("雨だ。", "ﾊﾟﾝ"), (" 雨だ！", "パン"), ("言い換え", ""), (4.5, math.nan), (1, 2))
    assert (pairs.n, len(pairs), pairs.notices) == (2, 2, ())


@pytest.mark.parametrize(("header", "expected"), [
    ("reference,candidate", ("reference", "candidate", None, None)),
    ("hyp,ref,Human-Score", ("ref", "hyp", None, "Human-Score")),
    ("参照,候補,分類,評価", ("参照", "候補", "分類", "評価")),
    ("id,sentence1,sentence2,similarity", ("sentence1", "sentence2", None, "similarity")),
    ("a,b,type", (None, None, "type", None)),
])
def test_columns_are_guessed_by_their_names(header: str, expected: tuple[str | None, ...]) -> None:
    table = read_table(f"{header}\n{','.join('x' for _ in header.split(','))}\n".encode(), "a.csv")
    assert tuple(guess_columns(table).values()) == expected
    assert list(guess_columns(table)) == [name for name, _, _ in ROLES]


def test_a_column_label_is_a_score_when_it_holds_numbers_and_else_the_category() -> None:
    numbers = dataset("sentence1,sentence2,label\na,b,3.0\nc,d,5\n")
    assert (numbers.human, numbers.categories) == ((3.0, 5.0), ("", ""))
    words = dataset("sentence1,sentence2,label\na,b,entailment\nc,d,neutral\n")
    assert words.categories == ("entailment", "neutral")
    assert all(math.isnan(score) for score in words.human)
    # Mostly numbers: the odd one is a mistake to be shown, not a category.
    assert [bad.row for bad in error_of("sentence1,sentence2,label\na,b,3.0\nc,d,5\ne,f,four\n").rows] == [3]


def test_a_column_label_beside_columns_of_either_name() -> None:
    table = read_table(b"sentence1,sentence2,label,score\na,b,3,4\n", "a.csv")
    assert guess_columns(table)["human"] == "score"


def test_roles_not_mentioned_are_guessed_and_an_empty_one_is_none() -> None:
    csv = "x,candidate,category,human\na,b,kind,3\n"
    assert dataset(csv, {"reference": "x"}).categories == ("kind",)
    assert dataset(csv, {"reference": "x", "category": ""}).categories == ("",)
    assert math.isnan(dataset(csv, {"reference": "x", "human": None}).human[0])


def test_every_score_that_is_no_number_is_listed() -> None:
    error = error_of("reference,candidate,human\na,b,3\nc,d,high\ne,f,\ng,h,nan\ni,j,inf\nk,l,1_0\n"
                     "m,n,４．５\no,p, 2e-1 \n")
    assert error.rows == (BadRow(2, "'human' holds 'high'"), BadRow(4, "'human' holds 'nan'"),
                          BadRow(5, "'human' holds 'inf'"), BadRow(6, "'human' holds '1_0'"))
    assert "4 of 8 rows have a human score that is not a number. Write a number such as 3.5" in error.message
    assert dataset("reference,candidate,human\nm,n,４．５\no,p, 2e-1 \n").human == (4.5, 0.2)


def test_every_empty_sentence_is_listed() -> None:
    error = error_of("ref,hyp\na,b\n,b\nc, \n,\nd,e\n")
    assert error.rows == (BadRow(2, "'ref' is empty"), BadRow(3, "'hyp' holds only spaces"),
                          BadRow(4, "'ref' is empty and 'hyp' is empty"))


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
        return SentencePairs("any", ("a", "b"), ("c", "d"), ("", ""), human, (1, 2))

    assert pairs(1.0, math.nan).content_hash == pairs(1.0, -float("nan")).content_hash
    assert pairs(0.0, 1.0).content_hash == pairs(-0.0, 1.0).content_hash
    assert len({pairs(1.0, math.nan).content_hash, pairs(1.0, 0.0).content_hash, pairs(0.0, 1.0).content_hash}) == 3


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.floats(), st.integers(1, 2**31))))
def test_frames_and_back(rows: list[tuple[str, str, str, float, int]]) -> None:
    references, candidates, categories, human, numbers = (tuple(row[place] for row in rows) for place in range(5))
    pairs = SentencePairs("any", references, candidates, categories,
                          tuple(math.nan if math.isnan(score) else score for score in human), numbers)
    again = SentencePairs.from_frame(pairs.to_frame(), "any")
    assert again == pairs
    assert again.content_hash == pairs.content_hash


def test_a_frame_of_ones_own() -> None:
    frame = dataset("reference,candidate\na,b\n").to_frame()
    assert list(frame.columns) == ["row", "reference", "candidate", "category", "human"]
    again = SentencePairs.from_frame(frame[["reference", "candidate"]], "a.csv")
    assert again == dataset("reference,candidate\na,b\n")


def test_jsts() -> None:
    pairs = from_table(read_table(shared_data("jsts", "valid-v1.3.json")))
    assert pairs.n == 1457
    assert all(0 <= score <= 5 for score in pairs.human)
    assert len(set(pairs.human)) > 10
    assert set(pairs.categories) == {""}
    assert pairs.rows == tuple(range(1, 1458))
