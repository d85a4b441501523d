"""What a confined process starts with: the files that it may read, and an environment without anybody's secrets."""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.errors import ModelError
from engine.messages.message import Message
from engine.models.sources.model_location import LocatedModel
from engine.processes.import_path import PACKAGES, python_path

# The libraries of the system, and what of the kernel numerical libraries read.
_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime"),
    *("/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/sys/devices/system/cpu", "/dev/urandom", "/dev/random"),
)
# All that is taken over of the server's environment.
_KEPT = (
    *("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS"),
    *("OPENBLAS_NUM_THREADS", "HAKARI_THREADS", "HAKARI_PACKING", "HAKARI_MODEL_MEMORY_GB"),
)


def readable_paths(located: LocatedModel, code: Path, protected: Iterable[Path]) -> list[Path]:
    """The installation of Python, the engine, the system's libraries, the model's files and the copy of its code.

    protected: directories that none of these may hold. Raises ModelError where one does.
    """
    # Not all of sys.path: the folders of a checkout and of a user's script hold other files beside the code
    installed = {sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages(), *_of_the_user()}
    python = {os.path.realpath(path) for path in installed}
    engine = next(path for path in PACKAGES if path.endswith("engine"))
    model = [path.resolve() for path in located.directories]
    # A snapshot of the hub is links to files beside it, wherever the cache of the hub is
    repository = _in_cache(located) or located.path.resolve()
    linked = [file.resolve() for folder in model for file in folder.iterdir() if file.is_symlink() and file.is_file()]
    paths = [Path(path) for path in (*sorted(python), os.path.realpath(engine), *_SYSTEM)]
    for secret in (path.resolve() for path in protected):
        outer = [path for path in (*paths, *model) if secret.is_relative_to(path)]
        inner = [path for path in linked if path.is_relative_to(secret) and not path.is_relative_to(repository)]
        if outer or inner:
            raise ModelError(
                Message(
                    "The own code of {name} is not run: it reads {path}, where the data of Hakari would be open to it. "
                    "Move the data directory ({secret}), or the model.",
                    name=located.name,
                    path=(outer or inner)[0],
                    secret=secret,
                )
            )
    return [*paths, *model, *linked, code]


def scrubbed_environment(located: LocatedModel, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of the process. folder: what stands for its home, and for the system's temporary files."""
    kept = {name: environment[name] for name in _KEPT if name in environment}
    repository = _in_cache(located)
    return {
        **kept,
        **dict.fromkeys(("HOME", "TMPDIR", "HF_HOME", "XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR"), str(folder)),
        "HF_HUB_CACHE": str(repository.parent if repository else folder),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "PYTHONPATH": python_path(),
        "USER": "nobody",
        "HAKARI_DEVICE": "cpu",
        "HAKARI_TOKENIZERS": "0",  # it starts no processes
        "CUDA_VISIBLE_DEVICES": "",
    }


def _of_the_user() -> tuple[str, ...]:
    return (site.getusersitepackages(),) if site.ENABLE_USER_SITE else ()


def _in_cache(located: LocatedModel) -> Path | None:
    """The folder of a model of the hub in the cache, with all its snapshots; None for other models."""
    if located.source != "hub":
        return None
    return next((path.resolve() for path in located.path.parents if path.name.startswith("models--")), None)
