"""From a model's name to a directory: a built-in model, a local directory, or a download from the Hugging Face Hub.

A card of the papers before the name (paper/kyoto-univ=DIRECTORY) selects the recipe by which the files are read.
Imports no torch, so that the process that watches a run can fetch a model and show the progress.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from engine.errors import ModelError
from engine.models.sources import cards, model_files, recipes
from engine.models.sources.facts import Source
from engine.models.sources.hub_download import ALTERNATIVES, Report, download
from engine.models.sources.layouts import require_model
from engine.models.sources.modules import (
    is_inner_folder,
    module_directories,
    module_files,
    read_modules,
    settings_and_module_files,
    transformer_folder,
)
from engine.models.sources.names import as_path, split_card, split_subfolder
from engine.models.sources.pickled_weights import require_allowed
from engine.models.sources.recipe_files import recipe_for
from engine.models.sources.recipes import Recipe

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True)
class LocatedModel:
    """A model's files, and the recipe by which they are read. `commit` is that of the hub, None for other sources.

    path: the directory of the transformer. transformer: its folder in `root`, the directory of modules.json, where a
    sentence-transformers model holds it in a folder of its own; else "", and both are the same directory. subfolder: of
    the repository on the hub.
    """

    name: str
    source: Source
    path: Path
    revision: str | None = None
    commit: str | None = None
    card: str | None = None
    recipe: Recipe | None = None
    transformer: str = ""
    subfolder: str = ""

    @property
    def root(self) -> Path:
        """The directory that was named: that of modules.json for a sentence-transformers model."""
        n_folders = len(PurePosixPath(self.transformer).parts)
        return self.path.parents[n_folders - 1] if n_folders else self.path

    @property
    def directories(self) -> tuple[Path, ...]:
        """All directories that hold files of the model."""
        return tuple(dict.fromkeys((self.root, self.path, *module_directories(self.root))))

    @property
    def fingerprint(self) -> str:
        """The model's part of a cache key: the hub's commit, or a SHA-256 over the files that affect results.

        With a subfolder or a recipe, a SHA-256 over both. Raises ModelError when the recipe needs software that is not
        installed, or files are missing or malformed.
        """
        return recipes.fingerprint_with_recipe(self._files_fingerprint(), self.recipe)

    @property
    def address(self) -> str:
        """The name that locates these files from any working directory: the path of a directory is absolute."""
        if self.source != "directory":
            return self.name
        return f"{self.card}={self.root}" if self.card else str(self.root)

    def _files_fingerprint(self) -> str:
        if self.commit is None:
            files = settings_and_module_files(self.root, self.transformer)
            return model_files.fingerprint(self.path, self.root, files)
        return sha256(f"{self.commit}\n{self.subfolder}".encode()).hexdigest() if self.subfolder else self.commit


def locate(name: str, revision: str | None = None, report: Report | None = None) -> LocatedModel:
    """Find the directory of a built-in model, a local directory or a model of the hub, downloading the latter.

    `name` is one of these, or one with a card before it (CARD=DIRECTORY, CARD=owner/name); a card alone stands for
    its own model of the hub; owner/name:folder is the model in that folder of a repository. A hakari.json in a
    directory is read as `recipe_files` says, and modules.json names the folder of the transformer.
    `revision` is a branch, tag or commit of the hub (None: main) and means nothing elsewhere. Of the weights,
    safetensors are fetched, and pytorch_model.bin only where there are none. HF_HOME, HF_TOKEN, HF_ENDPOINT and
    HF_HUB_OFFLINE are respected; a commit that is in the cache is not requested again. `report` receives the progress
    of a download. Raises ModelError when there is no such model, it cannot be reached, or the directory is no model's.
    """
    card, target = split_card(name)
    if target.startswith(cards.BUILT_IN_PREFIX):
        return LocatedModel(name, "built-in", cards.built_in_directory(target))
    path = as_path(target)
    if path is not None and path.is_dir():
        path = path.resolve()
        transformer = _transformer_folder(path)
        require_model(path / transformer)
        require_allowed(str(path), weight_names(path, transformer))
        recipe = recipe_for(path / transformer, card, is_local=True)
        return LocatedModel(name, "directory", path / transformer, card=card, recipe=recipe, transformer=transformer)
    if path is not None and path.is_file():
        raise ModelError(f"{target} is a file; a model is the directory that holds config.json, weights and tokenizer.")
    repository, subfolder = split_subfolder(target)
    if not _REPOSITORY.fullmatch(repository) or (":" in target and not is_inner_folder(subfolder)):
        raise ModelError(f"There is no directory {target!r}, and it is no Hugging Face id (owner/name, or "
                         f"owner/name:folder) either. {ALTERNATIVES}")
    snapshot = download(repository, subfolder, revision, report)
    transformer = _transformer_folder(snapshot.path)
    require_allowed(repository, weight_names(snapshot.path, transformer))
    return LocatedModel(
        name, "hub", snapshot.path / transformer, revision, snapshot.commit, card,
        recipe_for(snapshot.path / transformer, card, is_local=False), transformer, subfolder)


def weight_names(root: Path, transformer: str = "") -> list[str]:
    """The names of all files of weights; none where they cannot be determined, which loading reports later."""
    try:
        weights = [path.name for path in model_files.weight_files(root / transformer)]
        return weights + module_files(read_modules(root), transformer, lambda file: (root / file).is_file())
    except ModelError:
        return []


def _transformer_folder(root: Path) -> str:
    return transformer_folder(read_modules(root), lambda file: (root / file).is_file())
