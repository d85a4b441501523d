"""The kinds of faults. Each is a context: the fault is done at its beginning and mended at its end.

A clock that was turned back is, for a server, the same as files and rows that were written in its future. No test can
turn back the clock of the machine without harm to others, so those times are moved instead: the times of all rows, of
the pieces' last use and of the files, by a day or by minutes. What comes from the clock in a living process's memory
does not move; the engine compares none of it with the disk (it uses the monotonic clock).
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random

from tests.browser.server import Server, free_port
from tests.faults import disks, times
from tests.faults.checks import Ledger, listed
from tests.faults.clients import look, submit_on_page, upload_on_page
from tests.faults.copies import damaged_copy, restored_backup
from tests.faults.jobs import Job, reader_workbook
from tests.faults.site import Site, kill, left_behind, wait_for

WAIT_SECONDS = 45.0  # for a process that is to be killed, on a busy machine


@dataclass
class Broken:
    """What a fault has done. what: in words. may_fail: whether runs may fail of it, with words.

    lost_keys: of pieces that it destroyed. looks_broken: whether every page has to show an error meanwhile.
    findings: what was wrong while it lasted.
    """

    what: str = ""
    may_fail: bool = False
    looks_broken: bool = False
    lost_keys: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)
    is_restored: bool = False


Inject = Callable[[Site, Random, Ledger], AbstractContextManager[Broken]]


@contextlib.contextmanager
def web_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    broken = Broken("the web process, SIGKILL")
    children = site.kill()
    yield broken
    broken.findings += [f"left behind: {name}" for name in left_behind(children)]
    site.start()


@contextlib.contextmanager
def run_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    there = wait_for(site.run_processes, WAIT_SECONDS)
    processes = site.run_processes()
    killed = bool(processes) and kill(draw.choice(processes))
    # A process that only just began may be the second of its run; twice is what ends a run, with words.
    yield Broken("the process of a run, SIGKILL" if there and killed else "no run was under way")


@contextlib.contextmanager
def worker_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    wait_for(site.workers, WAIT_SECONDS)
    workers = site.workers()
    killed = bool(workers) and kill(draw.choice(workers))
    yield Broken("a worker, SIGKILL" if killed else "no worker was there")


@contextlib.contextmanager
def reader_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    broken = Broken("the process of a file reader, SIGKILL")
    with ThreadPoolExecutor(1) as pool:
        visiting = pool.submit(upload_on_page, site.host, Job("classification", 0), reader_workbook(), "rows.xlsx")
        there = wait_for(lambda: site.reader_processes() or visiting.done(), WAIT_SECONDS, 0.005)
        killed = [kill(process) for process in site.reader_processes()]
        visit = visiting.result()
    if not there or not any(killed):
        broken.what = "no reader was under way"
    elif not visit.alerts or visit.exceptions or visit.cut_off:
        broken.findings.append(f"the page does not say that the reader died: {visit}")
    yield broken


@contextlib.contextmanager
def database_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    assert site.database is not None
    site.database.kill()
    try:
        yield Broken("PostgreSQL, SIGKILL", looks_broken=True)
    finally:
        site.database.start()
        site.renew_submitter()


@contextlib.contextmanager
def head_killed(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    assert site.cluster is not None
    site.cluster.kill(site.cluster.head)
    try:
        yield Broken("the Ray head, SIGKILL", may_fail=True)
    finally:
        site.cluster.start_head()


@contextlib.contextmanager
def disk_full(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    with disks.full(site) as what:
        yield Broken(what, may_fail=True)
    site.renew_submitter()


@contextlib.contextmanager
def read_only(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    with disks.read_only(site) as what:
        yield Broken(what, may_fail=True)
    site.renew_submitter()


@contextlib.contextmanager
def damaged_result(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    """One file of a finished result; its page has to say so, and it opens again once the file is as it was."""
    wait_for(lambda: any(run.state == "done" for run in listed(site)), WAIT_SECONDS, 0.2)
    runs = [run for run in listed(site) if run.state == "done"]
    if not runs:
        yield Broken("nothing was finished yet")
        return
    # One that a client has just submitted may be shown to it, and then its result is in memory.
    run = draw.choice([run for run in runs if run.id in ledger.done] or runs)
    files = sorted(path for path in (site.data / "results" / run.id).iterdir() if path.name != "entry.json")
    path = draw.choice(files)
    broken = Broken(f"{path.name} of a result of {run.kind}")
    with disks.damaged(path, draw):
        site_page = run.kind.replace("-", "_")
        visit = look(site.host, site_page, run.id)
        broken.findings += [f"the page of a damaged result shows an exception: {text}" for text in visit.exceptions]
        if run.id in ledger.done:
            broken.findings += disks.says_damage(site, run, visit)
        yield broken


@contextlib.contextmanager
def damaged_dataset(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    """A stored data set: runs that are yet to read it fail with words, and submitting it again mends it."""
    wait_for(lambda: any((site.data / "datasets").glob("[!.]*.parquet")), WAIT_SECONDS, 0.2)
    files = sorted((site.data / "datasets").glob("[!.]*.parquet"))
    if not files:
        yield Broken("nothing was submitted yet")
        return
    path = draw.choice(files)
    with disks.damaged(path, draw):
        yield Broken(f"the data set {path.name[:24]}…", may_fail=True)


@contextlib.contextmanager
def damaged_piece(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    keys = sorted(site.cache_keys())
    chosen = set(draw.sample(keys, min(len(keys), 20)))
    with contextlib.closing(sqlite3.connect(site.data / "cache.sqlite", timeout=30)) as file, file:
        for key in chosen:
            file.execute(
                "UPDATE pieces SET value = substr(value, 1, length(value) / 2) || x'00ff00' "
                "WHERE id = (SELECT id FROM entries WHERE key = ?)",
                (key,),
            )
    yield Broken(f"{len(chosen)} pieces of the cache", lost_keys=chosen)


@contextlib.contextmanager
def damaged_list(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    """A page of a copy of the list of runs, which another server then opens: it may refuse, in words."""
    broken = Broken()
    broken.what, findings = damaged_copy(site, draw)
    broken.findings += findings
    yield broken


@contextlib.contextmanager
def clock_back(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    seconds = draw.choice([300, 3600, 86_400, 30 * 86_400])
    times.move(site, seconds)
    yield Broken(f"the clock turned back by {seconds:,} s")


@contextlib.contextmanager
def second_server(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    """Another server on the same directory; one of the two is killed while both have runs."""
    second = Server(site.data, free_port(), site.log, site.environment)
    broken = Broken("a second server on the directory, then SIGKILL of one of the two")
    try:
        visit = submit_on_page(second.url.removeprefix("http://"), Job("minimal-pairs", draw.randrange(10)))
        broken.findings += [f"the second server shows an exception: {text}" for text in visit.exceptions]
        if draw.random() < 0.5:
            children = site.kill()
            yield broken
            broken.findings += [f"left behind: {name}" for name in left_behind(children)]
            site.start()
        else:
            second.kill()
            yield broken
    finally:
        second.stop()


@contextlib.contextmanager
def backup_restored(site: Site, draw: Random, ledger: Ledger) -> Iterator[Broken]:
    """A backup while runs go on; then the server is killed, its directory is gone, and the backup takes its place."""
    broken = Broken("a backup made under way and restored", is_restored=True)
    broken.findings += restored_backup(site)
    ledger.restart_from(site)
    site.start()
    yield broken


KINDS: dict[str, Inject] = {
    "web-killed": web_killed,
    "run-killed": run_killed,
    "worker-killed": worker_killed,
    "reader-killed": reader_killed,
    "disk-full": disk_full,
    "read-only": read_only,
    "damaged-result": damaged_result,
    "damaged-dataset": damaged_dataset,
    "damaged-piece": damaged_piece,
    "damaged-list": damaged_list,
    "clock-back": clock_back,
    "second-server": second_server,
    "backup-restored": backup_restored,
    "database-killed": database_killed,
    "ray-head-killed": head_killed,
}
ON_SQLITE = tuple(kind for kind in KINDS if kind not in ("database-killed", "ray-head-killed"))
BY_STORAGE = {
    "sqlite": ON_SQLITE,
    "ray": ("ray-head-killed", "web-killed", "run-killed"),
    "postgresql": ("database-killed", "web-killed", "run-killed", "clock-back", "second-server", "database-killed"),
}


def skipped(kind: str, site_can_mount: bool) -> str:
    """Why a kind cannot be done here; "" where it can."""
    if kind == "read-only" and not site_can_mount and disks.is_root():
        return "mounting is not permitted, and root may write to every directory"
    if kind == "backup-restored" and shutil.which("tar") is None:
        return "tar is not installed"
    return ""
