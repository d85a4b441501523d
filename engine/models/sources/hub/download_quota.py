"""The bound on what downloaded models may take on the disk together, asked before a download."""

from __future__ import annotations

import os
from collections.abc import Iterable

from engine.errors import InputError, ModelError
from engine.messages.message import Message

VARIABLE = "HAKARI_DOWNLOADS_GB"
GIGABYTE = 2**30
LARGEST = 5


def download_limit() -> int | None:
    """Bytes that all downloaded models may take; None without a bound. Raises InputError for an invalid value."""
    raw_value = os.environ.get(VARIABLE, "").strip()
    try:
        gigabytes = float(raw_value) if raw_value else 0.0
        if not 0 <= gigabytes < float("inf"):
            raise ValueError
    except ValueError:
        raise InputError(
            Message(
                "{VARIABLE} is a number of gigabytes, 0 for no bound; got {raw_value!r}.",
                VARIABLE=VARIABLE,
                raw_value=raw_value,
            )
        ) from None
    return int(gigabytes * GIGABYTE) or None


def require_room(name: str, repository: str, revision: str | None, patterns: Iterable[str], timeout: float) -> None:
    """Raise ModelError when the files that a download would fetch go beyond the bound, before one of them is fetched.

    name: of the model, for the message. patterns: of the files. What is used is the whole of Hugging Face's cache, in
    which a file of two revisions is kept, and counted, once. Raises what the hub's client raises, and InputError for an
    invalid bound.
    """
    limit = download_limit()
    if limit is None:
        return
    from huggingface_hub import CacheNotFound, scan_cache_dir, snapshot_download

    planned = snapshot_download(
        repository, revision=revision, allow_patterns=list(patterns), etag_timeout=timeout, dry_run=True
    )
    n_bytes = sum(file.file_size or 0 for file in planned if file.will_download)
    if not n_bytes:
        return
    try:
        cache = scan_cache_dir()
    except CacheNotFound:
        used, largest = 0, ""
    else:
        used = cache.size_on_disk
        repositories = sorted(cache.repos, key=lambda repo: -repo.size_on_disk)[:LARGEST]
        largest = "; ".join(f"{repo.repo_id} ({_gigabytes(repo.size_on_disk)})" for repo in repositories)
    if used + n_bytes > limit:
        raise ModelError(
            Message(
                "{name} has {n_bytes} to download. The downloaded models of this instance take {used} of {limit} "
                "({VARIABLE}). Choose a model that is there already, or ask the administrator to remove some with "
                '"hf cache rm"{largest}.',
                name=name,
                n_bytes=_gigabytes(n_bytes),
                used=_gigabytes(used),
                limit=_gigabytes(limit),
                VARIABLE=VARIABLE,
                largest=Message("; the largest are: {largest}", largest=largest) if largest else "",
            )
        )


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / GIGABYTE:,.2f} GB" if n_bytes >= GIGABYTE // 100 else f"{n_bytes / 2**20:,.1f} MB"
