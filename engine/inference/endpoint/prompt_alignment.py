"""Which characters of a prompt each token covers, where a server gives tokens as decoded strings.

Servers decode each token alone. What then differs from the prompt, and is still the same text: a token that ends in the
middle of a character shows U+FFFD or nothing for it; SentencePiece's marker of a space, or the space itself, may be
lost; a tokenizer that normalises (NFKC) shows the normalised text; an unknown token shows its own name. Anything else
is another text, and the tokens are refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

REPLACEMENT = "\ufffd"
# How published tokenizers spell their unknown token; SentencePiece decodes it as " ⁇ ".
UNKNOWN_TOKENS = frozenset({"<unk>", "[UNK]", "<|unk|>", "⁇", " ⁇", " ⁇ "})
UNKNOWN_CHARACTERS = 256  # that one unknown token may stand for
NOT_ALIGNED = (-1, -1)
_META_SPACE = "\u2581"
_PARTS = re.compile(f"{REPLACEMENT}+|[^{REPLACEMENT}]+")

Span = tuple[int, int]


def prompt_spans(tokens: Sequence[str], text: str) -> list[Span] | None:
    """The characters (start, end) of `text` that each token covers; None where the tokens are not those of the text.

    Tokens that share a character both have its span. Where only the NFKC-normalised text is covered, every span is
    NOT_ALIGNED.

    >>> prompt_spans(["The", " cat"], "The cat"), prompt_spans(["The", "cat", "s"], "The cat")
    ([(0, 3), (3, 7)], None)
    """
    spans = _spans(tokens, text)
    if spans is not None:
        return spans
    normalised = unicodedata.normalize("NFKC", text)
    if normalised != text and _spans(tokens, normalised) is not None:
        return [NOT_ALIGNED] * len(tokens)
    return None


def is_whole(token: str) -> bool:
    """Whether a token's string says which token it is: it is not empty and shows no part of a character.

    >>> [is_whole(token) for token in (" cat", "", "\ufffd")]
    [True, False, False]
    """
    return bool(token) and REPLACEMENT not in token


def _spans(tokens: Sequence[str], text: str) -> list[Span] | None:
    # Positions that can be reached after each token, with the position before it: {end: start}.
    steps: list[dict[int, int]] = []
    reached = {0}
    for token in tokens:
        step: dict[int, int] = {}
        for start in sorted(reached, reverse=True):  # least is lost or shared that way
            for end in _ends(token, text, start):
                step.setdefault(end, start)
        if not step:
            return None
        steps.append(step)
        reached = set(step)
    last = [end for end in reached if not text[end:].strip()]
    if not last:
        return None
    end = max(last)
    spans: list[Span] = []
    for step in reversed(steps):
        spans.append((step[end], end))
        end = step[end]
    spans.reverse()
    return _with_shared_characters(tokens, spans)


def _ends(token: str, text: str, start: int) -> Iterator[int]:
    """Where a token that begins at `start` may end."""
    if not token:
        yield start
        return
    if token in UNKNOWN_TOKENS:
        yield from range(start + 1, min(start + UNKNOWN_CHARACTERS, len(text)) + 1)
    # A token may have lost the white space before it, the first one may have gained a space.
    n_spaces = 0
    while start + n_spaces < len(text) and text[start + n_spaces].isspace():
        n_spaces += 1
    spellings = {token, token.replace(_META_SPACE, " ")}
    if start == 0:
        spellings |= {spelling.removeprefix(" ") for spelling in spellings}
    for spelling in sorted(spellings):
        if not spelling:
            yield start
        elif REPLACEMENT in spelling:
            for skipped in {0, n_spaces}:
                yield from _ends_of_parts(_PARTS.findall(spelling), text, start + skipped)
        else:
            for skipped in {0, n_spaces}:
                if text.startswith(spelling, start + skipped):
                    yield start + skipped + len(spelling)


def _ends_of_parts(parts: Sequence[str], text: str, start: int) -> set[int]:
    """Where plain strings and runs of U+FFFD may end: each U+FFFD stands for a part of one character, or of none."""
    reached = {start}
    for part in parts:
        following: set[int] = set()
        for position in reached:
            if text.startswith(part, position):
                following.add(position + len(part))
            if part[0] == REPLACEMENT:
                for n_characters in range(len(part) + 1):
                    if text[position : position + n_characters].isascii() and n_characters:
                        break
                    if position + n_characters <= len(text):
                        following.add(position + n_characters)
        reached = following
    return reached


def _with_shared_characters(tokens: Sequence[str], spans: list[Span]) -> list[Span]:
    """The spans, with that of a token without characters widened to the character that it is a part of.

    Bytes of one character that several tokens share: only one of these has the character as its own, mostly the last.
    """
    widened = list(spans)
    for i in range(1, len(spans)):
        start, end = widened[i]
        if start == end > widened[i - 1][0] and not is_whole(tokens[i]) and not is_whole(tokens[i - 1]):
            widened[i] = (start - 1, end)
    for i in range(len(spans) - 2, -1, -1):
        start, end = widened[i]
        if start == end < widened[i + 1][1] and not is_whole(tokens[i]):
            widened[i] = (start, end + 1)
    return widened
