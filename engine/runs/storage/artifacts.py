"""Datasets and results on disk.

    datasets/<type>-<content hash>.parquet     one file per content, shared by the runs that use it
    results/<run id>/                          the files of `engine.runs.storage.packing`, and the run's entry

Each is written aside, brought to the disk, and then renamed: no half of one is ever seen. What is on the disk without a
row in the list of runs stays (`engine.runs.storage.unlisted`).
"""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from engine.datasets.corpora.corpus_files import CorpusFiles
from engine.errors import InputError, RunError, reason_of
from engine.evaluations.shared.stored_table import StoredTable
from engine.messages.message import Message
from engine.runs.storage.corpora import Corpora
from engine.runs.storage.disk import file_size, folder_size, full_disk_explained, sync_folder, write_to_disk
from engine.runs.storage.packing import RECORD, description_of, from_parquet, pack, to_parquet, unpack
from engine.runs.storage.run_entry import ENTRY

TEMPORARY = ".tmp-"  # before the name of what is being written or deleted
LEFTOVER_SECONDS = 24 * 3600

Record = TypeVar("Record")

_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Artifacts:
    """The datasets and results below one directory, and its `corpora`. Safe across threads and processes."""

    def __init__(self, directory: Path) -> None:
        """Make the two folders where they are missing; InputError when that cannot be."""
        self.directory = directory
        self._datasets = directory / "datasets"
        self._results = directory / "results"
        self.corpora = Corpora(directory)
        for folder in (self._datasets, self._results):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    Message(
                        "The folder {folder} cannot be made: {error}. Choose another data directory "
                        "(HAKARI_DATA_DIR), or move what is in its way.",
                        folder=folder,
                        error=reason_of(error),
                    )
                ) from error

    def save_dataset(self, dataset: Any, room: Callable[[int], None] | None = None) -> str:
        """Keep `dataset` under its content hash, which is returned. A sound file that is there already stays.

        A file that is there but damaged is replaced. `room` is called with the size before anything is written, and
        raises what refuses it. Raises RunError when the disk takes no more.
        """
        target = self._dataset_file(type(dataset), dataset.content_hash)
        content = to_parquet(dataset.to_frame())
        if room is not None:
            room(len(content))
        with full_disk_explained(self._datasets):
            if not _holds(target, content, dataset):
                aside = self._aside(self._datasets)
                try:
                    write_to_disk(aside, content)
                    os.replace(aside, target)
                finally:
                    aside.unlink(missing_ok=True)
                sync_folder(self._datasets)
        return str(dataset.content_hash)

    def load_dataset(
        self, dataset_type: type[Record], content_hash: str, name: str, notices: Sequence[str] = ()
    ) -> Record:
        """The dataset of that content, under the name and with the notices of the run that asks.

        Raises RunError when it is not there or is not what its hash says.
        """
        try:
            dataset = _dataset_of(self._dataset_file(dataset_type, content_hash).read_bytes(), dataset_type, name)
        except FileNotFoundError:
            raise RunError(
                Message("The dataset {name!r} is no longer on the disk. Submit it again.", name=name)
            ) from None
        except OSError as error:
            raise RunError(
                Message("The stored dataset {name!r} cannot be read: {error}.", name=name, error=reason_of(error))
            ) from error
        if dataset.content_hash != content_hash:
            raise RunError(
                Message(
                    "The stored dataset {name!r} is damaged: its content is not what was submitted. Submit it again.",
                    name=name,
                )
            )
        if isinstance(dataset, CorpusFiles):
            dataset = self.corpora.located(dataset)
        if hasattr(dataset, "notices"):
            dataset = dataclasses.replace(dataset, notices=tuple(notices))
        return dataset  # type: ignore[no-any-return]

    def dataset_bytes(self, dataset_type: type[Any], content_hash: str) -> int:
        """What a dataset takes on the disk; 0 when it is not there."""
        return file_size(self._dataset_file(dataset_type, content_hash))

    def has_dataset(self, dataset_type: type[Any], content_hash: str) -> bool:
        """Whether there is a file of that dataset."""
        return self._dataset_file(dataset_type, content_hash).is_file()

    def bytes_of_content(self, content_hash: str) -> int:
        """What the datasets of that content take on the disk, whatever type they are kept as."""
        return sum(map(file_size, self.files_of_content(content_hash)))

    def delete_dataset(self, content_hash: str, in_use: Callable[[], bool] = lambda: False) -> int:
        """Remove that content, whatever type it is kept as, unless it is in use; returns the number of bytes.

        `in_use` is asked again after the file has been put aside, and the file comes back if it is: a process that
        submits the same dataset meanwhile has its row written before the question, or finds the file gone and writes
        it again (`RunQueue.submit`).
        """
        n_bytes = 0
        for path in self.files_of_content(content_hash):
            aside = self._aside(self._datasets)
            try:
                os.rename(path, aside)
            except FileNotFoundError:
                continue
            if in_use():
                os.replace(aside, path)
            else:
                n_bytes += file_size(aside)
                aside.unlink(missing_ok=True)
        return n_bytes

    def save_result(
        self, run_id: str, result: Any, entry: bytes = b"", room: Callable[[int], None] | None = None
    ) -> None:
        """Keep a frozen record whose fields are tables, arrays, dicts of arrays and JSON-able values.

        entry: the content of the run's entry (`engine.runs.storage.run_entry`), kept with it. room: called with the
        size before anything is written; it raises what refuses it. A former result of the run is replaced. Raises
        TypeError for a field of any other type (a fault of the evaluation), RunError when the disk takes no more.
        """
        files = pack(result) | ({ENTRY: entry} if entry else {})
        if room is not None:
            room(sum(map(len, files.values())))
        aside = self._aside(self._results)
        with full_disk_explained(self._results):
            try:
                aside.mkdir(mode=0o700)
                for name, content in files.items():
                    write_to_disk(aside / name, content)
                sync_folder(aside)
                self.delete_result(run_id)  # a folder cannot be renamed onto one that holds files
                os.rename(aside, self._folder(run_id))
                sync_folder(self._results)
            finally:
                shutil.rmtree(aside, ignore_errors=True)

    def has_result(self, run_id: str) -> bool:
        """Whether there is a result under that id."""
        return (self._folder(run_id) / RECORD).is_file()

    def has_folder(self, run_id: str) -> bool:
        """Whether there is a folder of that result, whole or not."""
        return self._folder(run_id).is_dir()

    def result_bytes(self, run_id: str) -> int:
        """What a result takes on the disk; 0 when there is none."""
        return folder_size(self._folder(run_id))

    def load_result(self, run_id: str, result_type: type[Record]) -> Record:
        """The result that `save_result` kept, equal to it in every field; large tables of many rows stay in their files.

        Raises RunError when it is not there, damaged, or of another version of `result_type`.
        """
        return unpack(
            result_type,
            lambda name: self._read(run_id, name),
            Message("The result of run {run_id}", run_id=run_id),
            lambda name: StoredTable(self._folder(run_id) / name),
        )

    def version_and_time(self, run_id: str) -> tuple[str | None, datetime]:
        """The version that stored a result (None for the first) and when, in UTC. RunError when it is damaged."""
        description = description_of(
            lambda name: self._read(run_id, name), Message("The result of run {run_id}", run_id=run_id)
        )
        modified = (self._folder(run_id) / RECORD).stat().st_mtime
        return description.get("version"), datetime.fromtimestamp(modified, UTC)

    def delete_result(self, run_id: str) -> int:
        """Remove the result, if there is one; it goes in one step. Returns its number of bytes."""
        aside = self._aside(self._results)
        try:
            os.rename(self._folder(run_id), aside)
        except FileNotFoundError:
            return 0
        n_bytes = folder_size(aside)
        shutil.rmtree(aside, ignore_errors=True)
        return n_bytes

    def entry(self, run_id: str) -> bytes | None:
        """The content of the entry beside a result; None where there is none."""
        try:
            return (self._folder(run_id) / ENTRY).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(
                Message("The entry of run {run_id} cannot be read: {error}.", run_id=run_id, error=error)
            ) from error

    def has_entry(self, run_id: str) -> bool:
        """Whether there is an entry beside a result."""
        return (self._folder(run_id) / ENTRY).is_file()

    def save_entry(self, run_id: str, entry: bytes) -> None:
        """Write the entry beside a result that is there; RunError when the disk takes no more."""
        folder = self._folder(run_id)
        aside = self._aside(self._results)
        with full_disk_explained(self._results):
            try:
                write_to_disk(aside, entry)
                os.replace(aside, folder / ENTRY)
            except (FileNotFoundError, NotADirectoryError):
                return  # the result was deleted meanwhile
            finally:
                aside.unlink(missing_ok=True)

    def result_ids(self) -> list[str]:
        """The ids of all results on the disk."""
        return sorted(path.name for path in self._results.iterdir() if _NAME.fullmatch(path.name) and path.is_dir())

    def dataset_sizes(self) -> dict[str, int]:
        """Bytes of the datasets on the disk by content hash, whatever type they are kept as."""
        sizes: dict[str, int] = {}
        for name, (content_hash, _) in self.stored_datasets().items():
            sizes[content_hash] = sizes.get(content_hash, 0) + file_size(self._datasets / name)
        return sizes

    def stored_datasets(self) -> dict[str, tuple[str, float]]:
        """The name of each dataset's file, its content hash, and when it was written (seconds since 1970)."""
        files: dict[str, tuple[str, float]] = {}
        for path in self._datasets.glob("*-*.parquet"):
            if not path.name.startswith(TEMPORARY):
                with suppress(FileNotFoundError):  # deleted meanwhile
                    files[path.name] = path.stem.rpartition("-")[2], path.stat().st_mtime
        return files

    def remove_temporary_files(self) -> None:
        """Remove what crashes left half written or half deleted, once it is a day old; nothing else."""
        before = time.time() - LEFTOVER_SECONDS
        for path in (*self._results.iterdir(), *self._datasets.iterdir()):
            if not path.name.startswith(TEMPORARY):
                continue
            with suppress(FileNotFoundError):  # another process was quicker
                if path.stat().st_mtime >= before:
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()

    def _dataset_file(self, dataset_type: type[Any], content_hash: str) -> Path:
        return self._datasets / f"{dataset_type.__name__}-{_checked(content_hash)}.parquet"

    def result_files(self, run_id: str) -> list[Path]:
        """The files of a result; none where there is no result."""
        folder = self._folder(run_id)
        return sorted(folder.iterdir()) if folder.is_dir() else []

    def files_of_content(self, content_hash: str) -> list[Path]:
        """The files of the datasets of that content, whatever type they are kept as."""
        return [
            path
            for path in self._datasets.glob(f"*-{_checked(content_hash)}.parquet")
            if not path.name.startswith(TEMPORARY)
        ]

    def _folder(self, run_id: str) -> Path:
        return self._results / _checked(run_id)

    def _read(self, run_id: str, name: str) -> bytes:
        try:
            return (self._folder(run_id) / name).read_bytes()
        except FileNotFoundError:
            raise RunError(
                Message(
                    "The result of run {run_id} is not on the disk ({name} is missing). Delete the run "
                    "and start it again.",
                    run_id=run_id,
                    name=name,
                )
            ) from None
        except OSError as error:
            raise RunError(
                Message("The result of run {run_id} cannot be read: {error}.", run_id=run_id, error=error)
            ) from error

    def _aside(self, folder: Path) -> Path:
        return folder / f"{TEMPORARY}{secrets.token_hex(8)}"


def _dataset_of(raw: bytes, dataset_type: type[Any], name: str) -> Any:
    try:
        return dataset_type.from_frame(from_parquet(raw), name)
    except Exception as error:
        # pyarrow and pandas raise errors of many classes for damaged bytes, and from_frame for a damaged table.
        reason = " ".join(str(error).split())
        raise RunError(
            Message("The stored dataset {name!r} is damaged ({reason}). Submit it again.", name=name, reason=reason)
        ) from error


def _holds(path: Path, content: bytes, dataset: Any) -> bool:
    """Whether the file holds the dataset: these bytes, or others (of an earlier version) of the same content."""
    try:
        raw = path.read_bytes()
        return raw == content or bool(
            _dataset_of(raw, type(dataset), dataset.name).content_hash == dataset.content_hash
        )
    except (OSError, RunError):
        return False


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):  # ids come from addresses; none may lead out of the folder
        raise RunError(Message("{name!r} is not the id of a run or a dataset.", name=name))
    return name
