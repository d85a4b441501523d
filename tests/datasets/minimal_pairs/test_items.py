"""Items of several sentences as pairs: read row by row, every bad row listed."""

from __future__ import annotations

import pytest

from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.kinds import JUDGED, PAIRS
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError

FILE = """item,sentence,label,phenomenon
1,猫が鳴く,1,case
1,猫を鳴く,0,case
1,猫に鳴く,0,case
2,雨が降る,0,tense
2,雨が降った,1,tense
"""


def read(text: str, *, skip_bad_rows: bool = False) -> MinimalPairs:
    return read_pairs([("items.csv", text.encode())], skip_bad_rows=skip_bad_rows)


def test_each_unacceptable_sentence_is_a_pair_with_the_acceptable_one_of_its_item() -> None:
    pairs = read(FILE)
    assert list(zip(pairs.acceptable, pairs.unacceptable, pairs.rows, strict=True)) == [
        ("猫が鳴く", "猫を鳴く", 2),
        ("猫が鳴く", "猫に鳴く", 3),
        ("雨が降った", "雨が降る", 4),
    ]
    assert pairs.fields["item"] == ("1", "1", "2") and pairs.data_kind is PAIRS
    assert (
        "2 items of several sentences are read as 3 pairs: each unacceptable sentence with the acceptable one of "
        "its item." in pairs.notices
    )


@pytest.mark.parametrize(
    ("row", "rows", "reason"),
    [
        ("3,あ,1,x", [6], "item '3' has 1 acceptable of 1 sentences"),
        ("3,あ,0,x\n3,い,0,x", [6, 7], "item '3' has 0 acceptable of 2 sentences"),
        ("3,あ,1,x\n3,い,1,x\n3,う,0,x", [6, 7, 8], "item '3' has 2 acceptable of 3 sentences"),
        ("3,あ,yes,x", [6], "'label' holds 'yes', not 0 or 1"),
        (",あ,0,x", [6], "'item' is empty"),
        ("1,,0,x\n1,　,0,x", [6, 7], "'sentence' is empty"),
    ],
)
def test_an_item_that_is_none_is_listed_or_left_out(row: str, rows: list[int], reason: str) -> None:
    with pytest.raises(InputError) as error:
        read(FILE + row + "\n")
    assert [bad.row for bad in error.value.rows] == rows and error.value.rows[0].reason == reason
    kept = read(FILE + row + "\n", skip_bad_rows=True)
    assert len(kept) == 3 and [bad.row for bad in kept.left_out] == rows


def test_an_item_that_loses_its_acceptable_sentence_goes_as_a_whole() -> None:
    kept = read(FILE.replace("1,猫が鳴く,1", "1,猫が鳴く,?"), skip_bad_rows=True)
    assert kept.acceptable == ("雨が降った",) and [bad.row for bad in kept.left_out] == [1, 2, 3]


def test_columns_of_pairs_are_pairs_and_sentences_without_items_are_judged() -> None:
    pairs = read("item,sentence,label,acceptable,unacceptable\n1,x,1,a,b\n2,y,0,c,d\n")
    assert pairs.acceptable == ("a", "c")
    assert read(FILE.replace("item,", "group,")).data_kind is JUDGED


def test_the_column_of_items_is_called_item_however_the_file_spells_it() -> None:
    pairs = read(FILE.replace("item,", "Item,").replace("\n1,猫に", "\n 1,猫に"))
    assert pairs.fields["item"] == ("1", "1", "2")
