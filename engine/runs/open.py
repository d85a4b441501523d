"""Opening the engine: builds cache, workers, gateway, store and queue over one data directory.

    hakari.sqlite      the runs (with -wal and -shm beside it while it is open), unless HAKARI_DATABASE_URL is set
    datasets/          submitted datasets, by content
    results/           results, by run, each with the entry of its run
    corpora/           uploaded texts of dictionaries, by content
    pretrained/        pretraining jobs with their models, each a folder
    dictionaries/      finished dictionaries
    reading/           uploads while they are read
    cache.sqlite       finished pieces; may be deleted while no process has it open

`engine.runs.operation.contents` says of each what it holds and whether a backup has it. The directory is
HAKARI_DATA_DIR, or ~/.local/share/hakari, created with mode 0700. Several processes may open the same one.
"""

from __future__ import annotations

import atexit
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.shared.evaluation import AnyEvaluation
from engine.inference.backend import Backend
from engine.inference.cache import Cache
from engine.inference.gateway import Gateway
from engine.runs.access.access import RunAccess
from engine.runs.access.audit import AuditLog, audit_log
from engine.runs.access.configuration import Configuration, configuration
from engine.runs.access.membership import Membership
from engine.runs.access.quotas import Quotas
from engine.runs.access.viewers import Viewer
from engine.runs.computing import open_computing
from engine.runs.entries import RunEntries
from engine.runs.operation.retention import RetentionThread
from engine.runs.pretraining.jobs import FOLDER, PretrainingJobs
from engine.runs.queue import RunQueue
from engine.runs.run_process import NICENESS, RunProcesses
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.database import database_url
from engine.runs.storage.directory import data_directory, writable_directory
from engine.runs.storage.store import Store
from engine.runs.storage.unlisted import UnlistedMonitor, advice, require_list

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Engine:
    """An opened engine, to be closed or used in a `with` statement.

    Pages use `access` for their viewer; commands may use the gateway directly. membership: None without sign-in.
    run_processes: None where runs are evaluated in threads.
    """

    runs: RunQueue
    gateway: Gateway
    cache: Cache
    backend: Backend
    store: Store
    artifacts: Artifacts
    data_dir: Path
    configuration: Configuration
    retention: RetentionThread
    unlisted: UnlistedMonitor
    audit: AuditLog
    membership: Membership | None = None
    run_processes: RunProcesses | None = None

    @cached_property
    def pretraining(self) -> PretrainingJobs:
        """The pretraining jobs of this data directory."""
        return PretrainingJobs(self.data_dir, self.configuration.pretraining)

    def access(self, viewer: Viewer) -> RunAccess:
        """The runs that the viewer may read and change."""
        return RunAccess(
            self.runs,
            self.store,
            viewer,
            self.configuration.limits,
            self.configuration.models,
            bin_days=self.configuration.bin_days,
            audit=self.audit,
        )

    def close(self) -> None:
        """Stop within seconds; unfinished runs are resumed at the next opening. A second call does nothing."""
        atexit.unregister(self.close)
        self.pretraining.close()
        self.retention.close()
        self.runs.close()
        self.backend.close()
        self.cache.close()
        self.store.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_engine(
    data_dir: Path | None = None,
    *,
    cache_dir: Path | None = None,
    resume: bool = True,
    backend: Backend | None = None,
    evaluations: Mapping[str, AnyEvaluation] | None = None,
) -> Engine:
    """Open the engine over `data_dir`. No model library is imported and no worker started before the first chunk.

    cache_dir: directory of the cache, default `data_dir`. resume: adopt the unfinished runs of dead processes (not for
    short-lived commands; one that only computes needs `engine.runs.computing` alone). backend: default as there.
    evaluations: the kinds of run, default those of the catalog. A server, for which none of these is given, evaluates
    each run in a process of its own; others do so in a thread.

    Raises InputError when a directory cannot be created, written or read, when the database cannot be opened, when it
    lists none of the results in the directory (`engine.runs.storage.unlisted`), and for environment variables with
    invalid values.
    """
    data_dir = data_directory(data_dir)
    cache_dir = writable_directory(cache_dir) if cache_dir else data_dir
    config = _with_pretrained(configuration(), data_dir)
    artifacts = Artifacts(data_dir)
    store = Store(database_url(data_dir))
    serves = resume and backend is None and evaluations is None
    try:
        if unlisted := require_list(store, artifacts, data_dir):
            logger.warning("%s", advice(unlisted))
        computing = open_computing(data_dir, cache_dir=cache_dir, backend=backend, niceness=NICENESS if serves else 0)
    except EngineError:
        store.close()
        raise
    gateway, backend = computing.gateway, computing.backend
    apart = (
        RunProcesses(data_dir, computing.cache_path, computing.cache_bytes, backend, gateway.public_owner)
        if serves
        else None
    )
    evaluations = EVALUATIONS if evaluations is None else evaluations
    runs = RunQueue(
        store,
        artifacts,
        gateway,
        evaluations,
        config.running,
        resume=resume,
        running_per_owner=config.limits.running,
        room=Quotas(store, artifacts, config.limits).check_result,
        evaluate=apart.evaluate if apart else None,
    )
    retention = RetentionThread(
        store, runs, config.retention_days if resume else None, bin_days=config.bin_days if resume else None
    )
    audit = audit_log(os.environ, data_dir, hosted=config.hosted)
    membership = (
        None
        if config.members is None
        else Membership(store, config.members, audit, RunEntries(store, artifacts, evaluations).refresh)
    )
    engine = Engine(
        runs,
        gateway,
        computing.cache,
        backend,
        store,
        artifacts,
        data_dir,
        config,
        retention,
        UnlistedMonitor(store, artifacts),
        audit,
        membership,
        apart,
    )
    # Runs before the backend's own exit handler, so that running runs are released, not failed by dying workers.
    atexit.register(engine.close)
    return engine


def _with_pretrained(config: Configuration, data_dir: Path) -> Configuration:
    """The configuration, with the models that were pretrained on this instance among those that may be named."""
    models = config.models.models
    if models.any_path or not config.pretraining:
        return config
    allowed = replace(models, directories=(*models.directories, data_dir / FOLDER))
    return replace(config, models=replace(config.models, models=allowed))


@contextmanager
def opened_storage(directory: Path | None = None) -> Iterator[tuple[Store, Artifacts, Path]]:
    """The list of runs, the files and the data directory, without an engine; nothing is checked and nothing runs."""
    data_dir = data_directory(directory)
    store = Store(database_url(data_dir))
    try:
        yield store, Artifacts(data_dir), data_dir
    finally:
        store.close()
