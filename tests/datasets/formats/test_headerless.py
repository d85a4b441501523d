"""Files without names of columns: recognised as published, or read so by choice; and which separator cuts a file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from openpyxl import Workbook

from engine.datasets import sentence_pairs
from engine.datasets.formats.columns import options_of_notices
from engine.datasets.formats.files import Table, read_table
from engine.datasets.formats.headerless import LAYOUTS
from engine.datasets.labelled import labelled_sentences
from engine.errors import InputError

# The layouts as their authors describe and publish them; the sentences are of our own writing.
RTE = (
    'rte15q00001\t1\t部屋は広い。\t広い部屋で休めた。\t{"0": 1, "1": 5}\t[["部屋は", 0], ["広い", 0], ["<1>", 3]]\ttrain\n'
    "rteC30q00002\t0\t駅から近い。\t静かな宿だった。\tnull\tnull\tdev\n"
)
POLARITY = 'pn17q00001\t-1\t風呂が寒い。\t{"-1": 3}\ttest\npn17q00002\t1\t"朝食"が良い。\t{"1": 3}\ttrain\n'
STS = (
    "main-captions\tMSRvid\t2012test\t0001\t5.000\tA cat sleeps.\tA cat is asleep.\n"
    'main-news\theadlines\t2016\t0012\t4\tRain, "again"\tIt rains again\tA paper\tAnother\n'
)
MLQE = "17\tRain fell all day.\t一日 中 雨 が 降 っ た 。\t[0, 1, 0]\tNOT\n18\tStop.\t行 け 。\t[1, 1, 0]\tERR\n"
DIRECT = (
    "segid\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"
    "1\tДождь.\tRain.\t[90, 88]\t89\t[0.7, 0.8]\t0.75\t-0.5\n2\tСнег.\tHail.\t[20, 10]\t15\t[-1, -1.5]\t-1.25\t-0.9\n"
)
CLIMP = ",0,1,2,3\n0,classifier,classifier_adj,一只小猫,1\n1,classifier,classifier_adj,一条小猫,0\n"


def read(text: str, name: str, **how: str) -> Table:
    return read_table(text.encode(), name, **how)


@pytest.mark.parametrize(
    ("text", "name", "layout", "n"),
    [
        (RTE, "rte.own.tsv", "JRTE", 2),
        (POLARITY, "pn.tsv", "JRTE", 2),
        (STS, "sts-dev.csv", "STS-B", 2),
        (MLQE, "dev.tsv", "MLQE-PE", 2),
        (CLIMP, "classifier_adj_1000.csv", "CLiMP", 2),
        ("把书卖了\n被书卖了\n", "ba_construction_1000.csv", "CLiMP", 2),
    ],
)
def test_published_files_without_names_are_recognised(text: str, name: str, layout: str, n: int) -> None:
    table = read(text, name)
    expected = [known for known in LAYOUTS if known.name == layout and list(known.names) == list(table.frame.columns)]
    assert expected and len(table.frame) == n and list(table.frame.index) == [1, 2]
    assert [notice for notice in table.notices if f"named as {layout} describes them" in notice]


def test_the_columns_of_each_have_their_roles() -> None:
    entailed = sentence_pairs.from_table(read(RTE, "rte.tsv"))
    assert (entailed.references[0], entailed.candidates[0]) == ("広い部屋で休めた。", "部屋は広い。")
    assert entailed.human == {"label": (1.0, 0.0)}
    similar = sentence_pairs.from_table(read(STS, "sts-dev.csv"))
    assert similar.references[1] == 'Rain, "again"' and similar.human == {"score": (5.0, 4.0)}
    assert similar.further["source2"] == ("", "Another")
    errors = sentence_pairs.from_table(read(MLQE, "dev.tsv"))
    assert errors.categories == ("NOT", "ERR") and errors.references[1] == "Stop." and not errors.human
    rated = sentence_pairs.from_table(read(DIRECT, "dev.ruen.df.short.tsv"))
    assert rated.candidates == ("Rain.", "Hail.") and rated.human == {"z_mean": (0.75, -1.25)}
    polar = labelled_sentences.from_table(read(POLARITY, "pn.tsv"))
    assert polar.texts == ("風呂が寒い。", '"朝食"が良い。') and polar.labels == ("-1", "1")


def test_a_file_that_names_its_columns_is_not_taken_for_one_that_does_not() -> None:
    named = read("id\tlabel\ttext\tjudges\tusage\n" + POLARITY, "pn.tsv")
    assert list(named.frame.columns)[2] == "text" and len(named.frame) == 2 and not named.notices
    damaged = read(POLARITY.replace("-1\t風呂", "negative\t風呂"), "pn.tsv")
    assert damaged.frame.columns[0] == "pn17q00001"
    assert read(POLARITY, "pn.tsv", header="names").frame.columns[0] == "pn17q00001"


def test_the_first_row_is_data_by_choice_in_text_and_in_a_workbook(tmp_path: Path) -> None:
    text = "\n雨が降る,天気,天気\n試合に勝った,試合,\n"
    table = read(text, "own.csv", header="data")
    assert list(table.frame.columns) == ["column 1", "column 2", "column 3"] and list(table.frame.index) == [1, 2]
    chosen = labelled_sentences.from_table(table, {"text": "column 1", "label": "column 2"})
    assert chosen.texts == ("雨が降る", "試合に勝った")
    assert options_of_notices(chosen.notices)[:2] == ["--column", "text=column 1"]
    assert options_of_notices(chosen.notices)[-2:] == ["--header", "data"]
    book = Workbook()
    for row in (["雨が降る", "天気"], ["試合に勝った", "試合", "x"]):
        book.active.append(row)
    book.save(raw := io.BytesIO())
    sheet = read_table(raw.getvalue(), "own.xlsx", header="data")
    assert sheet.frame.iloc[0].tolist() == ["雨が降る", "天気", ""] and list(sheet.frame.index) == [1, 2]


def test_rows_of_another_number_of_fields_are_listed_where_the_first_row_is_data() -> None:
    with pytest.raises(InputError, match="1 line of 3 cannot be cut") as refused:
        read("a,b\nc,d\ne\n", "own.csv", header="data")
    assert [bad.row for bad in refused.value.rows] == [3]


def test_commas_of_json_in_a_field_do_not_make_a_file_one_between_commas() -> None:
    """The first line has more commas than tabs; only tabs cut all lines alike."""
    assert len(read(RTE, "rte.tsv").frame.columns) == 7
    assert list(read("a,b,c\n1,2,3\n", "x.tsv").frame.columns) == ["a", "b", "c"]


def test_quotation_marks_are_text_or_not_by_choice() -> None:
    tabbed = 'text\tlabel\n"Stop!" he said\ta\n"Go,\tb\n'
    assert read(tabbed, "a.tsv").frame["text"].tolist() == ['"Stop!" he said', '"Go,']
    comma = 'text,label\n"Stop" he said,a\n"Go",b\n'
    with pytest.raises(InputError, match="1 line of 2"):
        read(comma, "a.csv")
    plain = read(comma, "a.csv", quoting="none")
    assert plain.frame["text"].tolist() == ['"Stop" he said', '"Go"']
    assert options_of_notices(plain.notices) == ["--quoting", "none"]
    loose = 'text\tlabel\n"two\nlines"\ta\nb\tb\n'
    assert read(loose, "a.tsv", quoting="quoted").frame["text"].tolist() == ["two\nlines", "b"]


def test_a_text_in_doubled_quotation_marks_is_read_with_a_notice() -> None:
    """As eight rows of BLiMP-NL are published."""
    table = read('item,text\n1,""Ja, zei hij"",\n2,nee\n'.replace('"",\n', '""\n'), "a.csv")
    assert table.frame["text"].tolist() == ["Ja, zei hij", "nee"]
    assert [notice for notice in table.notices if notice.startswith("In 1 row of a.csv the quotation marks")]
    with pytest.raises(InputError, match="text follows a closing quotation mark"):
        read('item,text\n1,""Ja, zei" hij\n', "a.csv")


def test_sentences_under_headings_are_judged_as_nocola_is_published() -> None:
    text = "Ungrammatical:\nHan sover ute i natt, og hun .\tR\nDe går hjem\tPUNC\n\nGrammatical:\nDe går hjem.\n"
    table = read(text, "class_dev.txt")
    assert table.frame.to_dict("list") == {
        "sentence": ["Han sover ute i natt, og hun .", "De går hjem", "De går hjem."],
        "label": ["0", "0", "1"],
        "error_type": ["R", "PUNC", ""],
    }
    assert list(table.frame.index) == [2, 3, 6]
