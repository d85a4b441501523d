"""Debian's nginx with deploy/nginx's own configuration, TLS and all, on loopback."""

from __future__ import annotations

import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import CERT_NONE, create_default_context

from tests.waiting import SECONDS

TEMPLATE = Path(__file__).parents[2] / "deploy" / "nginx" / "hakari.conf.template"
MAIN = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types; access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/hakari.conf;
}}
"""


def missing() -> str:
    """What this machine lacks for it; "" when it has all."""
    lacking = [name for name in ("nginx", "openssl") if shutil.which(name) is None]
    return f"needs {' and '.join(lacking)} (apt-get install nginx-light openssl)" if lacking else ""


@contextmanager
def proxied(folder: Path, port: int, upstream_port: int, path: str) -> Iterator[str]:
    """A proxy at https://localhost:port/path for a server at the upstream port; yields its address."""
    values = {
        "HAKARI_HOST": "localhost",
        "HAKARI_UPSTREAM": f"127.0.0.1:{upstream_port}",
        "HAKARI_PATH": path,
        "HAKARI_HTTPS_PORT": f"127.0.0.1:{port}",
        "HAKARI_CERTIFICATES": str(folder),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    (folder / "hakari.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder), encoding="utf-8")
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-keyout",
            str(folder / "privkey.pem"),
            "-out",
            str(folder / "fullchain.pem"),
        ],
        check=True,
        capture_output=True,
    )
    process = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")])
    url = f"https://localhost:{port}{path}"
    try:
        _wait_for(f"{url}/_stcore/health", process, folder)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


def status(url: str) -> int:
    """What the address answers; its certificate is nobody's but the test's."""
    trusting = create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, CERT_NONE
    try:
        with urllib.request.urlopen(url, timeout=5, context=trusting) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def _wait_for(url: str, process: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + SECONDS
    while True:
        try:
            if status(url) == 200:
                return
        except OSError:
            pass
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"nginx did not come up:\n{(folder / 'error.log').read_text(encoding='utf-8')}")
        time.sleep(0.05)
