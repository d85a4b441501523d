"""Behind a TLS proxy, under a sub-path: pages, uploads, runs and downloads work, and health stays inside."""

from __future__ import annotations

import os
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from engine.datasets.sample_data import path as sample_path
from tests.browser import nginx
from tests.browser.server import free_port, serving
from tests.browser.visitor import WAIT_MILLISECONDS, choose_pca, downloaded, evaluate, settled, upload

pytestmark = pytest.mark.skipif(bool(nginx.missing()), reason=nginx.missing() or "nginx is there")
BASE = "team/hakari"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("nginx")
    if not os.geteuid():
        folder.chmod(0o755)
        folder.parent.chmod(0o755)  # the workers of nginx are somebody else
    environment = {"STREAMLIT_SERVER_BASE_URL_PATH": BASE, "STREAMLIT_SERVER_ALLOWED_HOSTS": "localhost"}
    with (
        serving(folder / "data", environment=environment) as server,
        nginx.proxied(folder, free_port(), port_of(server.url), f"/{BASE}") as url,
    ):
        yield url


def port_of(url: str) -> int:
    match = re.search(r":(\d+)", url)
    assert match
    return int(match[1])


@pytest.fixture
def outside(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(
        ignore_https_errors=True, accept_downloads=True, viewport={"width": 1280, "height": 900}
    )
    context.set_default_timeout(WAIT_MILLISECONDS)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("page_name", "sample", "table"),
    [("clusters", "labelled_sentences", "models"), ("minimal_pairs", "minimal_pairs", "summary")],
)
def test_an_upload_is_evaluated_and_its_tables_are_downloaded(
    outside: Page, proxy: str, tmp_path: Path, page_name: str, sample: str, table: str
) -> None:
    lines = sample_path(sample).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "mine.csv").write_text("".join(lines[:1] + lines[1::6]), encoding="utf-8")
    outside.goto(f"{proxy}/{page_name}")
    settled(outside)
    upload(outside, tmp_path / "mine.csv")
    if page_name == "clusters":
        choose_pca(outside)
    evaluate(outside)
    assert re.match(rf"https://localhost:\d+/{BASE}/{page_name}\?run=", outside.url)
    assert downloaded(outside, table)
    outside.reload()
    settled(outside)
    assert downloaded(outside, table)


def test_every_link_of_the_menu_stays_under_the_path(outside: Page, proxy: str) -> None:
    outside.goto(f"{proxy}/")
    settled(outside)
    links = outside.locator('[data-testid="stSidebarNavLink"]').evaluate_all("all => all.map(one => one.href)")
    assert len(links) >= 6 and all(link.startswith(proxy) for link in links)
    outside.goto(f"{proxy}/models")
    settled(outside)
    expect(outside.locator("h1")).to_have_text("Models")


def test_health_and_metrics_are_not_public(proxy: str) -> None:
    root = re.sub(rf"/{BASE}$", "", proxy)
    assert [nginx.status(f"{base}/{name}") for base in (root, proxy) for name in ("healthz", "metrics")] == [404] * 4


def test_a_websocket_under_another_name_is_refused(proxy: str) -> None:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    for host, allowed in (("localhost", True), ("evil.example", False)):
        try:
            with connect(
                f"wss://{host}:{port_of(proxy)}/{BASE}/_stcore/stream",
                ssl=trusting,
                subprotocols=["streamlit"],  # type: ignore[list-item]
                open_timeout=WAIT_MILLISECONDS / 1000,
                sock=socket.create_connection(("127.0.0.1", port_of(proxy))),
            ):
                opened = True
        except InvalidStatus:
            opened = False
        assert opened is allowed, host


def test_the_proxy_passes_what_the_page_accepts() -> None:
    text = nginx.TEMPLATE.read_text(encoding="utf-8")
    limit = re.search(r"client_max_body_size (\d+)m;", text)
    config = (Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    upload_limit = re.search(r"maxUploadSize = (\d+)", config)
    assert limit and upload_limit and int(limit[1]) > int(upload_limit[1])  # the page's own words come first
