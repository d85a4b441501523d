"""From a model's name to a directory: a built-in model, a local directory, or a download from the Hugging Face Hub.

A card of the papers before the name (paper/kyoto-univ=DIRECTORY) selects the recipe by which the files are read.
Imports no torch, so that the process that watches a run can fetch a model and show the progress.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.models.sources import cards, model_files, recipes
from engine.models.sources.facts import Source
from engine.models.sources.layouts import require_model
from engine.models.sources.names import as_path, split_card
from engine.models.sources.pickled_weights import require_allowed
from engine.models.sources.recipe_files import recipe_for
from engine.models.sources.recipes import Recipe

# (bytes done, bytes in total as far as known, what is being done)
Report = Callable[[int, int, str], None]

HUB_TIMEOUT_SECONDS = 5.0
REPORT_EVERY_SECONDS = 0.2
ALTERNATIVES = f"Give a local directory in Hugging Face layout, or a built-in model ({', '.join(cards.BUILT_IN)})."
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_READ_PATTERNS = ["*.json", "*.txt", "*.model", "*.vocab", "*.codes"]
_IGNORED_PATTERNS = ["*/*"]  # subfolders hold other formats (onnx/, coreml/, 1_Pooling/)
_SAFETENSORS = ["model.safetensors", "model-*-of-*.safetensors"]
_WEIGHT_SUFFIXES = (".h5", ".msgpack", ".onnx", ".gguf", ".bin", ".safetensors", ".ot")
_PICKLED = ["pytorch_model.bin", "pytorch_model-*-of-*.bin"]


@dataclass(frozen=True)
class LocatedModel:
    """A model's files, and the recipe by which they are read. `commit` is that of the hub, None for other sources."""

    name: str
    source: Source
    path: Path
    revision: str | None = None
    commit: str | None = None
    card: str | None = None
    recipe: Recipe | None = None

    @property
    def fingerprint(self) -> str:
        """The model's part of a cache key: the hub's commit, or a SHA-256 over the files that affect results.

        With a recipe, a SHA-256 over both. Raises ModelError when the recipe needs software that is not installed.
        """
        return recipes.fingerprint_with_recipe(self.commit or model_files.fingerprint(self.path), self.recipe)

    @property
    def address(self) -> str:
        """The name that locates these files from any working directory: the path of a directory is absolute."""
        if self.source != "directory":
            return self.name
        return f"{self.card}={self.path}" if self.card else str(self.path)


def locate(name: str, revision: str | None = None, report: Report | None = None) -> LocatedModel:
    """Find the directory of a built-in model, a local directory or a model of the hub, downloading the latter.

    `name` is one of these, or one with a card before it (CARD=DIRECTORY, CARD=owner/name); a card alone stands for
    its own model of the hub. A hakari.json in a directory is read as `recipe_files` says.
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
        require_model(path)
        path = path.resolve()
        require_allowed(str(path), weight_names(path))
        return LocatedModel(name, "directory", path, card=card, recipe=recipe_for(path, card, is_local=True))
    if path is not None and path.is_file():
        raise ModelError(f"{target} is a file; a model is the directory that holds config.json, weights and tokenizer.")
    if not _HUB_ID.fullmatch(target) or target.endswith("/"):
        raise ModelError(f"There is no directory {target!r}, and it is no Hugging Face id (owner/name) either. "
                         f"{ALTERNATIVES}")
    located = _from_hub(target, revision, report)
    require_allowed(target, weight_names(located.path))
    return replace(located, name=name, card=card, recipe=recipe_for(located.path, card, is_local=False))


def _from_hub(name: str, revision: str | None, report: Report | None) -> LocatedModel:
    from huggingface_hub import HfApi, errors, snapshot_download

    if revision and _COMMIT.fullmatch(revision) and (cached := _cached_snapshot(name, revision)):
        return LocatedModel(name, "hub", cached, revision, revision)
    try:
        published = HfApi().model_info(name, revision=revision, timeout=HUB_TIMEOUT_SECONDS)
        files = [sibling.rfilename for sibling in published.siblings or ()]
        path = Path(snapshot_download(
            name, revision=revision, allow_patterns=_READ_PATTERNS + _weights_to_fetch(name, files),
            ignore_patterns=_IGNORED_PATTERNS, etag_timeout=HUB_TIMEOUT_SECONDS, tqdm_class=_progress_bar(name, report),
        ))
    except errors.GatedRepoError as error:
        raise ModelError(f"{name} is on the Hugging Face Hub but asks for consent. Accept its terms there and "
                         "set HF_TOKEN to your token.") from error
    except errors.RepositoryNotFoundError as error:
        raise ModelError(f"There is no model {name!r} on the Hugging Face Hub (or it is private: set HF_TOKEN), "
                         f"and no directory of that name. {ALTERNATIVES}") from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(f"{name} has no revision {revision!r} on the Hugging Face Hub. "
                         "Give a branch, a tag or a commit that it has.") from error
    except errors.HFValidationError as error:
        raise ModelError(f"There is no directory {name!r}, and it is no Hugging Face id: {error} "
                         f"{ALTERNATIVES}") from error
    except (errors.HTTPError, OSError) as error:
        if cached := _cached_snapshot(name, revision):
            return LocatedModel(name, "hub", cached, revision, cached.name)
        raise ModelError(f"There is no directory {name!r}, no complete copy of such a model in the cache, and the "
                         f"Hugging Face Hub cannot be reached ({_first_line(error)}). {ALTERNATIVES}") from error
    return LocatedModel(name, "hub", path, revision, path.name)


def _cached_snapshot(name: str, revision: str | None) -> Path | None:
    """The snapshot in the cache if all files that are needed are there; no network is used."""
    from huggingface_hub import errors, snapshot_download

    try:
        path = Path(snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=_READ_PATTERNS,
                                      ignore_patterns=_IGNORED_PATTERNS))
        model_files.read_config(path)
        model_files.weight_files(path)
    except (errors.LocalEntryNotFoundError, errors.HFValidationError, ModelError):
        return None
    return path


def _weights_to_fetch(name: str, files: list[str]) -> list[str]:
    for (single, index), patterns in ((model_files.SAFETENSORS, _SAFETENSORS), (model_files.PICKLED, _PICKLED)):
        if single in files or index in files:
            require_allowed(name, patterns)  # before anything is fetched
            return patterns
    weights = [file for file in files if file.endswith(_WEIGHT_SUFFIXES)]
    raise ModelError(f"{name} publishes neither model.safetensors nor pytorch_model.bin, only "
                     f"{', '.join(weights) or 'no weights at all'}. Choose a model with PyTorch weights.")


def _progress_bar(name: str, report: Report | None) -> type[Any]:
    """A tqdm class for one download that prints nothing and reports its bytes in total to `report`."""
    from tqdm.auto import tqdm

    bars: dict[int, tuple[int, int]] = {}
    last_report_time = [0.0]

    class Bar(tqdm):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **settings: Any) -> None:
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            shown = super().update(n)
            if report is not None and self.unit == "B":  # the other bar counts files
                bars[id(self)] = (int(self.n), int(self.total or 0))
                done, total = (max(numbers) for numbers in zip(*bars.values(), strict=True))
                if done >= total or time.monotonic() - last_report_time[0] >= REPORT_EVERY_SECONDS:
                    last_report_time[0] = time.monotonic()
                    report(done, max(done, total), f"downloading {name}")
            return shown

    return Bar


def weight_names(directory: Path) -> list[str]:
    """The names of the weights' files; none where they cannot be determined, which loading reports later."""
    try:
        return [path.name for path in model_files.weight_files(directory)]
    except ModelError:
        return []


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
