"""`python -m tests.benchmarks team`: a team's server as its members have it, for minutes, and over hundreds of visits.

Members sign in through an OpenID Connect provider. Most speak to the server over the websocket of the pages, some in a
real Chromium. Each uploads files of its own, evaluates them, changes what is shown, shares runs and opens those of
others; the right answers are known (`files`). Afterwards every stored result is compared with the file of its owner.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from engine.evaluations.minimal_pairs.records import Result
from engine.evaluations.minimal_pairs.views import summary
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage import members as accounts
from engine.runs.storage.artifacts import Artifacts
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store
from tests.benchmarks import report
from tests.benchmarks.measuring import Budget
from tests.benchmarks.streamlit_client import Visitor
from tests.benchmarks.team.by_browser import BrowserMember, executable
from tests.benchmarks.team.by_socket import KIND, PAGE, SCORES, SocketMember
from tests.benchmarks.team.files import MemberFile, member_file
from tests.benchmarks.team.journal import Journal, SharedRun, percentile
from tests.browser.provider import environment, provider
from tests.browser.server import ROOT, Server, free_port, serving
from tests.support import postgres
from tests.support.database import url_for

PAGE_SECONDS, WEB_MIB, GROWTH_MIB = 3.0, 500e6 / 2**20, 10e6 / 2**20
ARRIVAL_SECONDS = 60.0  # all come within so long
# Streamlit keeps 128 sessions for two minutes after they were left: memory grows until so many were.
WARM_UP_VISITS = 200
VISITORS_AT_ONCE = 3
SAMPLES, SAMPLE_SECONDS = 5, 0.5


@dataclass(frozen=True)
class Load:
    """How many members come, how many of them in Chromium, for how long, and how many visits follow for the growth.

    think_seconds: the least and the most that pass between two actions of a member. has_samples: whether the samples
    are evaluated before anybody comes, as `make run` does. variables: further ones of the server.
    """

    members: int = 30
    browsers: int = 6
    seconds: float = 600.0
    visits: int = 500
    warm_up: int = WARM_UP_VISITS
    arrival_seconds: float = ARRIVAL_SECONDS
    think_seconds: tuple[float, float] = (10.0, 40.0)
    has_samples: bool = True
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """What was seen: the members' journal, memory of the web process in bytes, and of the growth each 50 visits."""

    journal: Journal
    start_bytes: int
    peak_bytes: int
    end_bytes: int
    growth: tuple[int, ...]


def address(member: int) -> str:
    """A member's address.

    >>> address(3)
    'member03@lab.example'
    """
    return f"member{member:02d}@lab.example"


def measured(folder: Path, load: Load) -> Measured:
    """Let the members come, then the visits of one after the other; `folder` is for the server's files."""
    addresses = [address(number) for number in range(load.members)]
    port = free_port()
    url, data_dir, journal = f"http://127.0.0.1:{port}", folder / "data", Journal()
    with ExitStack() as stack:
        issuer = stack.enter_context(provider({name: name for name in addresses}))
        variables = {
            **environment(folder, issuer, url, ",".join(addresses)),
            "HAKARI_USER_QUEUED": "0",
            **load.variables,
        }
        if load.has_samples:
            evaluate_samples(data_dir)
        server = stack.enter_context(serving(data_dir, port, variables))
        start = _resident(server)
        watcher = stack.enter_context(_MemoryWatcher(server.process.pid))
        asyncio.run(_stay(server, folder, load, journal))
        peak, end = watcher.peak, _resident(server)
        growth = asyncio.run(_growth(server, journal, load)) if load.visits else ()
    _check_stored(data_dir, journal)
    return Measured(journal, start, peak, end, tuple(growth))


def evaluate_samples(data_dir: Path) -> None:
    """Evaluate the samples before anybody comes, as `make run` does."""
    here = {"HAKARI_DATA_DIR": str(data_dir), "HAKARI_DATABASE_URL": url_for(data_dir, postgres.current)}
    subprocess.run([sys.executable, "-m", "dashboard.prepare_samples"], cwd=ROOT, check=True, env=os.environ | here)


