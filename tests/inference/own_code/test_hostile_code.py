"""Hostile code of a model's own: what it tries at import and while it computes is refused, and the engine goes on."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ModelError, RunError
from engine.inference.own_code.backend import WithOwnCode
from engine.inference.own_code.process import Bounds
from engine.models.sources.model_location import locate
from engine.models.sources.own_code.trusted import VARIABLE
from engine.processes.confinement.kernel import missing
from tests.inference.own_code import own_models
from tests.inference.own_code.own_models import allowed, ask
from tests.support import tiny_models
from tests.support.in_process import InProcess
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))
SECRET = "a-sentence-of-a-member"
PLL = {"scoring": "pll-original", "precision": "fp32"}
# Each line is tried alone; what is not refused is told in an error. The first two are allowed, so that a test that told
# nothing would fail; signals are 0, which asks for the right alone.
ATTEMPTS = """
import ctypes, os, signal, socket, subprocess, threading, resource, _thread
libc = ctypes.CDLL(None, use_errno=True)
def system_call(*numbers):
    if libc.syscall(*[ctypes.c_long(number) for number in numbers]) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def remapped():
    import mmap
    with open("{data}/members.txt") as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
tried = {{
    "read the model": lambda: open("{model}/config.json").read(),
    "write into its folder": lambda: open(os.environ["HOME"] + "/new", "w"),
    "read the data": lambda: open("{data}/members.txt").read(),
    "list the data": lambda: os.listdir("{data}"),
    "map the data": remapped,
    "read home": lambda: os.listdir({home!r}),
    "read passwords": lambda: open("/etc/passwd").read(),
    "read the parent's environment": lambda: open(f"/proc/{{os.getppid()}}/environ", "rb").read(),
    "read the parent's memory": lambda: open(f"/proc/{{os.getppid()}}/mem", "rb"),
    "read by a link": lambda: (os.symlink("{data}/members.txt", "link"), open("link").read()),
    "read by a hard link": lambda: (os.link("{data}/members.txt", "hard"), open("hard").read()),
    "rename": lambda: os.rename("{data}/members.txt", "moved"),
    "write into the data": lambda: open("{data}/new", "w"),
    "write over the data": lambda: open("{data}/members.txt", "r+"),
    "truncate the data": lambda: os.truncate("{data}/members.txt", 0),
    "delete the data": lambda: os.unlink("{data}/members.txt"),
    "change its mode": lambda: os.chmod("{data}/members.txt", 0o777),
    "change its time": lambda: os.utime("{data}/members.txt", (0, 0)),
    "change its owner": lambda: os.chown("{data}/members.txt", 1, 1),
    "write into the system's temporary folder": lambda: open("{outside}/new", "w"),
    "write into the model": lambda: open("{model}/new", "w"),
    "write into its own code": lambda: open(__file__, "a"),
    "fork": os.fork,
    "vfork": lambda: system_call(58) if os.uname().machine == "x86_64" else system_call(220, 0, 0, 0, 0, 0),
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {{}}),
    "run": lambda: subprocess.run(["/bin/true"]),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "connect": lambda: socket.create_connection(("127.0.0.1", {port}), timeout=5),
    "send a datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", {port})),
    "open a local socket": lambda: socket.socket(socket.AF_UNIX),
    "open a netlink socket": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "pair of sockets": socket.socketpair,
    "io_uring": lambda: system_call(425, 4, 0),
    "signal the parent": lambda: os.kill(os.getppid(), 0),
    "signal everybody": lambda: os.kill(-1, 0),
    "signal the parent's thread": lambda: system_call(200 if os.uname().machine == "x86_64" else 130, os.getppid(), 0),
    "a file descriptor of the parent": lambda: system_call(434, os.getppid(), 0),
    "trace the parent": lambda: system_call(101 if os.uname().machine == "x86_64" else 117, 16, os.getppid(), 0, 0),
    "slow the parent": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    "outlive the parent": lambda: (_ for _ in ()).throw(OSError(1, "x")) if libc.prctl(1, 0, 0, 0, 0) else None,
    "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (2**50, 2**50)),
    "leave the session": os.setsid,
    "watch a folder": lambda: system_call(254 if os.uname().machine == "x86_64" else 27, 0, 0, 0),
    "a new namespace": lambda: system_call(272 if os.uname().machine == "x86_64" else 97, 0x10000000),
}}
open_doors = []
for what, attempt in tried.items():
    try:
        attempt()
    except (OSError, ValueError):
        continue
    open_doors.append(what)
for name, value in os.environ.items():
    if {secret!r} in value or "TOKEN" in name.split("_") or "SECRET" in name:
        open_doors.append(name)
