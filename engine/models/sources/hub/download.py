"""Download of a model from the Hugging Face Hub: of its files only those that are read. Imports no torch."""

from __future__ import annotations

import glob
import io
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ModelError
from engine.messages.message import Message, list_of
from engine.models.sources import model_files
from engine.models.sources.adapters import adapter_weights, is_adapter
from engine.models.sources.gguf.header import is_gguf
from engine.models.sources.gguf.prepared import chosen_file, require_whole, several
from engine.models.sources.hub.download_quota import require_room
from engine.models.sources.hub.errors import ALTERNATIVES, refusal
from engine.models.sources.modules import MODULES, missing_module_files, module_files, read_modules, transformer_folder
from engine.models.sources.own_code.code_files import are_complete
from engine.models.sources.pickled_weights import require_allowed

# (bytes done, bytes in total as far as known, what is being done)
Report = Callable[[int, int, str], None]

HUB_TIMEOUT_SECONDS = 5.0
REPORT_EVERY_SECONDS = 0.2
_COMMIT = re.compile(r"[0-9a-f]{40}")
_READ_SUFFIXES = (".json", ".txt", ".model", ".vocab", ".codes", ".jinja")
_WEIGHT_SUFFIXES = (".h5", ".msgpack", ".onnx", ".gguf", ".bin", ".safetensors", ".ot")


@dataclass(frozen=True)
class Snapshot:
    """The files of one commit: the directory of the model in the cache, which a subfolder may be.

    file: the GGUF file in it that is the model, "" where the directory is. folder: of the repository, "" for the whole.
    """

    path: Path
    commit: str
    file: str = ""
    folder: str = ""


def download(
    repository: str, subfolder: str = "", revision: str | None = None, report: Report | None = None
) -> Snapshot:
    """The snapshot of a model of the hub, downloaded unless it is in the cache.

    repository: owner/name. subfolder: of the repository, "" for the whole, or a GGUF file in it; nothing outside of
    it is fetched. revision: a branch, tag or commit. Raises ModelError when there is no such model or it cannot be reached.
    """
    from huggingface_hub import HfApi, errors, snapshot_download

    name = f"{repository}:{subfolder}" if subfolder else repository
    subfolder, gguf = _split_file(subfolder)
    if revision and _COMMIT.fullmatch(revision) and (cached := _cached_snapshot(repository, subfolder, revision, gguf)):
        return cached
    try:
        published = HfApi().model_info(repository, revision=revision, timeout=HUB_TIMEOUT_SECONDS)
        files = {sibling.rfilename for sibling in published.siblings or ()}
        selection = _Selection(repository, str(published.sha), subfolder, files, gguf)
        selected = selection.selected()
        patterns = [glob.escape(file) for file in selected]
        require_room(name, repository, revision, patterns, HUB_TIMEOUT_SECONDS)
        path = Path(
            snapshot_download(
                repository,
                revision=revision,
                allow_patterns=patterns,
                etag_timeout=HUB_TIMEOUT_SECONDS,
                tqdm_class=_progress_bar(name, report),
            )
        )
    except (errors.HTTPError, errors.HFValidationError, OSError) as error:
        if refused := refusal(repository, revision, error):
            raise refused from error
        if cached := _cached_snapshot(repository, subfolder, revision, gguf):
            return cached
        raise ModelError(
            Message(
                "There is no directory {name!r}, no complete copy of such a model in the cache, and "
                "the Hugging Face Hub cannot be reached ({error}). {ALTERNATIVES}",
                name=name,
                error=_first_line(error),
                ALTERNATIVES=ALTERNATIVES,
            )
        ) from error
    return Snapshot(path / subfolder, path.name, selection.gguf_file, subfolder)


def _split_file(subfolder: str) -> tuple[str, str]:
    """The folder of a repository and the GGUF file in it, either of which may be ""."""
    if not is_gguf(subfolder):
        return subfolder, ""
    folder, _, file = subfolder.rpartition("/")
    return folder, file


