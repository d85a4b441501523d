"""A GGUF file as a model directory: its configuration and tokenizer written out, the weights a link to the file itself.

    chosen_file(DIRECTORY)      the file of a directory, where it holds one and no other weights
    prepared(FILE)              DIRECTORY with config.json, tokenizer and model.gguf, made once for each state of the file

The directory is a temporary one of this account. config.json, tokenizer.json and its like that lie beside the file are
those of the original model and go before what the header says, where they are of this model. Imports no torch.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources.gguf.configuration import checked_configuration, configuration, is_whole
from engine.models.sources.gguf.header import Header, is_gguf, read_header
from engine.models.sources.gguf.vocabulary import (
    SENTENCEPIECE,
    SETTINGS,
    TOKENIZER_JSON,
    require_same_pieces,
    tokenizer_files,
)
from engine.models.sources.model_files import (
    CONFIG,
    GGUF,
    PICKLED,
    SAFETENSORS,
    read_config,
)
from engine.models.sources.model_files import tokenizer_files as files_of_tokenizer

# To be incremented when another directory is made of the same file.
_LAYOUT = 1
CHAT_TEMPLATE = "chat_template.jinja"
_PARENT = "hakari-gguf"
_NAMES = "names.txt"  # of the files that were made, beside their directory
_SPLIT = re.compile(r"-\d{5}-of-(\d{5})\.gguf$")


def chosen_file(directory: Path) -> Path | None:
    """The GGUF file that a directory is read from; None where it has other weights, or no such file.

    Raises ModelError where there are several.
    """
    names = [path.name for path in directory.iterdir() if path.is_file()]
    if {*SAFETENSORS, *PICKLED}.intersection(names):
        return None
    found = sorted(filter(is_gguf, names))
    if len(found) > 1 and not is_part(found[0]):
        raise several(str(directory), found, f"{directory}/{found[0]}")
    return directory / found[0] if found else None


def several(where: str, names: list[str], example: str) -> ModelError:
    """The error for a place with several GGUF files, none of which was chosen."""
    return ModelError(
        Message(
            "{where} holds several models in the format GGUF ({names}). Name one of them, such as {example}.",
            where=where,
            names=list_of([*names[:20], *(["…"] if len(names) > 20 else [])]),
            example=example,
        )
    )


def is_part(name: str) -> bool:
    """Whether the name of a file is that of one part of several."""
    return _SPLIT.search(name) is not None


def require_whole(name: str) -> None:
    """Raise ModelError for the name of a file that is one part of several."""
    if parts := _SPLIT.search(name):
        raise ModelError(
            Message(
                "{name} is one of {n:,} parts, which are not read. Merge them once (llama-gguf-split --merge, of "
                "llama.cpp), or choose a file in one part.",
                name=name,
                n=int(parts[1]),
            )
        )


def prepared(file: Path) -> Path:
    """The directory of a file. Raises ModelError where the file is damaged, holds no model, or one that is not read."""
    require_whole(file.name)
    beside = _beside(file.parent)
    lines = [f"{_LAYOUT}\t{file.resolve()}"]
    for path in (file, *beside):
        state = path.stat()
        lines.append(f"{path.name}\t{state.st_size}\t{state.st_mtime_ns}")
    try:
        # By the name of the file, which errors about what is in it then say.
        directory = _parent() / sha256("\n".join(lines).encode()).hexdigest()[:32] / file.name
        if not _is_whole(directory):
            _write(directory, file, _contents(read_header(file), file.parent, beside))
        return directory
    except OSError as error:
        raise ModelError(
            Message(
                "What {path} says of its model cannot be written to {directory}: {error}. Make room there, or set "
                "TMPDIR to a directory that can be written.",
                path=file.name,
                directory=tempfile.gettempdir(),
                error=error,
            )
        ) from error


def _beside(directory: Path) -> list[Path]:
    """The files of the original model beside a GGUF file: its configuration, and its tokenizer where it is whole."""
    tokenizer = list(files_of_tokenizer(directory))
    if not {TOKENIZER_JSON, SENTENCEPIECE}.intersection(path.name for path in tokenizer):
        tokenizer = []
    others = [directory / CONFIG, *([directory / CHAT_TEMPLATE] if tokenizer else [])]
    return [*(path for path in others if path.is_file()), *tokenizer]


def _contents(header: Header, directory: Path, beside: list[Path]) -> dict[str, bytes]:
    published = read_config(directory) if (directory / CONFIG).is_file() else {}
    config = checked_configuration(header, published) if is_whole(published) else configuration(header)
    files = {path.name: path.read_bytes() for path in beside if path.name != CONFIG}
    if files:
        require_same_pieces(header, directory)
    else:
        files = tokenizer_files(header)
        config["tokenizer_class"] = json.loads(files[SETTINGS])["tokenizer_class"]
    return {CONFIG: json.dumps(config, indent=2, sort_keys=True).encode(), **files}


def _parent() -> Path:
    """The directory of this account for all of them: nobody else can put files there."""
    parent = Path(tempfile.gettempdir()) / f"{_PARENT}-{os.getuid()}"
    parent.mkdir(mode=0o700, exist_ok=True)
    state = parent.lstat()
    if not S_ISDIR(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(
            Message("{directory} belongs to another account, or others can write to it", directory=parent)
        )
    return parent


def _is_whole(directory: Path) -> bool:
    """Whether all is there that was made: systems take old files out of their temporary directory one by one."""
    try:
        names = (directory.parent / _NAMES).read_text().splitlines()
    except FileNotFoundError:
        return False
    return all((directory / name).exists() for name in names)


def _write(directory: Path, file: Path, contents: dict[str, bytes]) -> None:
    """Make a directory as a whole: it is moved to its place when all of it is there."""
    parent = directory.parent.parent
    if directory.parent.is_dir():  # only in part
        shutil.rmtree(directory.parent, ignore_errors=True)
    for inner in parent.glob("*/*"):
        if (inner / GGUF).is_symlink() and not (inner / GGUF).exists():  # its file is no more
            shutil.rmtree(inner.parent, ignore_errors=True)
    making = Path(tempfile.mkdtemp(dir=parent))
    try:
        inner = making / file.name
        inner.mkdir()
        (inner / GGUF).symlink_to(file.resolve())
        for name, content in contents.items():
            (inner / name).write_bytes(content)
        (making / _NAMES).write_text("\n".join([GGUF, *contents]))
        try:
            making.rename(directory.parent)
        except OSError:
            if not _is_whole(directory):  # another process has made it meanwhile
                raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
