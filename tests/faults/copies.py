"""Servers on copies of a directory: one whose list of runs is damaged, and one that was restored from a backup."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

from engine.runs.storage.database import SQLITE_FILE
from tests.browser.server import ROOT, Server, free_port
from tests.faults.clients import look
from tests.faults.site import Site, left_behind

PAGE_BYTES = 4096
DEPLOY = ROOT / "deploy"


def damaged_copy(site: Site, draw: Random) -> tuple[str, list[str]]:
    """What was damaged, and findings: a server on the copy shows its pages or says what is wrong, and deletes nothing."""
    copy = site.folder / "copy"
    shutil.copytree(site.data, copy, ignore=shutil.ignore_patterns(".tmp-*", "cache.sqlite*", f"{SQLITE_FILE}*"))
    with (
        closing(sqlite3.connect(site.data / SQLITE_FILE, timeout=30)) as runs,
        closing(sqlite3.connect(copy / SQLITE_FILE)) as target,
    ):
        runs.backup(target)
    content = bytearray((copy / SQLITE_FILE).read_bytes())
    page = draw.randrange(max(1, len(content) // PAGE_BYTES))
    content[page * PAGE_BYTES : page * PAGE_BYTES + 512] = draw.randbytes(512)
    (copy / SQLITE_FILE).write_bytes(content)
    before = _files(copy)
    findings = []
    log = site.folder / "copy.log"
    server = Server(copy, free_port(), log, {})
    try:
        for name in ("runs", draw.choice(["clusters", "minimal_pairs", "datasets"])):
            visit = look(server.url.removeprefix("http://"), name)
            findings += [f"on a damaged list the page {name} shows an exception: {text}" for text in visit.exceptions]
            if visit.cut_off:
                findings.append(f"on a damaged list the page {name} does not answer: {visit.cut_off}")
    finally:
        server.stop()
    lost = before - _files(copy)
    if lost:
        findings.append(f"on a damaged list {len(lost)} files were deleted, such as {min(lost)}")
    shutil.rmtree(copy)
    return f"page {page} of a copy of the list of runs", findings


def restored_backup(site: Site) -> list[str]:
    """Back up while the server runs, kill it, and put what was backed up in the place of its directory."""
    archives = site.folder / "backups"
    environment = {
        **os.environ,
        "HAKARI_DATA_DIR": str(site.data),
        "PYTHON": sys.executable,
        "HAKARI_DATABASE_URL": site.url,
    }
    made = subprocess.run(
        [str(DEPLOY / "backup.sh"), str(archives)], env=environment, capture_output=True, text=True, timeout=120
    )
    if made.returncode:
        return [f"backup.sh ended with {made.returncode}: {made.stderr.strip()}"]
    archive = made.stdout.strip().splitlines()[-1]
    findings = [
        f"left behind: {name}" for name in left_behind(site.kill())
    ]  # the server is stopped, with all that it started
    shutil.rmtree(site.data)
    done = subprocess.run(
        [str(DEPLOY / "restore.sh"), archive], env=environment, capture_output=True, text=True, timeout=120
    )
    shutil.rmtree(archives)
    return findings + ([f"restore.sh ended with {done.returncode}: {done.stderr.strip()}"] if done.returncode else [])


def _files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for name in ("results", "datasets", "corpora")
        for path in (folder / name).rglob("*")
        if path.is_file() and ".tmp-" not in str(path)
    }
