"""A full disk, a directory that cannot be written, and damaged files."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import psutil

from dashboard.shared.samples import OWNER
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.run_record import RunRecord
from tests.faults.clients import Visit
from tests.faults.site import DISK_MB, Site, mount, unmount


@contextlib.contextmanager
def full(site: Site) -> Iterator[str]:
    """No room for another byte: the disk of the directory is as large as what it holds.

    Where mounting is not permitted, the server and its processes may not write beyond the first byte of any file.
    """
    if site.can_mount:
        n_bytes = _filled(site.disk)
        try:
            yield f"a full disk (tmpfs of {n_bytes / 2**20:.0f} MiB)"
        finally:
            mount("-o", f"remount,size={DISK_MB}m", str(site.disk))
        return
    assert site.server is not None
    processes = [psutil.Process(site.server.process.pid), *site.processes()]
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    try:
        yield "files that take no more (RLIMIT_FSIZE)"
    finally:
        for process in processes:
            with contextlib.suppress(psutil.Error, OSError):
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _filled(disk: Path) -> int:
    """Make a tmpfs as large as what it holds, and return how large that is, in bytes.

    What is written between the look and the change makes the new size too small, which mount(8) refuses.
    """
    for is_last in (False,) * 9 + (True,):
        used = os.statvfs(disk)
        n_bytes = (used.f_blocks - used.f_bfree) * used.f_frsize
        try:
            mount("-o", f"remount,size={n_bytes}", str(disk))
        except RuntimeError:
            if is_last:
                raise
        else:
            return n_bytes
    raise AssertionError("unreachable")


@contextlib.contextmanager
def read_only(site: Site) -> Iterator[str]:
    """Files of the directory cannot be opened for writing; what was open stays so, as after `chmod`."""
    if site.can_mount:
        # Read-only before it lies over the directory: once a file is open for writing through it, it is busy.
        aside = site.data.with_name("aside")
        aside.mkdir(exist_ok=True)
        mount("--bind", str(site.data), str(aside))
        try:
            mount("-o", "remount,bind,ro", str(aside))
            mount("--bind", str(aside), str(site.data))
        finally:
            unmount(aside)
        try:
            yield "the directory read-only (mount)"
        finally:
            unmount(site.data)
        return
    folders = [site.data, *(path for path in site.data.iterdir() if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    try:
        yield "the directory read-only (chmod)"
    finally:
        for folder in folders:
            folder.chmod(0o700)


@contextlib.contextmanager
def damaged(path: Path, draw: Random) -> Iterator[None]:
    """Some bytes of a file overwritten, its end cut off, or all of it gone; then it is as it was.

    It comes back only where the engine has not replaced or removed it meanwhile.
    """
    content = path.read_bytes()
    how = draw.choice(["overwritten", "cut", "empty"])
    if how == "overwritten":
        start = draw.randrange(max(1, len(content) - 16))
        spoilt = content[:start] + bytes(255 - byte for byte in content[start : start + 16]) + content[start + 16 :]
    else:
        spoilt = content[: len(content) // 2] if how == "cut" else b""
    path.write_bytes(spoilt)
    try:
        yield
    finally:
        if path.exists() and path.read_bytes() == spoilt:
            path.write_bytes(content)


def says_damage(site: Site, run: RunRecord, visit: Visit) -> list[str]:
    """Findings: the page of a result that does not open has to say so, unless it has the result in memory still."""
    try:
        Artifacts(site.data).load_result(run.id, EVALUATIONS[run.kind].result_type)
    except EngineError:
        if not visit.alerts and not visit.cut_off and not has_in_memory(site, run):
            return [f"the page of the damaged result {run.name} ({run.id}) does not say so"]
    except Exception as error:
        return [f"a damaged result of {run.kind} raises {type(error).__name__}: {error}"]
    return []


def has_in_memory(site: Site, run: RunRecord) -> bool:
    """Whether a page has shown the run since the server started; its result is then shared by all pages."""
    return run.id in site.shown_runs or run.owner == OWNER  # pages show those of the samples by themselves


def is_root() -> bool:
    """Whether permissions of files do not count."""
    return os.geteuid() == 0


def may_mount() -> bool:
    """Whether a disk can be mounted, in a namespace of its own."""
    try:
        done = subprocess.run(
            [
                "unshare",
                "--mount",
                "--propagation",
                "private",
                "mount",
                "-t",
                "tmpfs",
                "-o",
                "size=1m",
                "tmpfs",
                "/mnt",
            ],
            capture_output=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
