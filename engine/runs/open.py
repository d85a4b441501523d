"""The one place that wires the engine: cache, workers, gateway, store, queue, over one data directory.

    hakari.sqlite      the runs (with -wal and -shm beside it while it is open); or see HAKARI_DATABASE_URL
    datasets/          what was submitted, by content
    results/           what was found, by run
    cache.sqlite       finished pieces of work; may be deleted whenever nobody has it open

The directory is HAKARI_DATA_DIR, or ~/.local/share/hakari; it is made for its owner alone (0700). Several
processes may have one open.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared import dictionaries
from engine.evaluations.shared.evaluation import Evaluation
from engine.inference.backend import Backend
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.inference.ray.cluster import backend_of_environment
from engine.runs.access.access import Desk
from engine.runs.access.configuration import Configuration, configuration
from engine.runs.access.viewers import Viewer
from engine.runs.operation.retention import Housekeeper
from engine.runs.queue import RunQueue
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.store import Store

DEFAULT_DIRECTORY = Path(".local/share/hakari")  # below the home directory
DEFAULT_CACHE_GB = 10.0


@dataclass(frozen=True)
class Engine:
    """An opened engine, to be closed or used in a `with`.

    Pages ask the `desk` of whoever looks at them; a command may ask the gateway itself.
    """

    runs: RunQueue
    gateway: Gateway
    cache: Cache
    backend: Backend
    store: Store
    data_dir: Path
    configuration: Configuration
    housekeeper: Housekeeper

    def desk(self, viewer: Viewer) -> Desk:
        """The runs as one person may see and change them."""
        return Desk(self.runs, self.store, viewer, self.configuration.limits, self.configuration.models)

    def close(self) -> None:
        """Stop within seconds; unfinished runs wait for the next opening. A second call does nothing."""
        atexit.unregister(self.close)
        self.housekeeper.close()
        self.runs.close()
        self.backend.close()
        self.cache.close()
        self.store.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_engine(data_dir: Path | None = None, *, cache_dir: Path | None = None, resume: bool = True,
                backend: Backend | None = None, evaluations: Mapping[str, Evaluation] | None = None) -> Engine:
    """Open the engine over `data_dir`; nothing heavy is imported and no worker starts before there is work.

    cache_dir: where the cache lies, if not in `data_dir`. resume: take up the unfinished runs of dead processes
    (a short-lived command had better not). backend: who computes, if not the cluster that HAKARI_RAY_ADDRESS names, or
    else the processes of this machine. evaluations: the kinds of run, if not those of the catalog.

    Raises InputError when a directory cannot be made or written, or holds something unreadable, when the database
    cannot be opened, and for variables of the environment that make no sense.
    """
    data_dir = _directory(data_dir or _default_directory())
    cache_dir = _directory(cache_dir) if cache_dir else data_dir
    told = configuration()
    cache = Cache(cache_dir / "cache.sqlite", _cache_bytes())
    artifacts = Artifacts(data_dir)
    dictionaries.look_in(data_dir / "dictionaries")
    store = Store(database_url(data_dir))
    backend = backend or backend_of_environment()
    gateway = Gateway(backend, cache)
    runs = RunQueue(store, artifacts, gateway, EVALUATIONS if evaluations is None else evaluations,
                    told.running, resume=resume, running_per_owner=told.limits.running)
    housekeeper = Housekeeper(store, runs, told.retention_days if resume else None)
    engine = Engine(runs, gateway, cache, backend, store, data_dir, told, housekeeper)
    # Called before the backend's own, so that what is running is put back and not failed by dying workers.
    atexit.register(engine.close)
    return engine


def _default_directory() -> Path:
    given = os.environ.get("HAKARI_DATA_DIR", "").strip()
    return Path(given) if given else Path.home() / DEFAULT_DIRECTORY


def _directory(path: Path) -> Path:
    path = path.expanduser().absolute()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise InputError(f"Nothing can be kept in {path}: {error.strerror or error}. Name a directory that you may "
                         "write to (HAKARI_DATA_DIR=/some/where), or mend its permissions.") from error
    return path


def _cache_bytes() -> int:
    given = os.environ.get("HAKARI_CACHE_GB", "").strip()
    try:
        gigabytes = float(given) if given else DEFAULT_CACHE_GB
        if not 0 < gigabytes < float("inf"):
            raise ValueError
    except ValueError:
        raise InputError(f"HAKARI_CACHE_GB is a number above 0, of gigabytes; got {given!r}.") from None
    return int(gigabytes * 2**30)
