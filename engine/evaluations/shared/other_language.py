"""Whether a model's vocabulary is of another script than the texts: it reads them letter by letter, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.messages.message import Message
from engine.models.sources.facts import ModelFacts
from engine.models.tokenization.scripts import CJK, text_scripts

MOST_LETTERS = 0.5  # the share of the letters from which texts are of a script
# A vocabulary is of one script from the first share on, and hardly of another below the second. Of a Japanese BERT of
# 32,000 pieces 92% are Japanese and 8% Latin; of a multilingual one 60% are Latin and 14% Chinese or Japanese.
OF_ONE, HARDLY = 0.75, 0.1
NAMES = {
    CJK: Message("Chinese or Japanese characters"),
    "Latin": Message("Latin letters"),
    "Cyrillic": Message("Cyrillic letters"),
    "Greek": Message("Greek letters"),
    "Hangul": Message("Hangul"),
    "Arabic": Message("Arabic letters"),
    "Hebrew": Message("Hebrew letters"),
}


def other_language_notices(all_facts: Sequence[ModelFacts], texts: Iterable[str]) -> list[Message]:
    """A notice for each model whose vocabulary is of one script, and the texts are of another.

    Languages of one script are not told apart by it, and a model behind a server does not show its vocabulary.
    """
    script, share = next(iter(text_scripts(texts).items()), ("", 0.0))
    if share < MOST_LETTERS:
        return []
    notices = []
    for facts in all_facts:
        of_vocabulary = dict(zip(facts.scripts, facts.script_shares, strict=True))
        main = max(of_vocabulary, key=of_vocabulary.__getitem__, default=script)
        own = of_vocabulary.get(script, 0.0)
        if main != script and of_vocabulary[main] >= OF_ONE and own < HARDLY:
            notices.append(
                Message(
                    "{model} is probably a model of another language: {share:.0%} of the letters of the texts are {script}, "
                    "but of the pieces of its vocabulary {own:.0%} are, and {other:.0%} are {main}. Its numbers on "
                    "these texts say little about the model.",
                    model=facts.name,
                    share=share,
                    script=NAMES.get(script, script),
                    own=own,
                    other=of_vocabulary[main],
                    main=NAMES.get(main, main),
                )
            )
    return notices
