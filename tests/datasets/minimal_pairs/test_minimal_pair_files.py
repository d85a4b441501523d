"""engine.datasets.minimal_pairs.pairs: the files that minimal pairs are published in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.kinds import PAIRS, STEREOTYPES, kind_of
from engine.datasets.minimal_pairs.layouts import FORMATS, OTHER, format_of_columns
from engine.datasets.minimal_pairs.pairs import ROLES, MinimalPairs, from_table, guess_columns
from engine.errors import BadRow, InputError
from tests.support.shared_data import shared_data

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)

# One row each with the fields of the published files; the sentences are of our own writing.
BLIMP = {
    "sentence_good": "The scales tip.",
    "sentence_bad": "The scales tips.",
    "field": "morphology",
    "linguistics_term": "agreement",
    "UID": "regular_plural_1",
    "simple_LM_method": True,
    "pairID": "0",
}
JBLIMP = {
    "good_sentence": "猫が寝る。",
    "bad_sentence": "猫を寝る。",
    "type": "syntax",
    "phenomenon": "case",
    "phenomenon-2": "nominative",
    "paradigm": "p1",
}
COMPS = {
    "property": "can_weigh",
    "acceptable_concept": "scale",
    "unacceptable_concept": "spoon",
    "prefix_acceptable": "A scale",
    "prefix_unacceptable": "A spoon",
    "property_phrase": "can weigh things.",
    "negative_sample_type": "taxonomic",
}


def pairs_of(*rows: dict[str, object]) -> MinimalPairs:
    return from_table(read_table("\n".join(map(json.dumps, rows)).encode(), "a.jsonl"))


def error_of(csv: str) -> InputError:
    with pytest.raises(InputError) as caught:
        from_table(read_table(csv.encode(), "a.csv"))
    return caught.value


def test_blimp() -> None:
    pairs = pairs_of(BLIMP)
    assert (pairs.name, pairs.acceptable, pairs.unacceptable, pairs.categories, pairs.rows) == (
        "a.jsonl",
        ("The scales tip.",),
        ("The scales tips.",),
        ("agreement",),
        (1,),
    )
    assert pairs.fields == {"field": ("morphology",), "linguistics_term": ("agreement",), "UID": ("regular_plural_1",)}
    assert (pairs.format, pairs.sources, pairs.file_formats) == ("BLiMP", ("a.jsonl",), ("jsonl",))
    assert pairs.originals == (json.dumps(BLIMP),)  # true stays true, and the numbers' spelling stays


def test_jblimp_as_json_lines_and_as_csv() -> None:
    pairs = pairs_of(JBLIMP)
    assert (pairs.acceptable, pairs.unacceptable, pairs.categories) == (("猫が寝る。",), ("猫を寝る。",), ("case",))
    assert pairs.format == "JBLiMP" and set(pairs.fields) == {"type", "phenomenon", "phenomenon-2", "paradigm"}
    csv = ",".join(JBLIMP) + "\n" + ",".join(JBLIMP.values()) + "\n"
    from_csv = from_table(read_table(csv.encode(), "a.jsonl.csv"))
    assert (from_csv.acceptable, from_csv.fields, from_csv.format) == (pairs.acceptable, pairs.fields, "JBLiMP")
    # Another file: what is exported of it must not be the first one's rows.
    assert from_csv.content_hash != pairs.content_hash and json.loads(from_csv.originals[0]) == JBLIMP


def test_null_is_no_category() -> None:
    assert pairs_of({**JBLIMP, "phenomenon-2": None}).fields["phenomenon-2"] == ("",)


def test_crows_pairs_takes_sent_more_as_acceptable_whatever_the_direction() -> None:
    csv = ',sent_more,sent_less,stereo_antistereo,bias_type\n0,"a, b",c,stereo,age\n1,d,e,antistereo,gender\n'
    pairs = from_table(read_table(csv.encode(), "crows.csv"))
    assert (pairs.acceptable, pairs.unacceptable) == (("a, b", "d"), ("c", "e"))
    assert pairs.categories == ("age", "gender")
    assert pairs.rows == (1, 2)
    assert pairs.format == "CrowS-Pairs" and pairs.data_kind is STEREOTYPES
    assert pairs.fields == {"stereo_antistereo": ("stereo", "antistereo"), "bias_type": ("age", "gender")}


def test_only_crows_pairs_may_have_gaps_because_it_was_published_with_one() -> None:
    rows = "a,b\nc,\n,d\ne,f\n"
    pairs = from_table(read_table(f"sent_more,sent_less\n{rows}".encode(), "crows.csv"))
    assert (pairs.acceptable, pairs.unacceptable, pairs.rows) == (("a", "e"), ("b", "f"), (1, 4))
    assert pairs.notices == ("2 rows left out: 'sent_less' is empty (row 2); 'sent_more' is empty (row 3).",)
    assert [bad.row for bad in pairs.left_out] == [2, 3]
    assert [bad.row for bad in error_of(f"sentence_good,sentence_bad\n{rows}").rows] == [2, 3]
    assert [bad.row for bad in error_of("sent_more,sent_less\na,\n,b\n").rows] == [1, 2]


def test_comps_joins_prefix_and_property_phrase_with_one_space() -> None:
    pairs = pairs_of(COMPS)
    assert (pairs.acceptable, pairs.unacceptable) == (("A scale can weigh things.",), ("A spoon can weigh things.",))
    assert pairs.categories == ("taxonomic",)
    assert pairs.format == "COMPS" and "property_phrase" not in pairs.fields and pairs.fields["property"]
    table = read_table(json.dumps(COMPS).encode(), "a.jsonl")
    assert guess_columns(table)["acceptable"] == "prefix_acceptable + property_phrase"
    # The guess, as a page hands it back, is understood.
    assert from_table(table, guess_columns(table)) == pairs


def test_comps_without_its_phrases_is_not_guessed() -> None:
    row = {key: value for key, value in COMPS.items() if key != "property_phrase"}
    assert guess_columns(read_table(json.dumps(row).encode(), "a.jsonl"))["acceptable"] is None


def test_the_projects_own_names() -> None:
    pairs = from_table(read_table("acceptable,unacceptable,phenomenon\nい,ろ,は\n".encode(), "a.csv"))
    assert (pairs.acceptable, pairs.unacceptable, pairs.categories) == (("い",), ("ろ",), ("は",))
    assert [(name, required) for name, required, _ in ROLES] == [
        ("acceptable", True),
        ("unacceptable", True),
        ("category", False),
    ]


def test_columns_that_sort_the_pairs_become_fields() -> None:
    header = "id,good,bad,level,note,theme\n"
    rows = "".join(f"{i},a{i},b{i},{'easy' if i % 2 else 'hard'},note {i},  t \n" for i in range(6))
    pairs = from_table(read_table((header + rows).encode(), "a.csv"), {"category": "level"})
    # level and theme repeat; id and note are other in every row
    assert list(pairs.fields) == ["level", "theme"] and set(pairs.fields["theme"]) == {"t"}
    assert pairs.format == OTHER == format_of_columns("good", "bad")
    # A category that never repeats is a field all the same: somebody chose it.
    assert "note" in from_table(read_table((header + rows).encode(), "a.csv"), {"category": "note"}).fields


def test_a_subset_keeps_rows_together() -> None:
    table = read_table(b"sentence_good,sentence_bad,UID\na,b,x\nc,d,y\ne,f,x\ng,h,y\n", "a.csv")
    pairs = from_table(table)
    part = pairs.subset([4, 2, 99])
    assert (part.acceptable, part.rows, part.fields["UID"], part.categories) == (
        ("c", "g"),
        (2, 4),
        ("y", "y"),
        ("y", "y"),
    )
    assert [json.loads(row)["sentence_bad"] for row in part.originals] == ["d", "h"]
    assert pairs.subset([]).n == 0


def test_the_direction_of_writing() -> None:
    arabic = from_table(read_table("Grammatical,Ungrammatical\nقرأ الولد الكتاب,قرأت الولد الكتاب\n".encode(), "a.csv"))
    assert arabic.right_to_left and not pairs_of(BLIMP).right_to_left and not pairs_of(JBLIMP).right_to_left


def test_every_format_is_recognised_by_its_sentences() -> None:
    for name, form in FORMATS.items():
        assert format_of_columns(form.acceptable.upper(), form.unacceptable, form.marks) == name
    assert kind_of([]) is PAIRS and kind_of(["CrowS-Pairs", "BLiMP"]) is PAIRS


def test_wrong_columns() -> None:
    message = error_of("sentence_good,worse\na,b\n").message
    assert "lacks a needed column: 'unacceptable' (the sentence it should not prefer; also read: 'sent" in message
    assert "Found: 'sentence_good', 'worse'." in message


def test_every_empty_sentence_is_listed_but_an_empty_category_is_none() -> None:
    error = error_of("good,bad,category\na,b,\n,b,x\nc,,x\n")
    assert error.rows == (BadRow(2, "'good' is empty"), BadRow(3, "'bad' is empty"))


def test_identical_sentences_and_repeated_pairs_are_kept_and_noticed() -> None:
    pairs = from_table(read_table(b"good,bad\na,b\nc,c\na,b\n", "a.csv"))
    assert pairs.n == len(pairs) == 3
    assert pairs.notices == (
        "1 row repeats an earlier pair (kept): 3.",
        "1 row with two identical sentences (kept; such a pair is always a tie): 2.",
    )


def test_the_hash_knows_which_side_is_which() -> None:
    one = MinimalPairs("any", ("a",), ("b",), ("",), (1,))
    other = MinimalPairs("any", ("b",), ("a",), ("",), (1,))
    assert one.content_hash != other.content_hash
    assert one.content_hash == MinimalPairs("other", ("a",), ("b",), ("",), (1,), notices=("a notice",)).content_hash


@settings(max_examples=50)
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS, st.integers(1, 2**31))))
def test_frames_and_back(rows: list[tuple[str, str, str, int]]) -> None:
    acceptable, unacceptable, categories, numbers = (tuple(row[place] for row in rows) for place in range(4))
    of_file = (
        {}
        if not rows
        else {
            "sources": acceptable,
            "formats": categories,
            "file_formats": ("csv",) * len(rows),
            "originals": unacceptable,
        }
    )
    pairs = MinimalPairs("any", acceptable, unacceptable, categories, numbers, {"UID": categories}, **of_file)
    again = MinimalPairs.from_frame(pairs.to_frame(), "any")
    assert again == pairs
    assert again.content_hash == pairs.content_hash


def test_published_french_crows_pairs() -> None:
    pairs = from_table(read_table(shared_data("crows_pairs_fr", "crows_french.csv")))
    assert pairs.n == 1462
    assert pairs.notices[0] == "1 row left out: 'sent_less' is empty (row 128)."
    assert [bad.row for bad in pairs.left_out] == [128]
    assert len(set(pairs.categories)) >= 9
    assert set(pairs.fields) == {"stereo_antistereo", "bias_type"} and not pairs.right_to_left
    assert set(pairs.fields["stereo_antistereo"]) == {"stereo", "antistereo"}
    assert pairs.acceptable[0].startswith("Il ne trouvait pas")
