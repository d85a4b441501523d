"""The texts that every kind of model reads: very short, short and long ones, Japanese, English and both."""

from __future__ import annotations

from tests.support.tiny_models import ENGLISH, JAPANESE

LONG = "".join(JAPANESE[:4]) + " " + ENGLISH[0]
TEXTS = ("猫", ENGLISH[0], LONG, "雨", JAPANESE[3], "rain")
PAIRS = ((JAPANESE[1], "猫が眠っている。"), (LONG, ENGLISH[1]), ("雨", "猫"), (ENGLISH[2], ENGLISH[3]))
# Masked models read a text once for each of its tokens, so these are fewer.
MASKED_TEXTS = ("雨", "猫が庭で静かに眠っている。", "Unbelievable stories", JAPANESE[0] + JAPANESE[4], "rain")
# (before, word, after): words of one piece and of several, in the midst, at the beginning and at the end.
SENTENCES = (
    ("昨日、私は", "東京", "タワーでラーメンを食べました。"),
    ("", "猫", "が庭で静かに眠っている。"),
    ("この小説はとても", "面白かった", "。"),
    ("", "雨", ""),
    ("The cat", " sleeps", " quietly in the garden."),
)
CORPUS = (*JAPANESE, *ENGLISH, "猫が眠っている。", "猫", "雨", "rain")
