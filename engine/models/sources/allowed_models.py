"""The models that an instance allows, by name: those that settings name, and the base models of adapters."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from engine.datasets.outside_names import is_from_file
from engine.errors import AccessError
from engine.hosted import is_hosted
from engine.messages.message import Message
from engine.models.sources.cards import BUILT_IN_PREFIX, PAPER_PREFIX
from engine.models.sources.endpoint_names import is_endpoint
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.names import is_directory, split_label, split_revision, split_subfolder
from engine.models.sources.paper_cards import PAPER_CARDS

ALLOWED_VARIABLE = "HAKARI_ALLOWED_MODELS"


@dataclass(frozen=True)
class AllowedModels:
    """The models that may be named.

    patterns: names and Hugging Face ids with "*" as a wildcard ("cl-tohoku/*"); None allows every id. directories:
    models in or below these are allowed, or GGUF files. any_path: allows every path, on a single-user machine.
    """

    patterns: tuple[str, ...] | None = None
    directories: tuple[Path, ...] = ()
    any_path: bool = True

    def require(self, name: str) -> None:
        """Raise AccessError where a model's name, as the user types it, leads to one that is not allowed.

        With a card before it (CARD=owner/name, CARD=DIRECTORY) what follows decides; a card alone, or the model of the
        hub that it stands for, may be listed. A folder or a revision of a repository needs no entry of its own.
        A label (LABEL=MODEL) decides nothing. Raises ModelError for a label that cannot be.
        """
        name = split_label(name)[1]
        # The operator names each endpoint, or there is none; scores from a file lead to no model.
        if is_endpoint(name) or is_from_file(name):
            return
        _, equals, rest = name.partition("=")
        target = rest if equals and rest and not is_directory(name) else name
        if is_path(target):
            if not self.any_path and not self._is_below(target):
                raise AccessError(
                    Message(
                        "The directory {target!r} is not among the models of this instance. {listed}",
                        target=target,
                        listed=self._listed(),
                    )
                )
            return
        if self.patterns is None or target.startswith(BUILT_IN_PREFIX):
            return
        target = split_revision(target)[0].removesuffix("=")
        names = {target, split_subfolder(target)[0]}
        if target.startswith(PAPER_PREFIX) and target in PAPER_CARDS:
            names |= {PAPER_CARDS[target].hub or target}
        if not any(fnmatchcase(allowed, pattern) for allowed in names for pattern in self.patterns):
            raise AccessError(
                Message(
                    "The model {name!r} is not among those of this instance. {listed}", name=name, listed=self._listed()
                )
            )

    def _is_below(self, name: str) -> bool:
        """Whether a directory or a GGUF file is an allowed one, or below one, after resolving links to directories."""
        try:
            place = _place(Path(name))
        except (OSError, ValueError, RuntimeError):
            return False
        return any(place.is_relative_to(_place(directory)) for directory in self.directories)

    def _listed(self) -> str:
        if allowed := ", ".join([*(self.patterns or ()), *map(str, self.directories)]):
            return Message(
                "Allowed are: the built-in ones, {allowed}. Ask the administrator to allow another.", allowed=allowed
            )
        return Message("Allowed are: the built-in ones. Ask the administrator to allow another.")


def _place(path: Path) -> Path:
    """A path without links; a GGUF file, which may itself be one, stays where it is named."""
    return path.parent.resolve() / path.name if is_gguf(path.name) and path.is_file() else path.resolve()


def allowed_models(environment: Mapping[str, str] | None = None, *, hosted: bool | None = None) -> AllowedModels:
    """What HAKARI_ALLOWED_MODELS allows: names, ids with "*" and directories, separated by commas.

    If it is not set, a single-user machine allows everything, a hosted instance every id and no path. environment:
    that of this process where it is not given. hosted: whether members sign in; by default the environment says so.
    """
    environment = os.environ if environment is None else environment
    hosted = is_hosted(environment) if hosted is None else hosted
    entries = [entry.strip() for entry in environment.get(ALLOWED_VARIABLE, "").split(",") if entry.strip()]
    directories = tuple(Path(entry).expanduser() for entry in entries if is_path(entry))
    patterns = tuple(entry for entry in entries if not is_path(entry))
    return AllowedModels(patterns if entries else None, directories, any_path=not (hosted or entries))


def is_path(text: str) -> bool:
    """Whether a text is a path rather than a name or an id ("owner/name", "owner/name:folder") of a model.

    >>> [is_path(text) for text in ("cl-tohoku/bert-base", "gpt2", "/etc/passwd", "../x", "~/m", "a/b/c", "a/b:c/d")]
    [False, False, True, True, True, True, False]
    """
    if not text or text.startswith(BUILT_IN_PREFIX):
        return ".." in text
    if text.startswith(("/", ".", "~", "\\")) or "\\" in text or "\0" in text or text[1:2] == ":" or ".." in text:
        return True
    if text.partition("@")[0].partition(":")[0].count("/") > 1:
        return True
    try:
        return Path(text).exists()  # a relative path such as "models/mine"
    except (OSError, ValueError):
        return True
