"""What a killed worker and a killed server leave behind: every finished piece, and runs that complete."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
from pathlib import Path

from playwright.sync_api import Page, expect

from engine.runs.open import open_engine
from engine.runs.storage.searching import Search
from tests.browser.server import Server, free_port, serving
from tests.browser.visitor import RUN_MILLISECONDS, address, choose_one_model, evaluate, settled, upload
from tests.waiting import wait_until

N_SENTENCES = 1200
WORDS = ["朝", "夜", "春", "町", "海", "森", "橋", "窓", "手紙", "電車"]


def long_file(folder: Path) -> Path:
    """Distinct sentences enough for a run of several chunks."""
    path = folder / "many.csv"
    rows = (
        f"{WORDS[i % 10]}の{WORDS[i // 10 % 10]}で{i}番目の{WORDS[i // 100 % 10]}を見つけた。,{i % 3}"
        for i in range(N_SENTENCES)
    )
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def cached_pieces(data: Path) -> int:
    path = data / "cache.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as database:
        tables = database.execute("select name from sqlite_master where type = 'table' and name = 'pieces'").fetchall()
        return int(database.execute("select count(*) from pieces").fetchone()[0]) if tables else 0


def begin(page: Page, server: Server, file: Path) -> None:
    page.goto(address(server, "clusters"))
    settled(page)
    upload(page, file)
    choose_one_model(page)
    evaluate(page)


def done(page: Page) -> None:
    expect(page.get_by_role("button", name=re.compile(r"\bTables\b")).first).to_be_visible(timeout=RUN_MILLISECONDS)


def test_a_killed_worker_is_replaced_and_the_run_completes(page: Page, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        begin(page, server, long_file(tmp_path))
        wait_until(lambda: cached_pieces(data) > 0)
        (worker, *_) = server.workers()
        os.kill(worker.pid, signal.SIGKILL)
        done(page)
        assert server.process.poll() is None
        assert worker.pid not in [child.pid for child in server.workers()]


def test_a_restarted_server_resumes_its_runs_and_keeps_finished_parts(
    page: Page,
    data_dir: Path,
    tmp_path: Path,
) -> None:
    data, port = data_dir, free_port()
    with serving(data, port) as server:
        begin(page, server, long_file(tmp_path))
        wait_until(lambda: cached_pieces(data) > 0)
        link, orphans = page.url, server.workers()
        server.kill()
    wait_until(lambda: not any(worker.is_running() for worker in orphans))  # none is left behind
    kept = cached_pieces(data)
    assert kept > 0
    with serving(data, port):
        page.goto(link)
        done(page)
    assert cached_pieces(data) >= kept
    with open_engine(data, resume=False) as engine:
        (view,) = engine.store.search(Search())  # of whichever browser
        assert view.state == "done" and len(engine.runs.result(view.id).points) == N_SENTENCES
