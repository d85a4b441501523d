"""What a directory of tokenizer files says by itself: ids and offsets by the file's own library, without transformers.

Tokenizers are written as their families publish them: files, the name of a class, and the roles of special tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, processors

Tokens = list[tuple[int, tuple[int, int]]]  # ids with their characters in the text
MAX_TOKENS = 200


@dataclass(frozen=True)
class Published:
    """A tokenizer as its files have it.

    size: the number of ids. before, after: ids of the special tokens round every text. roles: ids of special tokens
    ("bos_token", …). content: the tokens of a text without these. mask: the mask token where the file itself knows it
    in a text.
    """

    size: int
    before: list[int]
    after: list[int]
    roles: dict[str, int]
    content: Callable[[str], Tokens] = field(repr=False)
    mask: str = ""

    def ids(self, text: str) -> list[int]:
        """The ids of a text with the special tokens round it."""
        return [*self.before, *(token for token, _ in self.content(text)), *self.after]


Writer = Callable[[Path], Published]


def write_settings(folder: Path, class_name: str, roles: dict[str, str], **more: Any) -> None:
    """tokenizer_config.json."""
    settings = {"tokenizer_class": class_name, "model_max_length": MAX_TOKENS, **roles, **more}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")


def write_tokenizer_json(
    folder: Path,
    core: Tokenizer,
    class_name: str,
    roles: dict[str, str],
    before: str = "",
    after: str = "",
    **more: Any,
) -> Published:
    """tokenizer.json and tokenizer_config.json; `before` and `after` are special tokens in spaces."""
    core.save(str(folder / "tokenizer.json"))
    write_settings(folder, class_name, roles, **more)
    return read_tokenizer_json(folder / "tokenizer.json", roles, before, after)


def template(core: Tokenizer, before: str, after: str) -> processors.PostProcessor:
    """Special tokens round every text and after the second of two."""
    opening, closing = before.split(), after.split()
    return processors.TemplateProcessing(
        single=[*opening, "$A", *closing],
        pair=[*opening, "$A", *closing, "$B", *closing],
        special_tokens=[(name, core.token_to_id(name)) for name in dict.fromkeys([*opening, *closing])],
    )


def read_tokenizer_json(path: Path, roles: dict[str, str], before: str, after: str) -> Published:
    """What the file gives by the library `tokenizers`."""
    core = Tokenizer.from_file(str(path))
    id_of = core.get_vocab(with_added_tokens=True)

    def content(text: str) -> Tokens:
        encoding = core.encode(text, add_special_tokens=False)
        return list(zip(encoding.ids, encoding.offsets, strict=True))

    return Published(
        max(id_of.values()) + 1,
        [id_of[token] for token in before.split()],
        [id_of[token] for token in after.split()],
        {role: id_of[token] for role, token in roles.items()},
        content,
        roles.get("mask_token", ""),
    )
