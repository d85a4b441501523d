"""What a model is called whose scores are from a file. Read by what locates models, so nothing here imports pandas."""

from __future__ import annotations

# Before the name of the model, as settings name it.
PREFIX = "scores/"


def is_from_file(model: str) -> bool:
    """Whether the name of a model, without its label, is that of scores from a file.

    >>> is_from_file("scores/gpt-4"), is_from_file("owner/scores")
    (True, False)
    """
    return model.startswith(PREFIX)
