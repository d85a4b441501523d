"""The models and files that users of an instance may use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import AccessError
from engine.evaluations.catalog import FILE_SETTINGS
from engine.messages.message import Message
from engine.models.sources.allowed_models import AllowedModels, allowed_models, is_path
from engine.models.sources.names import require_distinct, without_label
from engine.runs.storage.json_codec import texts_of


@dataclass(frozen=True)
class ModelPolicy:
    """The models and files that settings may name; the base model of an adapter is checked where it is located."""

    models: AllowedModels = field(default_factory=AllowedModels)

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise AccessError when settings (JSON-able) name a model or a file that is not allowed.

        Raises InputError for models that are not distinct, ModelError for a label that cannot be; see
        `require_distinct`.
        """
        require_distinct([str(name) for name in _as_list(settings.get("models"))])
        names = {str(name) for key in ("models", "model") for name in _as_list(settings.get(key))}
        names |= {without_label(str(name)) for name in _as_list(settings.get("tokenizer"))}
        for name in sorted(names):
            self.models.require(name)
        if self.models.any_path:
            return
        for text in sorted(set(file_names(settings))):
            if is_path(text):
                raise AccessError(
                    Message("Files of the server cannot be used; got {text!r}. Upload the file instead.", text=text)
                )


def model_policy(environment: Mapping[str, str], *, hosted: bool) -> ModelPolicy:
    """The policy of HAKARI_ALLOWED_MODELS; see `allowed_models`."""
    return ModelPolicy(allowed_models(environment, hosted=hosted))


def file_names(settings: Mapping[str, Any]) -> Iterator[str]:
    """What settings (JSON-able) have where a file may be named; a prompt or a reading names none, whatever it holds."""
    for name, value in settings.items():
        if name in FILE_SETTINGS:
            yield from texts_of(value)
        elif isinstance(value, Mapping):
            yield from file_names(value)


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)
