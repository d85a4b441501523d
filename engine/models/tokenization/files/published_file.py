"""What the published file of a tokenizer says, as its own library reads it: ids, template, and ways to follow it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tokenizers import Tokenizer, processors
from transformers import PreTrainedTokenizerBase

Ids = Callable[[str], list[int]]
Repair = Callable[[PreTrainedTokenizerBase], None]


@dataclass(frozen=True)
class PublishedFile:
    """The reference of one tokenizer.

    name: of the file. content: the ids of a text without template. before, after: the ids that stand round every text.
    spellings: special tokens that are plain text to the file's library where a text contains them.
    words: ordinary added tokens, to be tried in texts. piece: how an id is spelled. repairs: from the smallest on;
    each makes a tokenizer follow the file, if it can. plain: as content, of texts with `spellings`; None: the same.
    """

    name: str
    content: Ids
    before: tuple[int, ...]
    after: tuple[int, ...]
    piece: Callable[[int], str]
    spellings: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    repairs: Sequence[Repair] = field(default=(), repr=False)
    plain: Ids | None = None

    def ids(self, text: str) -> list[int]:
        """The ids of a text with its template."""
        return [*self.before, *self.content(text), *self.after]

    def plain_ids(self, text: str) -> list[int]:
        """The ids of a text in which `spellings` are plain text."""
        return [*self.before, *(self.plain or self.content)(text), *self.after]


def set_template(backend: Tokenizer, before: Sequence[int], after: Sequence[int]) -> None:
    """Let a Rust tokenizer put these ids round every text, and the last ones behind each of two."""
    names = {number: str(backend.id_to_token(number)) for number in (*before, *after)}
    opening, closing = [names[number] for number in before], [names[number] for number in after]
    backend.post_processor = processors.TemplateProcessing(
        single=[*opening, "$A", *closing],
        pair=[*opening, "$A", *closing, "$B:1", *closing],
        special_tokens=[(name, number) for number, name in names.items()],
    )
