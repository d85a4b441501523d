"""Characters that are written for others: variant, old and simplified kanji, radicals; and the plain form of a text."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path

# Marks after a character that choose among its shapes (葛󠄀, 辻󠄀) and say nothing about reading or meaning.
SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
# Radicals in text copied from PDF files; NFKC does not change them.
_RADICALS = ("⺠⻁⻄⻆⻑⻘⻝⻤⻨⻩⻫⻭⻯⻲", "民虎西角長青食鬼麦黄斉歯竜亀")
# Variants and old forms that the list of this folder, made of Unihan, lacks or has otherwise.
_FURTHER = (
    "濱邊邉渕澤齋斎豐凛檜螢櫛嵜澀嶽鷗觀濟舩穐巖關遙堯龜滿絲聰㐂枩釼劒劔讚覺溪桝籔藪麴壺穰祿靈隱續發釋顏驛鬪槇讀圖假劑圍壓廢擇"
    "據權歸經總繪繼艷譯豫輕遲鑛髓齡桒竈壹貳瀨緖德篭祗",
    "浜辺辺淵沢斉斉豊凜桧蛍櫛崎渋岳鴎観済船秋巌関遥尭亀満糸聡喜松剣剣剣讃覚渓枡薮薮麹壷穣禄霊隠続発釈顔駅闘槙読図仮剤囲圧廃択"
    "拠権帰経総絵継艶訳予軽遅鉱髄齢桑竃壱弐瀬緒徳籠祇",
)
# Simplified characters of Chinese names, to the character that Japanese uses.
_SIMPLIFIED = (
    "习东泽刘陈张杨赵孙马华广长门语龙邓邹郑钱韩冯蒋吴许贾罗梁萧谢萨叶苏卢蓝闻齐庆庄钟谭陆贺顾龚汤乔费鲁"
    "韦轩锦宁汉辽滨济苏阳陕岭琼贵云兰乌齐义丽晓伟杰静红军强飞鹏爱娟艳",
    "習東沢劉陳張楊趙孫馬華広長門語竜鄧鄒鄭銭韓馮蒋呉許賈羅梁蕭謝薩葉蘇盧藍聞斉慶荘鐘譚陸賀顧龔湯喬費魯"
    "韋軒錦寧漢遼浜済蘇陽陝嶺瓊貴雲蘭烏斉義麗暁偉傑静紅軍強飛鵬愛娟艶",
)
# What pykakasi and UniDic cannot read, or read otherwise than its usual form: only these are replaced before they read.
_UNREAD = (
    "𣘺𡈽𫝆𠮟𠀋髙﨑𠮷濵栁桺靑嶌曻德增淸瀨賴桒靏靎昻﨟黃冝鄕圡槗閒戶薰寬鉃吳緖錄﨔柹剝塡繫嚙搔簞顚",
    "橋土今叱丈高崎吉浜柳柳青島昇徳増清瀬頼桑鶴鶴昂臈黄宜郷土橋間戸薫寛鉄呉緒録欅柿剥填繋噛掻箪顛",
)
# 籐, rattan, is written for 藤 in surnames: 佐籐.
_FUJI = re.compile("(?<=[佐加伊斉斎齋齊近遠後安工内須武江進])籐")

_READ_AS = str.maketrans("".join((_RADICALS[0], _UNREAD[0])), "".join((_RADICALS[1], _UNREAD[1])))
_SIMPLIFIED_TO_JAPANESE = str.maketrans(*_SIMPLIFIED)
_IN_SENTENCES = {code: kanji for code, kanji in _SIMPLIFIED_TO_JAPANESE.items() if chr(code) not in "叶庄云杰"}
_SELECTORS = re.compile(SELECTORS)
# Voiced marks that stand apart from their kana: NFKC would make a space and a mark of them.
_SPACING_MARKS = str.maketrans("゛゜", "\u3099\u309a")
LIST = Path(__file__).with_name("kanji_variants.tsv")


def without_selectors(text: str) -> str:
    """The text without variation selectors: 葛 and 城 as they are for 葛󠄀城.

    >>> len("葛\U000e0100城"), without_selectors("葛\U000e0100城")
    (3, '葛城')
    """
    return _SELECTORS.sub("", text)


def composed_marks(text: str) -> str:
    """The text in the form NFKC, spacing voiced marks (゛ ゜) put together with the kana before them.

    >>> composed_marks("シ゛ョン"), composed_marks("ﾊﾟﾝ")
    ('ジョン', 'パン')
    """
    return unicodedata.normalize("NFKC", text.translate(_SPACING_MARKS))


def usual_kanji(text: str) -> str:
    """The text with radicals and rare variants as the kanji that dictionaries read; its length stays.

    >>> usual_kanji("髙橋と𠮷野")
    '高橋と吉野'
    """
    return _FUJI.sub("藤", text).translate(_READ_AS)


def japanese_kanji(text: str) -> str:
    """The text with simplified Chinese characters, those of frequent names, as Japanese has them; its length stays.

    >>> japanese_kanji("习近平")
    '習近平'
    """
    return text.translate(_SIMPLIFIED_TO_JAPANESE)


def dictionary_kanji(text: str) -> str:
    """The text of a sentence with the kanji that UniDic has: `usual_kanji`, and simplified characters as Japanese has
    them save those that it has as well (叶う, 庄司, 云う); its length stays.

    >>> dictionary_kanji("毛泽东と髙橋は叶う")
    '毛沢東と高橋は叶う'
    """
    return usual_kanji(text).translate(_IN_SENTENCES)


def plain_form(text: str) -> str:
    """How a text is compared where it has no reading: NFKC, case folded, variant kanji as their usual form, no spaces
    and no variation selectors.

    >>> plain_form("Ｔ シャツ"), plain_form("渡邊") == plain_form("渡邉") == plain_form("渡辺")
    ('tシャツ', True)
    """
    return "".join(composed_marks(without_selectors(text)).casefold().translate(_plain()).split())


@lru_cache(maxsize=1)
def _plain() -> dict[int, str | int]:
    """The usual form of each variant: of the list, unless one of the tables above says another."""
    lines = (line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    listed = {ord(variant): usual for usual, variants in lines for variant in variants}
    return listed | _SIMPLIFIED_TO_JAPANESE | _READ_AS | str.maketrans(*_FURTHER)
