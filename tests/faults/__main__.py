"""Faults by one command: `python -m tests.faults --faults 200 --seed 0`, or one of them again with --fault.

Starts real servers with the built-in models on directories of their own. Exit 1 when something was found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from tests.faults import disks
from tests.faults.kinds import KINDS
from tests.faults.running import CLIENTS, PAGE_CLIENTS, Outcome, Plan, run
from tests.faults.site import STORAGES
from tests.support import postgres
from tests.support.loopback_ray import RAY

IN_NAMESPACE = "FAULTS_HAVE_OWN_MOUNTS"  # set where this process has a mount namespace of its own


def main() -> int:
    """Carry the faults out and print a line for each, and a table of them by kind."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fault", type=int, action="append", help="one fault again; may be repeated")
    parser.add_argument("--kind", action="append", choices=KINDS, help="may be repeated; all by default")
    parser.add_argument("--storage", action="append", choices=STORAGES, help="may be repeated; all by default")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument(
        "--pages",
        type=int,
        default=PAGE_CLIENTS,
        help="clients that are pages; the others are programs that submit to the same directory",
    )
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no fault begins later")
    parser.add_argument("--keep", type=Path, help="a new folder for the directories and logs, which stay")
    options = parser.parse_args()
    if IN_NAMESPACE not in os.environ:
        _enter_namespace()
    storages = [name for name in options.storage or STORAGES if not _missing(name)]
    for name in options.storage or STORAGES:
        if _missing(name):
            print(f"{name}: skipped, {_missing(name)}")
    folder = options.keep or Path(tempfile.mkdtemp(prefix="hakari-faults-"))
    folder.mkdir(exist_ok=True)
    plan = Plan(
        options.seed,
        folder,
        os.environ[IN_NAMESPACE] == "yes",
        storages,
        options.kind or tuple(KINDS),
        options.clients,
        options.pages,
        time.monotonic() + 60 * options.minutes,
    )
    begun = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # servers and mounts end with it
    try:
        outcomes = run(plan, options.fault if options.fault is not None else range(options.faults), _print)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(_table(outcomes))
    n_findings = sum(len(outcome.findings) for outcome in outcomes)
    print(
        f"{sum(not outcome.skipped for outcome in outcomes)} faults in {time.monotonic() - begun:.0f} s, seed "
        f"{options.seed}: {n_findings} findings"
    )
    return 1 if n_findings else 0


def _print(outcome: Outcome) -> None:
    fault = outcome.fault
    print(
        f"{fault.number:4} {fault.storage:10} {fault.kind:15} {outcome.seconds:5.1f} s {outcome.n_runs:3} runs  "
        f"{outcome.skipped or outcome.what}",
        flush=True,
    )
    for finding in outcome.findings:
        print(f"     {finding}", flush=True)


def _table(outcomes: list[Outcome]) -> str:
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if not outcome.skipped:
            by_kind[outcome.fault.kind].append(outcome)
    lines = [
        "| Kind | Faults | Runs | Seconds, mean and most | Findings | Again with --fault |",
        "|---|---|---|---|---|---|",
    ]
    for kind, of_kind in sorted(by_kind.items()):
        seconds = [outcome.seconds for outcome in of_kind]
        numbers = [str(outcome.fault.number) for outcome in of_kind if outcome.findings]
        lines.append(
            f"| {kind} | {len(of_kind)} | {sum(outcome.n_runs for outcome in of_kind)} | "
            f"{sum(seconds) / len(seconds):.1f}, {max(seconds):.1f} | "
            f"{sum(len(outcome.findings) for outcome in of_kind)} | {' '.join(numbers)} |"
        )
    return "\n".join(lines)


def _missing(storage: str) -> str:
    """Why there can be no site of a storage here; "" where there can."""
    if storage == "postgresql" and postgres.binaries() is None:
        return "PostgreSQL is not installed"
    if storage == "ray" and not RAY.exists():
        return "Ray is not installed"
    return ""


def _enter_namespace() -> None:
    """Start this command again where its mounts are seen by no other process and end with it."""
    if not disks.may_mount():
        os.environ[IN_NAMESPACE] = "no"
        return
    os.environ[IN_NAMESPACE] = "yes"
    os.execvp(
        "unshare",
        ["unshare", "--mount", "--propagation", "private", sys.executable, "-m", "tests.faults", *sys.argv[1:]],
    )


if __name__ == "__main__":
    sys.exit(main())
