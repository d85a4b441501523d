"""Who reaches the server: what is for its own machine, and the address that `make run` listens on."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dashboard.local_routes import LocalRoutes

ROOT = Path(__file__).parents[2]


def status_of(path: str, client: tuple[str, int] | None, headers: list[tuple[bytes, bytes]]) -> int:
    """The status of a request to an app that answers 200 to everything."""
    sent: list[dict[str, object]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": client}
    with ThreadPoolExecutor(1) as thread:  # a browser's test before this one leaves a loop running in the main thread
        thread.submit(asyncio.run, LocalRoutes(app)(scope, None, send)).result()  # type: ignore[arg-type]
    return int(sent[0]["status"])  # type: ignore[call-overload]


METRICS = "/_stcore/metrics"
FORWARDED = [(b"X-Forwarded-For", b"127.0.0.1")]


@pytest.mark.parametrize(("path", "client", "headers", "status"), [
    (METRICS, ("127.0.0.1", 1), [], 200), (METRICS, ("::1", 1), [], 200), (METRICS, ("::ffff:127.0.0.1", 1), [], 200),
    (METRICS, ("192.0.2.7", 1), [], 404), (METRICS, ("10.0.0.1", 1), [], 404), (METRICS, ("2001:db8::1", 1), [], 404),
    (METRICS, None, [], 404), (METRICS, ("testclient", 1), [], 404),
    (METRICS, ("127.0.0.1", 1), FORWARDED, 404), (METRICS, ("127.0.0.1", 1), [(b"forwarded", b"for=127.0.0.1")], 404),
    (f"/hakari{METRICS}", ("192.0.2.7", 1), [], 404), (f"{METRICS}/", ("192.0.2.7", 1), [], 404),
    ("/_stcore/health", ("192.0.2.7", 1), FORWARDED, 200), ("/", ("192.0.2.7", 1), FORWARDED, 200),
])
def test_streamlits_metrics_are_for_the_machine_itself(
    path: str, client: tuple[str, int] | None, headers: list[tuple[bytes, bytes]], status: int,
) -> None:
    assert status_of(path, client, headers) == status


def commands(*variables: str) -> str:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    return subprocess.run(["make", "--dry-run", "run", *variables], cwd=ROOT, capture_output=True, text=True,
                          timeout=60).stdout


def test_make_run_listens_on_this_machine_alone() -> None:
    assert "--server.address 127.0.0.1 --server.port 8501" in commands()
    assert "--server.address 0.0.0.0 --server.port 80" in commands("ADDRESS=0.0.0.0", "PORT=80")
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"  # `streamlit run` too


@pytest.mark.parametrize(("address", "is_open"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True),
                                                  ("192.0.2.7", True)])
def test_an_open_address_is_said_to_be_open(address: str, is_open: bool) -> None:
    (line,) = [line for line in commands(f"ADDRESS={address}").splitlines() if "Open: every machine" in line]
    said = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=10).stdout
    assert said.startswith("Open: every machine that reaches") == is_open
