"""The class of a tokenizer that is code of its repository, in the confined process of its model; None in every other."""

from __future__ import annotations

from typing import Any

_own: list[Any] = []


def use_own_tokenizer(tokenizer_class: Any) -> None:
    """Read the tokenizer of this process's model by a class of its own, once in a process."""
    _own.append(tokenizer_class)


def own_tokenizer() -> Any:
    """The class, None where there is none."""
    return _own[-1] if _own else None
