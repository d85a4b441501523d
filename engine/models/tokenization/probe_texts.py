"""Texts that tokenizers disagree about, to try them on: of our own writing and drawing, the same every time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

N_PROBE_TEXTS = 1000

_SENTENCES = (
    "昨日、私は東京タワーでラーメンを食べました。",
    "斉藤さんは髙橋さんと𠮷野家へ行った。",
    "ﾃﾞｰﾀは全角ＡＢＣ１２３で書かれている。",
    "駅から　徒歩５分、３，８００円（税込）です。",
    "「え？」と彼女は言った……それだけだった。",
    "株式会社㍿と㌔㍉、①②③、Ⅳ章。",
    "が か\u3099 パ ハ\u309a Å A\u030a é e\u0301",
    "人々はいすゞのトラックで霞ヶ関へ。すゝめ、ヴァイオリン、ヸ。",
    "The old woman's dog didn't bark; it wasn't there at 10:30 a.m.",
    "naïve café façade Straße ΑΒΓ αβγ Ёжик",
    "state-of-the-art (v2.0) costs $1,299.99, or 15% less!",
    "  leading and   several  spaces\tand a tab ",
    "Zürich、München和北京；서울 여행 계획",
    "絵文字😀👍🏽👨\u200d👩\u200d👧\u200d👦🇯🇵と記号→★♪",
    "https://example.org/a?b=1&c=2#d user@example.com",
    "1234567890 12,345.678 −5 ±0.1 ½ 10² 1e-5",
    "def f(x):\n    return x ** 2  # 二乗",
    "鬱蒼とした森に龘驫麤の字。",
    "ｱｲｳｴｵ ｶﾞｷﾞｸﾞ ﾊﾟﾋﾟﾌﾟ ー〜～",
    "שלום عالم नमस्ते สวัสดี",
)
# White space of every kind, alone, doubled, at both ends and between words.
_SPACES = (" ", "  ", "     ", "\u3000", "\u3000\u3000", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u2003")
_SPACED = (
    "{0}",
    "{0}猫がいる。",
    "猫がいる。{0}",
    "猫{0}がいる。",
    "{0}the cat",
    "the cat{0}",
    "the{0}cat",
    "{0}9,{0}猫{0}",
)
_WITH = ("{0}", "猫{0}が", "the {0} cat", "{0} 雨", "rain{0}", "{0}{0}")
_ALPHABETS = (
    "ぁあいうえおかがきぎくぐっつづてでとどなにぬねのはばぱひびぴふぶぷまみむもゃやゅゆょよらりるれろわをん",
    "ァアイウエオカガキギクグッツヅテデトドナニヌネノハバパヒビピフブプマミムモャヤュユョヨラリルレロワヲンヴー",
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金",
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789",
    "０１２３４５６７８９",
    "、。「」（）・！？…―　",
    " .,;:!?'\"()[]{}<>/\\|@#$%^&*-_=+~`",
    "éèüñçßøåžшчя",
    "😀😂🙏👍🏽❤\ufe0f🎉",
    "".join(map(chr, range(0x4E00, 0x9FA5, 37))),  # kanji, most of them rare
)


@cache
def probe_texts() -> tuple[str, ...]:
    """N_PROBE_TEXTS texts: sentences in Japanese and other languages, and seeded mixtures of what they are made of."""
    draw = random.Random(0)
    texts = [*_SENTENCES, *dict.fromkeys(form.format(space) for space in _SPACES for form in _SPACED)]
    parts = [part for sentence in _SENTENCES for part in sentence.replace("、", " 、").split(" ") if part]
    while len(texts) < N_PROBE_TEXTS:
        if len(texts) % 2:
            texts.append(
                "".join(
                    draw.choice(parts) + draw.choice(("", "", " ", "\u3000", "、")) for _ in range(draw.randint(2, 8))
                )
            )
        else:
            runs = draw.choices(_ALPHABETS, k=draw.randint(1, 6))
            texts.append("".join("".join(draw.choices(run, k=draw.randint(1, 7))) for run in runs))
    return tuple(texts)


@cache
def ordinary_text() -> str:
    """Sentences and characters of ordinary texts, to look spellings up in."""
    return "\n".join([*_SENTENCES, *_ALPHABETS, *_SPACES])


def texts_with(spellings: Sequence[str]) -> tuple[str, ...]:
    """Texts of each of these spellings, alone and among words."""
    return tuple(form.format(spelling) for spelling in spellings for form in _WITH)