"""


class Listener:
    """A server on loopback that counts who comes."""

    def __init__(self) -> None:
        self.visits: list[object] = []
        self._sockets = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
        self._sockets[0].bind(("127.0.0.1", 0))
        self.port = self._sockets[0].getsockname()[1]
        self._sockets[1].bind(("127.0.0.1", self.port))
        self._sockets[0].listen()
        for work in (self._accept, self._receive):
            threading.Thread(target=work, daemon=True).start()

    def _accept(self) -> None:
        try:
            while True:
                visitor, address = self._sockets[0].accept()
                visitor.close()
                self.visits.append(address)
        except OSError:
            return

    def _receive(self) -> None:
        try:
            while True:
                self.visits.append(self._sockets[1].recvfrom(100)[1])
        except OSError:
            return

    def close(self) -> None:
        for each in self._sockets:
            each.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()
    socket.create_connection(("127.0.0.1", listener.port)).close()
    wait_until(lambda: len(listener.visits) == 1)  # it does hear who comes
    listener.visits.clear()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.bert(tmp_path_factory.mktemp("models") / "plain")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "members.txt").write_text(SECRET)
    return tmp_path / "data"


@pytest.fixture
def backend(data: Path) -> Iterator[WithOwnCode]:
    backend = WithOwnCode(InProcess(), [data], Bounds(seconds=60.0, threads=60))
    yield backend
    backend.close()


def attempts(data: Path, model: Path, listener: Listener) -> str:
    return ATTEMPTS.format(
        data=data, home=str(Path.home()), outside=data.parent, model=model, port=listener.port, secret=SECRET
    )


@pytest.mark.parametrize("where", ["at_import", "in_forward"])
def test_nothing_is_read_written_started_or_called(
    where: str,
    plain: Path,
    tmp_path: Path,
    data: Path,
    backend: WithOwnCode,
    listener: Listener,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    monkeypatch.setenv("HAKARI_DATABASE_URL", f"postgresql://hakari:{SECRET}@db/hakari")
    before = (data / "members.txt").stat()
    code = "import sys\nfor stream in (sys.stdout, sys.stderr): print('a sentence', file=stream, flush=True)\n"
    code += attempts(data, tmp_path / "own", listener) + '\nraise ValueError("open: " + ", ".join(open_doors))'
    if where == "in_forward":
        code = f"exec({code!r}, {{'__file__': __file__}})"
    own = own_models.masked(plain, tmp_path / "own", **{where: code})
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(ModelError, match=r"open: read the model, write into its folder[ )]") as refused:
        ask(backend, "token_log_likelihoods", own, ["猫が庭で眠る。"], **PLL)
    assert SECRET not in str(refused.value)
    assert not any("a sentence" in printed for printed in capfd.readouterr())  # which the server's log would hold
    assert not listener.visits
    assert sorted(os.listdir(data)) == ["members.txt"] and (data / "members.txt").read_text() == SECRET
    after = (data / "members.txt").stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)
    assert sorted(os.listdir(tmp_path)) == ["data", "own"]
    assert not (own / "new").exists()
    assert ask(backend, "describe", plain)[0]["kind"] == "masked"  # the engine goes on


@pytest.mark.nightly
def test_native_code_meets_the_same_walls(
    plain: Path, tmp_path: Path, data: Path, backend: WithOwnCode, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By system calls from a thread that a library started before the code was imported: it has no more rights."""
    code = f"""
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
results = []
def work():
    results.append(libc.socket(2, 1, 0))
    results.append(libc.open({str(data / "members.txt").encode()!r}, 0))
    results.append(libc.syscall(ctypes.c_long(0x40000000 + 41), 2, 1, 0))
    libc.fork.restype = ctypes.c_int
    results.append(libc.fork())
thread = threading.Thread(target=work); thread.start(); thread.join()
raise ValueError(f"got {{results}}")
"""
    own = own_models.masked(plain, tmp_path / "own", at_import=code)
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(ModelError, match=r"got \[-1, -1, -1, -1\]"):
        ask(backend, "describe", own)
    assert not listener.visits


WRITER = """
import os, pickle, struct, sys
class Bomb:
    def __reduce__(self):
        return os.system, ("touch {mark}",)
frame = pickle.dumps(("pieces", 0, Bomb()))
os.write(int(sys.argv[2]), struct.pack("!i", len(frame)) + frame)
"""


@pytest.mark.nightly
def test_a_pickle_in_place_of_the_answer_is_not_read(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    own = own_models.masked(plain, tmp_path / "own", in_forward=f"exec({WRITER.replace('{mark}', str(mark))!r}, {{}})")
    monkeypatch.setenv(VARIABLE, allowed(own))
    with pytest.raises(RunError, match="gave an answer to token_log_likelihoods that cannot be read"):
        ask(backend, "token_log_likelihoods", own, ["猫"], **PLL)
    assert not mark.exists()


@pytest.mark.nightly
def test_it_cannot_pass_for_another_model(
    plain: Path, tmp_path: Path, backend: WithOwnCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Facts decide the keys of the cache: the fingerprints are not the code's to say."""
    expected = ask(backend, "describe", plain)[0]
    code = f"""
import engine.models.worker as worker
described = worker.OPERATIONS["describe"]
worker.OPERATIONS["describe"] = lambda request: [
    {{**described(request)[0], "fingerprint": {expected["fingerprint"]!r}, "name": "builtin/bert-mini-ja",
      "tokenizer_fingerprint": "0", "source": "built-in", "endpoint": {{}}, "own_code": ""}}
]
"""
    own = own_models.masked(plain, tmp_path / "own", at_import=code)
    monkeypatch.setenv(VARIABLE, allowed(own))
    facts = ask(backend, "describe", own)[0]
    assert facts["fingerprint"] != expected["fingerprint"]
    assert facts["fingerprint"] == locate(str(own)).fingerprint
    assert facts["tokenizer_fingerprint"] == locate(str(own)).tokenizer_fingerprint
    assert (facts["source"], facts["endpoint"]) == ("directory", None)
    assert facts["own_code"].startswith("own@sha256:")
