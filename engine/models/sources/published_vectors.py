"""How a directory of sentence-transformers makes the vector of a sentence: read from modules.json and what it names.

A model published so has, after the transformer, a pooling and possibly further modules (Dense, Normalize), a longest
input, lower-casing and prompts of its own. Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of, together
from engine.models.sources.model_files import CONFIG, read_json
from engine.models.sources.modules import Module, read_modules

SETTINGS = "config_sentence_transformers.json"
# The names under which releases of sentence-transformers keep the settings of the transformer, the newest first.
TRANSFORMER_SETTINGS = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
# Modules that are applied after the transformer; of some the folder may be missing.
APPLIED = ("Pooling", "Dense", "Normalize", "LayerNorm", "Dropout")
_WITH_FILES = ("Pooling", "Dense", "LayerNorm")
PACKAGE = "sentence_transformers"
_ADVICE = Message("Copy or download it again.")
# What the settings of the transformer say of one that gives the states of a text's tokens.
_TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
_USUAL = {"transformer_task": "feature-extraction", "module_output_name": "token_embeddings"}
# Arguments for loading and calling it, under their newer and older names; some change no vector here.
_ARGUMENTS = (
    "processing_kwargs",
    "model_kwargs",
    "model_args",
    "config_kwargs",
    "config_args",
    "processor_kwargs",
    "tokenizer_args",
)
_WITHOUT_EFFECT = (
    "attn_implementation",
    "device_map",
    "dtype",
    "padding_side",
    "torch_dtype",
    "trust_remote_code",
    "unpad_inputs",
    "use_fast",
    "use_safetensors",
)
# Of the arguments of its configuration, what is followed: whether a decoder reads from left to right.
_CONFIG_ARGUMENTS, IS_CAUSAL = ("config_kwargs", "config_args"), "is_causal"
# How the settings of older releases name the kinds of pooling, in the order in which their vectors are joined.
_OLDER_MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


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
    modules = read_modules(root)
    if not modules:
        return None
    settings = read_json(root / SETTINGS, _ADVICE) if (root / SETTINGS).is_file() else {}
    prompts = settings.get("prompts") or {}
    if not isinstance(prompts, dict) or not all(isinstance(prompt, str | None) for prompt in prompts.values()):
        raise ModelError(
            Message(
                "{SETTINGS} holds prompts that are no texts by name. {_ADVICE}",
                SETTINGS=root / SETTINGS,
                _ADVICE=_ADVICE,
            )
        )
    prompts = {name: prompt or "" for name, prompt in prompts.items()}
    default = settings.get("default_prompt_name") or ""
    if default and (not isinstance(default, str) or default not in prompts):
        raise ModelError(
            Message(
                "{SETTINGS} names {default!r} as its default prompt but has {listed}. {_ADVICE}",
                SETTINGS=root / SETTINGS,
                default=default,
                listed=list_of(prompts) or Message("none"),
                _ADVICE=_ADVICE,
            )
        )
    transformer = _transformer_settings(root / modules[0].folder)
    if problem := _problem(root, modules) or _problem_of_settings(transformer, settings):
        return PublishedVectors(str(root), problem=problem)
    return PublishedVectors(
        str(root),
        tuple((module.kind, module.folder) for module in modules[1:]),
        together(", ", (_described(root, module) for module in modules[1:])),
        transformer.get("max_seq_length"),
        bool(transformer.get("do_lower_case")),
        prompts,
        default,
        settings.get("truncate_dim"),
    )


def stated_is_causal(folder: Path) -> bool | None:
    """Whether a decoder reads from left to right, as the settings of the transformer in `folder` say; None: they do not.

    Raises ModelError where they cannot be read.
    """
    settings = _transformer_settings(folder)
    arguments = [settings.get(name) for name in _CONFIG_ARGUMENTS]
    stated = [given[IS_CAUSAL] for given in arguments if isinstance(given, dict) and IS_CAUSAL in given]
    return bool(stated[0]) if stated else None


def _problem(root: Path, modules: tuple[Module, ...]) -> str:
    names = [module.kind if module.package == PACKAGE else f"{module.package}….{module.kind}" for module in modules]
    if names[0] != "Transformer":
        return Message("its first module is a {names} and not a Transformer", names=names[0])
    if others := [name for name in names[1:] if name not in APPLIED]:
        return Message("it has modules that Hakari does not apply ({others})", others=list_of(others))
    if "Pooling" not in names:
        return Message("it has no Pooling")
    if missing := [
        module.folder
        for module in modules[1:]
        if module.kind in _WITH_FILES and not (root / module.folder / CONFIG).is_file()
    ]:
        return Message("{CONFIG} is missing in {missing}", CONFIG=CONFIG, missing=list_of(missing))
    activations = [
        str(read_json(root / module.folder / CONFIG, _ADVICE).get("activation_function", "torch."))
        for module in modules[1:]
        if module.kind == "Dense"
    ]
    if others := [name for name in activations if not name.startswith("torch.")]:
        # The library would take Tanh in its place.
        return Message("its Dense applies {others}, code that Hakari does not run", others=others[0])
    return ""


def _problem_of_settings(transformer: dict[str, Any], settings: dict[str, Any]) -> str:
    """Why texts are read in a way that is not followed here; "" where they are tokenized as they stand."""
    modalities = transformer.get("modality_config") or {"text": _TEXT}
    if not isinstance(modalities, dict) or modalities.get("text") != _TEXT or "message" in modalities:
        return Message("it reads texts as messages of its chat template, or by a method of its own")
    for name, usual in _USUAL.items():
        if transformer.get(name) not in (None, usual):
            return Message("its transformer has the {name} {name_!r}", name=name, name_=transformer[name])
    for name in _ARGUMENTS:
        arguments = transformer.get(name) or {}
        names = arguments if isinstance(arguments, dict) else [arguments]
        followed = (*_WITHOUT_EFFECT, *((IS_CAUSAL,) if name in _CONFIG_ARGUMENTS else ()))
        if others := [str(key) for key in names if key not in followed]:
            return Message("its transformer is called with {name} ({others})", name=name, others=list_of(others))
    for name, value in (
        ("max_seq_length", transformer.get("max_seq_length")),
        ("truncate_dim", settings.get("truncate_dim")),
    ):
        if value is not None and (type(value) is not int or value < 1):
            return Message("its {name} is {value!r}, no whole number above 0", name=name, value=value)
    return ""


def _described(root: Path, module: Module) -> str:
    path = root / module.folder / CONFIG
    config = read_json(path, _ADVICE) if module.kind in _WITH_FILES else {}
    if module.kind == "Pooling":
        modes = config.get("pooling_mode") or [mode for key, mode in _OLDER_MODES.items() if config.get(key)] or "mean"
        pooling = modes if isinstance(modes, str) else together(" and ", map(str, modes))
        return (
            Message("pooling {pooling}", pooling=pooling)
            if config.get("include_prompt", True)
            else Message("pooling {pooling} without the prompt", pooling=pooling)
        )
    if module.kind == "Dense":
        activation = str(config.get("activation_function", "Tanh")).rpartition(".")[2]
        return Message(
            "Dense {n_in} → {n_out} {activation}",
            n_in=config.get("in_features"),
            n_out=config.get("out_features"),
            activation=activation,
        )
    return module.kind


def _transformer_settings(folder: Path) -> dict[str, Any]:
    for name in TRANSFORMER_SETTINGS:
        if (folder / name).is_file():
            return read_json(folder / name, _ADVICE)
    return {}
