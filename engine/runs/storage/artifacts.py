"""Datasets and results on disk.

    datasets/<type>-<content hash>.parquet     one file per content, shared by the runs that use it
    results/<run id>/                          the files of `engine.runs.storage.packing`

Each is written aside, brought to the disk, and then renamed: no half of one is ever seen.
"""

from __future__ import annotations

import dataclasses
import os
import re
import secrets
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from engine.errors import InputError, RunError
from engine.runs.storage.packing import RECORD, from_parquet, pack, to_parquet, unpack

LEFTOVER_SECONDS = 24 * 3600

Record = TypeVar("Record")

_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Artifacts:
    """The datasets and results below one directory. Safe across threads and processes."""

    def __init__(self, directory: Path) -> None:
        """Make the two folders where they are missing; InputError when that cannot be."""
        self._datasets = directory / "datasets"
        self._results = directory / "results"
        for folder in (self._datasets, self._results):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"The folder {folder} cannot be made: {error.strerror or error}. Choose another data "
                                 "directory (HAKARI_DATA_DIR), or move what is in its way.") from error

    def save_dataset(self, dataset: Any) -> str:
        """Keep `dataset` under its content hash, which is returned; what is there already stays.

        Raises RunError when the disk takes no more.
        """
        target = self._dataset_file(type(dataset), dataset.content_hash)
        if not target.exists():
            aside = self._aside(self._datasets)
            with _full_disk_explained(self._datasets):
                try:
                    _write(aside, to_parquet(dataset.to_frame()))
                    os.replace(aside, target)
                finally:
                    aside.unlink(missing_ok=True)
                _sync(self._datasets)
        return str(dataset.content_hash)

    def load_dataset(self, dataset_type: type[Record], content_hash: str, name: str,
                     notices: Sequence[str] = ()) -> Record:
        """The dataset of that content, under the name and with the notices of the run that asks.

        Raises RunError when it is not there or is not what its hash says.
        """
        try:
            frame = from_parquet(self._dataset_file(dataset_type, content_hash).read_bytes())
            dataset: Any = dataset_type.from_frame(frame, name)  # type: ignore[attr-defined]
        except FileNotFoundError:
            raise RunError(f"The dataset {name!r} is no longer on the disk. Submit it again.") from None
        except (OSError, pa.ArrowException, KeyError, ValueError) as error:
            raise RunError(f"The stored dataset {name!r} is damaged ({error}). Submit it again.") from error
        if dataset.content_hash != content_hash:
            raise RunError(f"The stored dataset {name!r} is damaged: its content is not what was submitted. "
                           "Submit it again.")
        if hasattr(dataset, "notices"):
            dataset = dataclasses.replace(dataset, notices=tuple(notices))
        return dataset  # type: ignore[no-any-return]

    def dataset_bytes(self, dataset_type: type[Any], content_hash: str) -> int:
        """What a dataset takes on the disk; 0 when it is not there."""
        return _size(self._dataset_file(dataset_type, content_hash))

    def delete_dataset(self, content_hash: str) -> None:
        """Forget that content, whatever type it was kept as."""
        for path in self._datasets.glob(f"*-{_checked(content_hash)}.parquet"):
            path.unlink(missing_ok=True)

    def save_result(self, run_id: str, result: Any) -> None:
        """Keep a frozen record whose fields are tables, arrays, dicts of arrays and JSON-able values.

        A former result of the run is replaced. Raises TypeError for a field that is none of these (a
        fault of the evaluation), RunError when the disk takes no more.
        """
        files = pack(result)
        aside = self._aside(self._results)
        with _full_disk_explained(self._results):
            try:
                aside.mkdir(mode=0o700)
                for name, content in files.items():
                    _write(aside / name, content)
                _sync(aside)
                self.delete_result(run_id)  # a folder cannot be renamed onto one that holds files
                os.rename(aside, self._folder(run_id))
                _sync(self._results)
            finally:
                shutil.rmtree(aside, ignore_errors=True)

    def has_result(self, run_id: str) -> bool:
        """Whether there is a result under that id."""
        return (self._folder(run_id) / RECORD).is_file()

    def result_bytes(self, run_id: str) -> int:
        """What a result takes on the disk; 0 when there is none."""
        folder = self._folder(run_id)
        return sum(_size(path) for path in folder.iterdir()) if folder.is_dir() else 0

    def load_result(self, run_id: str, result_type: type[Record]) -> Record:
        """The result that `save_result` kept, equal to it in every field.

        Raises RunError when it is not there, damaged, or of another version of `result_type`.
        """
        return unpack(result_type, lambda name: self._read(run_id, name), f"The result of run {run_id}")

    def delete_result(self, run_id: str) -> None:
        """Forget the result, if there is one; it goes in one step."""
        aside = self._aside(self._results)
        try:
            os.rename(self._folder(run_id), aside)
        except FileNotFoundError:
            return
        shutil.rmtree(aside, ignore_errors=True)

    def sweep(self, run_ids: Collection[str], dataset_hashes: Collection[str]) -> None:
        """Remove what crashes left: files half written, results without a run, datasets without one.

        Only what is a day old goes, so that nothing is taken from a process that is just writing it.
        """
        before = time.time() - LEFTOVER_SECONDS
        for path in (*self._results.iterdir(), *self._datasets.iterdir()):
            if path.name in run_ids or path.stem.rpartition("-")[2] in dataset_hashes:
                continue
            try:
                if path.stat().st_mtime >= before:
                    continue
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            except FileNotFoundError:
                continue  # another process was quicker

    def _dataset_file(self, dataset_type: type[Any], content_hash: str) -> Path:
        return self._datasets / f"{dataset_type.__name__}-{_checked(content_hash)}.parquet"

    def _folder(self, run_id: str) -> Path:
        return self._results / _checked(run_id)

    def _read(self, run_id: str, name: str) -> bytes:
        try:
            return (self._folder(run_id) / name).read_bytes()
        except FileNotFoundError:
            raise RunError(f"The result of run {run_id} is not on the disk ({name} is missing). Delete the run and "
                           "start it again.") from None
        except OSError as error:
            raise RunError(f"The result of run {run_id} cannot be read: {error}.") from error

    def _aside(self, folder: Path) -> Path:
        return folder / f".tmp-{secrets.token_hex(8)}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):  # ids come from addresses; none may lead out of the folder
        raise RunError(f"{name!r} is not the id of a run or a dataset.")
    return name


@contextmanager
def _full_disk_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"Nothing can be written to {folder}: {error.strerror or error}. Free some space there, or mend "
                       "its permissions, and start the run again.") from error


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Bring a rename to the disk; where a folder cannot be opened (Windows) the system does it in time."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
