"""What computes over one data directory: cache, workers and gateway. The list of runs has no part in it.

A command opens this alone: the database of the runs and what reads it take longer to import than its work takes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.errors import InputError
from engine.evaluations.shared import dictionaries
from engine.inference.backend import Backend
from engine.inference.cache import Cache
from engine.inference.endpoint.endpoints import with_endpoints
from engine.inference.gateway import Gateway
from engine.inference.own_code.backend import with_own_code
from engine.inference.ray.cluster import backend_of_environment
from engine.messages.message import Message
from engine.runs.storage.directory import data_directory, keep_private_folders, writable_directory

CACHE_FILE = "cache.sqlite"
DEFAULT_CACHE_GB = 10.0
SHARINGS = ("shared", "private")
SAMPLES_ID = "samples"  # owner of the sample runs, which everybody may read


@dataclass(frozen=True)
class Computing:
    """A gateway with what it stands on, to be closed or used in a `with` statement. cache_bytes: the cache's bound."""

    gateway: Gateway
    cache: Cache
    backend: Backend
    cache_path: Path
    cache_bytes: int

    def close(self) -> None:
        """End the workers."""
        self.backend.close()
        self.cache.close()

    def __enter__(self) -> Computing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_computing(
    data_dir: Path | None = None,
    *,
    cache_dir: Path | None = None,
    backend: Backend | None = None,
    niceness: int = 0,
) -> Computing:
    """Open it over `data_dir`. No model library is imported and no worker started before the first chunk.

    cache_dir: directory of the cache, default `data_dir`. backend: default the cluster at HAKARI_RAY_ADDRESS, or else
    worker processes of this niceness on this machine, beside the endpoints of HAKARI_ENDPOINTS and the confined processes
    of HAKARI_TRUST_REMOTE_CODE.

    Raises InputError when a directory cannot be created, written or read, and for environment variables with invalid
    values.
    """
    data_dir = data_directory(data_dir)
    cache_dir = writable_directory(cache_dir) if cache_dir else data_dir
    keep_private_folders(data_dir)
    public_owner, n_bytes = SAMPLES_ID if private_cache(os.environ) else None, cache_bytes(os.environ)
    dictionaries.look_in(data_dir / "dictionaries")
    path = cache_dir / CACHE_FILE
    cache = Cache(path, n_bytes)
    backend = backend or with_own_code(with_endpoints(backend_of_environment(niceness)), (data_dir, cache_dir))
    return Computing(Gateway(backend, cache, public_owner), cache, backend, path, n_bytes)


def private_cache(environment: Mapping[str, str]) -> bool:
    """Whether a cached piece answers only the user for whose run it was computed. Raises InputError."""
    sharing = environment.get("HAKARI_CACHE_SHARING", "").strip() or SHARINGS[0]
    if sharing not in SHARINGS:
        raise InputError(Message("HAKARI_CACHE_SHARING is 'shared' or 'private'; got {sharing!r}.", sharing=sharing))
    return sharing == "private"


def cache_bytes(environment: Mapping[str, str]) -> int:
    """The bound of the cache. Raises InputError."""
    value = environment.get("HAKARI_CACHE_GB", "").strip()
    try:
        gigabytes = float(value) if value else DEFAULT_CACHE_GB
        if not 0 < gigabytes < float("inf"):
            raise ValueError
    except ValueError:
        raise InputError(
            Message("HAKARI_CACHE_GB is a number above 0, of gigabytes; got {value!r}.", value=value)
        ) from None
    return int(gigabytes * 2**30)
