"""How a directory of sentence-transformers makes the vector of a sentence: read from modules.json and what it names.

A model published so has, behind the transformer, a pooling and possibly further modules (Dense, Normalize), a longest
input, lower-casing and prompts of its own. Imports no torch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ModelError

MODULES = "modules.json"
SETTINGS = "config_sentence_transformers.json"
# The names under which releases of sentence-transformers keep the settings of the transformer, the newest first.
TRANSFORMER_SETTINGS = tuple(f"sentence_{name}_config.json" for name in (
    "bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"))
MODULE_CONFIG = "config.json"
# Modules that are applied behind the transformer, by the last part of the class that modules.json names.
APPLIED = ("Pooling", "Dense", "Normalize", "LayerNorm", "Dropout")
PACKAGE = "sentence_transformers."
# How the settings of older releases name the kinds of pooling, in the order in which their vectors are joined.
_OLDER_MODES = {"pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max", "pooling_mode_mean_tokens": "mean",
                "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
                "pooling_mode_weightedmean_tokens": "weightedmean", "pooling_mode_lasttoken": "lasttoken"}


@dataclass(frozen=True)
class PublishedVectors:
    """What a directory of sentence-transformers says of the vector of a sentence.

    root: the directory of modules.json. modules: (class, folder below `root`) of what follows the transformer, in
    order. description: the same for readers. max_tokens: the longest input, beyond which a text is cut; None: the
    model's own limit. lower_case: whether texts are lower-cased first. prompts: by name; default_prompt: the name of
    the one that stands before every text, "" for none. truncate_dim: how many of the numbers of a vector are kept,
    None: all. problem: why vectors cannot be made this way, "" where they can.
    """

    root: str
    modules: tuple[tuple[str, str], ...] = ()
    description: str = ""
    max_tokens: int | None = None
    lower_case: bool = False
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt: str = ""
    truncate_dim: int | None = None
    problem: str = ""

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> PublishedVectors:
        """The record from `dataclasses.asdict`."""
        return cls(**{**fields, "modules": tuple((kind, folder) for kind, folder in fields["modules"])})


def read_published_vectors(root: Path) -> PublishedVectors | None:
    """What `root` says of the vector of a sentence; None for a directory without modules.json.

    Raises ModelError where one of the files cannot be read. Modules that are not followed here (custom code, models of
    word vectors or images) are the `problem` of the result: other ways of pooling are still possible.
    """
    if not (root / MODULES).is_file():
        return None
    modules = _json(root / MODULES, list)
    try:
        kinds = [(str(module["type"]), str(module.get("path", ""))) for module in modules]
    except (TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{root / MODULES} is not written by sentence-transformers: every module needs a type and a "
                         "path. Save the model anew with it.") from error
    settings = _json(root / SETTINGS, dict) if (root / SETTINGS).is_file() else {}
    prompts = settings.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(prompt, str) for prompt in prompts.values()):
        raise ModelError(f"{root / SETTINGS} holds prompts that are no texts by name. Correct the file.")
    default = settings.get("default_prompt_name") or ""
    if default and default not in prompts:
        raise ModelError(f"{root / SETTINGS} names {default!r} as its default prompt but has only "
                         f"{', '.join(prompts) or 'none'}. Correct the file.")
    problem = _problem(root, kinds)
    if problem:
        return PublishedVectors(str(root), problem=problem)
    transformer = _transformer_settings(_folder(root, kinds[0][1]))
    return PublishedVectors(
        str(root), tuple((kind.rpartition(".")[2], folder) for kind, folder in kinds[1:]),
        ", ".join(_described(root, kind.rpartition(".")[2], folder) for kind, folder in kinds[1:]),
        _whole_number(transformer.get("max_seq_length")), bool(transformer.get("do_lower_case")),
        dict(prompts), default, _whole_number(settings.get("truncate_dim")),
    )


def transformer_folder(root: Path) -> Path | None:
    """The folder of the transformer that modules.json names first; None without modules.json, or where it names none.

    Older releases put it into 0_Transformer; newer ones beside modules.json. Raises ModelError as
    `read_published_vectors`.
    """
    if not (root / MODULES).is_file():
        return None
    modules = _json(root / MODULES, list)
    first = modules[0] if modules and isinstance(modules[0], dict) else {}
    if str(first.get("type", "")).rpartition(".")[2] != "Transformer":
        return None
    return _folder(root, str(first.get("path", "")))


def _problem(root: Path, kinds: list[tuple[str, str]]) -> str:
    names = [kind.rpartition(".")[2] if kind.startswith(PACKAGE) else kind for kind, _ in kinds]
    if not names or names[0] != "Transformer":
        return f"its first module is {names[0] if names else 'missing'} and not a Transformer"
    if others := [name for name in names[1:] if name not in APPLIED]:
        return f"it has modules that Hakari does not apply ({', '.join(others)})"
    if "Pooling" not in names:
        return "it has no Pooling"
    if missing := [folder for name, (_, folder) in zip(names[1:], kinds[1:], strict=True)
                   if name in ("Pooling", "Dense", "LayerNorm") and not (_folder(root, folder) / MODULE_CONFIG).is_file()]:
        return f"{MODULE_CONFIG} is missing in {', '.join(missing)}"
    return ""


def _described(root: Path, kind: str, folder: str) -> str:
    path = _folder(root, folder) / MODULE_CONFIG
    config = _json(path, dict) if path.is_file() else {}
    if kind == "Pooling":
        modes = config.get("pooling_mode") or [mode for key, mode in _OLDER_MODES.items() if config.get(key)] or "mean"
        pooling = modes if isinstance(modes, str) else " and ".join(map(str, modes))
        return f"pooling {pooling}{'' if config.get('include_prompt', True) else ' without the prompt'}"
    if kind == "Dense":
        activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
        return f"Dense {config.get('in_features')} → {config.get('out_features')} {activation}"
    return kind


def _transformer_settings(folder: Path) -> dict[str, Any]:
    for name in TRANSFORMER_SETTINGS:
        if (folder / name).is_file():
            return dict(_json(folder / name, dict))
    return {}


def _folder(root: Path, name: str) -> Path:
    """A folder below `root`. Raises ModelError for a name that leads elsewhere."""
    folder = (root / name).resolve()
    if not folder.is_relative_to(root.resolve()) and not folder.is_relative_to(root):
        raise ModelError(f"{root / MODULES} names the folder {name!r}, which is not below it. Correct the file.")
    return root / name


def _json(path: Path, kind: type[Any]) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read as JSON: {error}. Copy or download it again.") from error
    if not isinstance(content, kind):
        raise ModelError(f"{path} holds a {type(content).__name__} where sentence-transformers writes a "
                         f"{kind.__name__}. Copy or download it again.")
    return content


def _whole_number(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
