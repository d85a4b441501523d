"""`python -m tests.gpu check` and `bench`: Hakari on a card (`make check-gpu`, `make bench-gpu`).

Ends with 0 where there is no GPU, and says so; with 1 where a check failed. Needs torch, transformers and the engine's
other libraries of the models (numpy, scipy, tokenizers, psutil), no file and no network. --device cpu --small runs the
same cases on tiny models of the CPU, to prove that they run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.gpu import devices

RESULTS = Path(__file__).parents[1] / "benchmarks" / "RESULTS_GPU.md"


def main(arguments: list[str] | None = None) -> int:
    """The exit status of a command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument("what", choices=("check", "bench"))
    parser.add_argument("--device", default="cuda", help="by torch's name (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="tiny models and few texts")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="file for the tables of a bench on a card (default: %(default)s)"
    )
    chosen = parser.parse_args(arguments)
    if reason := devices.missing(chosen.device):
        print(reason)
        return 0
    print(devices.in_words(chosen.device), flush=True)
    if chosen.what == "check":
        return _check(chosen.device, chosen.small)
    return _bench(chosen.device, chosen.small, chosen.results)


def _check(device: str, is_small: bool) -> int:
    from tests.gpu import check  # imports transformers, which a machine without a GPU need not wait for

    start, n_cases, failed = time.monotonic(), 0, []
    for outcome in check.outcomes(device, is_small=is_small):
        print(f"{'ok    ' if outcome.is_right else 'FAILED'}  {outcome.case}: {outcome.result}", flush=True)
        n_cases += 1
        failed += [] if outcome.is_right else [outcome]
    print(f"\n{n_cases - len(failed)} of {n_cases} cases are right, in {time.monotonic() - start:.0f} s.")
    for outcome in failed:
        print(f"FAILED  {outcome.case}: {outcome.result}")
    return 1 if failed else 0


def _bench(device: str, is_small: bool, results: Path) -> int:
    from tests.gpu import bench

    lines = bench.measured(device, is_small=is_small)
    print("\n".join(["", *lines]))
    if device.startswith("cuda") and not is_small:
        results.write_text("\n".join([*lines, ""]), encoding="utf-8")
        print(f"\nWritten to {results}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
