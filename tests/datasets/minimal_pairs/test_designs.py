"""Sentences in conditions: SyntaxGym's suites, rows of Hugging Face, tables of one's own, and what is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.designs import MOST_PREDICTIONS, regions_of
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.kinds import CONDITIONS, PAIRS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table
from engine.errors import InputError

FORMULA = "(2;%mismatch%) > (2;%match%)"


def condition(name: str, *contents: str) -> dict[str, Any]:
    return {
        "condition_name": name,
        "regions": [{"region_number": number, "content": text} for number, text in enumerate(contents, start=1)],
    }


SUITE: dict[str, Any] = {
    "meta": {"name": "Agreement", "metric": "sum"},
    "predictions": [{"type": "formula", "formula": FORMULA}],
    "region_meta": {"1": "Subject", "2": "Verb", "3": "Rest"},
    "items": [
        {
            "item_number": 1,
            "conditions": [
                condition("match", "The woman", "plays", "the guitar"),
                condition("mismatch", "The woman", "play", "the guitar"),
            ],
        },
        {
            "item_number": 2,
            "conditions": [condition("match", "The boys", "run", ""), condition("mismatch", "The boys", "runs", "")],
        },
    ],
}
TABLE = (
    "suite,item,condition,region_1,region_2,prediction\n"
    "S,1,match,猫が,寝た,(2;%match%) < (2;%mismatch%)\nS,1,mismatch,猫を,寝た,\n"
    "S,2,match,犬が,来た,\nS,2,mismatch,犬を,来た,\n"
)


def read(text: str, name: str, **how: bool) -> MinimalPairs:
    return from_table(read_table(text.encode(), name), **how)


def changed(*path: Any, value: Any) -> str:
    suite = copy.deepcopy(SUITE)
    place: Any = suite
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return json.dumps(suite, ensure_ascii=False)


def test_a_suite_is_read_as_published() -> None:
    dataset = read(json.dumps(SUITE, indent=1), "suite.json")
    assert dataset.format == "SyntaxGym" and dataset.data_kind is CONDITIONS
    assert dataset.acceptable == (
        "The woman plays the guitar",
        "The woman play the guitar",
        "The boys run",
        "The boys runs",
    )
    assert dataset.fields["item"] == ("1", "1", "2", "2") and dataset.fields["prediction"] == (FORMULA, "", "", "")
    assert dataset.fields["condition"] == ("match", "mismatch") * 2 and set(dataset.fields["suite"]) == {"Agreement"}
    assert dataset.fields["region_names"] == ("1 Subject\n2 Verb\n3 Rest", "", "", "")
    placed = regions_of(dataset.originals)
    assert [[dataset.acceptable[i][start:end] for _, (start, end) in placed[i]] for i in (0, 2)] == [
        ["The woman", "plays", "the guitar"],
        ["The boys", "run"],
    ]  # an empty region stands nowhere
    assert any("2 items in several conditions: 4 sentences" in notice for notice in dataset.notices)


def test_rows_of_hugging_face_are_the_same_sentences() -> None:
    """As the dataset cpllab/syntaxgym has them: an item a row, objects of lists in place of lists of objects."""
    rows = []
    for item in SUITE["items"]:
        conditions = item["conditions"]
        rows.append(
            {
                "suite_name": "Agreement",
                "item_number": item["item_number"],
                "predictions": [FORMULA],
                "conditions": {
                    "condition_name": [one["condition_name"] for one in conditions],
                    "regions": [
                        {key: [region[key] for region in one["regions"]] for key in ("region_number", "content")}
                        for one in conditions
                    ],
                },
            }
        )
    dataset = read("\n".join(map(json.dumps, rows)), "suites.jsonl")
    published = read(json.dumps(SUITE), "suite.json")
    assert dataset.acceptable == published.acceptable and dataset.data_kind is CONDITIONS
    for name in ("suite", "item", "condition", "prediction"):
        assert dataset.fields[name] == published.fields[name]


def test_a_table_of_ones_own() -> None:
    dataset = read(TABLE, "own.csv")
    assert dataset.data_kind is CONDITIONS and dataset.acceptable == ("猫が寝た", "猫を寝た", "犬が来た", "犬を来た")
    assert regions_of(dataset.originals)[0] == [(1, (0, 2)), (2, (2, 4))]
    whole = read("item,condition,sentence\n1,a,The cat sleeps.\n1,b,The cat sleep.\n", "whole.csv")
    assert whole.data_kind is CONDITIONS and whole.acceptable == ("The cat sleeps.", "The cat sleep.")
    assert regions_of(whole.originals) == [[], []]


def test_what_is_no_design_is_still_what_it_was() -> None:
    assert read("item,sentence,label\n1,A,1\n1,B,0\n", "items.csv").data_kind is PAIRS
    pairs = read("item,condition,acceptable,unacceptable\n1,x,A,B\n", "pairs.csv")
    assert pairs.data_kind is PAIRS and pairs.n == 1


def test_every_bad_row_is_listed_and_can_be_left_out() -> None:
    text = "item,condition,sentence\n1,a,One.\n1,b,Two.\n1,b,Three.\n,a,Four.\n2,,Five.\n2,a,\n2,b,Six.\n"
    with pytest.raises(InputError) as error:
        read(text, "bad.csv")
    assert [row.row for row in error.value.rows] == [3, 4, 5, 6] and "condition" in error.value.rows[0].reason
    kept = read(text, "bad.csv", skip_bad_rows=True)
    assert kept.acceptable == ("One.", "Two.", "Six.")
    assert any("without a sentence in every condition" in notice for notice in kept.notices)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (changed("meta", "metric", value="mean"), "metric"),
        (changed("predictions", 0, "formula", value="(2;%match%) >"), "cannot be read"),
        (changed("predictions", 0, "formula", value="(2;%other%) > 1"), "other"),
        (changed("predictions", 0, "formula", value="(9;%match%) > 1"), "region 9"),
        (changed("predictions", 0, "type", value="code"), "type"),
        (changed("items", value={"one": 1}), "list"),
        (changed("items", 0, "conditions", 0, "regions", 0, "content", value=None), "no text"),
        (changed("items", 0, "conditions", 0, "regions", 1, "region_number", value=1), "cannot be the number"),
        (changed("items", 0, value=3), "no object"),
        (changed("items", value=[]), "no items"),
        (changed("items", 0, "conditions", value=[]), "no conditions"),
        (changed("items", 0, "conditions", 0, "condition_name", value=None), "1 of 4 rows"),
        (changed("items", 0, "conditions", 0, "regions", 0, "region_number", value="²"), "cannot be the number"),
        (changed("items", 0, "conditions", 0, "regions", 0, "region_number", value="9" * 5000), "cannot be the number"),
        (changed("predictions", 0, "formula", value="1 > 0"), "names no region"),
        ('{"items":' + "[" * 100_000 + "]" * 100_000 + ',"predictions":[]}', "cannot be read"),
    ],
)
def test_a_suite_that_is_not_as_published_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text, "suite.json")


def test_which_row_a_suite_cannot_be_read_of_is_said_where_there_are_several() -> None:
    good, bad = (
        json.dumps({"suite_name": "s", "item_number": 1, "conditions": conditions, "predictions": [FORMULA]})
        for conditions in (SUITE["items"][0]["conditions"], [])
    )
    for text, place in ((f"{good}\n{bad}", "s.jsonl, row 2"), (bad, "s.jsonl")):
        with pytest.raises(InputError) as caught:
            read(text, "s.jsonl")
        assert caught.value.message.startswith(f"{place}: item 1 has no conditions")


def test_names_of_regions_that_are_no_numbers_are_passed_over() -> None:
    dataset = read(changed("region_meta", value={"²": "x", "9" * 5000: "y", "2": "Verb", "a": "b"}), "suite.json")
    assert dataset.fields["region_names"][0] == "2 Verb"


def test_what_is_said_of_a_suite_survives_its_first_sentence() -> None:
    text = changed("items", 0, "conditions", 0, "condition_name", value=None)
    dataset = read(text, "suite.json", skip_bad_rows=True)
    assert dataset.rows == (2, 3, 4) and dataset.fields["prediction"] == (FORMULA, "", "")


@pytest.mark.parametrize("number", [" 1", "1\u3000", "1\x1f"])
def test_an_item_is_itself_whatever_white_space_is_around_its_name(number: str) -> None:
    with pytest.raises(InputError, match="2 of 4 rows") as error:
        read(changed("items", 1, "item_number", value=number), "suite.json")
    assert [row.row for row in error.value.rows] == [3, 4]


def test_sentences_without_a_suite_are_of_the_suite_that_is_named_as_the_file() -> None:
    with pytest.raises(InputError, match="1 of 2 rows"):
        read("suite,item,condition,sentence\n,1,a,One.\nown.csv,1,a,Two.\n", "own.csv")


@pytest.mark.parametrize(
    ("columns", "first", "second"),
    [("item,Item,condition,region_1", "item", "Item"), ("item,condition,region_1,Region 1", "region_1", "Region 1")],
)
def test_two_columns_of_one_meaning_are_refused(columns: str, first: str, second: str) -> None:
    with pytest.raises(InputError, match=f"'{first}' and '{second}' are both read as '{first}'"):
        read(f"{columns}\n1,a,b,c\n", "own.csv")
    assert read("ITEM,Condition,Region 1,REGION-2\n1,a,猫が,寝た\n", "own.csv").acceptable == ("猫が寝た",)


def test_a_sentence_that_is_not_its_regions_is_said() -> None:
    dataset = read(
        "item,condition,sentence,region_1,region_2\n1,a,The cat sat.,The cat,sat.\n"
        "1,b,The cat sat!,The cat,sat\n1,c,,The cat,sits\n",
        "own.csv",
    )
    assert dataset.acceptable == ("The cat sat.", "The cat sat", "The cat sits")
    assert dataset.notices[0] == (
        "1 row whose 'sentence' is not the concatenation of its regions; the regions are read: 2."
    )


def test_a_row_of_a_suite_that_cannot_be_read_is_said_where_it_is_left_out() -> None:
    rows = [
        json.dumps(
            {
                "suite_name": "s",
                "item_number": item["item_number"],
                "conditions": item["conditions"],
                "predictions": [FORMULA],
            }
        )
        for item in SUITE["items"]
    ]
    dataset = from_table(
        read_table("\n".join([rows[0], "{", rows[1]]).encode(), "s.jsonl", skip_bad_rows=True), skip_bad_rows=True
    )
    assert dataset.n == 4 and dataset.rows == (1, 2, 3, 4) and not dataset.left_out
    assert "1 row left out" in dataset.notices[0] and "(row 2)" in dataset.notices[0]


def test_regions_and_predictions_have_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"(2;%match%) > {number}" for number in range(MOST_PREDICTIONS + 1)]
    with pytest.raises(InputError, match="201 predictions; at most 200"):
        read(changed("predictions", value=many), "suite.json")
    far = changed("items", 0, "conditions", 0, "regions", 0, "region_number", value=999)
    assert read(far, "suite.json").n == 4
    monkeypatch.setenv("HAKARI_MAX_CELLS", "3000")
    for text, name in ((far, "suite.json"), ("item,condition,region_9999\n1,a,x\n", "own.csv")):
        with pytest.raises(InputError, match="more than 3,000 cells"):
            read(text, name)


def test_sentences_in_conditions_are_not_mixed_with_pairs(tmp_path: Path) -> None:
    suite, pairs = tmp_path / "suite.json", tmp_path / "pairs.csv"
    suite.write_text(json.dumps(SUITE), encoding="utf-8")
    pairs.write_text("acceptable,unacceptable\nA cat.\tB cat.\n".replace("\t", ","), encoding="utf-8")
    with pytest.raises(InputError, match="runs of their own"):
        read_pairs([(file.name, file) for file in (suite, pairs)])


def test_a_dataset_of_its_own_frame_is_the_same() -> None:
    dataset = read(json.dumps(SUITE), "suite.json")
    again = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert again.content_hash == dataset.content_hash and again.data_kind is CONDITIONS
    assert regions_of(again.originals) == regions_of(dataset.originals)


def test_items_of_two_files_may_share_sentences(tmp_path: Path) -> None:
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_text(json.dumps(SUITE), encoding="utf-8")
    both = read_pairs([(name, tmp_path / name) for name in ("one.json", "two.json")])
    assert both.n == 8 and both.data_kind is CONDITIONS and not any("another file" in notice for notice in both.notices)


def test_the_category_is_chosen_as_the_file_spells_its_column() -> None:
    table = read_table("ITEM,Condition,Region 1,Kind\n1,a,猫が寝た,x\n2,a,犬が来た,y\n".encode(), "own.csv")
    assert from_table(table, {"category": "ITEM"}).categories == ("1", "2")
    assert from_table(table, {"category": "Kind"}).categories == ("x", "y")
