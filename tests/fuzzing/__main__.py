"""Fuzzing by one command: `python -m tests.fuzzing --cases 10000 --seed 0`, or one case again with --target and --case.

Exit 1 when a case was found that ends otherwise than in a result or in an error of the engine.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzzing.running import case, run
from tests.fuzzing.targets import TARGETS


def main() -> int:
    """Run the cases and print a line for each target, and every finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=TARGETS, help="may be repeated; all by default")
    parser.add_argument("--case", type=int, help="one case of one target, with its traceback")
    options = parser.parse_args()
    if options.case is not None:
        case(options.target[0], options.case, options.seed)
        return 0
    begun = time.monotonic()
    outcomes = run(options.cases, options.seed, options.target or list(TARGETS))
    for outcome in outcomes:
        print(
            f"{outcome.target:18} {outcome.n_cases:6,} cases, {outcome.n_read:6,} read, slowest "
            f"{outcome.slowest_seconds:5.2f} s, +{outcome.peak_bytes / 2**20:4.0f} MiB, "
            f"{len(outcome.findings)} findings"
        )
        for number, what in outcome.findings:
            print(f"    --target {outcome.target} --seed {options.seed} --case {number}: {what}")
    n_findings = sum(len(outcome.findings) for outcome in outcomes)
    print(
        f"{sum(outcome.n_cases for outcome in outcomes):,} cases in {time.monotonic() - begun:.0f} s, seed "
        f"{options.seed}: {n_findings} findings"
    )
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
