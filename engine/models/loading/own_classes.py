"""Classes of a model's own code, known to transformers in place of its own: in a confined process of this one model.

`adopt` imports and registers them; all else loads the model as any other, and never with `trust_remote_code`. In every
other process there are none.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformers import CONFIG_MAPPING, PreTrainedConfig

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.loading.architecture import AUTO_CLASSES
from engine.models.silence_transformers import one_line_message, silence_transformers
from engine.models.sources.model_files import read_config
from engine.models.sources.own_code.adopted import ADOPTED, CONFIG
from engine.processes.confinement.confine import is_confined


def adopt(directory: Path, code: Path, named: Mapping[str, tuple[str, str]]) -> None:
    """Import the classes of a model and register them, once in a process.

    directory: of config.json. code: the folder of the packages. named: module and class by Auto class, as
    `OwnCode.imported_names` has them. Raises RuntimeError where the process is not confined, ModelError where the code
    cannot be imported.
    """
    if not is_confined():
        raise RuntimeError("Code of others is imported in a confined process alone.")
    sys.path.insert(0, str(code))
    classes = {auto_class: _imported(auto_class, *where) for auto_class, where in named.items()}
    model_type = str(read_config(directory).get("model_type"))
    try:
        with silence_transformers():
            if CONFIG in classes:
                CONFIG_MAPPING.register(model_type, classes[CONFIG], exist_ok=True)
            config_class = classes.get(CONFIG) or CONFIG_MAPPING[model_type]
            for auto_class in AUTO_CLASSES.values():
                if auto_class.__name__ in classes:
                    auto_class.register(config_class, classes[auto_class.__name__], exist_ok=True)
    except Exception as error:  # the code decides what is raised
        raise _failed(error) from error
    ADOPTED.update(classes)


def _imported(auto_class: str, module: str, name: str) -> Any:
    try:
        with silence_transformers():
            found = getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # the code decides what is raised
        raise _failed(error) from error
    if not isinstance(found, type) or (auto_class == CONFIG and not issubclass(found, PreTrainedConfig)):
        raise _failed(TypeError(f"{name} is no class for {auto_class}"))
    return found


def _failed(error: BaseException) -> ModelError:
    return ModelError(
        Message(
            "The model's own code cannot be used: {class_name}: {error} It may need a package that is not installed, "
            "another version of transformers, or what a confined process cannot do (read other files, write, start "
            "programs, connect).",
            class_name=type(error).__name__,
            error=one_line_message(error) if isinstance(error, Exception) else str(error)[:300],
        )
    )
