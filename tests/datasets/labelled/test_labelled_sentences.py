"""engine.datasets.labelled.labelled_sentences, and what all datasets share: roles, hashes, notices."""

from __future__ import annotations

import dataclasses
import hashlib
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.datasets.formats.files import read_table
from engine.datasets.labelled.labelled_sentences import ROLES, LabelledSentences, from_table, guess_columns
from engine.errors import BadRow, InputError

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


def dataset(csv: str, columns: dict[str, str | None] | None = None) -> LabelledSentences:
    return from_table(read_table(csv.encode(), "a.csv"), columns)


def error_of(csv: str, columns: dict[str, str | None] | None = None) -> InputError:
    with pytest.raises(InputError) as caught:
        dataset(csv, columns)
    return caught.value


def test_a_dataset_is_what_the_file_says() -> None:
    sentences = dataset("text,label\n ﾊﾟﾝを焼く🐼 ,食\nNA, 食 \n\n=1+1,数\n")
    assert sentences == LabelledSentences("a.csv", (" ﾊﾟﾝを焼く🐼 ", "NA", "=1+1"), ("食", "食", "数"), (1, 2, 4))
    assert (sentences.n, len(sentences)) == (3, 3)


@pytest.mark.parametrize(
    ("header", "text", "label"),
    [
        ("text,label", "text", "label"),
        ("文,ラベル", "文", "ラベル"),
        ("class,id,Sentence", "Sentence", "class"),
        ("title,category", "title", "category"),
        ("title,body,text,category", "text", "category"),
        ("ＴＥＸＴ,カテゴリ", "ＴＥＸＴ", "カテゴリ"),
        ("a,b", None, None),
    ],
)
def test_columns_are_guessed_by_their_names(header: str, text: str | None, label: str | None) -> None:
    table = read_table(f"{header}\n{','.join('x' for _ in header.split(','))}\n".encode(), "a.csv")
    assert guess_columns(table) == {"text": text, "label": label}


def test_given_columns_go_before_the_guess() -> None:
    assert dataset("text,title,kind\na,b,x\nc,d,y\n", {"text": "title", "label": "kind"}).texts == ("b", "d")
    assert dataset("text,title,label\na,b,x\nc,d,y\n", {"text": "title"}).labels == ("x", "y")


def test_two_columns_can_be_joined_into_one_sentence() -> None:
    assert dataset("head,tail,label\na,b,x\nc,d,y\n", {"text": "head + tail"}).texts == ("a b", "c d")


def test_wrong_columns_say_what_was_found_and_what_is_needed() -> None:
    message = error_of("文書,群\na,x\nb,y\n").message
    assert message.startswith("a.csv lacks a needed column: 'text' (the sentence; also read: 'sentence', '文',")
    assert "'label' (the group it belongs to; also read: 'class'" in message
    assert "Found: '文書', '群'." in message
    assert "Are the columns separated" not in message
    assert "Are the columns separated by commas, tabs or semicolons?" in error_of("text|label\na|x\nb|y\n").message


def test_roles_and_columns_that_do_not_exist() -> None:
    csv = "text,label\na,x\nb,y\n"
    assert "no role 'tag'; columns can be chosen for: 'text', 'label'" in error_of(csv, {"tag": "label"}).message
    assert "has no column 'title'. Found: 'text', 'label'" in error_of(csv, {"text": "title"}).message
    assert "'text' cannot be 'text', 'label' at once" in error_of(csv, {"label": "text"}).message
    assert "lacks a needed column: 'label'" in error_of(csv, {"label": ""}).message


def test_every_empty_sentence_and_label_is_listed() -> None:
    error = error_of("text,label\na,x\n,x\n　 ,y\nb,\n\u200b,\nc,y\n")
    assert error.rows == (
        BadRow(2, "'text' is empty"),
        BadRow(3, "'text' holds only spaces"),
        BadRow(4, "'label' is empty"),
        BadRow(5, "'text' holds only spaces and 'label' is empty"),
    )
    assert "4 of 6 rows lack a sentence or a label" in error.message
    assert error.message.endswith("Rows are numbered from 1, without the header line.")


