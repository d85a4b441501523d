"""The classes that a configuration names, held against those of the installed transformers.

transformers goes by `model_type` alone: a model of another class (a decoder made bidirectional, one with code of its
own) would be read as the plain class of its type without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import transformers

from engine.errors import ModelError
from engine.messages.message import Message, list_of, together
from engine.models.sources.own_code.adopted import has_own_model
from engine.models.sources.own_code.code_files import what_would_do

# The same weights, saved from another framework.
_FRAMEWORKS = ("TF", "Flax")
# What classes were called before, by their names today.
_FORMER_NAMES = {
    "LLaMAForCausalLM": "LlamaForCausalLM",
    "T5WithLMHeadModel": "T5ForConditionalGeneration",
    "RWForCausalLM": "FalconForCausalLM",
    "RWModel": "FalconModel",
}
# Auto classes whose code has no part in the numbers of a model; tokenizers are held against their files.
_NOT_A_MODEL = ("AutoTokenizer", "AutoProcessor", "AutoImageProcessor", "AutoFeatureExtractor", "AutoVideoProcessor")
_DIFFUSION = re.compile(r"diffus|llada|dream|mdlm|sedd|bd3lm|sdar", re.IGNORECASE)


def refuse_diffusion(name: str, fields: Mapping[str, Any]) -> None:
    """Raise ModelError for a diffusion language model, by its type and the classes that its config.json names."""
    named = [str(fields.get("model_type", "")), *_architectures(fields), *_mapped_classes(fields)]
    if diffusion := [word for word in named if _DIFFUSION.search(word)]:
        raise ModelError(
            Message(
                "{name} is a diffusion language model ({class_name}): it fills many masks in steps and gives a text no "
                "probability from left to right, and read as the plain architecture that it is built on it would be "
                "another model. Choose a causal or a masked model.",
                name=name,
                class_name=diffusion[0],
            )
        )


def known_architectures(name: str, fields: Mapping[str, Any], directory: Path | None = None) -> list[str]:
    """The `architectures` of a configuration by the names that the installed transformers has for them.

    fields: the content of config.json, of a `model_type` that transformers has and of types that `require_fields`
    holds; directory: where it is, to say what would have its own code run. Raises ModelError where a class that it
    names, there or in `auto_map`, is none of this transformers, and its own code is not run in this process.
    """
    if has_own_model():
        return list(_architectures(fields))
    architectures = [_name_today(architecture) for architecture in _architectures(fields)]
    if unknown := [word for word in dict.fromkeys([*architectures, *_mapped_classes(fields)]) if not _is_known(word)]:
        refused = Message(
            "config.json of {name} names a class that transformers {version} does not have ({class_name}): the "
            "weights would be read as the plain class of {model_type!r}, which is another model. If they belong to "
            "that class and only a head is the publisher's own, copy the model, write the plain class into "
            "architectures and take auto_map away; otherwise choose a model of a class that transformers has.",
            name=name,
            version=transformers.__version__,
            class_name=list_of(unknown[:3]),
            model_type=fields.get("model_type", "bert"),
        )
        raise ModelError(
            together(" ", [refused, what_would_do(directory)]) if directory and fields.get("auto_map") else refused
        )
    return architectures


def _architectures(fields: Mapping[str, Any]) -> list[str]:
    return fields.get("architectures") or []


def _mapped_classes(fields: Mapping[str, Any]) -> list[str]:
    """The classes of `auto_map` that have a part in the numbers of a model, without the modules they are in."""
    return sorted(
        {
            str(path).rpartition(".")[2]
            for auto_class, paths in (fields.get("auto_map") or {}).items()
            if auto_class not in _NOT_A_MODEL
            for path in (paths if isinstance(paths, list) else [paths])
            if path
        }
    )


def _name_today(architecture: str) -> str:
    for framework in _FRAMEWORKS:
        rest = architecture.removeprefix(framework)
        if rest != architecture and _is_known(rest):
            return rest
    return _FORMER_NAMES.get(architecture, architecture)


def _is_known(class_name: str) -> bool:
    return class_name.isidentifier() and isinstance(getattr(transformers, class_name, None), type)
