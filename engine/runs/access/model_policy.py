"""The models and files that users of an instance may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from engine.errors import AccessError
from engine.runs.storage.json_codec import texts_of

BUILT_IN_PREFIX = "builtin/"


@dataclass(frozen=True)
class ModelPolicy:
    """The models and files that settings may name.

    patterns: names and Hugging Face ids with "*" as a wildcard ("cl-tohoku/*"); None allows every id. directories:
    models in or below these are allowed. any_path: allows every path, on a single-user machine.
    """

    patterns: tuple[str, ...] | None = None
    directories: tuple[Path, ...] = ()
    any_path: bool = True

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise AccessError when settings (JSON-able) name a model or a file that is not allowed."""
        models = {str(name) for key in ("models", "model") for name in _as_list(settings.get(key))}
        for name in sorted(models):
            self._check_model(name)
        if self.any_path:
            return
        for text in sorted(set(texts_of({k: v for k, v in settings.items() if k not in ("models", "model")}))):
            if is_path(text):
                raise AccessError(f"Files of the server cannot be used; got {text!r}. Upload the file instead.")

    def _check_model(self, name: str) -> None:
        target = name.partition("=")[2] or name  # CARD=DIRECTORY applies the recipe of a card to a directory
        if is_path(target):
            if not self.any_path and not self._is_below(target):
                raise AccessError(f"The directory {target!r} is not among the models of this instance. "
                                  f"{self._allowed_models()}")
            return
        if self.patterns is None or name.startswith(BUILT_IN_PREFIX):
            return
        if not any(fnmatchcase(name.partition("@")[0], pattern) for pattern in self.patterns):
            raise AccessError(f"The model {name!r} is not among those of this instance. {self._allowed_models()}")

    def _is_below(self, name: str) -> bool:
        """Whether a directory is in or below an allowed one, after resolving links."""
        try:
            path = Path(name).resolve()
        except (OSError, ValueError, RuntimeError):
            return False
        return any(path.is_relative_to(directory.resolve()) for directory in self.directories)

    def _allowed_models(self) -> str:
        listed = [*(self.patterns or ()), *map(str, self.directories)]
        allowed = ", ".join(["the built-in ones", *listed])
        return f"Allowed are: {allowed}. Ask the administrator to allow another."


def model_policy(environment: Mapping[str, str], *, hosted: bool) -> ModelPolicy:
    """The policy of HAKARI_ALLOWED_MODELS: names, ids with "*" and directories, separated by commas.

    If it is not set, a single-user machine allows everything, a hosted instance every id and no path.
    """
    entries = [entry.strip() for entry in environment.get("HAKARI_ALLOWED_MODELS", "").split(",") if entry.strip()]
    directories = tuple(Path(entry).expanduser() for entry in entries if is_path(entry))
    patterns = tuple(entry for entry in entries if not is_path(entry))
    return ModelPolicy(patterns if entries else None, directories, any_path=not (hosted or entries))


def is_path(text: str) -> bool:
    """Whether a text is a path rather than a name or an id ("owner/name") of a model.

    >>> [is_path(text) for text in ("cl-tohoku/bert-base", "gpt2", "/etc/passwd", "../x", "~/m", "a/b/c")]
    [False, False, True, True, True, True]
    """
    if not text or text.startswith(BUILT_IN_PREFIX):
        return ".." in text
    if text.startswith(("/", ".", "~", "\\")) or "\\" in text or "\0" in text or text[1:2] == ":":
        return True
    if text.count("/") > 1:
        return True
    try:
        return Path(text).exists()  # a relative path such as "models/mine"
    except (OSError, ValueError):
        return True


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)
