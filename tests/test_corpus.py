"""engine.datasets.corpus: Aozora notation, streams of documents, sentences."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from engine.datasets.corpus import Document, pieces, read_documents, split_sentences, strip_aozora
from engine.errors import InputError
from tests.shared_data import shared_data

# Written for this test in the layout of an Aozora Bunko file.
AOZORA = """傘の話
秤野はかり

-------------------------------------------------------
【テキスト中に現れる記号について】

《》：ルビ
（例）傘《かさ》

｜：ルビの付く文字列の始まりを特定する記号
（例）青い｜空色《そらいろ》
-------------------------------------------------------

［＃３字下げ］一［＃「一」は中見出し］

　青い｜空色《そらいろ》の傘《かさ》を、※［＃「てへん＋丑」、第4水準2-12-93］ねじった。
「雨《あめ》か。」と言った［＃「言った」に傍点］。

底本：「傘の本」秤書房
　　　2001（平成13）年1月1日発行
入力：だれか
"""

# By hand: the header block goes with the title before it, the indent and heading notes go and leave 一, ruby goes and
# 空色 and 傘 stay, the bar goes, the gaiji's ※ goes with its note, everything from 底本： on goes.
STRIPPED = """一

　青い空色の傘を、ねじった。
「雨か。」と言った。"""


def test_aozora_by_hand() -> None:
    assert strip_aozora(AOZORA) == STRIPPED


def test_aozora_with_windows_line_ends() -> None:
    assert strip_aozora(AOZORA.replace("\n", "\r\n")) == STRIPPED


def test_a_text_without_notation_stays() -> None:
    text = "一行目。\n\n　二行目※印つき。"
    assert strip_aozora("\n" + text + "\n\n") == text


def test_lines_of_hyphens_that_part_scenes_cut_nothing() -> None:
    scenes = f"朝《あさ》。\n{'-' * 30}\n昼。\n{'-' * 30}\n夜。"
    assert strip_aozora(scenes) == scenes.replace("《あさ》", "")


def test_an_open_ruby_bracket_does_not_swallow_the_next_lines() -> None:
    assert strip_aozora("甲《こう\n乙》丙") == "甲《こう\n乙》丙"


def test_sentences_end_after_a_full_stop_or_the_bracket_that_closes_it() -> None:
    text = "「行くのか。」と言った。彼は頷《うなず》いた！？\n本当（たぶん！）だ。彼は「待て。」外は雨。終わり"
    assert list(split_sentences(text)) == [
        "「行くのか。」と言った。",  # 」と goes on: the quoted full stop ends no sentence
        "彼は頷《うなず》いた！？",
        "本当（たぶん！）",  # only と, っ, 、 and 。 after the bracket hold a sentence together
        "だ。",
        "彼は「待て。」",
        "外は雨。",
        "終わり",
    ]


def test_sentences_lose_no_character_but_outer_spaces() -> None:
    text = "一。「二。」三！？」四\n五。　六"
    assert "".join(split_sentences(text)) == "一。「二。」三！？」四五。六"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three texts: one in a folder in CP932 and Aozora notation, one in UTF-8, two in a zip."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "b.txt").write_bytes(AOZORA.encode("cp932"))
    (folder / "a.txt").write_text("青空。\n\n白雲。\n", encoding="utf-8")
    (folder / "image.png").write_bytes(b"\x89PNG\x00\xff")
    with zipfile.ZipFile(folder / "c.zip", "w") as archive:
        archive.writestr("novels/2.txt", "二。")
        archive.writestr("novels/1.txt", "一。")
        archive.writestr("novels/._1.txt", b"\x00\x05\x16\x07\xff\x00")
        archive.writestr("cover.jpg", b"\xff\xd8")
    return folder


def test_a_folder_is_read_in_name_order_with_the_zips_in_it(corpus: Path) -> None:
    assert list(read_documents([corpus])) == [
        Document("a.txt", "青空。\n\n白雲。\n"), Document("b.txt", STRIPPED),
        Document("novels/1.txt", "一。"), Document("novels/2.txt", "二。"),
    ]


def test_files_and_zips_are_read_in_the_order_given(corpus: Path) -> None:
    names = [document.name for document in read_documents([corpus / "c.zip", corpus / "a.txt"])]
    assert names == ["novels/1.txt", "novels/2.txt", "a.txt"]


def test_lines_as_documents(tmp_path: Path) -> None:
    path = tmp_path / "wiki.tsv"
    path.write_text("id-1\t足は速い。\n\n  \nid-2\t手は早い。 \n裸の行", encoding="utf-8")
    assert list(read_documents([path], unit="line")) == [
        Document("wiki.tsv:1", "足は速い。"), Document("wiki.tsv:4", "手は早い。"), Document("wiki.tsv:5", "裸の行"),
    ]


def test_documents_come_as_a_stream(corpus: Path) -> None:
    (corpus / "z.txt").write_bytes(b"\x81\x20 broken")
    documents = read_documents([corpus])
    assert next(documents).name == "a.txt"  # the broken last file is not read yet
    with pytest.raises(InputError, match=r"z\.txt"):
        list(documents)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file or folder"):
        list(read_documents([tmp_path / "nothing"]))


def test_a_folder_without_text_says_what_counts_as_text(tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"No text file \(\.txt, \.text, \.md"):
        list(read_documents([tmp_path]))


def test_an_unknown_unit() -> None:
    with pytest.raises(InputError, match="'file' or a 'line'; got 'page'"):
        list(read_documents([Path("x")], unit="page"))


def test_a_zip_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(InputError, match="not a readable zip"):
        list(read_documents([tmp_path / "a.zip"]))


def test_a_zip_member_that_is_damaged_or_locked(tmp_path: Path) -> None:
    whole = tmp_path / "a.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("1.txt", "unlocked and stored")
    raw = whole.read_bytes()
    (tmp_path / "damaged.zip").write_bytes(raw.replace(b"stored", b"STORED"))  # the checksum no longer fits
    # Bit 0 of the flags, 6 bytes into the local header and 8 into the central one, says "encrypted".
    central = raw.index(b"PK\x01\x02")
    locked = bytearray(raw)
    locked[6] |= 1
    locked[central + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    for name in ("damaged.zip", "locked.zip"):
        with pytest.raises(InputError, match=rf"1\.txt in {name} cannot be unpacked"):
            list(read_documents([tmp_path / name]))


def test_every_file_of_aozora_loses_its_notation() -> None:
    names = []
    with_signs = []
    for document in read_documents([shared_data("aozora", "aozora-modern-kana.zip")]):
        names.append(document.name)
        if any(sign in document.text for sign in "《》｜"):
            with_signs.append(document.name)
        if len(names) == 200:
            break
    assert names == sorted(names)
    assert with_signs == []


def test_pieces_keep_every_line_and_stay_within_the_limit() -> None:
    text = "短い行。\n\n" + "とても長い一文が続く、" * 30 + "終わり。次の文。\n最後。"
    parts = pieces(text, 40)
    assert max(map(len, parts)) <= 40
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")
    assert pieces(" \n\n", 40) == []