def test_numbers_beyond_the_number_of_rows_are_explained() -> None:
    error = error_of("text,label\na,x\n\n\n,y\nb,y\n")
    assert error.rows == (BadRow(4, "'text' is empty"),)
    assert error.message.endswith(
        "1 of 3 rows lack a sentence or a label. Fill them in or remove these rows. Rows are numbered from 1, without "
        "the header line. Blank rows and those that were left out have numbers, too."
    )


def test_a_character_outside_unicode_is_a_visible_one() -> None:
    assert dataset("text,label\n\ue000,x\nb,y\n").texts[0] == "\ue000"


def test_one_sentence() -> None:
    assert error_of("text,label\na,x\n").message == (
        "Clustering needs at least 2 sentences, of 2 labels; a.csv has 1. Add sentences of a second group."
    )


def test_one_label() -> None:
    csv = "text,label\n" + "".join(f"sentence {number},news \n" for number in range(40))
    assert error_of(csv).message == (
        "Clustering needs at least 2 labels; got 1 ('news') over 40 sentences. Add a second group."
    )


def test_repeated_rows_are_kept_and_noticed() -> None:
    # Row 3 repeats row 1; row 4 repeats its sentence with another label; row 5 repeats row 2; row 6 repeats row 4.
    sentences = dataset("text,label\na,x\nb,y\na,x\na,y\nb,y\na,y\n")
    assert sentences.n == 6
    assert sentences.notices == (
        "3 rows repeat an earlier sentence and label (kept): 3, 5, 6.",
        "1 row gives an earlier sentence another label (kept): 4.",
    )


def test_what_programs_write_for_a_missing_value_is_kept_and_noticed() -> None:
    sentences = dataset("text,label\na,nan\nNA,y\nb,None\nc,空\nd,NaN\n")
    assert sentences.labels == ("nan", "y", "None", "空", "NaN")
    assert sentences.notices == (
        "1 row holds 'NA' in 'text', as programs write a missing value (kept as it is): 2.",
        "3 rows hold 'NaN', 'None', 'nan' in 'label', as programs write a missing value (kept as it is): 1, 3, 5.",
    )


def test_long_notices_are_cut() -> None:
    sentences = dataset("text,label\nb,y\n" + "a,x\n" * 13)
    assert sentences.notices == (
        "12 rows repeat an earlier sentence and label (kept): 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ….",
    )


def test_notices_of_the_table_come_first() -> None:
    assert dataset("text,label\na,x\nb,y\n,\n").notices == ("1 row without any text at the end of a.csv left out.",)


def test_the_hash_is_the_one_documented() -> None:
    # By hand: every text as UTF-8 and every number as IEEE double, each after its length in 8 bytes, big-endian; the
    # number of values before each column. It must stay so: results are found again by it.
    def framed(raw: bytes) -> bytes:
        return len(raw).to_bytes(8, "big") + raw

    n_values = (2).to_bytes(8, "big")
    expected = hashlib.sha256(
        b"".join(map(framed, [b"labelled_sentences", b"row", b"text", b"label"]))
        + n_values
        + framed(struct.pack(">d", 1.0))
        + framed(struct.pack(">d", 2.0))
        + n_values
        + framed("秤".encode())
        + framed(b"b")
        + n_values
        + framed(b"x")
        + framed(b"y")
    ).hexdigest()
    assert LabelledSentences("any", ("秤", "b"), ("x", "y"), (1, 2)).content_hash == expected


def test_the_hash_knows_content_order_and_borders_but_no_names() -> None:
    one = LabelledSentences("one", ("ab", "c"), ("x", "y"), (1, 2))
    assert one.content_hash == dataclasses.replace(one, name="two", notices=("something",)).content_hash
    different = [
        dataclasses.replace(one, texts=("a", "bc")),
        dataclasses.replace(one, texts=("c", "ab"), labels=("y", "x")),
        dataclasses.replace(one, labels=("y", "x")),
        dataclasses.replace(one, rows=(1, 3)),
        dataclasses.replace(one, texts=("x", "y"), labels=("ab", "c")),
    ]
    assert len({other.content_hash for other in (one, *different)}) == 6


