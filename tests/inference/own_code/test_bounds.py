"""Code of a model's own that takes too much: time, memory, threads, files, an answer without end; it is ended in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import EngineError, RunError, WorkerDied
from engine.inference.own_code.backend import WithOwnCode
from engine.inference.own_code.process import Bounds
from engine.models.sources.own_code.trusted import VARIABLE
from engine.processes.confinement.kernel import missing
from tests.inference.own_code import own_models
from tests.inference.own_code.own_models import allowed, ask
from tests.support import tiny_models
from tests.support.in_process import InProcess
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
PLL = {"scoring": "pll-original", "precision": "fp32"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "plain")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def backend(data: Path) -> Iterator[WithOwnCode]:
    backend = WithOwnCode(InProcess(), [data], Bounds(seconds=60.0, threads=60))
    yield backend
    backend.close()


def test_what_hangs_is_ended(plain: Path, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = WithOwnCode(InProcess(), [data], Bounds(seconds=25.0))
    hang = "import signal, time\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: time.sleep(1)"
    own = own_models.masked(plain, tmp_path / "own", in_forward=hang)
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(WorkerDied, match=r"own code of .*own took longer than 25 seconds and was ended"):
        ask(backend, "token_log_likelihoods", own, ["猫"], **PLL)
    assert ask(backend, "describe", plain)[0]["kind"] == "masked"
    backend.close()


ENDS = {
    "memory": ("kept = []\nwhile True: kept.append(bytearray(2**28))", "not enough memory"),
    "threads": (
        "import threading, time\nfor _ in range(120): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        "\ntime.sleep(60)",
        r"had \d+ threads and was ended",
    ),
    "files": (
        "import os, time\nfor i in range(2000): open(os.environ['HOME'] + f'/{i}', 'w').close()\ntime.sleep(60)",
        r"wrote \d+ files and was ended",
    ),
    "a large file": ("open(os.environ['HOME'] + '/large', 'wb').write(bytes(2**21))", "File too large"),
    "its end": ("os._exit(7)", "ended with exit code 7"),
    "a crash": ("import ctypes; ctypes.string_at(0)", "was ended by SIGSEGV"),
    "system exit": ("raise SystemExit(3)", "ended with exit code 3"),
}


@pytest.mark.parametrize("kind", ENDS)
def test_what_takes_too_much_is_ended(
    kind: str, plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, words = ENDS[kind]
    monkeypatch.setenv("HAKARI_MODEL_MEMORY_GB", "0.5")
    own = own_models.masked(plain, tmp_path / "own", in_forward=f"import os\n{code}")
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(EngineError, match=words):
        ask(backend, "token_log_likelihoods", own, ["猫"], **PLL)
    assert ask(backend, "describe", plain)[0]["kind"] == "masked"


@pytest.mark.parametrize(
    ("size", "words"), [(2**30 + 1, "answer that is too large"), (1000, r"took longer than 20 seconds")]
)
def test_an_answer_that_is_too_large_or_never_ends(
    size: int, words: str, plain: Path, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = WithOwnCode(InProcess(), [data], Bounds(seconds=20.0))
    code = (
        f"import os, struct, sys, time; os.write(int(sys.argv[2]), struct.pack('!i', {size}) + b'x'); time.sleep(600)"
    )
    own = own_models.masked(plain, tmp_path / "own", in_forward=code)
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(RunError, match=words):
        ask(backend, "token_log_likelihoods", own, ["猫"], **PLL)
    backend.close()


def test_a_cancelled_run_takes_its_process_along(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = own_models.masked(plain, tmp_path / "own", in_forward="import time; time.sleep(600)")
    monkeypatch.setenv(VARIABLE, allowed(own))
    request = own_models.request_of(own, ["猫"], **PLL)
    future, waiting = (backend.run("token_log_likelihoods", request, "run") for _ in range(2))
    wait_until(lambda: any(state.computing for state in backend.workers()), seconds=60)
    backend.cancel("run")
    with pytest.raises(WorkerDied, match="was ended with its run"):
        future.result(timeout=30)
    assert waiting.cancelled()
