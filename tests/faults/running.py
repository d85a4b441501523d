"""Draws faults by a seed, carries them out one after the other and checks after each what has to hold."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from engine.runs.storage.searching import BROWSER_PREFIX
from tests.faults import checks
from tests.faults.checks import Ledger, Reference
from tests.faults.clients import Crowd, look
from tests.faults.kinds import BY_STORAGE, KINDS, skipped
from tests.faults.site import STORAGES, Site, database_of, wait_for

CLIENTS, PAGE_CLIENTS = 8, 3
# Of 20 faults so many are on a site of each storage.
SHARES = {"sqlite": 15, "postgresql": 4, "ray": 1}
BLOCK = 20
LATEST_SECONDS = 3.0  # after the clients have begun, or after the first run was submitted
WAITING_SHARE, FIRST_SECONDS = 0.7, 20.0  # so many faults wait until a run was submitted, so long at most


@dataclass(frozen=True)
class Drawn:
    """A fault before it is done. It depends on the seed and its number alone."""

    number: int
    storage: str
    kind: str


@dataclass
class Outcome:
    """What came of a fault. skipped: why it was not done."""

    fault: Drawn
    what: str = ""
    seconds: float = 0.0
    n_runs: int = 0
    skipped: str = ""
    findings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """What to do. kinds: those that may be drawn. until: of the monotonic clock; no fault begins after it."""

    seed: int
    folder: Path
    can_mount: bool
    storages: Sequence[str] = STORAGES
    kinds: Sequence[str] = tuple(KINDS)
    n_clients: int = CLIENTS
    n_pages: int = PAGE_CLIENTS
    until: float = float("inf")


def draw_fault(plan: Plan, number: int) -> Drawn:
    """The fault with a number."""
    draw = Random(f"{plan.seed}/{number}")
    storages = [storage for storage in plan.storages if set(BY_STORAGE[storage]) & set(plan.kinds)]
    storage = draw.choices(storages, [SHARES[name] for name in storages])[0]
    return Drawn(number, storage, draw.choice([kind for kind in BY_STORAGE[storage] if kind in plan.kinds]))


def run(plan: Plan, numbers: Sequence[int], report: Callable[[Outcome], None]) -> list[Outcome]:
    """Carry out the faults with these numbers and report each; in a block, those of a storage share a server."""
    outcomes: list[Outcome] = []
    with contextlib.closing(Reference(plan.folder / "reference")) as reference:
        for start in range(0, len(numbers), BLOCK):
            faults = [draw_fault(plan, number) for number in numbers[start : start + BLOCK]]
            for storage in plan.storages:
                for outcome in _on_one_site(plan, [fault for fault in faults if fault.storage == storage], reference):
                    outcomes.append(outcome)
                    report(outcome)
    return outcomes


def _on_one_site(plan: Plan, faults: Sequence[Drawn], reference: Reference) -> Iterator[Outcome]:
    """Carry out faults of one storage on a new server."""
    if not faults or time.monotonic() > plan.until:
        return
    folder = plan.folder / f"{faults[0].storage}-{faults[0].number}"
    with Site(folder, faults[0].storage, can_mount=plan.can_mount) as site:
        ledger = Ledger()
        for fault in faults:
            if time.monotonic() > plan.until:
                return
            yield _carried_out(plan, fault, site, ledger, reference)


def _carried_out(plan: Plan, fault: Drawn, site: Site, ledger: Ledger, reference: Reference) -> Outcome:
    outcome = Outcome(fault, skipped=skipped(fault.kind, plan.can_mount))
    if outcome.skipped:
        return outcome
    begun = time.monotonic()
    draw = Random(f"{plan.seed}/{fault.number}/{fault.kind}")
    try:
        _do(plan, outcome, site, ledger, reference, draw)
    except Exception as error:  # the server does not come up, the harness cannot look: a finding like any other
        outcome.findings.append(f"{type(error).__name__}: {str(error)[-2000:]}")
        with contextlib.suppress(Exception):
            site.kill()
            site.start()
    outcome.seconds = time.monotonic() - begun
    return outcome


def _do(plan: Plan, outcome: Outcome, site: Site, ledger: Ledger, reference: Reference, draw: Random) -> None:
    ledger.take(site)
    n_before = len(checks.listed(site))
    crowd = Crowd(
        site.host,
        site.submitter,
        site.data,
        site.url,
        draw,
        plan.n_clients,
        plan.n_pages,
        f"{BROWSER_PREFIX}{draw.getrandbits(128):032x}",
    )  # its runs open by their links, as all browsers' do
    if draw.random() < WAITING_SHARE:
        wait_for(lambda: len(checks.listed(site)) > n_before, FIRST_SECONDS, 0.2)
    time.sleep(draw.uniform(0.0, LATEST_SECONDS))
    with database_of(site.url), KINDS[outcome.fault.kind](site, draw, ledger) as broken:
        if site.server is not None:
            outcome.findings += _while_broken(site, broken.looks_broken)
        crowd.wait()
    outcome.what = broken.what
    outcome.findings += broken.findings
    for visit in crowd.visits:
        outcome.findings += checks.of_visit(visit, whole=False)
        if not (visit.run_id or visit.alerts or visit.cut_off or visit.exceptions):
            outcome.findings.append(f"the page {visit.page} neither submitted nor said why not")
    may_be_refused = broken.may_fail or broken.looks_broken or broken.is_restored
    outcome.findings += [
        f"a submission: {answer}"
        for answer in crowd.submitted
        if answer.startswith("unexpected") or (answer.startswith("error") and not may_be_refused)
    ]
    site.shown_runs |= set(crowd.run_ids())
    outcome.findings += checks.all_end(site)
    acknowledged = [] if broken.is_restored else crowd.run_ids()
    outcome.findings += checks.nothing_lost(
        site, ledger, reference, draw, acknowledged=acknowledged, may_fail=broken.may_fail, lost_keys=broken.lost_keys
    )
    runs = checks.listed(site)
    outcome.n_runs = len(runs) - n_before
    finished = [record for record in runs if record.state == "done"]
    outcome.findings += checks.pages_answer(site, draw, 2, draw.choice(finished) if finished else None)


def _while_broken(site: Site, must_show: bool) -> Iterator[str]:
    """Findings about a page that is opened while the fault lasts."""
    visit = look(site.host, "runs")
    yield from checks.of_visit(visit, whole=False)
    if must_show and not visit.alerts:
        yield f"the page of runs does not say what is wrong: {visit.cut_off or 'it shows no error'}"