@settings(max_examples=50)
@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(1, 2**31))))
def test_frames_and_back(rows: list[tuple[str, str, int]]) -> None:
    texts, labels, numbers = (tuple(row[place] for row in rows) for place in range(3))
    sentences = LabelledSentences("any", texts, labels, numbers)
    again = LabelledSentences.from_frame(sentences.to_frame(), "any")
    assert again == sentences
    assert again.content_hash == sentences.content_hash


def test_a_frame_of_ones_own() -> None:
    frame = dataset("text,label\na,x\na,y\n").to_frame()
    assert list(frame.columns) == ["row", "text", "label"]
    again = LabelledSentences.from_frame(frame.drop(columns="row"), "mine")
    assert (again.rows, again.name) == ((1, 2), "mine")
    assert again.notices == ("1 row gives an earlier sentence another label (kept): 2.",)
    with pytest.raises(InputError, match="no column 'label'; it has: row, text"):
        LabelledSentences.from_frame(frame.drop(columns="label"), "mine")
    with pytest.raises(InputError, match="'label' must hold texts only") as caught:
        LabelledSentences.from_frame(frame.assign(label=[1, 2]), "mine")
    assert [bad.row for bad in caught.value.rows] == [1, 2]


def test_roles_are_triples() -> None:
    assert [(name, required) for name, required, _ in ROLES] == [("text", True), ("label", True)]


def test_a_column_of_thousands_of_labels_is_hardly_one_of_groups() -> None:
    # Every row its own identifier; the column kind has 9 values, note is empty but for one, and body is as long as id.
    rows = "".join(f"s{i},id{i},k{i % 9},,b{i}\n" for i in range(5000))
    error = error_of("text,label,kind,note,body\n" + rows)
    assert error.message == (
        "a.csv: the column 'label' holds 5,000 different labels over 5,000 sentences; at most 1,000 are supported. Is "
        "it the right column? Columns with fewer: 'kind' (9 values). Choose one of them as the label."
    )
    assert len(set(dataset("text,label,kind,note,body\n" + rows, {"label": "kind"}).labels)) == 9


def test_columns_of_two_values_to_half_as_many_as_rows_are_advised_the_one_with_the_fewest_first() -> None:
    """Of 2,002 rows: one, two, three and five values, 1,000 and one more."""
    rows = "".join(f"s{i},id{i},0,{i % 3},{i % 2},{i % 1000},{i % 1001},{i % 5}\n" for i in range(2002))
    error = error_of("text,label,one,three,two,most,more,five\n" + rows)
    assert "'two' (2 values), 'three' (3 values), 'five' (5 values), 'most' (1,000 values)." in error.message
    assert "'one'" not in error.message and "'more'" not in error.message
    # Of 1,200 rows half are 600.
    rows = "".join(f"s{i},id{i},{i % 600},{i % 601}\n" for i in range(1200))
    assert "Columns with fewer: 'half' (600 values)." in error_of("text,label,half,more\n" + rows).message


def test_no_other_column_would_do() -> None:
    error = error_of("text,label\n" + "".join(f"s{i},id{i}\n" for i in range(1001)))
    assert "No other column holds fewer: add one with the group of each sentence, or merge labels." in error.message


def test_a_thousand_labels_are_weighed() -> None:
    assert dataset("text,label\n" + "".join(f"s{i},id{i}\n" for i in range(1000))).n == 1000


def test_names_that_look_alike_are_one_class_and_sentences_stay_as_they_are() -> None:
    read = dataset("text,label\nか\u3099をむく。,が\n花を見る。,か\u3099\n雨だ。,ガ\n")
    assert read.labels == ("が", "が", "ガ") and read.texts[0] == "か\u3099をむく。"
