"""Writing direction of a text: from left to right, or from right to left as Arabic and Hebrew."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Unicode's strong bidirectional classes; digits, punctuation and spaces take the direction of their surroundings.
RIGHT_TO_LEFT = ("R", "AL")
LEFT_TO_RIGHT = ("L",)


def is_right_to_left(texts: Iterable[str]) -> bool:
    """Whether most letters of these texts are written from right to left; False where there is no letter at all.

    >>> is_right_to_left(["قرأ الولد الكتاب."]), is_right_to_left(["猫が寝る。", "the cat"]), is_right_to_left(["123"])
    (True, False, False)
    """
    balance = 0
    for text in texts:
        if text.isascii():
            balance -= sum(map(str.isalpha, text))
            continue
        for character in text:
            direction = unicodedata.bidirectional(character)
            balance += (direction in RIGHT_TO_LEFT) - (direction in LEFT_TO_RIGHT)
    return balance > 0