def download_code(repository: str, commit: str, folder: str, modules: Sequence[str]) -> Path:
    """A folder of a repository of the hub at a commit, with its Python files; downloaded unless these modules, and what
    they import from beside them, are in the cache. Raises ModelError."""
    from huggingface_hub import errors, snapshot_download

    with suppress(errors.LocalEntryNotFoundError):
        cached = Path(snapshot_download(repository, revision=commit, local_files_only=True)) / folder
        if are_complete(cached, modules):
            return cached
    prefix = f"{glob.escape(folder)}/" if folder else ""
    try:
        snapshot = snapshot_download(
            repository,
            revision=commit,
            allow_patterns=f"{prefix}*.py",
            ignore_patterns=f"{prefix}*/*",
            etag_timeout=HUB_TIMEOUT_SECONDS,
            tqdm_class=_progress_bar(repository, None),
        )
    except (errors.HTTPError, errors.HFValidationError, OSError) as error:
        if refused := refusal(repository, commit, error):
            raise refused from error
        raise ModelError(
            Message(
                "The code of {repository} at the commit {commit} is not in the cache, and the Hugging Face Hub cannot be "
                "reached ({error}). Try again with a connection.",
                repository=repository,
                commit=commit,
                error=_first_line(error),
            )
        ) from error
    return Path(snapshot) / folder


@dataclass(frozen=True)
class _Selection:
    """Which files of a commit are read; small ones that say so (modules.json, an index) are fetched first."""

    repository: str
    commit: str
    subfolder: str
    files: set[str]
    gguf: str = ""

    @property
    def gguf_file(self) -> str:
        """The GGUF file that is the model: the one that was named, or the only one where there are no other weights.

        "" where the model is in other files. Raises ModelError where there are several, or not the one that was named.
        """
        names = self._names()
        here = sorted(name for name in names if "/" not in name and is_gguf(name))
        where = f"{self.repository}:{self.subfolder}" if self.subfolder else self.repository
        if self.gguf:
            if self.gguf not in here:
                raise ModelError(
                    Message(
                        "{where} has no file {file!r} on the Hugging Face Hub, but {names}.",
                        where=where,
                        file=self.gguf,
                        names=list_of(here[:20]) or Message("no GGUF file at all"),
                    )
                )
            require_whole(self.gguf)
            return self.gguf
        if names & {*model_files.SAFETENSORS, *model_files.PICKLED, MODULES, model_files.ADAPTER_CONFIG} or not here:
            return ""
        if len(here) > 1:
            raise several(where, here, f"{self.repository}:{self._path(here[0])}")
        require_whole(here[0])
        return here[0]

    def selected(self) -> list[str]:
        """The paths in the repository of the files to fetch. Raises ModelError where there are no weights to read."""
        if self.subfolder and not any(file.startswith(self._path("")) for file in self.files):
            raise ModelError(
                Message(
                    "{repository} has no folder {subfolder!r} on the Hugging Face Hub.",
                    repository=self.repository,
                    subfolder=self.subfolder,
                )
            )
        if gguf := self.gguf_file:
            beside = [name for name in self._names() if "/" not in name and name.endswith(_READ_SUFFIXES)]
            return sorted(map(self._path, (gguf, *beside)))
        modules = read_modules(self._fetched(MODULES).parent) if self._has(MODULES) else ()
        transformer = transformer_folder(modules, self._has)
        weights = self._weights(f"{transformer}/" if transformer else "")
        others = module_files(modules, transformer, self._has)
        require_allowed(self.repository, others)
        folders = dict.fromkeys((self._path(""), self._path(f"{transformer}/" if transformer else "")))
        read = [
            file
            for folder in folders
            for file in self.files
            if file.startswith(folder) and "/" not in file[len(folder) :] and file.endswith(_READ_SUFFIXES)
        ]
        return sorted({*read, *map(self._path, (*weights, *others))})

    def _weights(self, folder: str) -> list[str]:
        names_here = [name.removeprefix(folder) for name in self._names() if name.startswith(folder)]
        if is_adapter(names_here, self.repository):
            adapter = folder + adapter_weights(names_here, self.repository)
            require_allowed(self.repository, [adapter])
            return [adapter]
        for single, index in (model_files.SAFETENSORS, model_files.PICKLED):
            names = [folder + name for name in (single, index) if self._has(folder + name)]
            if names:
                require_allowed(self.repository, names)  # before anything is fetched
                if names[0].endswith(single):
                    return names[:1]
                shards = [folder + name for name in model_files.shard_names(self._fetched(names[0]))]
                if missing := [shard for shard in shards if not self._has(shard)]:
                    raise ModelError(
                        Message(
                            "{names} of {repository} names weights that are not beside it: "
                            "{missing}. Choose a model that was published as a whole.",
                            names=names[0],
                            repository=self.repository,
                            missing=list_of(missing),
                        )
                    )
                return [*names, *shards]
        weights = sorted(file for file in self.files if file.endswith(_WEIGHT_SUFFIXES))
        where = (
            Message("{repository} in {folder}", repository=self.repository, folder=self._path(folder))
            if self._path(folder)
            else self.repository
        )
        raise ModelError(
            Message(
                "{where} publishes neither model.safetensors nor pytorch_model.bin, only {listed}. "
                "Choose a model with PyTorch weights.",
                where=where,
                listed=list_of(weights) or Message("no weights at all"),
            )
        )

    def _names(self) -> set[str]:
        """The files in the folder and below it, relative to it."""
        return {file.removeprefix(self._path("")) for file in self.files if file.startswith(self._path(""))}

    def _path(self, name: str) -> str:
        return f"{self.subfolder}/{name}" if self.subfolder else name

    def _has(self, name: str) -> bool:
        return self._path(name) in self.files

    def _fetched(self, name: str) -> Path:
        from huggingface_hub import hf_hub_download

        return Path(
            hf_hub_download(
                self.repository,
                self._path(name),
                revision=self.commit,
                etag_timeout=HUB_TIMEOUT_SECONDS,
                tqdm_class=_progress_bar(name, None),
            )
        )


