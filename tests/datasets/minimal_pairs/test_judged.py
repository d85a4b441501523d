"""Single sentences with judgements: JCoLA and CoLA as published, one's own, and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.kinds import JUDGED, PAIRS
from engine.datasets.minimal_pairs.pairs import MinimalPairs, from_table, guess_columns
from engine.errors import InputError
from tests.support.shared_data import shared_data

JCOLA = (
    "uid\tsource\tlabel\tdiacritic\tsentence\toriginal\tsimple\tArg. Str.\n"
    "7\tA_1973\t1\tg\t猫が寝た。\t猫が寝た。\tTrue\tFalse\n9\tA_1973\t0\t*\t猫を寝た。\t猫を寝た。\tFalse\tTrue\n"
    "11\tB_1980\t1\tg\t犬が寝た。\t犬が\tFalse\tFalse\n12\tB_1980\t0\t*\t犬に寝た。\t犬に\tFalse\tTrue\n"
)
COLA = "gj04\t1\t\tThe cat sleeps.\ngj04\t0\t*\tThe cat sleep.\nks08\t1\t\tA dog barks.\n"


def read(text: str, name: str = "judged.tsv", **how: bool) -> MinimalPairs:
    return from_table(read_table(text.encode(), name), **how)


def test_jcola_is_read_as_published() -> None:
    dataset = read(JCOLA)
    assert dataset.format == "JCoLA" and dataset.data_kind is JUDGED
    assert dataset.acceptable == dataset.unacceptable == ("猫が寝た。", "猫を寝た。", "犬が寝た。", "犬に寝た。")
    assert dataset.labels == (True, False, True, False) and dataset.rows == (1, 2, 3, 4)
    assert list(dataset.fields) == ["source", "diacritic", "simple", "Arg. Str."]
    assert not dataset.notices and "label" in dataset.further
    assert guess_columns(read_table(JCOLA.encode(), "j.tsv"))["acceptable"] == "sentence"


@pytest.mark.parametrize("first", ["", "gj04\t0\t??*\tThe dog bark.\n"])
def test_cola_has_no_header_and_its_first_line_is_a_sentence(first: str) -> None:
    dataset = read(first + COLA)
    assert dataset.format == "CoLA" and dataset.rows == tuple(range(1, dataset.n + 1))
    assert dataset.acceptable[-3:] == ("The cat sleeps.", "The cat sleep.", "A dog barks.")
    assert dataset.labels[-3:] == (True, False, True) and dataset.n == 3 + bool(first)
    assert dataset.further["source"][-1] == "ks08" and dataset.further["original_annotation"][-2:] == ("*", "")
    stored = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert stored.labels == dataset.labels and stored.content_hash == dataset.content_hash


def test_where_its_first_line_is_chosen_to_be_names_it_is_no_sentence() -> None:
    table = read_table(("gj04\t0\t??*\tThe dog bark.\n" + COLA).encode(), "cola.tsv", header="names")
    assert len(table.frame) == 3 and "First row as chosen: --header names" in table.notices
    with pytest.raises(InputError, match="Found: 'gj04', '0'"):
        from_table(table)


def test_a_file_of_ones_own_needs_two_columns_and_pairs_stay_pairs() -> None:
    own = read("sentence,label\na b,1\nb a,0\na b,1\n", "own.csv")
    assert own.format == "judged sentences" and own.labels == (True, False, True)
    assert own.notices == ("1 row repeats an earlier sentence (kept): 3.",)
    pairs = read("sentence_good,sentence_bad,sentence,label\na,b,c,1\n", "pairs.csv")
    assert pairs.data_kind is PAIRS and pairs.labels == ()


def test_what_is_no_judgement_is_listed_row_by_row() -> None:
    text = "sentence,label\na,1\nb,2\n,0\nc,\nd,0\n"
    with pytest.raises(InputError, match=r"3 of 5 rows lack a sentence or a judgement") as raised:
        read(text, "own.csv")
    assert [(bad.row, bad.reason) for bad in raised.value.rows] == [
        (2, "'label' holds '2', not 0 or 1"),
        (3, "'sentence' is empty"),
        (4, "'label' holds '', not 0 or 1"),
    ]
    kept = read(text, "own.csv", skip_bad_rows=True)
    assert kept.rows == (1, 5) and kept.labels == (True, False)


def test_pairs_and_single_sentences_are_not_joined() -> None:
    sources = [("a.tsv", JCOLA.encode()), ("b.tsv", COLA.encode())]
    assert read_pairs(sources).labels == (True, False, True, False, True, False, True)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"'a\.tsv' holds single sentences with judgements, 'p\.csv' holds pairs"):
        read_pairs([sources[0], ("p.csv", b"good,bad\na,b\n")])


@pytest.mark.parametrize(
    ("column", "is_kept_apart"),
    [
        ("acceptable_rating", True),
        ("unacceptable_rating (2)", True),
        ("acceptable_rating (12)", True),
        ("acceptable_rating:Ann", True),
        ("unacceptable_rating:Ann (2)", True),
        ("acceptable_rating (a)", False),
        ("acceptable_ratings", False),
        ("my acceptable_rating", False),
    ],
)
def test_columns_of_ratings_group_no_pairs_also_with_a_number(column: str, is_kept_apart: bool) -> None:
    rows = "".join(f"a{number},b{number},{number % 2}\n" for number in range(4))
    dataset = read(f"acceptable,unacceptable,{column}\n{rows}", "pairs.csv")
    assert list(dataset.fields) == ([] if is_kept_apart else [column])
    assert dataset.further[column] == ("0", "1", "0", "1")


# counted with `cut -f3 | sort | uniq -c` in the published files
@pytest.mark.parametrize(
    ("name", "n", "n_acceptable"),
    [
        ("in_domain_valid-v1.0.tsv", 865, 726),
        ("out_of_domain_valid-v1.0.tsv", 685, 502),
        ("out_of_domain_valid_annotated-v1.0.tsv", 685, 502),
    ],
)
def test_the_published_files_are_read(name: str, n: int, n_acceptable: int) -> None:
    path = shared_data("jcola", name)
    dataset = from_table(read_table(path.read_bytes(), name))
    assert (dataset.format, dataset.n) == ("JCoLA", n)
    assert Counter(dataset.labels) == {True: n_acceptable, False: n - n_acceptable}
