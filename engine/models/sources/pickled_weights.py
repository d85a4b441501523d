"""On a hosted instance weights are read as safetensors only, unless its operator allows a model's pytorch_model.bin.

torch's weights-only loading refuses code in such a file; a format that cannot hold code is safer where any user may
name a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from engine.errors import ModelError
from engine.hosted import is_hosted
from engine.messages.message import Message

ALLOWED_VARIABLE = "HAKARI_ALLOWED_BIN_MODELS"
SUFFIX = ".bin"


def require_allowed(name: str, files: Iterable[str | Path]) -> None:
    """Raise ModelError when weights of a model are to be read from a .bin file that a hosted instance does not allow.

    `name`: the id or the directory as it was given; `files`: the weights' files.
    """
    if not any(str(file).endswith((SUFFIX, SUFFIX + ".index.json")) for file in files):
        return
    if not is_hosted():
        return
    allowed = [entry.strip() for entry in os.environ.get(ALLOWED_VARIABLE, "").split(",") if entry.strip()]
    if not any(fnmatchcase(name.partition("@")[0], pattern) for pattern in allowed):
        raise ModelError(
            Message(
                "{name} has its weights as pytorch_model.bin only, and this instance reads "
                "safetensors. Choose a model that has them, or ask the operator of this instance to "
                "list it in {ALLOWED_VARIABLE}.",
                name=name,
                ALLOWED_VARIABLE=ALLOWED_VARIABLE,
            )
        )
