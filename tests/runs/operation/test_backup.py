"""Backup while runs are submitted, computed and deleted, and restore into an empty place: every listed run opens."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path

import pytest

from dashboard.shared.dictionaries import FOLDER as DICTIONARIES
from engine.runs.access.audit import FILE as AUDIT_FILE
from engine.runs.access.browsers import SECRET_FILE
from engine.runs.computing import CACHE_FILE
from engine.runs.open import open_engine
from engine.runs.operation.contents import CONTENTS, COPIED
from engine.runs.pretraining.jobs import FOLDER as PRETRAINED
from engine.runs.queue import RunQueue
from engine.runs.storage import members
from engine.runs.storage.corpora import FOLDER as CORPORA
from engine.runs.storage.database import SQLITE_FILE, URL_VARIABLE
from engine.runs.storage.directory import READING
from engine.runs.storage.members import Account, SignIn
from tests.support import postgres
from tests.support.database import ON_POSTGRESQL, sqlite_only
from tests.support.fake_runs import EVALUATIONS, FakeGateway, Settings, is_running, queues, words
from tests.support.fakes import FakeBackend
from tests.waiting import wait_until

DEPLOY = Path(__file__).parents[3] / "deploy"


def script(name: str, folder: Path, argument: Path) -> subprocess.CompletedProcess[str]:
    path = os.environ["PATH"]
    if ON_POSTGRESQL and (programs := postgres.binaries()) is not None:
        path = f"{programs}:{path}"
    return subprocess.run(
        [DEPLOY / name, argument],
        capture_output=True,
        text=True,
        env=os.environ | {"HAKARI_DATA_DIR": str(folder), "PATH": path},
    )


def work(queue: RunQueue, done: threading.Event) -> None:
    """Submit runs all the time until told to stop, and delete some of them."""
    number = 0
    while not done.is_set():
        number += 1
        run_id = queue.submit("weights", Settings(factor=float(number)), words(1 + number % 5), reuse=False).run_id
        if number % 3 == 0:
            queue.wait(run_id, 10)
        if number % 4 == 0:
            queue.wait(run_id, 10)
            queue.delete(run_id)


def test_a_backup_that_is_taken_while_runs_go_on_is_restored_with_all_its_runs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, target = tmp_path / "first", tmp_path / "second"
    source.mkdir()
    with ExitStack() as servers:
        if ON_POSTGRESQL:  # a server for each: a dump holds a whole database
            addresses = [servers.enter_context(postgres.running()).url for _ in range(2)]
            monkeypatch.setenv(URL_VARIABLE, addresses[0])
        gateway = FakeGateway(0.005)
        with queues(source, gateway) as open_one:
            queue = open_one()
            kept = [queue.submit("weights", Settings(factor=-float(n)), words(n + 1)).run_id for n in range(8)]
            assert {queue.wait(run_id, 20).state for run_id in kept} == {"done"}
            account = Account("member:1", "https://accounts.example", "1", "ann@lab.example", "ann@lab.example")
            members.bind(queue._store, account, ())
            members.start_sign_in(queue._store, "key", SignIn(account.id, account.address))
            stuck = FakeGateway()
            stuck.go.clear()
            blocked_queue = open_one(stuck)
            unfinished = [blocked_queue.submit("weights", Settings(factor=0.5 + n), words(9)).run_id for n in range(4)]
            wait_until(is_running(blocked_queue, unfinished[0]))
            done = threading.Event()
            worker = threading.Thread(target=work, args=(queue, done))
            worker.start()
            try:
                backup = script("backup.sh", source, tmp_path / "backups")
            finally:
                done.set()
                worker.join()
                stuck.go.set()
            assert backup.returncode == 0, backup.stderr
            (archive,) = (tmp_path / "backups").iterdir()

            cut = tmp_path / "cut.tar.gz"
            cut.write_bytes(archive.read_bytes()[: -archive.stat().st_size // 2])
            assert script("restore.sh", target, cut).returncode and not list(target.iterdir())

            # The first server still lives when the copy starts, as on a machine where a backup is tried out.
            if ON_POSTGRESQL:
                monkeypatch.setenv(URL_VARIABLE, addresses[1])
            restored = script("restore.sh", target, archive)
            assert restored.returncode == 0, restored.stderr
            with queues(target, FakeGateway()) as open_another:
                copy = open_another()
                runs = copy.recent(limit=10_000)
                # A sign-in that ends after the backup does not come back with it.
                assert members.every(copy._store) == [account] and members.sign_ins(copy._store, ["key"]) == {}
                assert {*kept, *unfinished} <= {run.id for run in runs}
                for run in runs:
                    # What was queued or running when the list was copied goes on here.
                    assert copy.wait(run.id, 20).state == "done"
                    # One that was deleted after the list was copied has no files any more.
                    if run.id in kept or run.id in unfinished or (target / "results" / run.id).exists():
                        assert copy.result(run.id).settings == copy.settings(run.id)
                        assert list(copy.result(run.id).weights["text"]) == list(copy.dataset(run.id).texts)
            with open_engine(target, backend=FakeBackend(), evaluations=EVALUATIONS, resume=False) as engine:
                assert not set(engine.unlisted.current().results) & set(kept)
        again = script("restore.sh", target, archive)
        assert again.returncode == 2 and "empty directory" in again.stderr


@sqlite_only
def test_all_that_the_data_directory_is_said_to_hold_is_backed_up_or_left_out_on_purpose(tmp_path: Path) -> None:
    source, target = tmp_path / "first", tmp_path / "second"
    with open_engine(source, backend=FakeBackend(), evaluations=EVALUATIONS, resume=False):
        pass
    for content in CONTENTS:
        path = source / content.name.replace("*", "")
        if path.suffix in (".key", ".jsonl"):
            path.write_bytes(b"secret")
        elif not path.is_file():
            (path / "deep").mkdir(parents=True)
            (path / "deep" / "file").write_bytes(content.name.encode())
    made = script("backup.sh", source, tmp_path / "backups")
    assert made.returncode == 0, made.stderr
    (archive,) = (tmp_path / "backups").iterdir()  # and nothing is left of the copies on the way
    assert script("restore.sh", target, archive).returncode == 0
    expected = {"hakari.sqlite"} | {content.name for content in CONTENTS if content.backup == COPIED}
    assert {path.name for path in target.iterdir()} == expected
    for name in expected - {"hakari.sqlite", "browsers.key"}:
        assert (target / name / "deep" / "file").read_bytes() == name.encode()


def test_what_the_engine_and_the_pages_write_is_declared() -> None:
    """Each name below the data directory that the code has, a constant or a text, is one of the list."""
    names = {CACHE_FILE, SQLITE_FILE, AUDIT_FILE, SECRET_FILE, CORPORA, PRETRAINED, DICTIONARIES, READING}
    source = "\n".join(
        path.read_text(encoding="utf-8") for folder in ("engine", "dashboard") for path in sources(folder)
    )
    names |= set(re.findall(r"data_dir / \"([^\"]+)\"", source))
    assert len(names) >= 8
    for name in names:
        assert any(fnmatch(name, content.name) for content in CONTENTS), name


def sources(folder: str) -> list[Path]:
    return sorted((DEPLOY.parent / folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("url", "address", "password"),
    [
        (
            "postgresql://ann:p%40ss%20w@db:5432/hakari?sslmode=require",
            "postgresql://ann@db:5432/hakari?sslmode=require",
            "p@ss w",
        ),
        ("postgres://ann@db/hakari?password=geheim", "postgresql://ann@db/hakari", "geheim"),
        ("postgresql+psycopg://db/hakari", "postgresql://db/hakari", ""),
    ],
)
def test_the_password_of_the_database_is_in_no_argument(url: str, address: str, password: str, tmp_path: Path) -> None:
    """What runs in place of PostgreSQL's programs writes down what the list of processes would show."""
    programs, seen, data = tmp_path / "programs", tmp_path / "seen", tmp_path / "data"
    for folder in (programs, seen, data / "datasets"):
        folder.mkdir(parents=True)
    for name in ("pg_dump", "pg_restore", "psql"):
        (programs / name).write_text(
            "#!/bin/sh\n"
            f'printf "%s\\n" "$PGPASSWORD" "$@" > {seen}/{name}\n'
            'for argument; do case $argument in --file=*) echo dump > "${argument#--file=}";; esac; done\n'
        )
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", URL_VARIABLE: url}
    environment.pop("PGPASSWORD", None)
    for name, folder, argument in (("backup.sh", data, tmp_path / "out"), ("restore.sh", tmp_path / "new", None)):
        archive = argument or next((tmp_path / "out").iterdir())
        done = subprocess.run(
            [DEPLOY / name, archive], env=environment | {"HAKARI_DATA_DIR": str(folder)}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert {path.name for path in seen.iterdir()} == {"pg_dump", "pg_restore", "psql"}
    for path in seen.iterdir():
        given, *arguments = path.read_text().splitlines()
        assert given == password and f"--dbname={address}" in arguments
        assert not password or not any(password in argument for argument in arguments)


def test_nothing_is_restored_beside_what_something_writes_there(tmp_path: Path) -> None:
    """A process that outlived the server wrote into the directory: half of the archive was moved there, and lost."""
    kept, data = tmp_path / "kept", tmp_path / "data"
    for folder, name in ((kept / "corpora", "a.txt"), (kept / "datasets", "b"), (data / "corpora", "late.txt")):
        folder.mkdir(parents=True)
        (folder / name).write_text("text", encoding="utf-8")
    archive = tmp_path / "archive.tar.gz"
    subprocess.run(["tar", "--create", "--gzip", "--file", archive, "--directory", kept, "."], check=True)
    environment = {**os.environ, "HAKARI_DATA_DIR": str(data), "PYTHON": sys.executable, "HAKARI_DATABASE_URL": ""}
    command = [str(DEPLOY / "restore.sh"), str(archive)]
    refused = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert refused.returncode == 2 and "holds corpora already; stop what writes there" in refused.stderr
    assert [str(path.relative_to(data)) for path in data.rglob("*")] == ["corpora", "corpora/late.txt"]
    shutil.rmtree(data)
    assert subprocess.run(command, env=environment).returncode == 0
    assert sorted(path.name for path in data.rglob("*") if path.is_file()) == ["a.txt", "b"]
