"""The modules of a sentence-transformers directory: which folder holds the transformer, and which files follow it.

    modules.json   [{"path": "", "type": "….Transformer"}, {"path": "1_Pooling", …}, {"path": "2_Dense", …}]

Older directories hold the transformer in a folder of its own (0_Transformer), newer ones beside modules.json.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.sources.model_files import ADAPTER_CONFIG, CONFIG, PICKLED, SAFETENSORS, read_json_value

MODULES = "modules.json"
# How sentences are read, beside the files of the transformer itself.
SETTINGS = (MODULES, "config_sentence_transformers.json", "sentence_bert_config.json")
_PURPOSE = Message("It lists the modules of a sentence-transformers model.")
# Modules that sentence-transformers saves without a file.
_WITHOUT_FILES = ("Normalize",)


@dataclass(frozen=True)
class Module:
    """One entry of modules.json: its folder ("" for the directory itself) and the last part of its type.

    package: the first part of its type.
    """

    folder: str
    kind: str
    package: str = "sentence_transformers"


def read_modules(root: Path) -> tuple[Module, ...]:
    """The modules that modules.json lists, in their order; none without that file.

    Raises ModelError when it is malformed, or names a folder outside of `root`.
    """
    path = root / MODULES
    if not path.is_file():
        return ()
    entries = read_json_value(path, _PURPOSE)
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and isinstance(entry.get("path"), str) and isinstance(entry.get("type"), str)
        for entry in entries
    ):
        raise ModelError(
            Message('{path} is no list of modules with "path" and "type". {_PURPOSE}', path=path, _PURPOSE=_PURPOSE)
        )
    for folder in (entry["path"] for entry in entries):
        if folder and not is_inner_folder(folder):
            raise ModelError(
                Message(
                    "{path} names the folder {folder!r}, which is not below {root}. {_PURPOSE}",
                    path=path,
                    folder=folder,
                    root=root,
                    _PURPOSE=_PURPOSE,
                )
            )
    return tuple(
        Module(entry["path"].rstrip("/"), entry["type"].rpartition(".")[2], entry["type"].partition(".")[0])
        for entry in entries
    )


def is_inner_folder(folder: str) -> bool:
    """Whether a folder's name leads to a place below the directory that it is relative to.

    >>> [is_inner_folder(folder) for folder in ("1_Pooling", "a/b", "../b", "/b", "a//b", "")]
    [True, True, False, False, False, False]
    """
    parts = folder.rstrip("/").split("/")
    return all(part and part not in (".", "..") and "\\" not in part and "\0" not in part for part in parts)


def transformer_folder(modules: tuple[Module, ...], has_file: Callable[[str], bool]) -> str:
    """The folder of the transformer, relative to that of modules.json; "" where it is the same one.

    has_file: whether the path of a file, relative to the same directory, is there.
    """
    folder = modules[0].folder if modules else ""
    is_transformer = folder and any(has_file(f"{folder}/{name}") for name in (CONFIG, ADAPTER_CONFIG))
    return folder if is_transformer else ""


def module_files(modules: tuple[Module, ...], transformer: str, has_file: Callable[[str], bool]) -> list[str]:
    """The files of the modules after the transformer: configuration and weights, safetensors where there are any.

    Paths are relative to the directory of modules.json.
    """
    files = []
    for folder in dict.fromkeys(module.folder for module in modules if module.folder not in ("", transformer)):
        weights = [f"{folder}/{name}" for name in (SAFETENSORS[0], PICKLED[0]) if has_file(f"{folder}/{name}")]
        files += [path for path in (f"{folder}/{CONFIG}",) if has_file(path)] + weights[:1]
    return files


def missing_module_files(root: Path, modules: tuple[Module, ...], transformer: str) -> list[str]:
    """The configurations of modules that are not in `root`, as after a download that left them out."""
    paths = [
        f"{module.folder}/{CONFIG}"
        for module in modules
        if module.folder not in ("", transformer) and module.kind not in _WITHOUT_FILES
    ]
    return [path for path in paths if not (root / path).is_file()]


def settings_and_module_files(root: Path, transformer: str) -> list[str]:
    """The files that decide how sentences are read beside those of the transformer, relative to `root`.

    Raises ModelError as `read_modules`.
    """

    def has_file(path: str) -> bool:
        return (root / path).is_file()

    settings = [str(PurePosixPath(folder) / name) for folder in dict.fromkeys(("", transformer)) for name in SETTINGS]
    return [path for path in settings if has_file(path)] + module_files(read_modules(root), transformer, has_file)


def module_directories(root: Path) -> tuple[Path, ...]:
    """The folders of the modules in `root`; none where it has none, or its modules.json is malformed."""
    try:
        folders = dict.fromkeys(module.folder for module in read_modules(root) if module.folder)
    except ModelError:
        return ()
    return tuple(root / folder for folder in folders if (root / folder).is_dir())
