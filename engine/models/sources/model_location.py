"""From a model's name to a directory: a built-in model, a local directory, or a download from the Hugging Face Hub.

A card of the papers before the name (paper/kyoto-univ=DIRECTORY) selects the recipe by which the files are read.
Imports no torch, so that the process that watches a run can fetch a model and show the progress.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from engine.datasets.outside_names import has_vectors, is_from_file
from engine.errors import AccessError, ModelError
from engine.messages.message import Message
from engine.models.sources import cards, model_files, recipes
from engine.models.sources.adapters import (
    Adapter,
    adapter_weights,
    base_directory,
    has_tokenizer,
    is_adapter,
    read_adapter,
    require_hub_id,
)
from engine.models.sources.allowed_models import allowed_models
from engine.models.sources.endpoint_names import is_endpoint, only_with_labels, only_with_pairs, unknown_endpoint
from engine.models.sources.facts import Source
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.gguf.prepared import chosen_file, prepared
from engine.models.sources.hub.download import Report, download, download_code
from engine.models.sources.hub.errors import ALTERNATIVES
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
from engine.models.sources.own_code.own_code import OwnCode, allowed_own_code
from engine.models.sources.pickled_weights import require_allowed
from engine.models.sources.recipe_files import recipe_for
from engine.models.sources.recipes import Recipe

# The commits of an adapter ("" for a local one) and of its base model.
_PINNED = re.compile(r"([0-9a-f]{40})?\+([0-9a-f]{40})?")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True)
class LocatedModel:
    """A model's files, and the recipe by which they are read. `commit` is that of the hub, None for other sources.

    path: the directory of the transformer. transformer: its folder in `root`, the directory of modules.json, where a
    sentence-transformers model holds it in a folder of its own; else "", and both are the same directory. subfolder: of
    the repository on the hub. base: of an adapter, whose own files are in `path`. own_code: that the operator allows.
    file: the GGUF file that `path` was made of; on the hub the end of `subfolder`.
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
    base: LocatedModel | None = None
    own_code: OwnCode | None = None
    file: Path | None = None

    @property
    def weights_directory(self) -> Path:
        """The directory of config.json and the full weights: of the base model for an adapter."""
        return self.base.path if self.base else self.path

    @property
    def tokenizer_directory(self) -> Path:
        """The directory of the tokenizer: of the base model for an adapter without one of its own."""
        return self.base.path if self.base and not has_tokenizer(self.path) else self.path

    @property
    def pinned_revision(self) -> str | None:
        """The revision under which `locate` finds exactly these files again; None where there is none."""
        return f"{self.commit or ''}+{self.base.commit or ''}" if self.base else self.commit

    @property
    def root(self) -> Path:
        """The directory that was named: that of modules.json for a sentence-transformers model."""
        n_folders = len(PurePosixPath(self.transformer).parts)
        return self.path.parents[n_folders - 1] if n_folders else self.path

    @property
    def directories(self) -> tuple[Path, ...]:
        """All directories that hold files of the model."""
        of_base = self.base.directories if self.base else ()
        return tuple(dict.fromkeys((self.root, self.path, *module_directories(self.root), *of_base)))

    @property
    def fingerprint(self) -> str:
        """The model's part of a cache key: the hub's commit, or a SHA-256 over the files that affect results.

        With a subfolder, a base model, code of its own or a recipe, a SHA-256 over both. Raises ModelError when the recipe needs
        software that is not installed, or files are missing or malformed.
        """
        files = self._files_fingerprint()
        if self.base:
            files = sha256(f"{files}\nadapter of {self.base._files_fingerprint()}".encode()).hexdigest()
        if self.own_code:
            files = sha256(f"{files}\ncode of {self.own_code.identity}".encode()).hexdigest()
        return recipes.fingerprint_with_recipe(files, self.recipe)

    @property
    def tokenizer_fingerprint(self) -> str:
        """As `fingerprint`, of what decides the tokens alone."""
        files = model_files.tokenizer_fingerprint(self.tokenizer_directory, self.weights_directory)
        if self.own_code and self.own_code.has_tokenizer:
            files = sha256(f"{files}\ncode of {self.own_code.identity}".encode()).hexdigest()
        return recipes.fingerprint_with_recipe(files, self.recipe)

    @property
    def address(self) -> str:
        """The name that locates these files from any working directory: the path of a directory is absolute."""
        if self.source != "directory":
            return self.name
        root = self.file or self.root
        return f"{self.card}={root}" if self.card else str(root)

    def _files_fingerprint(self) -> str:
        if self.commit is None:
            files = settings_and_module_files(self.root, self.transformer)
            return model_files.fingerprint(self.path, self.root, files)
        return sha256(f"{self.commit}\n{self.subfolder}".encode()).hexdigest() if self.subfolder else self.commit


