"""engine.datasets.minimal_pairs.files: several files and archives of minimal pairs as one dataset."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import joined, read_pairs
from engine.datasets.minimal_pairs.pairs import MIXED, MinimalPairs, from_table
from engine.errors import InputError
from engine.messages.languages import in_language, translated
from tests.support.shared_data import shared_data

BLIMP = b'{"sentence_good": "%s", "sentence_bad": "b", "UID": "%s", "field": "syntax"}\n'


def zipped(**files: bytes) -> bytes:
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return sink.getvalue()


def table(raw: bytes, name: str) -> MinimalPairs:
    return from_table(read_table(raw, name))


def test_joined_files_number_their_rows_on() -> None:
    one = table(b"good,bad,category\na,b,x\n\nc,c,x\n", "one.csv")  # rows 1 and 3
    two = table(b"good,bad\nd,e\n", "two.csv")
    both = joined([one, two])
    assert (both.name, both.acceptable, both.unacceptable, both.categories, both.rows) == (
        "one.csv + two.csv",
        ("a", "c", "d"),
        ("b", "c", "e"),
        ("x", "x", ""),
        (1, 3, 4),
    )
    assert both.sources == ("one.csv", "one.csv", "two.csv") and both.fields == {"category": ("x", "x", "")}
    assert both.notices == (
        "2 files are numbered on: one.csv from row 1, two.csv from row 4.",
        "In one.csv: 1 row with two identical sentences (kept; such a pair is always a tie): 3.",
    )
    with in_language("ja"):
        assert (
            translated(both.notices[0])
            == "2個のファイルに通し番号を付けました: one.csvは1行目から、two.csvは4行目から。"
        )
    assert joined([one]) is one
    with pytest.raises(InputError, match="at least one file"):
        joined([])


def test_pairs_that_two_files_share_are_noticed_once() -> None:
    one, two = table(b"good,bad\na,b\na,b\n", "one.csv"), table(b"good,bad\na,b\nc,d\n", "two.csv")
    notices = joined([one, two]).notices
    assert notices[1] == "1 row repeats a pair of another file (kept): 3."
    assert notices[2] == "In one.csv: 1 row repeats an earlier pair (kept): 2."


def test_files_of_one_name_and_of_several_formats() -> None:
    one = table(b"sentence_good,sentence_bad\na,b\n", "data.csv")
    two = table(b"sent_more,sent_less,bias_type\na,c\n".replace(b"c\n", b"c,age\n"), "data.csv")
    both = joined([one, two])
    assert both.sources == ("data.csv", "data.csv (2)") and both.format == MIXED
    assert both.formats == ("BLiMP", "CrowS-Pairs") and both.fields == {"bias_type": ("", "age")}
    assert MinimalPairs.from_frame(both.to_frame(), both.name) == both


def test_pairs_from_nowhere_join_those_of_a_file() -> None:
    typed = MinimalPairs("typed", ("a",), ("b",), ("",), (1,))
    both = joined([table(b"good,bad\nc,d\n", "one.csv"), typed])
    assert both.originals[1] == "" and both.sources == ("one.csv", "typed")
    assert joined([typed, typed]).originals == ()


def test_many_files_have_a_short_name_and_notice() -> None:
    files = [(f"p{i}.jsonl", BLIMP % (b"good %d" % i, b"p%d" % i)) for i in range(67)]
    pairs = read_pairs(files)
    assert pairs.n == 67 and pairs.name == "p0.jsonl + 66 files" and len(pairs.notices) == 1
    assert pairs.notices[0].startswith("67 files are numbered on: p0.jsonl from row 1,")
    with in_language("ja"):
        assert translated(pairs.notices[0]).startswith("67個のファイルに通し番号を付けました: p0.jsonlは1行目から、")
        assert translated(pairs.notices[0]).endswith("行目から、…。")
    assert pairs.fields["UID"][66] == "p66" and pairs.format == "BLiMP"


def test_a_zip_is_its_files_and_what_holds_no_pairs_is_left_out() -> None:
    raw = zipped(
        blimp__data__a_dot_jsonl=BLIMP % (b"one", b"a"),
        blimp__data__b_dot_jsonl=BLIMP % (b"two", b"b"),
        blimp__README_dot_txt=b"Minimal pairs, as they were\npublished.\n",
        blimp__results_dot_csv=b"model,accuracy\ngpt,0.8\n",
        blimp__code_dot_py=b"print()",
    )
    pairs = read_pairs([("blimp.zip", raw)])
    assert pairs.acceptable == ("one", "two") and pairs.sources == ("blimp/data/a.jsonl", "blimp/data/b.jsonl")
    assert "In blimp/data/a.jsonl: 2 files of blimp.zip without two sentence columns left out: " in " ".join(
        pairs.notices
    )
    both = read_pairs([("blimp.zip", raw), ("c.csv", b"good,bad\nthree,b\n")])
    assert both.acceptable == ("one", "two", "three") and both.rows == (1, 2, 3)


def test_a_folder_is_its_files(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(BLIMP % (b"one", b"a"))
    (tmp_path / "b.jsonl").write_bytes(BLIMP % (b"two", b"b"))
    assert read_pairs([(tmp_path.name, tmp_path)]).acceptable == ("one", "two")


def test_columns_that_were_named_hold_in_every_file() -> None:
    raw = zipped(a_dot_csv=b"right,wrong\na,b\n", b_dot_csv=b"right,wrong\nc,d\n")
    assert read_pairs([("x.zip", raw)], {"acceptable": "right", "unacceptable": "wrong"}).unacceptable == ("b", "d")
    with pytest.raises(InputError, match=r"x.zip holds no file with two sentence columns; looked at: 'a.csv', 'b.csv'"):
        read_pairs([("x.zip", raw)])


def test_bad_rows_in_an_archive_are_not_left_out_in_silence() -> None:
    raw = zipped(a_dot_csv=b"good,bad\na,b\n", b_dot_csv=b"good,bad\nc,\n")
    with pytest.raises(InputError, match="lack a sentence") as caught:
        read_pairs([("x.zip", raw)])
    assert [bad.row for bad in caught.value.rows] == [1]
    with pytest.raises(InputError, match="at least one file"):
        read_pairs([])


def test_published_blimp() -> None:
    files = sorted(shared_data("blimp").glob("*.jsonl"))
    whole = read_pairs([(path.name, path) for path in files])
    assert whole.n == len(set(whole.rows)) == 10_000
    assert whole.format == "BLiMP" and all(whole.categories)
    assert len(set(whole.fields["UID"])) == len(set(whole.sources)) == 10
    assert len(set(whole.fields["field"])) >= 3 and "pairID" not in whole.fields
    assert read_pairs([("blimp", shared_data("blimp"))]).rows == whole.rows


def test_a_file_of_an_archive_with_a_row_that_cannot_be_cut_is_refused_and_not_left_out() -> None:
    raw = zipped(
        a_dot_csv=b"good,bad\na,b\nc,d,e\nf,\n",
        b_dot_jsonl=BLIMP % (b"one", b"x") + b"{oops\n",
        c_dot_csv=b"good,bad\ng,h\n",
        results_dot_csv=b"model,accuracy\ngpt,0.8,1\n",
    )
    with pytest.raises(InputError, match=r"a\.csv: 1 line of 3 cannot be cut .* b\.jsonl: 1 line of 2") as caught:
        read_pairs([("x.zip", raw)])
    assert [(bad.row, bad.reason.partition(":")[0]) for bad in caught.value.rows] == [
        (2, "a.csv"),
        (3, "a.csv"),
        (2, "b.jsonl"),
    ]
    skipping = read_pairs([("x.zip", raw)], skip_bad_rows=True)
    assert skipping.acceptable == ("a", "one", "g") and len(skipping.left_out) == 3
    assert "1 file of x.zip that cannot be read left out: results.csv." in " ".join(skipping.notices)


def test_what_cannot_be_read_of_an_archive_is_told_as_such() -> None:
    unknown = "good,bad\n猫が鳴く。,猫を鳴く。\n".encode("utf-16-le")
    pairs = read_pairs([("x.zip", zipped(a_dot_csv=unknown, b_dot_csv=b"good,bad\na,b\n"))])
    assert pairs.notices == ("1 file of x.zip that cannot be read left out: a.csv.",)
    with pytest.raises(InputError, match="It may be UTF-16 LE"):
        read_pairs([("x.zip", zipped(a_dot_csv=unknown))])


def test_bad_rows_of_all_files_are_listed() -> None:
    sources = [("a.csv", b"good,bad\na,\n"), ("b.csv", b"good,bad\na,b\n"), ("c.csv", b"good,bad\na,b\n,d\n")]
    with pytest.raises(InputError, match=r"a\.csv: 1 of 1 row lack .* c\.csv: 1 of 2 rows lack") as caught:
        read_pairs(sources)
    assert [(bad.row, bad.reason) for bad in caught.value.rows] == [
        (1, "a.csv: 'bad' is empty"),
        (2, "c.csv: 'good' is empty"),
    ]
    with in_language("ja"):
        assert translated(caught.value.rows[0].reason) == "a.csv: 「bad」が空です"
    with pytest.raises(InputError) as of_many:
        read_pairs([(f"{number}.csv", b"good,bad\na,\n") for number in range(7)])
    assert str(of_many.value.message).endswith("There are errors in 2 files more.") and len(of_many.value.rows) == 7


def test_a_txt_file_of_pairs_with_a_bad_row_is_no_running_text() -> None:
    raw = b"good\tbad\na\tb\nc\td\te\nf\t\n"
    with pytest.raises(InputError) as caught:
        read_pairs([("p.txt", raw)])
    assert [bad.row for bad in caught.value.rows] == [2, 3]
    with pytest.raises(InputError):
        read_pairs([("x.zip", zipped(p_dot_txt=raw))])
    named = {"acceptable": "right", "unacceptable": "wrong"}
    with pytest.raises(InputError):
        read_pairs([("p.txt", raw.replace(b"good", b"right").replace(b"bad", b"wrong"))], named)
    prose = read_pairs([("p.txt", b"Text\nOnce, there was a cat.\nIt slept.\n")])
    assert prose.n == 1 and "Once" in prose.acceptable[0]