async def _stay(server: Server, folder: Path, load: Load, journal: Journal) -> None:
    host, until = server.url.removeprefix("http://"), time.monotonic() + load.seconds
    n_sockets = load.members - load.browsers
    by_socket = [
        SocketMember(host, number, address(number), journal, load.think_seconds) for number in range(n_sockets)
    ]
    by_browser = [
        BrowserMember(server.url, number, address(number), journal, load.think_seconds, folder)
        for number in range(n_sockets, load.members)
    ]
    with ThreadPoolExecutor(max(1, len(by_browser))) as pool:
        threads: list[Future[None]] = [pool.submit(member.stay, until, load.arrival_seconds) for member in by_browser]
        await asyncio.gather(
            *(member.stay(until, load.arrival_seconds) for member in by_socket), *map(asyncio.wrap_future, threads)
        )


async def _growth(server: Server, journal: Journal, load: Load) -> list[int]:
    """The web process's memory after the warm-up, and then after every tenth of the visits."""
    host = server.url.removeprefix("http://")
    signed_in = Visitor(host, "")
    await signed_in.connect()
    await signed_in.sign_in(address(0))
    shared = list(journal.shared)[:8]
    await _visits(host, signed_in, shared, load.warm_up, journal)
    sizes = [_resident(server)]
    for _ in range(10):
        await _visits(host, signed_in, shared, load.visits // 10, journal)
        sizes.append(_resident(server))
        print(f"{len(sizes) - 1} of 10 tenths of the visits: {sizes[-1] / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    return sizes


async def _visits(host: str, signed_in: Visitor, shared: list[SharedRun], n: int, journal: Journal) -> None:
    """So many visits, a few at a time: a result with another score, the home page, the list of runs."""
    numbers = iter(range(n))

    async def visitor() -> None:
        for number in numbers:
            page, run_id = (("", ""), ("runs", ""), (PAGE, shared[number % len(shared)].run_id))[min(number % 4, 2)]
            try:
                visit = Visitor(host, page, run_id=run_id, cookies=signed_in.cookies)
                await visit.connect()
                for key in [key for key in visit.ids if key.startswith(f"{KIND}-normalization-")]:
                    await visit.choose(key, SCORES[number % len(SCORES)])
                await visit.close()
            except Exception as error:
                journal.errors.append(f"visit {number} of {page}: {type(error).__name__}: {error}"[:400])

    await asyncio.gather(*(visitor() for _ in range(VISITORS_AT_ONCE)))


def _check_stored(data_dir: Path, journal: Journal) -> None:
    """Record as mixed up every stored run whose result is not that of a file of its owner."""
    url = url_for(data_dir, postgres.current) or f"sqlite:///{data_dir / 'hakari.sqlite'}"
    store, artifacts = Store(url), Artifacts(data_dir)
    runs = store.search(Search(kind=KIND, states=("done",), but_owners=(SAMPLES_ID,), limit=100_000))
    addresses = accounts.shown_addresses(store, {run.owner for run in runs})
    for run in runs:
        member, file = file_of(run.dataset_name)
        result = artifacts.load_result(run.id, Result)
        pairs = set(zip(result.pairs["acceptable"], result.pairs["unacceptable"], strict=True))
        table = summary(result, ("LP",))
        n_correct = set(table[table["stratum"] == "all"]["n_correct"])
        if (addresses.get(run.owner), pairs, n_correct) != (address(member), set(file.pairs), {file.n_correct}):
            journal.mixed_up.append(
                f"run {run.id} of {addresses.get(run.owner)}: {run.dataset_name}, {len(pairs)} "
                f"pairs, of which {n_correct} are right"
            )
    store.close()


def file_of(dataset_name: str) -> tuple[int, MemberFile]:
    """The member and the file by the name that it has in a run.

    >>> member, file = file_of("member-03-7")
    >>> member, file.name
    (3, 'member-03-7.csv')
    """
    _, member, number = dataset_name.removesuffix(".csv").split("-")
    return int(member), member_file(int(member), int(number))


def budgets(load: Load, seen: Measured) -> list[Budget]:
    """What the load is held to."""
    journal = seen.journal
    pages = [
        Budget(f"95th percentile of {len(values)} times: {kind}", percentile(values), PAGE_SECONDS)
        for kind, values in sorted(journal.pages().items())
    ]
    growth = (
        []
        if not seen.growth
        else [
            Budget(
                f"Growth of the web process over {load.visits} visits after {load.warm_up}",
                (seen.growth[-1] - seen.growth[0]) / 2**20,
                GROWTH_MIB,
                "MiB",
                f"After the warm-up and every tenth: {', '.join(f'{size / 2**20:.1f}' for size in seen.growth)} MiB.",
            )
        ]
    )
    return [*pages, Budget("Memory of the web process, at most", seen.peak_bytes / 2**20, WEB_MIB, "MiB"), *growth]


def lines(load: Load, seen: Measured) -> list[str]:
    """The tables: what was done, each kind of page, and which budgets are missed."""
    journal = seen.journal
    done = {
        "Members": f"{load.members}, {load.browsers} of them in Chromium",
        "Minutes": f"{load.seconds / 60:g}",
        "Seconds between two actions of a member": "{:g} to {:g}".format(*load.think_seconds),
        "Visits": journal.n_visits,
        "Runs": journal.n_runs,
        "Errors": len(journal.errors),
        "Mixed up": len(journal.mixed_up),
        "Memory of the web process at the start, at most and at the end": ", ".join(
            f"{size / 2**20:.0f} MiB" for size in (seen.start_bytes, seen.peak_bytes, seen.end_bytes)
        ),
    }
    faults = [f"- {fault}" for fault in (*journal.errors, *journal.mixed_up)[:40]]
    return [
        "## A team",
        "",
        f"| {' | '.join(('What', 'Measured'))} |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in done.items()),
        "",
        *journal.rows(),
        "",
        *report.budgets(budgets(load, seen)),
        *(["", "Faults:", "", *faults] if faults else []),
    ]


def _resident(server: Server) -> int:
    """The median of a few looks at the web process's resident memory, in bytes."""
    process, sizes = psutil.Process(server.process.pid), []
    for _ in range(SAMPLES):
        sizes.append(process.memory_info().rss)
        time.sleep(SAMPLE_SECONDS)
    return int(statistics.median(sizes))


class _MemoryWatcher:
    """The largest resident memory of a process, read twice a second, in bytes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._process, self._ended = psutil.Process(pid), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _MemoryWatcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            self.peak = max(self.peak, self._process.memory_info().rss)


def load_of(arguments: list[str]) -> Load:
    """The load that the command line asks for; without Chromium on the machine nobody uses one."""
    default = Load()
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks team")
    parser.add_argument("--minutes", type=float, default=default.seconds / 60)
    parser.add_argument("--visitors", type=int, default=default.members)
    parser.add_argument("--browsers", type=int, default=default.browsers)
    parser.add_argument("--visits", type=int, default=default.visits, help="visits over which memory may not grow")
    parser.add_argument(
        "--think",
        type=float,
        nargs=2,
        default=default.think_seconds,
        metavar=("LEAST", "MOST"),
        help="seconds between two actions of a visitor",
    )
    chosen = parser.parse_args(arguments)
    load = Load(
        chosen.visitors,
        min(chosen.browsers, chosen.visitors),
        60 * chosen.minutes,
        chosen.visits,
        think_seconds=(chosen.think[0], chosen.think[1]),
    )
    return load if executable() else replace(load, browsers=0)


def is_kept(load: Load, seen: Measured) -> bool:
    """Whether there is no error, nothing is mixed up, and no budget is missed."""
    return not (seen.journal.errors or seen.journal.mixed_up or any(budget.is_missed for budget in budgets(load, seen)))