def locate(name: str, revision: str | None = None, report: Report | None = None) -> LocatedModel:
    """Find the directory of a built-in model, a local directory or a model of the hub, downloading the latter.

    `name` is one of these, or one with a card before it (CARD=DIRECTORY, CARD=owner/name); a card alone stands for
    its own model of the hub; owner/name:folder is the model in that folder of a repository. A hakari.json in a
    directory is read as `recipe_files` says, and modules.json names the folder of the transformer. The path of a GGUF
    file, owner/name:FILE.gguf, and a directory or repository that has one and no other weights are read from it.
    `revision` is a branch, tag or commit of the hub (None: main) and means nothing elsewhere. Of the weights,
    safetensors are fetched, and pytorch_model.bin only where there are none. The base model of an adapter is located
    likewise. HF_HOME, HF_TOKEN, HF_ENDPOINT and HF_HUB_OFFLINE are respected; a commit that is in the cache is not
    requested again. `report` receives the progress of a download. Raises ModelError when there is no such model, it
    cannot be reached, or the directory is no model's; AccessError for a base model that this instance does not allow.
    """
    if is_endpoint(name):  # those that the operator has named never come here
        raise unknown_endpoint(name)
    if is_from_file(name):
        raise (only_with_labels if has_vectors(name) else only_with_pairs)(name)
    card, target = split_card(name)
    pinned = _PINNED.fullmatch(revision or "")
    revision, base_revision = pinned.groups() if pinned else (revision, None)
    if target.startswith(cards.BUILT_IN_PREFIX):
        return LocatedModel(name, "built-in", cards.built_in_directory(target))
    path = as_path(target)
    if path is not None and path.is_dir():
        return _with_base(_in_directory(name, path.resolve(), card), base_revision, report)
    if path is not None and path.is_file() and is_gguf(path.name):
        return _in_gguf(LocatedModel(name, "directory", path, card=card), path.absolute())
    if path is not None and path.is_file():
        raise ModelError(
            Message(
                "{target} is a file; a model is the directory that holds config.json, weights and tokenizer, or a GGUF "
                "file.",
                target=target,
            )
        )
    return _with_base(_on_hub(name, target, card, revision, report), base_revision, report)


def _in_directory(name: str, root: Path, card: str | None) -> LocatedModel:
    transformer = _transformer_folder(root)
    path = root / transformer
    if not is_adapter([file.name for file in path.iterdir()], str(path)):
        if (file := chosen_file(path)) is not None:
            return _in_gguf(LocatedModel(name, "directory", path, card=card), file)
        require_model(path)
    require_allowed(str(root), weight_names(root, transformer))
    recipe = recipe_for(path, card, is_local=True)
    own_code = allowed_own_code(path, "", "", download_code)
    return LocatedModel(name, "directory", path, card=card, recipe=recipe, transformer=transformer, own_code=own_code)


def _in_gguf(located: LocatedModel, file: Path) -> LocatedModel:
    """The model in a GGUF file, whose header says how texts are split: no recipe does."""
    if located.card:
        raise ModelError(
            Message(
                "{name} is a GGUF file, which says itself how texts are split. Name it without the card {card}.",
                name=located.name,
                card=located.card,
            )
        )
    return replace(located, path=prepared(file), file=file)


