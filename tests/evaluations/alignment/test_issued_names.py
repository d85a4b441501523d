"""Names by reading on instances that readers met: the same name, or another one, in one sentence each."""

from __future__ import annotations

import pytest

from engine.evaluations.alignment.naming.compared_names import NameAsWritten, alike
from engine.language.counterparts import with_counterparts
from engine.measures.name_agreement import ANOTHER, SAME, UNSURE, verdict

SAME_NAMES = """
3.5億円 3億5000万円|1.2万人 12,000人|5割 50%|3km 3000m|1時間半 90分|半年 6か月|正午 12時|5キロ 5000グラム
Kenichi 健一|Shinichi 真一|Junichiro 純一郎|Shinya 真也|Kaede 楓
Kenichi けんいち|Shinichi しんいち|Junichiro じゅんいちろう|Shinya しんや|Kensuke 健介|Yohei 洋平|Kyoko 京子
2.5万人 25,000人|一年半 18か月|2トン 2000キロ|午後3時 15時|令和五年 2023年|三日間 72時間|1.5リットル 1500ミリリットル
渚 なぎさ|樹 いつき|稔 みのる|昴 すばる|翼 つばさ|螢 ほたる|菅野 すがの|紬 つむぎ|松下幸之助 マツシタコウノスケ
経産省 経済産業省|東京電力 東電|全日本空輸 全日空|日本放送協会 NHK|国際連合 国連|経団連 日本経済団体連合会
ファミリーマート ファミマ|スマートフォン スマホ|郵船 日本郵船|共同通信 共同通信社|WHO 世界保健機関
関西電力 関電|日本銀行 日銀|文部科学省 文科省|早稲田大学 早大|東日本旅客鉄道 JR東日本|日本経済新聞 日経
シェークスピア シェイクスピア|ヴェネツィア ベネチア|ヘップバーン ヘプバーン|Tchaikovsky チャイコフスキー|Goethe ゲーテ
渡邉 渡辺|髙田 高田|濵口 浜口|德川 徳川|瀨戸 瀬戸|邊見 辺見|𠮷川 吉川|ホ゜ール ポール|ロンドン 倫敦|米国 アメリカ
ツルゲーネフ トゥルゲーネフ|ゴーギャン ゴーガン|ウィーン ヴィーン|ニーチェ Nietzsche|ベートーベン Beethoven|キエフ キーウ
𣘺本 橋本|𡈽屋 土屋|𫝆井 今井|シ゛ョン ジョン|籠池 篭池|祇園 祗園|壺井 壷井
"""
OTHER_NAMES = """
3.5億円 1億円|三割 三分|五百グラム 五キロ|1.8億人 1.8万人
西船橋 船橋|南浦和 浦和|中軽井沢 軽井沢|大宮 大宮崎|岐阜県 岐阜市
渚 樹|モネ マネ|ミサト ミサキ|ユニセフ ユネスコ|経産省 厚労省|任天堂 資生堂|共同通信 時事通信|ドトール ミスタードーナツ
2.5億円 25億円|1時間半 80分|半年 5か月|三千五百円 3,050円|北浦和 浦和|新横浜 横浜|葵 茜|楓 椿|リサ リカ|荻原 萩原
関西電力 北陸電力|日銀 日経|文科省 国交省|シューベルト シューマン|カント コント|服部 林|大阪 大津|Junichi 真一|Kyoko 清子
東大 東北大学|マリノ マリノフスキー|公正取引委員会 公安委|斉藤 尾崎|第一生命 第一興商|WHO 国際労働機関
"""


def least(one: str, other: str) -> float:
    """The least M of the names of the one sentence with the best counterpart of each in the other; 2 where none has any."""
    text, against = (f"新聞によると{name}の話だった。" for name in (one, other))
    names, others = (
        [NameAsWritten(own[name.start : name.end], name.kind, name.reading) for name in with_counterparts(own, their)]
        for own, their in ((text, against), (against, text))
    )
    best = [
        max((found.agreement.value for theirs in others if (found := alike(name, theirs, by_sound=True))), default=2.0)
        for name in names
    ]
    return min(best, default=2.0)


def rows(table: str) -> list[list[str]]:
    return [pair.split() for line in table.strip().splitlines() for pair in line.split("|")]


@pytest.mark.parametrize(("one", "other"), rows(SAME_NAMES))
def test_the_same_name(one: str, other: str) -> None:
    assert least(one, other) <= 1 and verdict(least(one, other)) == SAME == verdict(least(other, one))


@pytest.mark.parametrize(("one", "other"), rows(OTHER_NAMES))
def test_another_name(one: str, other: str) -> None:
    assert verdict(least(one, other)) == ANOTHER == verdict(least(other, one))


@pytest.mark.parametrize(("one", "other"), [("阿部", "安部"), ("伊藤", "伊東"), ("レーガン", "リーガン")])
def test_nobody_could_tell(one: str, other: str) -> None:
    assert verdict(least(one, other)) == UNSURE
