"""How a text that stands alone is read: as one word where MeCab finds one, else as it is read together."""

from __future__ import annotations

from collections.abc import Mapping

from engine.language.parts_of_speech import tagged_words
from engine.language.readings.hiragana import strip_subword_marks
from engine.language.readings.words import Reading, word_reading


def reading_alone(text: str, own: Mapping[str, tuple[str, ...]] | None = None) -> Reading:
    """The readings of a word, name or title without a sentence around it.

    A word of UniDic has UniDic's reading first. Several words (習近平 is 習近 and 平 to MeCab) have pykakasi's, which
    reads them together.

    >>> reading_alone("関ヶ原"), reading_alone("習近平").texts
    (Reading(texts=('せきがはら',), source='UniDic'), ('しゅうきんぺい',))
    """
    words = tagged_words(strip_subword_marks(text))
    in_context = words[0].reading if len(words) == 1 and words[0].in_dictionary else ""
    return word_reading(text, in_context, own)
