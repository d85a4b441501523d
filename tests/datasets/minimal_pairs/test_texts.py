"""Running text: a column of documents, plain text files and archives of them, and what is no running text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.files import read_pairs
from engine.datasets.minimal_pairs.forms import JUDGED, PAIRS, TEXTS, recognised_form
from engine.datasets.minimal_pairs.kinds import TEXTS as KIND
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.errors import InputError

PROSE = "雨の朝、駅まで歩いた。\n\n「傘を、忘れたよ」と、彼は言った。\n"
ENGLISH = "It rained, and rained.\nHe walked, slowly, to the station.\n"


def read(content: str | bytes, name: str = "texts.csv", **how: object) -> MinimalPairs:
    return read_pairs([(name, content.encode() if isinstance(content, str) else content)], **how)  # type: ignore[arg-type]


def packed(**files: str) -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("__", "/") + ".txt", text)
    return content.getvalue()


def test_a_table_with_a_column_of_texts_is_running_text() -> None:
    dataset = read("id,text,category\na1,一つ目の文書。,随筆\na2,二つ目の文書。,小説\na3,三つ目の文書。,小説\n")
    assert dataset.data_kind is KIND and dataset.n == 3 and dataset.format == "running text"
    assert dataset.acceptable == dataset.unacceptable == dataset.sentences
    assert dataset.categories == ("随筆", "小説", "小説") and dataset.fields["id"] == ("a1", "a2", "a3")
    again = MinimalPairs.from_frame(dataset.to_frame(), dataset.name)
    assert again == dataset and again.content_hash == dataset.content_hash
    lines = read('{"document": "二行の\\n文書。", "n": 1}\n{"document": "もう一つ。", "n": 2}\n', "texts.jsonl")
    assert lines.data_kind is KIND and lines.acceptable == ("二行の\n文書。", "もう一つ。")


@pytest.mark.parametrize("prose", [PROSE, ENGLISH, "一行だけの文書"])
def test_a_plain_text_file_is_one_document(prose: str, tmp_path: Path) -> None:
    dataset = read(prose, "diary.txt")
    assert dataset.data_kind is KIND and dataset.acceptable == (prose.strip("\n"),)
    assert dataset.fields["title"] == ("diary",) and dataset.categories == ("",)
    (tmp_path / "diary.txt").write_bytes(prose.replace("\n", "\r\n").encode("cp932"))
    assert read_pairs([("diary.txt", tmp_path / "diary.txt")]).acceptable == dataset.acceptable
    # Nothing is lost where bad rows are to be left out.
    assert read(prose, "diary.txt", skip_bad_rows=True).acceptable == dataset.acceptable


def test_a_text_file_that_is_a_table_stays_one() -> None:
    assert read("good\tbad\n猫が鳴く\t猫を鳴く\n犬が走る\t犬に走る\n", "pairs.txt").data_kind.name == "pairs"
    assert read("text\n一つ目の文書。\n二つ目の文書。\n", "texts.txt").n == 2
    with pytest.raises(InputError, match="lacks a needed column"):
        read("one\ttwo\n猫が鳴く\t猫を鳴く\n", "unknown.txt")


def test_an_archive_of_text_files_is_a_corpus_with_its_folders_as_categories() -> None:
    dataset = read(packed(novel__a=PROSE, novel__b="別の小説。", essay__c="随筆。"), "corpus.zip")
    assert dataset.data_kind is KIND and dataset.n == 3 and dataset.name == "corpus.zip"
    assert dict(zip(dataset.fields["title"], dataset.categories, strict=True)) == {
        "a": "novel",
        "b": "novel",
        "c": "essay",
    }
    assert dataset.rows == (1, 2, 3)
    assert set(read(packed(one__a=PROSE, one__b="別の小説。"), "corpus.zip").categories) == {""}


def test_beside_pairs_a_text_file_is_a_readme() -> None:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        archive.writestr("README.txt", "これは説明です。")
        archive.writestr("notes.csv", "text,n\n説明,1\n")
        archive.writestr("pairs.csv", "good,bad\n猫が鳴く,猫を鳴く\n")
    dataset = read(content.getvalue(), "mixed.zip")
    assert dataset.data_kind.name == "pairs" and dataset.n == 1
    assert any("README.txt" in notice and "notes.csv" in notice for notice in map(str, dataset.notices))
    with pytest.raises(InputError, match=r"holds running text, .*holds pairs of sentences"):
        read_pairs([("a.csv", b"good,bad\na b,c d\n"), ("b.txt", PROSE.encode())])


def test_what_is_said_of_many_files_of_an_archive_is_said_once() -> None:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name in "abc":
            archive.writestr(f"{name}.txt", f"{name}。{PROSE}猫《ねこ》。［＃{name}］".encode("cp932"))
        archive.writestr("d.txt", PROSE)
    notices = [str(notice) for notice in read(content.getvalue(), "works.zip").notices]
    assert len(notices) == 2 and all("another 2 files of works.zip" in notice for notice in notices)
    assert any("a.txt is in the notation of Aozora" in notice for notice in notices)


def test_the_notation_of_aozora_is_taken_off() -> None:
    text = "題名\n作者\n\n" + "-" * 55 + "\n【テキスト中に現れる記号について】\n\n《》：ルビ\n" + "-" * 55
    dataset = read(f"{text}\n\n吾輩《わがはい》は猫である。\n\n底本：「本」\n", "neko.txt")
    assert dataset.acceptable == ("吾輩は猫である。",)
    assert any("Aozora" in str(notice) for notice in dataset.notices)


def test_what_is_no_running_text() -> None:
    assert recognised_form(read_table(b"text,label\nabc,1\n", "a.csv")) is PAIRS  # of clusters, or judged by choice
    assert recognised_form(read_table(b"sentence,label,text\nabc,1,d\n", "a.csv")) is JUDGED
    assert recognised_form(read_table(b"good,bad,text\nabc,d,e\n", "a.csv")) is PAIRS
    assert recognised_form(read_table(b"text,n\nabc,1\n", "a.csv")) is TEXTS
    with pytest.raises(InputError, match="2 of 3 rows lack a text"):
        read("text,n\n一つ目,1\n,2\n ,3\n")
    assert read("text,n\n一つ目,1\n,2\n ,3\n", skip_bad_rows=True).n == 1
    with pytest.raises(InputError, match="empty"):
        read("\n\n", "empty.txt")


def test_the_column_can_be_chosen() -> None:
    dataset = read("sentence,label\n猫が鳴く。,1\n犬が走る。,0\n", columns={"text": "sentence", "category": "label"})
    assert dataset.data_kind is KIND and dataset.categories == ("1", "0")
    repeated = read("text,n\n同じ文書,1\n同じ文書,2\n")
    assert any("repeats an earlier document" in str(notice) for notice in repeated.notices)
