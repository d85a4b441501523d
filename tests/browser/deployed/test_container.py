"""The hosted guide with containers: built, started as compose does it, a member's run, its backup in another container."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest
import yaml
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import make_url

from tests.browser import nginx
from tests.browser.deployed import container
from tests.browser.deployed.container import ROOT, USER_ID, Image
from tests.browser.provider import environment, provider
from tests.browser.server import free_port, serving
from tests.browser.visitor import WAIT_MILLISECONDS, choose_pca, downloaded, evaluate, press, settled, upload
from tests.support import postgres
from tests.waiting import SECONDS

WITHOUT = container.missing() or nginx.missing() or ("" if postgres.binaries() else "needs PostgreSQL")
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(bool(WITHOUT), reason=WITHOUT or "all is there")]
ANN = "ann@lab.example"
GIBIBYTES = 2.5
SECRETS = "/run/secrets/streamlit.toml"  # as in compose.yaml
Run = Callable[[Sequence[str]], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Of this checkout as it is committed and changed, without what git leaves out."""
    folder = tmp_path_factory.mktemp("image")
    (context := folder / "checkout").mkdir()
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    copying = ["tar", "--create", "--null", "--files-from=-", "--ignore-failed-read"]
    packed = subprocess.run(copying, cwd=ROOT, input=files, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--extract", "--directory", str(context)], input=packed, check=True)
    built = Image(folder)
    try:
        built.build(context)
    except LookupError as reason:
        pytest.skip(str(reason))
    return built


@pytest.fixture(scope="module")
def database() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


def own_database(server: postgres.Server, name: str) -> str:
    """A new database of the server, by its address."""
    subprocess.run([server.programs / "createdb", f"--maintenance-db={server.url}", name], check=True)
    return make_url(server.url).set(database=name).render_as_string(hide_password=False)


@contextmanager
def started(image: Image, folder: Path, data: Path, database: str, issuer: str) -> Iterator[tuple[str, Run]]:
    """A server in a container of its own behind the proxy; yields its address, and what runs a command in such a one."""
    for place in (folder, folder.parent, data):
        place.chmod(0o755)  # the workers of nginx and the image's user are somebody else
    subprocess.run(["chown", "-R", f"{USER_ID}:{USER_ID}", data], check=True)
    outside, inside = free_port(), free_port()
    settings = environment(folder, issuer, f"https://localhost:{outside}", ANN)
    (folder / "secrets.toml").chmod(0o644)
    variables = {
        **settings,
        "STREAMLIT_SECRETS_FILES": SECRETS,
        "STREAMLIT_SERVER_ALLOWED_HOSTS": "localhost",
        "HAKARI_DATA_DIR": "/data",
        "HAKARI_DATABASE_URL": database,
    }
    with image.mounted() as root, ExitStack() as running:
        files = {folder / "secrets.toml": SECRETS, Path("/etc/hosts"): "/etc/hosts"}
        last: dict[str, str] = {}

        def command(given: Mapping[str, str]) -> list[str]:
            last.update(given)
            return image.command(root, data, files, given)

        def run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
            inner = image.command(root, data, files, last, words)
            return subprocess.run(inner, capture_output=True, text=True, check=False)

        server = running.enter_context(serving(data, inside, variables, command))
        running.callback(stopped, psutil.Process(server.process.pid))
        yield running.enter_context(nginx.proxied(folder, outside, inside, "")), run


def stopped(starter: psutil.Process) -> None:
    """Stop what is in the container, as compose does. Nobody else would: a change of the user takes the signal of the
    parent's death away."""
    all_of_it = starter.children(recursive=True)
    for process in starter.children():
        process.terminate()
    _, left = psutil.wait_procs(all_of_it, timeout=SECONDS)
    assert not left


def signed_in(browser: Browser, url: str) -> Page:
    context = browser.new_context(ignore_https_errors=True, accept_downloads=True)
    context.set_default_timeout(WAIT_MILLISECONDS)
    page = context.new_page()
    page.goto(url)
    press(page.get_by_role("button", name="Sign in"))
    page.get_by_role("button", name=ANN, exact=True).click()
    page.wait_for_selector('[data-testid="stSidebar"]')
    settled(page)
    return page


def test_compose_asks_for_what_the_containers_here_have() -> None:
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
    server = compose["services"]["server"]
    assert server["read_only"] and server["tmpfs"] == ["/tmp"] and server["cap_drop"] == ["ALL"]
    assert server["security_opt"] == ["no-new-privileges:true"] and server["volumes"] == ["data:/data"]
    assert (
        server["environment"]["STREAMLIT_SECRETS_FILES"] == f"/run/secrets/{server['secrets'][0]['target']}" == SECRETS
    )
    assert "ports" not in server  # the proxy alone is reached from outside


def test_a_member_runs_and_finds_the_run_in_another_container(
    image: Image, database: postgres.Server, chromium: Browser, tmp_path: Path
) -> None:
    assert image.config["User"] == "hakari" and list(image.config["Volumes"]) == ["/data"]
    assert image.bytes() <= GIBIBYTES * 2**30
    folders = {name: tmp_path / name / "data" for name in ("first", "second")}
    for data in folders.values():
        data.mkdir(parents=True)
    rows = [f"{'猫' if i % 2 else '犬'}が{i}匹いる。,{'猫' if i % 2 else '犬'}" for i in range(12)]
    (tmp_path / "mine.csv").write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    start = partial(started, image)
    with provider({ANN: "Ann"}) as issuer:
        address = own_database(database, "first")
        with start(tmp_path / "first", folders["first"], address, issuer) as (url, run):
            assert run(image.config["Healthcheck"]["Test"][1:]).returncode == 0
            rights = run(
                ["sh", "-c", "id -u; grep -E 'CapEff|NoNewPrivs' /proc/self/status; findmnt -no OPTIONS /"]
            ).stdout
            assert rights.split()[:5] == [str(USER_ID), "CapEff:", "0" * 16, "NoNewPrivs:", "1"]
            assert rights.split()[5].startswith("ro,")
            page = signed_in(chromium, f"{url}/clusters")
            upload(page, tmp_path / "mine.csv")
            choose_pca(page)
            evaluate(page)
            link, table = re.sub(r"^https://[^/]+", "", page.url), downloaded(page, "models")
            page.context.close()
            settings = {**os.environ, "HAKARI_DATA_DIR": str(folders["first"]), "HAKARI_DATABASE_URL": address}
            backup = subprocess.run(
                [ROOT / "deploy/backup.sh", tmp_path / "backups"],
                env=settings,
                capture_output=True,
                text=True,
                check=True,
            )
        address = own_database(database, "second")
        settings |= {"HAKARI_DATA_DIR": str(folders["second"]), "HAKARI_DATABASE_URL": address}
        subprocess.run([ROOT / "deploy/restore.sh", backup.stdout.strip()], env=settings, check=True)
        with start(tmp_path / "second", folders["second"], address, issuer) as (url, run):
            page = signed_in(chromium, url + link)
            expect(page.locator('[data-testid="stMain"]').get_by_text("mine.csv").first).to_be_visible()
            assert downloaded(page, "models") == table
            page.context.close()
