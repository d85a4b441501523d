"""Readings of compounds, and of words that are read by their neighbours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.language.compounds import divided
from engine.language.parts_of_speech import tagged_words


def kana(text: str) -> str:
    return "".join(word.reading for word in tagged_words(text))


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("一日千秋の", "いちじつせんしゅうの"),
        ("傍若無人な", "ぼうじゃくぶじんな"),
        ("言語道断だ", "ごんごどうだんだ"),
        ("十人十色だ", "じゅうにんといろだ"),
        ("二束三文で", "にそくさんもんで"),
        ("株式会社に", "かぶしきがいしゃに"),
        ("英彦山に", "ひこさんに"),
        ("放出駅で", "はなてんえきで"),
        ("十三駅で", "じゅうそうえきで"),
        ("老若男女が", "ろうにゃくなんにょが"),
        ("目覚まし時計を", "めざましどけいを"),
        ("日曜日に", "にちようびに"),
        # which pykakasi's dictionary alone has whole, as a number no less
        ("悪口雑言を", "あっこうぞうごんを"),
        ("大掃除の", "おおそうじの"),
        ("定休日に", "ていきゅうびに"),
        ("一本道の", "いっぽんみちの"),
        # places before what says so, to one or several words of UniDic; names in full
        ("三次市の", "みよししの"),
        ("直方駅で", "のおがたえきで"),
        ("千曲川の", "ちくまがわの"),
        ("山中伸弥が", "やまなかしんやが"),
        ("島崎藤村の", "しまざきとうそんの"),
        ("藤村が", "ふじむらが"),
        # counters that count one and two in Japanese words
        ("一切れの", "ひときれの"),
        ("二部屋の", "ふたへやの"),
        ("十粒の", "じゅうつぶの"),
        # no compound: after a number, of a pronoun, a short number with its counter, a name that pykakasi reads
        # otherwise, words that only meet
        ("三人が", "さんにんが"),
        ("西船橋で", "にしふなばしで"),
        ("会社の時計", "かいしゃのとけい"),
        ("4人以上が", "にんいじょうが"),
        ("四人以上が", "よにんいじょうが"),
        ("数人以上が", "すうにんいじょうが"),
        ("一体何なのか", "いったいなんなのか"),
    ],
)
def test_compounds(text: str, reading: str) -> None:
    assert kana(text) == reading


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("あと十分待って", "あとじゅっぷんまって"),
        ("十分に休む", "じゅうぶんにやすむ"),
        ("人気のない道", "ひとけのないみち"),
        ("人気のある店", "にんきのあるみせ"),
        ("彼は人気がない", "かれはにんきがない"),
        ("朝の市場で", "あさのいちばで"),
        ("株の市場で", "かぶのしじょうで"),
        ("お腹が空いて", "おなかがすいて"),
        ("席が空いて", "せきがあいて"),
        ("今日の社会", "こんにちのしゃかい"),
        ("今日の天気", "きょうのてんき"),
        ("私は", "わたくしは"),
        ("逃げ上手の", "にげじょうずの"),
        ("舞台の上手から", "ぶたいのかみてから"),
        ("靴を一足買う", "くつをいっそくかう"),
        ("あれから一月が過ぎた", "あれからひとつきがすぎた"),
        ("一月の朝", "いちがつのあさ"),
        ("身代をつぶす", "しんだいをつぶす"),
        ("身代金を払う", "みのしろきんをはらう"),
        ("心中を察する", "しんちゅうをさっする"),
        ("川で心中した", "かわでしんじゅうした"),
        ("職人気質だ", "しょくにんかたぎだ"),
        ("名前を大文字で書く", "なまえをおおもじでかく"),
        ("大文字焼きを見る", "だいもんじやきをみる"),
        ("祭りに出店が並ぶ", "まつりにでみせがならぶ"),
        ("海外に出店する", "かいがいにしゅってんする"),
        ("空の瓶だ", "からのびんだ"),
        ("空の色だ", "そらのいろだ"),
        ("来る四月に開く", "きたるしがつにひらく"),
        ("人が来る", "ひとがくる"),
        ("損害を被る", "そんがいをこうむる"),
        ("帽子を被る", "ぼうしをかぶる"),
        ("選挙の大勢が決した", "せんきょのたいせいがけっした"),
        ("一分の隙もない", "いちぶのすきもない"),
        ("父の名代として", "ちちのみょうだいとして"),
        ("大人千円、小人五百円", "おとなせんえんしょうにんごひゃくえん"),
        ("妖怪変化が", "ようかいへんげが"),
        ("末期の水を", "まつごのみずを"),
        ("寺の宝物殿を", "てらのほうもつでんを"),
        ("夫婦茶碗を", "めおとぢゃわんを"),
    ],
)
def test_homographs(text: str, reading: str) -> None:
    assert kana(text).replace("わたし", "わたくし") == reading


@given(st.lists(st.text("あいうえお", min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_reading_that_is_that_of_the_words_is_cut_as_they_are(parts: list[str]) -> None:
    assert divided("".join(parts), parts) == parts


@given(
    st.text("あいうえお", max_size=8), st.lists(st.text("あいうえお", min_size=1, max_size=4), min_size=1, max_size=3)
)
def test_no_part_is_empty_and_together_they_are_the_reading(reading: str, parts: list[str]) -> None:
    cut = divided(reading, parts)
    assert len(cut) == len(parts) and all(cut)
    assert "".join(cut) == (reading if len(reading) >= len(parts) else "".join(parts))