def _cached_snapshot(repository: str, subfolder: str, revision: str | None, gguf: str = "") -> Snapshot | None:
    """The snapshot in the cache if all files that are needed are there; no network is used.

    Of GGUF files that one is taken which was named; without a name the only one, where the commit is given: it was
    found to be the only one of the repository when it was fetched.
    """
    from huggingface_hub import errors, snapshot_download

    prefix = f"{glob.escape(subfolder)}/" if subfolder else ""
    try:
        path = Path(
            snapshot_download(
                repository,
                revision=revision,
                local_files_only=True,
                allow_patterns=[f"{prefix}*{suffix}" for suffix in _READ_SUFFIXES],
                ignore_patterns=[f"{prefix}*/*"],
            )
        )
        root = path / subfolder
        if not gguf and _COMMIT.fullmatch(revision or "") and (found := chosen_file(root)) is not None:
            gguf = found.name
        if gguf:
            return Snapshot(root, path.name, gguf, subfolder) if (root / gguf).is_file() else None
        modules = read_modules(root)
        transformer = transformer_folder(modules, lambda file: (root / file).is_file())
        if not is_adapter([file.name for file in (root / transformer).iterdir()], repository):
            model_files.read_config(root / transformer)
        model_files.weight_files(root / transformer)
        if missing_module_files(root, modules, transformer):
            return None
    except (errors.LocalEntryNotFoundError, errors.HFValidationError, OSError, ModelError):
        return None
    return Snapshot(root, path.name)


def _progress_bar(name: str, report: Report | None) -> type[Any]:
    """A tqdm class for one download that prints nothing and reports its bytes in total to `report`."""
    from tqdm.auto import tqdm

    bars: dict[int, tuple[int, int]] = {}
    last_report_time = [0.0]

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **settings: Any) -> None:
            settings.pop("name", None)
            super().__init__(*args, **{**settings, "file": io.StringIO(), "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            shown: bool | None = super().update(n)
            if report is not None and self.unit == "B":  # the other bar counts files
                bars[id(self)] = (int(self.n), int(self.total or 0))
                done, total = (max(numbers) for numbers in zip(*bars.values(), strict=True))
                if done >= total or time.monotonic() - last_report_time[0] >= REPORT_EVERY_SECONDS:
                    last_report_time[0] = time.monotonic()
                    report(done, max(done, total), Message("downloading {name}", name=name))
            return shown

    return Bar


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]
