"""What a process may import by its plain name: the checkout and what is installed, never a folder inside of a package.

`streamlit run dashboard/server.py` puts `dashboard/` on `sys.path`, and so does every run of a page; processes that are
started meanwhile inherit it. Then `import datasets` is our folder and not Hugging Face's library.
"""

from __future__ import annotations

import contextlib
import os
import site
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import ModuleType

_HOUSE = Path(__file__).resolve().parents[2]
PACKAGES = tuple(os.path.join(_HOUSE, name) for name in ("dashboard", "engine"))
# The folder from which they are imported: the checkout, or the one above the installed package `hakari`.
ROOT = str(_HOUSE.parent if (_HOUSE / "__init__.py").exists() else _HOUSE)
_LOADERS = (
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceFileLoader, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


class _Submodules(FileFinder):
    """Finds in a folder of a package what is imported by its full name, and nothing else."""

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module of a name with a dot; for any other name there is none here."""
        return super().find_spec(fullname, target) if "." in fullname else None


def keep_folders_in_packages() -> None:
    """Take the folders of `dashboard` and `engine` off the path of this process, and let none that is put there again
    be found by its plain name."""
    leave_folders_of_packages()
    if _hook in sys.path_hooks:
        return
    sys.path_hooks.insert(0, _hook)
    for path in list(sys.path_importer_cache):
        if _is_inside(path):
            del sys.path_importer_cache[path]


def leave_folders_of_packages() -> None:
    """Take the folders of `dashboard` and `engine` off the path of this process.

    For a process that has inherited its path, and for one that is about to start others.
    """
    # One entry at a time: other threads run pages, and with each an entry comes and goes.
    for path in filter(_is_inside, list(sys.path)):
        with contextlib.suppress(ValueError):
            sys.path.remove(path)


def python_path(*further: str | None) -> str:
    """A PYTHONPATH by which a Python that is started imports this code, and what is on `further` paths.

    An interpreter finds its own site-packages by itself; named there, they would come before the standard library.
    """
    own = [] if ROOT in map(os.path.realpath, site.getsitepackages()) else [ROOT]
    return os.pathsep.join([*own, *filter(None, further)])


def _is_inside(path: str) -> bool:
    return isinstance(path, str) and f"{os.path.realpath(path)}{os.sep}".startswith(_BEGINNINGS)


def _hook(path: str) -> FileFinder:
    """For `sys.path_hooks`."""
    if not _is_inside(path):
        raise ImportError(path)
    return _Submodules(path, *_LOADERS)


_BEGINNINGS = tuple(f"{package}{os.sep}" for package in PACKAGES)
