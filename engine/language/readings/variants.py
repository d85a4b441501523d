"""Characters that are written for others: variant, old and simplified kanji, radicals; and the plain form of a text."""

from __future__ import annotations

import unicodedata

# Radicals in text copied from PDF files; NFKC does not change them.
_RADICALS = ("⺠⻁⻄⻆⻑⻘⻝⻤⻨⻩⻫⻭⻯⻲", "民虎西角長青食鬼麦黄斉歯竜亀")
# Variants in names, to the character that dictionaries have.
_NAMES = ("濱橫黑嶋邊邉渕廣澤齋齊斎櫻眞國龍瀧惠榮豐髮凛冨曾檜螢壽與圓實兒團戀獨亞鐵劍條當櫛",
          "浜横黒島辺辺淵広沢斉斉斉桜真国竜滝恵栄豊髪凜富曽桧蛍寿与円実児団恋独亜鉄剣条当櫛")
# Simplified characters of Chinese names, to the character that Japanese uses.
_SIMPLIFIED = ("习东泽刘陈张杨赵孙马华广长门语龙邓邹郑钱韩冯蒋吴许贾罗梁萧谢萨叶苏卢蓝闻齐庆庄钟谭陆贺顾龚汤乔费鲁"
               "韦轩锦宁汉辽滨济苏阳陕岭琼贵云兰乌齐义丽晓伟杰静红军强飞鹏爱娟艳",
               "習東沢劉陳張楊趙孫馬華広長門語竜鄧鄒鄭銭韓馮蒋呉許賈羅梁蕭謝薩葉蘇盧藍聞斉慶荘鐘譚陸賀顧龔湯喬費魯"
               "韋軒錦寧漢遼浜済蘇陽陝嶺瓊貴雲蘭烏斉義麗暁偉傑静紅軍強飛鵬愛娟艶")
# What pykakasi and UniDic cannot read, or read otherwise than its usual form: only these are replaced before they read.
_UNREAD = ("髙﨑𠮷濵栁桺靑嶌曻德", "高崎吉浜柳柳青島昇徳")

_READ_AS = str.maketrans("".join((_RADICALS[0], _UNREAD[0])), "".join((_RADICALS[1], _UNREAD[1])))
_SIMPLIFIED_TO_JAPANESE = str.maketrans(*_SIMPLIFIED)
_PLAIN = _SIMPLIFIED_TO_JAPANESE | _READ_AS | str.maketrans(*_NAMES)


def usual_kanji(text: str) -> str:
    """The text with radicals and rare variants as the kanji that dictionaries read; its length stays.

    >>> usual_kanji("髙橋と𠮷野")
    '高橋と吉野'
    """
    return text.translate(_READ_AS)


def japanese_kanji(text: str) -> str:
    """The text with simplified Chinese characters, those of frequent names, as Japanese has them; its length stays.

    >>> japanese_kanji("习近平")
    '習近平'
    """
    return text.translate(_SIMPLIFIED_TO_JAPANESE)


def plain_form(text: str) -> str:
    """How a text is compared where it has no reading: NFKC, case folded, variant kanji as their usual form, no spaces.

    >>> plain_form("Ｔ シャツ"), plain_form("渡邊") == plain_form("渡邉") == plain_form("渡辺")
    ('tシャツ', True)
    """
    return "".join(unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN).split())
