"""engine.datasets.corpora.aozora: the notation of Aozora Bunko, recognised and stripped."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.datasets.corpora.aozora import is_aozora, strip_aozora
from engine.datasets.corpora.corpus import read_documents
from tests.support.shared_data import shared_data
from tests.waiting import seconds

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
    scenes = f"［＃３字下げ］朝《あさ》。\n{'-' * 30}\n昼。\n{'-' * 30}\n夜。"
    assert strip_aozora(scenes) == scenes.replace("《あさ》", "").replace("［＃３字下げ］", "")


def test_an_open_ruby_bracket_does_not_swallow_the_next_lines() -> None:
    assert strip_aozora("甲《こう\n乙》丙") == "甲《こう\n乙》丙"


@pytest.mark.parametrize("text", ["［＃３字下げ］一", "本文。\n底本：「傘の本」", AOZORA, AOZORA.replace("\n", "\r")])
def test_signs_of_the_notation(text: str) -> None:
    assert is_aozora(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "傘（かさ）",
        "《未完",
        "この底本：は行頭にない",
        "彼は《こころ》を読んだ。",
        "《红楼梦》是一部小说。",
        "｜傘《かさ》",
    ],
)
def test_what_is_no_sign(text: str) -> None:
    assert not is_aozora(text)


def test_without_the_block_ruby_is_kana_behind_its_base() -> None:
    text = "《ゲルニカ》を見た。\n空色《そらいろ》の絵、《こころ》と老子《道德经》。［＃改ページ］\n底本：「絵」"
    assert strip_aozora(text) == "《ゲルニカ》を見た。\n空色の絵、《こころ》と老子《道德经》。"


def test_titles_in_a_plain_corpus_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("彼は《こころ》を三回読んだ。\n鈴木｜山田組が勝った。\n", encoding="utf-8")
    (document,) = read_documents([path])
    assert document.text == "彼は《こころ》を三回読んだ。\n鈴木｜山田組が勝った。\n"


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


@pytest.mark.parametrize("opening", ["《", "［＃"])
def test_brackets_that_nothing_closes_are_read_at_once(opening: str) -> None:
    line = "空《そら》［＃注］" + opening * 40_000
    text = AOZORA.replace("　青い", f"{line}\n　青い")
    stripped = [""]

    def strip() -> None:
        stripped[0] = strip_aozora(text)

    assert seconds(strip) < 1
    assert stripped[0] == STRIPPED.replace("　青い", f"空{opening * 40_000}\n　青い")
