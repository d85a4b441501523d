"""The files of a model directory: which ones decide its numbers, and fingerprints over their contents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of

CONFIG = "config.json"
ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_SAFETENSORS, ADAPTER_PICKLED = "adapter_model.safetensors", "adapter_model.bin"
# In the order in which transformers itself looks for weights: one file, or an index that names several.
SAFETENSORS = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
# The name of the link to a GGUF file in the directory that is made of it.
GGUF = "model.gguf"
TOKENIZER_SUFFIXES = (".json", ".txt", ".model", ".vocab", ".codes")
# Files with such suffixes that do not affect tokens. A file not listed here counts as the tokenizer's: two
# fingerprints for one tokenizer are better than one fingerprint for two.
NOT_TOKENIZER = frozenset(
    {
        CONFIG,
        ADAPTER_CONFIG,
        "generation_config.json",
        "pretraining.json",
        "trainer_state.json",
        "all_results.json",
        "train_results.json",
        "eval_results.json",
        "modules.json",
        "config_sentence_transformers.json",
        "sentence_bert_config.json",
        "LICENSE.txt",
        "requirements.txt",
    }
)
_INDEX_PURPOSE = Message("It names the files beside it that hold the weights.")
# A distributed checkpoint: transformers would read it instead of model.safetensors.
_DISTRIBUTED = re.compile(r"^shard-\d{5}-model-\d{5}-of-\d{5}\.safetensors$")


def read_config(directory: Path) -> dict[str, Any]:
    """config.json of a model directory. Raises ModelError when it is missing or no JSON object."""
    return read_json(directory / CONFIG, Message("A model directory holds config.json, weights and a tokenizer."))


def read_json(path: Path, purpose: str, *, repeated_keys: bool = True) -> dict[str, Any]:
    """The JSON object of a file. Raises ModelError, which ends with `purpose`, when it is missing or holds none.

    repeated_keys: False to refuse an object that names a key twice, of which JSON readers keep the last.
    """
    content = read_json_value(path, purpose, repeated_keys=repeated_keys)
    if not isinstance(content, dict):
        raise ModelError(
            Message(
                "{path} holds no JSON object but a {class_name}. {purpose}",
                path=path,
                class_name=type(content).__name__,
                purpose=purpose,
            )
        )
    return content


def read_json_value(path: Path, purpose: str, *, repeated_keys: bool = True) -> Any:
    """The JSON value of a file, of any type; `repeated_keys` as in `read_json`. Raises ModelError, with `purpose`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=None if repeated_keys else _unique)
    except FileNotFoundError as error:
        raise ModelError(
            Message("{parent} holds no {name}. {purpose}", parent=path.parent, name=path.name, purpose=purpose)
        ) from error
    except RecursionError as error:
        raise ModelError(
            Message("{path} cannot be read as JSON: it is nested too deeply. {purpose}", path=path, purpose=purpose)
        ) from error
    except (OSError, ValueError) as error:
        raise ModelError(
            Message("{path} cannot be read as JSON: {error}. {purpose}", path=path, error=error, purpose=purpose)
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError(Message("an object in it names a key twice"))
    return values


def weight_files(directory: Path) -> tuple[Path, ...]:
    """The files the weights are read from: safetensors where there are any, else pytorch_model.bin.

    Of an adapter (adapter_config.json) its own weights. Several files come with the index that names them, first.
    Raises ModelError when there are none, or when one that an index names is missing.
    """
    names = sorted(path.name for path in directory.iterdir())
    if adapter := _adapter_weights(directory, names):
        return adapter
    if any(_DISTRIBUTED.match(name) for name in names):
        raise ModelError(
            Message(
                "{directory} holds a distributed training checkpoint (shard-…-model-….safetensors). "
                "Save the model with save_pretrained and give that directory.",
                directory=directory,
            )
        )
    for single, index in (SAFETENSORS, PICKLED):
        if single in names:
            return (directory / single,)
        if index in names:
            return (directory / index, *_shards(directory / index))
    if GGUF in names:
        return (directory / GGUF,)
    other_names = ", ".join(name for name in names if name not in (CONFIG, *NOT_TOKENIZER))
    if not other_names:
        raise ModelError(
            Message(
                "There are no weights in {directory}: neither model.safetensors nor pytorch_model.bin "
                "(nor an index of several). Save the model with save_pretrained.",
                directory=directory,
            )
        )
    raise ModelError(
        Message(
            "There are no weights in {directory}: neither model.safetensors nor pytorch_model.bin "
            "(nor an index of several), only {other_names}. Save the model with save_pretrained.",
            directory=directory,
            other_names=other_names,
        )
    )


def has_weights(directory: Path) -> bool:
    """Whether a directory holds a model with weights, and not a tokenizer alone; a GGUF file is one."""
    try:
        if any(directory.glob("*.gguf")):
            return True
        return (directory / CONFIG).is_file() and bool(weight_files(directory))
    except ModelError:
        return False


def _adapter_weights(directory: Path, names: Sequence[str]) -> tuple[Path, ...]:
    present = [directory / name for name in (ADAPTER_SAFETENSORS, ADAPTER_PICKLED) if name in names]
    return tuple(present[:1]) if ADAPTER_CONFIG in names else ()


def tokenizer_files(directory: Path) -> tuple[Path, ...]:
    """The files that may determine how a text is tokenized, in name order."""
    return tuple(
        path
        for path in sorted(directory.iterdir())
        if path.suffix in TOKENIZER_SUFFIXES
        and path.name not in NOT_TOKENIZER
        and not path.name.endswith(".index.json")
        and path.is_file()
    )


def fingerprint(directory: Path, root: Path | None = None, module_files: Sequence[str] = ()) -> str:
    """SHA-256 over the names and contents of configuration, weights and tokenizer; see `model_files`.

    root, module_files: the directory of a sentence-transformers model, and its settings and modules' files relative to
    it (see `modules.settings_and_module_files`), which count as well. A model card or a training log beside them
    changes nothing. Raises ModelError as `weight_files` does.
    """
    is_adapter = (directory / ADAPTER_CONFIG).is_file()
    config = directory / (ADAPTER_CONFIG if is_adapter else CONFIG)
    files = [(path.name, path) for path in sorted([config, *weight_files(directory), *tokenizer_files(directory)])]
    return _digest([*files, *((name, (root or directory) / name) for name in sorted(module_files))])


def tokenizer_fingerprint(directory: Path, config_directory: Path | None = None) -> str:
    """SHA-256 over the tokenizer's files and the class that config.json names for them.

    config_directory: that of config.json, where the tokenizer has a directory of its own, as an adapter's may have.
    """
    config = read_config(config_directory or directory)
    return _of_tokenizer(directory, config)


def fingerprint_alone(directory: Path) -> str:
    """`tokenizer_fingerprint` of a directory that may have no config.json, because it holds no model."""
    return _of_tokenizer(directory, read_config(directory) if (directory / CONFIG).is_file() else {})


def _of_tokenizer(directory: Path, config: dict[str, Any]) -> str:
    tokenizer_class = f"{config.get('model_type')}:{config.get('tokenizer_class')}"
    digest = _digest((path.name, path) for path in tokenizer_files(directory))
    return sha256(f"{tokenizer_class}\n{digest}".encode()).hexdigest()


def _digest(files: Iterable[tuple[str, Path]]) -> str:
    lines = []
    for name, path in files:
        state = path.stat()
        lines.append(f"{name}\t{_content_digest(path, state.st_size, state.st_mtime_ns)}\n")
    return sha256("".join(lines).encode()).hexdigest()


@lru_cache(maxsize=1024)
def _content_digest(path: Path, size: int, modified: int) -> str:
    """`size` and `modified` are part of the key: a file that was written again is read again."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def shard_names(index: Path) -> list[str]:
    """The files that an index of weights names. Raises ModelError when it is malformed, or names one elsewhere."""
    shard_by_weight = read_json(index, _INDEX_PURPOSE).get("weight_map")
    if not isinstance(shard_by_weight, dict) or not all(isinstance(name, str) for name in shard_by_weight.values()):
        raise ModelError(
            Message(
                "{index} holds no weight_map from names of weights to files. {_INDEX_PURPOSE}",
                index=index,
                _INDEX_PURPOSE=_INDEX_PURPOSE,
            )
        )
    names = sorted(set(shard_by_weight.values()))
    if elsewhere := [name for name in names if not name or Path(name).name != name or name == ".." or "\\" in name]:
        raise ModelError(
            Message(
                "{index} names a file that is not beside it: {elsewhere!r}. {_INDEX_PURPOSE}",
                index=index,
                elsewhere=elsewhere[0],
                _INDEX_PURPOSE=_INDEX_PURPOSE,
            )
        )
    return names


def _shards(index: Path) -> list[Path]:
    shards = [index.parent / name for name in shard_names(index)]
    missing = [shard.name for shard in shards if not shard.is_file()]
    if missing or not shards:
        raise ModelError(
            Message(
                "{index} names weights that are not beside it: {listed}. Copy or download them all.",
                index=index,
                listed=list_of(missing) or Message("none at all"),
            )
        )
    return shards
