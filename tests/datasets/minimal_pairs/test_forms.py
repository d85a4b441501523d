"""engine.datasets.minimal_pairs.forms: pairs, judged sentences and conditions under any columns and in other forms."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

import pytest

from engine.datasets import sentence_pairs
from engine.datasets.formats.columns import KINDS_OF_DATA, options_of_notices
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import domain_sentences, labelled_sentences
from engine.datasets.masked import masked_sentences
from engine.datasets.minimal_pairs import pairs
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.forms import FORMS, recognised_form
from engine.datasets.minimal_pairs.kinds import CONDITIONS, JUDGED, PAIRS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table, guess_columns
from engine.errors import InputError

RUCOLA = "id,sentence,acceptable,error_type,detailed_source\n0,Кот спит.,1,0,A1\n1,Кот спят.,0,Syntax,B2\n"
ITACOLA = (
    "UniqueIndexID\tSource\tAcceptability\tSentence\tSplit\n1\tA_1\t1\tIl gatto dorme.\ttrain\n"
    "2\tA_1\t0\tIl gatto dormono.\ttest\n"
)
PLAYERS = (
    "UniqueIndexID_ItaCoLA\tSentence\tExpertAcceptability\tPlayersAcceptability\tNumAnnotations\tDisaggragatedAnnotations\t"
    "PlayersID\n7\tIl gatto dorme.\t1\t1\t2\t1,1\ta,b\n8\tIl gatto dormono.\t0\t1\t2\t1,0\ta,b\n"
)
LINDSEA = (
    '{"id":0,"linguistic_phenomenon":"morphology","category":"x","subcategory":"none","correct":"A b","wrong":"B a"}\n'
)
BLIMP_NL = (
    "Number (phenomenon),Phenomenon,Number (paradigm),Paradigm,Item,Grammaticality,Sentence,Critical word(s),Cue word(s)\n"
    "1,Agreement,1,number,1,Grammatical,De kat slaapt.,slaapt,kat\n"
    "1,Agreement,1,number,1,Ungrammatical,De kat slapen.,slapen,kat\n"
    "1,Agreement,2,person,1,Grammatical,Ik slaap.,slaap,Ik\n1,Agreement,2,person,1,Ungrammatical,Ik slaapt.,slaapt,Ik\n"
)
CLIMP = (
    ",0,1,2,3\n0,classifier,classifier_adj,一只小猫,1\n1,classifier,classifier_adj,一条小猫,0\n"
    "2,classifier,classifier_adj,一本新书,1\n3,classifier,classifier_adj,一只新书,0\n"
)


def read(text: str, name: str = "own.csv", columns: Mapping[str, str] | None = None, **how: bool) -> MinimalPairs:
    return from_table(read_table(text.encode(), name), columns, **how)


@pytest.mark.parametrize(
    ("text", "name", "layout"),
    [
        (RUCOLA, "dev.csv", "RuCoLA"),
        (ITACOLA, "ItaCoLA_dataset.tsv", "ItaCoLA"),
        (PLAYERS, "players.tsv", "ItaCoLA, judged by non-experts"),
    ],
)
def test_judged_sentences_as_published_under_other_names(text: str, name: str, layout: str) -> None:
    dataset = read(text, name)
    assert (dataset.format, dataset.data_kind, dataset.labels) == (layout, JUDGED, (True, False))
    stored = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert stored.labels == dataset.labels and stored.content_hash == dataset.content_hash


def test_judged_sentences_under_any_names_by_choice() -> None:
    text = "nr,utterance text,ok?,source\n1,The cat sleeps.,1,a\n2,The cat sleep.,0,a\n3,Cats sleep.,TRUE,b\n"
    dataset = read(text, columns={"sentence": "utterance text", "label": "ok?"})
    assert dataset.data_kind is JUDGED and dataset.labels == (True, False, True)
    assert dataset.acceptable == ("The cat sleeps.", "The cat sleep.", "Cats sleep.")
    assert options_of_notices(dataset.notices) == ["--column", "sentence=utterance text", "--column", "label=ok?"]
    with pytest.raises(InputError, match="lacks a needed column"):
        read(text)
    with pytest.raises(InputError, match="has no column 'okay'"):
        read(text, columns={"sentence": "utterance text", "label": "okay"})
    with pytest.raises(InputError, match="none is known for 'label'"):
        read(text, columns={"sentence": "utterance text"})


def test_a_chosen_label_leaves_a_further_column_of_that_name_its_values() -> None:
    text = "sentence,label,judgement\nThe cat sleeps.,syntax,1\nThe cat sleep.,syntax,0\n"
    dataset = read(text, columns={"label": "judgement"})
    assert dataset.labels == (True, False) and dataset.further["label (2)"] == ("syntax", "syntax")


@pytest.mark.parametrize(
    ("answers", "first_is_right"),
    [
        (("0", "1", "0"), (True, False, True)),
        (("1", "2", "2"), (True, False, False)),
        (("A", "b", "a"), (True, False, True)),
        (("sentence_b", "sentence_a", "Sentence_A"), (False, True, True)),
        (("first", "Second", "first"), (True, False, True)),
        (("a 1", "b 2", "a 3"), (True, False, True)),
    ],
)
def test_a_column_says_which_side_is_acceptable(answers: tuple[str, ...], first_is_right: tuple[bool, ...]) -> None:
    rows = "".join(f"a {i},b {i},{answer},x\n" for i, answer in enumerate(answers, start=1))
    columns = {"first": "sentence_a", "second": "sentence_b", "answer": "label"}
    dataset = read(f"sentence_a,sentence_b,label,type\n{rows}", columns=columns)
    assert dataset.data_kind is PAIRS and dataset.rows == (1, 2, 3) and dataset.categories == ("x",) * 3
    assert [good.startswith("a") for good in dataset.acceptable] == list(first_is_right)
    assert [bad.startswith("b") for bad in dataset.unacceptable] == list(first_is_right)
    n = sum(first_is_right)
    assert any(f"'sentence_a' in {n} rows, that of 'sentence_b' in {3 - n}." in notice for notice in dataset.notices)
    assert "label" not in dataset.further


def test_an_answer_that_says_no_side_is_listed_and_one_that_may_be_either_is_refused() -> None:
    columns = {"first": "a", "second": "b", "answer": "c"}
    with pytest.raises(InputError, match="2 of 3 rows do not say which") as refused:
        read("a,b,c\nx y,y x,0\nx y,y x,both\nx y,y x,\n", columns=columns)
    assert [bad.row for bad in refused.value.rows] == [2, 3]
    kept = read("a,b,c\nx y,y x,0\nx y,y x,both\nx z,z x,1\n", columns=columns, skip_bad_rows=True)
    assert kept.rows == (1, 3) and kept.acceptable == ("x y", "z x")
    with pytest.raises(InputError, match="holds 1 in every row"):
        read("a,b,c\nx y,y x,1\nz x,x z,1\n", columns=columns)


def test_pairs_of_similarity_are_not_taken_for_pairs_of_which_one_is_acceptable() -> None:
    with pytest.raises(InputError, match="lacks a needed column"):
        read("sentence1,sentence2,label\na b,b a,0\nc d,d c,1\n")


def test_lists_of_options_in_one_cell() -> None:
    rows = [
        {"options": ["b a", "a b"], "answer": 1, "kind": "x"},
        {"options": ["c d", "d c"], "answer": 0, "kind": "x"},
    ]
    text = "\n".join(json.dumps(row) for row in rows)
    dataset = read(text, "own.jsonl")
    assert dataset.rows == (1, 2) and dataset.acceptable == ("a b", "c d") and dataset.unacceptable == ("b a", "d c")
    python = "choices,gold\n\"['b a', 'a b', 'a a b']\",B\n\"['c d', 'd c', 'd d c']\",A\n"
    items = read(python)
    assert items.acceptable == ("a b", "a b", "c d", "c d") and items.rows == (1, 2, 3, 4)
    assert items.fields["item"] == ("1", "1", "2", "2")
    with pytest.raises(InputError, match="2 of 3 rows have no list of options") as refused:
        read(
            'x,y\n"[""a b"", ""b a""]",0\n"[""a b""]",0\n"[""a b"", ""b a""]",7\n',
            columns={"options": "x", "answer": "y"},
        )
    assert [bad.row for bad in refused.value.rows] == [2, 3]
    with pytest.raises(InputError, match="may begin at 0 or at 1"):
        read('x,y\n"[""a"", ""b"", ""c""]",1\n"[""a"", ""b"", ""c""]",2\n', columns={"options": "x", "answer": "y"})


def test_chosen_columns_are_those_of_every_file_of_an_archive() -> None:
    with zipfile.ZipFile(raw := io.BytesIO(), "w") as archive:
        for name in ("a", "b"):
            archive.writestr(f"{name}.csv", f"words,ok\n{name} cat sleeps.,1\n{name} cat sleep.,0\n")
        archive.writestr("results.csv", "model,accuracy\nx,0.5\n")
    dataset = read_pairs([("judged.zip", raw.getvalue())], {"sentence": "words", "label": "ok"})
    assert dataset.n == 4 and dataset.labels == (True, False) * 2
    assert [notice for notice in dataset.notices if "results.csv" in notice]


def test_blimp_nl_with_a_row_for_each_sentence_is_its_pairs() -> None:
    dataset = read(BLIMP_NL, "Phenomenon01.csv")
    assert (dataset.format, dataset.n, dataset.categories) == ("BLiMP-NL", 2, ("Agreement", "Agreement"))
    assert dataset.acceptable == ("De kat slaapt.", "Ik slaap.") and dataset.fields["Paradigm"] == ("number", "person")
    assert dataset.further["acceptable_region"] == ("slaapt", "slaap")
    assert dataset.further["unacceptable_region"] == ("slapen", "slaapt")
    with pytest.raises(InputError, match="1 of 3 rows are of no item"):
        read("".join(BLIMP_NL.splitlines(keepends=True)[:4]), "Phenomenon01.csv")


def test_climp_is_sentences_in_turn() -> None:
    dataset = read(CLIMP, "classifier_adj_1000.csv")
    assert (dataset.format, dataset.rows) == ("CLiMP", (1, 3)) and dataset.unacceptable == ("一条小猫", "一只新书")
    turns = read("把书卖了\n被书卖了\n", "CLiMP_corpus/ba_construction_1000.csv")
    assert (turns.format, turns.n, turns.acceptable) == ("CLiMP", 1, ("把书卖了",))
    together = read_pairs(
        [("classifier_adj_1000.csv", CLIMP.encode()), ("ba_construction_1000.csv", "好\n坏\n".encode())]
    )
    assert together.n == 3 and set(together.fields["paradigm"]) == {"classifier_adj", "ba_construction"}
    swapped = CLIMP.replace("一只新书,0", "一只新书,1")
    with pytest.raises(InputError, match="2 of 4 rows are not in turn") as refused:
        read(swapped, "classifier_adj_1000.csv")
    assert [bad.row for bad in refused.value.rows] == [3, 4]


def test_lindsea_calls_its_sentences_correct_and_wrong() -> None:
    dataset = read(LINDSEA, "morphology.jsonl")
    assert (dataset.format, dataset.acceptable, dataset.unacceptable) == ("LINDSEA", ("A b",), ("B a",))
    assert dataset.categories == ("morphology",)


def test_items_under_any_names_also_told_by_several_columns() -> None:
    text = (
        "set,nr,text,grammar\nx,1,a b,grammatical\nx,1,b a,ungrammatical\ny,1,c d,grammatical\ny,1,d c,ungrammatical\n"
    )
    dataset = read(text, columns={"item": "set + nr", "sentence": "text", "label": "grammar"})
    assert dataset.acceptable == ("a b", "c d") and dataset.further["set"] == ("x", "y")
    assert dataset.further["item"] == ("x 1", "y 1")


def test_a_row_for_each_region_of_a_sentence() -> None:
    rows = [
        (1, "match", 1, "The cat", "11.5"),
        (1, "match", 2, "sleeps", "2.5"),
        (1, "mismatch", 1, "The cat", "11.5"),
        (1, "mismatch", 2, "sleep", "9.0"),
    ]
    header = "item_number,condition_name,region_number,content,metric_value"
    text = "\n".join([header, *(",".join(map(str, row)) for row in rows)])
    dataset = read(text)
    assert dataset.data_kind is CONDITIONS and dataset.acceptable == ("The cat sleeps", "The cat sleep")
    assert dataset.fields["condition"] == ("match", "mismatch") and dataset.rows == (1, 3)
    assert [notice for notice in dataset.notices if "none is kept: 'metric_value'" in notice]
    spans = CONDITIONS.regions(dataset.originals) if CONDITIONS.regions else []
    assert spans[1] == [(1, (0, 7)), (2, (8, 13))]
    other = text.replace(header, "i,c,r,w,x")
    assert (
        read(other, columns={"item": "i", "condition": "c", "region": "r", "content": "w"}).acceptable
        == dataset.acceptable
    )
    with pytest.raises(InputError, match="1 of 4 rows lack an item") as refused:
        read(text.replace("match,2,sleeps", "match,1,sleeps"))
    assert [bad.row for bad in refused.value.rows] == [2]


def test_sentences_in_conditions_under_other_names_by_choice() -> None:
    text = "set,version,words\n1,a,The cat sleeps.\n1,b,The cat sleep.\n"
    dataset = read(text, columns={"item": "set", "condition": "version", "sentence": "words"})
    assert dataset.data_kind is CONDITIONS and dataset.fields["item"] == ("1", "1")


@pytest.mark.parametrize(
    ("text", "name", "key", "column"),
    [
        (RUCOLA, "dev.csv", "judged", "sentence"),
        (BLIMP_NL, "Phenomenon01.csv", "items", "Sentence"),
        (CLIMP, "classifier_1000.csv", "pairs", "sentence"),
        ("item_number,condition_name,region_number,content\n1,a,1,x\n", "long.csv", "regions", "content"),
        ('options,answer\n"[""a b"", ""b a""]",0\n', "options.csv", "options", "options"),
        ("good,bad\na b,b a\n", "pairs.csv", "pairs", None),
        ("item,sentence,label\n1,a b,1\n1,b a,0\n", "items.csv", "items", "sentence"),
    ],
)
def test_a_form_is_recognised_by_the_columns(text: str, name: str, key: str, column: str | None) -> None:
    table = read_table(text.encode(), name)
    guessed = guess_columns(table)
    assert recognised_form(table) is FORMS[key]
    assert {guessed["acceptable"], guessed["unacceptable"]} == ({column} if column else {"good", "bad"})


def test_a_refusal_names_every_kind_of_data_and_its_columns() -> None:
    """What it says is compared with the roles that there are."""
    said = str(KINDS_OF_DATA)
    for form in FORMS.values():
        roles = ", ".join(f"'{role.name}'" for role in form.roles if role.required)
        assert f"({roles})" in said, form.key
    for module in (labelled_sentences, masked_sentences, domain_sentences, sentence_pairs, pairs):
        roles = ", ".join(f"'{role.name}'" for role in module.ROLES if role.required)
        assert f"({roles})" in said, module.__name__
    table = read_table(b"a,b\nx y,z\n", "own.csv")
    for read_kind in (labelled_sentences.from_table, sentence_pairs.from_table, from_table):
        with pytest.raises(InputError, match="lacks a needed column") as refused:
            read_kind(table)  # type: ignore[operator]
        assert said.strip() in refused.value.message
