"""Tags of runs."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import InputError
from engine.messages.message import Message
from engine.runs.naming import shown_text

MAX_TAGS, MAX_TAG_CHARACTERS = 20, 40


def checked_tags(tags: Sequence[str]) -> list[str]:
    """Tags with single spaces, each once whatever its case. Raises InputError for too many or too long ones.

    >>> checked_tags([" table  2", "Table 2", "", "draft"])
    ['table 2', 'draft']
    """
    by_folded = {tag.casefold(): tag for tag in reversed([" ".join(shown_text(tag).split()) for tag in tags]) if tag}
    checked = list(reversed(by_folded.values()))
    if len(checked) > MAX_TAGS:
        raise InputError(
            Message("A run has at most {MAX_TAGS} tags; got {checked}.", MAX_TAGS=MAX_TAGS, checked=len(checked))
        )
    if too_long := next((tag for tag in checked if len(tag) > MAX_TAG_CHARACTERS), None):
        raise InputError(
            Message(
                "A tag has at most {MAX_TAG_CHARACTERS} characters; got {n} ({start} …).",
                MAX_TAG_CHARACTERS=MAX_TAG_CHARACTERS,
                n=len(too_long),
                start=too_long[:20],
            )
        )
    return checked
