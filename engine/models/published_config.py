"""config.json as transformers reads it, without statements that say nothing and that transformers stumbles over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoConfig, PreTrainedConfig

from engine.models.sources.model_files import read_config


def transformers_config(directory: Path) -> PreTrainedConfig:
    """The configuration in a directory. Raises what transformers does, errors of any class, for a malformed one."""
    fields = read_config(directory)
    config: PreTrainedConfig = (
        AutoConfig.for_model(**_without_empty_statements(fields))
        if has_empty_statements(fields)
        else AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    )
    return config


def has_empty_statements(fields: dict[str, Any]) -> bool:
    """Whether a configuration says `dtype: auto`, or `quantization_config: {}`."""
    return _without_empty_statements(fields) != fields


def _without_empty_statements(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _without_empty_statements(value) if isinstance(value, dict) and name.endswith("_config") else value
        for name, value in fields.items()
        if not (name in ("dtype", "torch_dtype") and value == "auto")
        and not (name == "quantization_config" and not value)
    }
