"""Who reaches the server: what the port of the pages answers, the operator's port, the address of `make run`."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dashboard.serving.operator_port import ADDRESS_VARIABLE, PORT_VARIABLE, operator_address, operator_port
from dashboard.serving.response_headers import HEADERS, ResponseHeaders
from engine.errors import InputError, RunError
from engine.runs.open import Engine, open_engine
from engine.runs.operation.health import disk_fault
from tests.support.fakes import FakeBackend
from tests.waiting import finished

ROOT = Path(__file__).parents[3]


def answer_to(path: str) -> tuple[int, dict[str, str]]:
    """Status and headers of the answer to a request, before an app that answers 200 to everything."""
    sent: list[dict[str, object]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,  # type: ignore[operator]
                "headers": [(b"content-type", b"text/html"), (b"x-frame-options", b"ALLOWALL")],
            }
        )

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": ("127.0.0.1", 1)}
    finished(ResponseHeaders(app)(scope, None, send))  # type: ignore[arg-type]
    headers: list[tuple[bytes, bytes]] = sent[0]["headers"]  # type: ignore[assignment]
    assert len({name for name, _ in headers}) == len(headers)
    return int(sent[0]["status"]), {name.decode(): value.decode() for name, value in headers}  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/_stcore/metrics", 404),
        ("/hakari/_stcore/metrics", 404),
        ("/_stcore/metrics/", 404),
        ("/healthz", 404),
        ("/metrics", 404),
        ("/team/hakari/healthz", 404),
        ("/_stcore/script-health-check", 404),
        ("/_stcore/health", 200),
        ("/", 200),
        ("/metric_study", 200),
    ],
)
def test_the_port_of_the_pages_has_no_health_and_no_metrics(path: str, status: int) -> None:
    assert answer_to(path)[0] == status  # not even for the machine itself


@pytest.mark.parametrize("path", ["/", "/media/a.svg", "/_stcore/health", "/metrics"])
def test_every_answer_has_the_headers(path: str) -> None:
    headers = answer_to(path)[1]
    assert {name: headers[name.lower()] for name in HEADERS} == HEADERS
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["frame-ancestors"] == "'self'" and policy["object-src"] == "'none'"
    assert policy["default-src"] == "'self'"
    sources = {source for rule in policy.values() for source in rule.split()}
    assert sources <= {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}  # no other host
    assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "SAMEORIGIN"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def read(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_operators_port_has_health_and_metrics_and_nothing_else(tmp_path: Path) -> None:
    port = free_port()
    with (
        open_engine(tmp_path / "data", backend=FakeBackend()) as engine,
        operator_port(lambda: engine, lambda: "streamlit_sessions 3\n", {PORT_VARIABLE: str(port)}),
    ):
        status, text = read(f"http://127.0.0.1:{port}/healthz")
        assert (status, json.loads(text)) == (200, {"ok": True, "database": "ok", "disk": "ok", "workers": "ok"})
        status, text = read(f"http://127.0.0.1:{port}/metrics?x=1")
        values = {
            sample.name: sample.value for family in text_string_to_metric_families(text) for sample in family.samples
        }
        assert status == 200 and values["hakari_queue_length"] == 0 and values["streamlit_sessions"] == 3
        for path in ("/", "/healthz/", "/_stcore/health", "/runs", "/metrics/x", "/../etc/passwd"):
            assert read(f"http://127.0.0.1:{port}{path}")[0] == 404
        request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=10)
        refused.value.close()
        assert refused.value.code == 501
        with (
            pytest.raises(InputError, match=rf"127\.0\.0\.1:{port} \(HAKARI_OPERATOR_PORT\) cannot be opened"),
            operator_port(lambda: engine, environment={PORT_VARIABLE: str(port)}),
        ):
            pass
    with pytest.raises(OSError):
        read(f"http://127.0.0.1:{port}/healthz")  # it ends with the server


def test_health_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port, faults = free_port(), ["", "The list of runs cannot be read."]
    (tmp_path / "members").write_text("ann@lab.example", encoding="utf-8")
    monkeypatch.setenv("HAKARI_MEMBERS_FILE", str(tmp_path / "members"))
    backend = FakeBackend()
    with open_engine(tmp_path / "data", backend=backend) as opened:

        def engine() -> Engine:
            if faults[0]:
                raise RunError(faults[0])
            return opened

        with operator_port(engine, environment={PORT_VARIABLE: str(port)}):
            url = f"http://127.0.0.1:{port}"
            assert json.loads(read(f"{url}/healthz")[1]) == {
                "ok": True,
                "database": "ok",
                "disk": "ok",
                "workers": "ok",
                "members": "ok",
                "audit log": "ok",
            }
            (tmp_path / "members").write_text("ann", encoding="utf-8")
            monkeypatch.setattr(backend, "fault", lambda: "No worker answers.")
            monkeypatch.setattr("engine.runs.operation.health.disk_fault", lambda _: "3 MB are free.")
            (tmp_path / "data/audit.jsonl").mkdir()
            opened.audit.record("share")
            status, text = read(f"{url}/healthz")
            body = json.loads(text)
            assert (status, body["ok"], body["workers"], body["disk"]) == (
                503,
                False,
                "No worker answers.",
                "3 MB are free.",
            )
            assert "Line 1 of the file of members" in body["members"] and "cannot be written" in body["audit log"]
            monkeypatch.setattr(opened.store, "n_by_state", lambda: (_ for _ in ()).throw(RunError("gone")))
            assert json.loads(read(f"{url}/healthz")[1])["database"] == "gone"
            assert read(f"{url}/metrics") == (503, "# gone\n")
            faults.reverse()
            assert read(f"{url}/healthz") == (503, json.dumps({"ok": False, "engine": faults[0]}))


def test_a_disk_that_is_full_or_not_there_is_said(tmp_path: Path) -> None:
    assert disk_fault(tmp_path) == "" and list(tmp_path.iterdir()) == []
    assert "MB are free at" in disk_fault(tmp_path, 2**70)
    assert "cannot be written: No such file or directory" in disk_fault(tmp_path / "missing")


def test_the_address_of_the_operators_port() -> None:
    assert operator_address({PORT_VARIABLE: " "}) is None
    assert operator_address({PORT_VARIABLE: "9000", ADDRESS_VARIABLE: "0.0.0.0"}) == ("0.0.0.0", 9000)
    for text in ("0", "65536", "-1", "http", "80.5"):
        with pytest.raises(InputError, match="HAKARI_OPERATOR_PORT is the number of a port"):
            operator_address({PORT_VARIABLE: text})


def commands(*variables: str, target: str = "run") -> str:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    return subprocess.run(
        ["make", "--dry-run", target, *variables], cwd=ROOT, capture_output=True, text=True, timeout=60
    ).stdout


def test_make_run_listens_on_this_machine_alone() -> None:
    assert "--server.address 127.0.0.1 --server.port 8501" in commands()
    assert "--server.address 0.0.0.0 --server.port 80" in commands("ADDRESS=0.0.0.0", "PORT=80")
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"  # `streamlit run` too


@pytest.mark.parametrize(
    ("address", "is_open"), [("127.0.0.1", False), ("localhost", False), ("0.0.0.0", True), ("192.0.2.7", True)]
)
def test_an_open_address_is_said_to_be_open(address: str, is_open: bool) -> None:
    (line,) = [line for line in commands(f"ADDRESS={address}").splitlines() if "Open: every machine" in line]
    said = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=10).stdout
    assert said.startswith("Open: every machine that reaches") == is_open


def test_what_is_installed_is_audited_and_listed() -> None:
    audit = commands(target="audit")
    assert "pip-audit --strict" in audit  # what could not be looked up is no good news
    (command,) = [line for line in audit.splitlines() if "sed" in line]
    cut = command[command.index("sed") : command.index(" >")]
    listed = subprocess.run(
        ["sh", "-c", cut], input="torch==2.13.0+cpu\nsix==1.17.0\n", capture_output=True, text=True, timeout=10
    ).stdout
    assert listed == "torch==2.13.0\nsix==1.17.0\n"  # advisories name no variant of torch
    sbom = commands("SBOM=out.json", target="sbom")
    assert "cyclonedx-py environment --output-reproducible --of JSON -o out.json" in sbom
