"""The wheel, installed elsewhere: nothing but `hakari` in it; numbers, pages and stored runs are the checkout's."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from engine.runs.open import open_engine
from engine.version import VERSION
from tests.browser.server import free_port
from tests.browser.visitor import settled
from tests.stored_runs import directories
from tests.support import database
from tests.waiting import SECONDS

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = """
import sys
from pathlib import Path
from hakari.engine.runs.open import open_engine

if __name__ == "__main__":
    with open_engine(Path(sys.argv[1]), resume=False) as engine:
        print(*(type(engine.runs.result(run_id)).__module__ for run_id in sys.argv[2:]))
"""
SUBMIT = """
import sys
from pathlib import Path
from hakari.engine.evaluations.catalog import EVALUATIONS
from hakari.engine.evaluations.minimal_pairs.records import Settings
from hakari.engine.runs.open import open_engine

if __name__ == "__main__":
    with open_engine(Path(sys.argv[1]), resume=False) as engine:
        settings = Settings(models=("builtin/gpt2-mini-ja",))
        sample = EVALUATIONS["minimal-pairs"].sample()
        run_id = engine.runs.submit("minimal-pairs", settings, sample, owner="local").run_id
        assert engine.runs.wait(run_id).state == "done"
        print(run_id, engine.runs.result(run_id).pairs["acceptable_log_likelihood"].sum())
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a working directory that is neither the checkout nor the environment."""

    environment: Path
    elsewhere: Path

    @property
    def site_packages(self) -> Path:
        [folder] = self.environment.glob("lib/python*/site-packages")
        return folder

    def command(self, name: str) -> str:
        return str(self.environment / "bin" / name)

    def variables(self, **further: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HAKARI_DATABASE_URL")}
        return {**kept, "HAKARI_DATA_DIR": str(self.elsewhere / "data"), "PYTHONDONTWRITEBYTECODE": "1", **further}

    def printed(self, name: str, *arguments: str, **variables: str) -> str:
        done = subprocess.run(
            [self.command(name), *arguments],
            cwd=self.elsewhere,
            env=self.variables(**variables),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def script(self, source: str, *arguments: str) -> str:
        path = self.elsewhere / "script.py"
        path.write_text(source, encoding="utf-8")
        return self.printed("python", str(path), *arguments)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Built from the checkout by its own backend; the requirements are those of this process, by a .pth file."""
    environment, elsewhere = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    made = Installed(environment, elsewhere)
    (made.site_packages / "requirements.pth").write_text(sysconfig.get_path("purelib"))
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            made.command("python"),
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--no-build-isolation",
            str(ROOT),
        ],
        cwd=elsewhere,
        env=made.variables(),
        check=True,
        timeout=SECONDS,
    )
    return made


def test_nothing_comes_in_but_hakari(installed: Installed) -> None:
    assert {path.name for path in installed.site_packages.iterdir()} == {
        "requirements.pth",
        "hakari",
        f"hakari-{VERSION}.dist-info",
    }
    code = "import importlib.util as u; print(*(u.find_spec(name) for name in ('engine', 'dashboard')))"
    assert installed.printed("python", "-c", code).split() == ["None", "None"]


def test_it_has_every_file_of_the_checkout(installed: Installed) -> None:
    package = installed.site_packages / "hakari"
    expected = [
        path.relative_to(ROOT)
        for folder in ("engine", "dashboard")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert len(expected) > 600 and not [path for path in expected if not (package / path).exists()]


def test_it_says_its_own_name(installed: Installed) -> None:
    assert installed.printed("hakari", "--version") == f"Hakari {VERSION}\n"
    assert installed.printed("hakari", "idf", "--help").startswith("usage: hakari dictionary")
    old = re.compile(rb"python -m engine|(?:from|import) (?:engine|dashboard)\b")
    texts = [path for suffix in ("py", "po") for path in (installed.site_packages / "hakari").rglob(f"*.{suffix}")]
    assert len(texts) > 500 and not [path for path in texts if old.search(path.read_bytes())]


def test_texts_that_name_a_command_are_translated(installed: Installed) -> None:
    done = subprocess.run(
        [installed.command("hakari"), "members", "--release", "a@example.org"],
        cwd=installed.elsewhere,
        env=installed.variables(LC_ALL="ja_JP.UTF-8"),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 2 and "hakari membersで一覧できます" in done.stderr


def test_a_command_gives_the_numbers_of_the_readme(installed: Installed) -> None:
    installed.printed(
        "hakari",
        "minimal-pairs",
        "--data",
        "sample/minimal-pairs",
        "--model",
        "builtin/gpt2-mini-ja",
        "--normalization",
        "LP",
        "--out",
        "out",
    )
    summary = pd.read_csv(installed.elsewhere / "out" / "summary.csv")
    for stratum, n, n_correct in summary[["stratum", "n", "n_correct"]].head(4).itertuples(index=False):
        assert f"LP,{stratum},{n},{n_correct},0\n" in README


def test_the_example_of_the_notebook_runs(installed: Installed) -> None:
    [block] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    header, row = installed.script(re.sub(r"\bengine\b", "hakari", block)).splitlines()
    assert header.split() == ["f1", "penalized_f1"]
    assert 0 < float(row.split()[2]) <= float(row.split()[1]) <= 1


@pytest.fixture
def server(installed: Installed) -> Iterator[str]:
    """The address of `hakari run`."""
    port = free_port()
    with (installed.elsewhere / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [installed.command("hakari"), "run", "--port", str(port)],
            cwd=installed.elsewhere,
            env=installed.variables(),
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    end = time.monotonic() + SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=2).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < end, (installed.elsewhere / "server.log").read_text()
            time.sleep(0.2)
    yield url
    process.terminate()
    process.wait(timeout=60)


def test_a_page_opens_on_the_evaluated_samples(server: str, page: Page) -> None:
    page.goto(server)
    settled(page)
    expect(page.locator("body")).to_contain_text("F1")
    # the theme of the project, which Streamlit reads beside the script
    assert page.evaluate("getComputedStyle(document.body).fontFamily").startswith('"Noto Sans CJK JP"')
    page.goto(f"{server}/minimal_pairs")
    settled(page)
    expect(page.locator("h1")).to_have_text("Minimal pairs")


@pytest.mark.skipif(database.ON_POSTGRESQL, reason="the directories hold a SQLite list")
def test_runs_of_the_checkout_open(installed: Installed, tmp_path: Path) -> None:
    version = max(directories.VERSIONS)
    folder, kinds = directories.copied(version, tmp_path / "data"), directories.kinds(version)
    modules = installed.script(RESULTS, str(folder), *kinds).split()
    assert len(modules) == len(kinds) and all(name.startswith("hakari.engine.evaluations.") for name in modules)


@pytest.mark.skipif(database.ON_POSTGRESQL, reason="the installed package writes a SQLite list here")
def test_its_runs_open_in_the_checkout(installed: Installed, tmp_path: Path) -> None:
    run_id, total = installed.script(SUBMIT, str(tmp_path / "data")).split()[-2:]
    with closing(sqlite3.connect(tmp_path / "data" / "hakari.sqlite")) as rows:
        assert rows.execute("SELECT state FROM runs").fetchall() == [("done",)]
    with open_engine(tmp_path / "data", resume=False) as engine:
        result = engine.runs.result(run_id)
    assert type(result).__module__ == "engine.evaluations.minimal_pairs.records"
    assert float(total) == pytest.approx(result.pairs["acceptable_log_likelihood"].sum())