def _on_hub(name: str, target: str, card: str | None, revision: str | None, report: Report | None) -> LocatedModel:
    repository, subfolder = split_subfolder(target)
    if not _REPOSITORY.fullmatch(repository) or (":" in target and not is_inner_folder(subfolder)):
        if is_gguf(target):
            raise ModelError(
                Message(
                    "There is no file {target!r}. Check its path; a file of a repository of the Hugging Face Hub is named "
                    "owner/name:file.gguf.",
                    target=target,
                )
            )
        raise ModelError(
            Message(
                "There is no directory {target!r}, and it is no Hugging Face id (owner/name, "
                "owner/name:folder or owner/name:file.gguf) either. {ALTERNATIVES}",
                target=target,
                ALTERNATIVES=ALTERNATIVES,
            )
        )
    snapshot = download(repository, subfolder, revision, report)
    if snapshot.file:
        inner = "/".join(filter(None, (snapshot.folder, snapshot.file)))
        located = LocatedModel(name, "hub", snapshot.path, revision, snapshot.commit, card, subfolder=inner)
        return _in_gguf(located, snapshot.path / snapshot.file)
    transformer = _transformer_folder(snapshot.path)
    path = snapshot.path / transformer
    require_allowed(repository, weight_names(snapshot.path, transformer))
    recipe = recipe_for(path, card, is_local=False, repository="" if subfolder else repository)
    folder = "/".join(filter(None, (subfolder, transformer)))
    own_code = allowed_own_code(path, repository, snapshot.commit, download_code, folder)
    return LocatedModel(
        name, "hub", path, revision, snapshot.commit, card, recipe, transformer, subfolder, own_code=own_code
    )


def _with_base(located: LocatedModel, base_revision: str | None, report: Report | None) -> LocatedModel:
    """An adapter with its base model, which a hub adapter may not look for on this machine; other models unchanged."""
    names = [path.name for path in located.path.iterdir()]
    if not is_adapter(names, str(located.path)):
        return located
    adapter_weights(names, str(located.path))
    adapter = read_adapter(located.path)
    base = _base(located, adapter, base_revision or adapter.revision, report)
    if is_adapter([path.name for path in base.path.iterdir()], str(base.path)):
        raise ModelError(
            Message(
                "The base model of {name}, {base}, is an adapter itself. Merge that one first "
                "(merge_and_unload of the library peft) and name the merged model as the base.",
                name=located.name,
                base=adapter.base,
            )
        )
    # Merging an adapter into a model with code of its own has not been tried
    return replace(located, base=replace(base, own_code=None), recipe=located.recipe or base.recipe, own_code=None)


def _base(located: LocatedModel, adapter: Adapter, revision: str | None, report: Report | None) -> LocatedModel:
    is_local = located.source == "directory"
    try:
        directory = base_directory(located.path, adapter) if is_local else None
        if directory is not None:
            allowed_models().require(str(directory))
            return _in_directory(adapter.base, directory, None)
        require_hub_id(located.path, adapter, is_local=is_local)
        allowed_models().require(adapter.base)
        return _on_hub(adapter.base, adapter.base, None, revision, report)
    except AccessError as error:
        raise AccessError(
            Message("{name} is an adapter of {base}. {error}", name=located.name, base=adapter.base, error=error)
        ) from error
    except ModelError as error:
        raise ModelError(
            Message(
                "{name} is an adapter of {base}, which cannot be used. {error}",
                name=located.name,
                base=adapter.base,
                error=error,
            )
        ) from error


def weight_names(root: Path, transformer: str = "") -> list[str]:
    """The names of all files of weights; none where they cannot be determined, which loading reports later."""
    try:
        weights = [path.name for path in model_files.weight_files(root / transformer)]
        return weights + module_files(read_modules(root), transformer, lambda file: (root / file).is_file())
    except ModelError:
        return []


def _transformer_folder(root: Path) -> str:
    return transformer_folder(read_modules(root), lambda file: (root / file).is_file())
