"""`python -m engine COMMAND …`: the engine from a terminal.

Exit 0 = done, 2 = the input is wrong (every bad row on stderr), 1 = it failed.
"""

from __future__ import annotations

import argparse
import sys

from engine.commands import bertscore, classify, clean, clusters, fill_mask, idf, metric_study, minimal_pairs, pretrain
from engine.errors import ROWS_IN_MESSAGE, EngineError, InputError

COMMANDS = {"clusters": clusters, "fill-mask": fill_mask, "classify": classify, "bertscore": bertscore,
            "metric-study": metric_study,
            "minimal-pairs": minimal_pairs, "idf": idf, "pretrain": pretrain, "clean": clean}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m engine", description="Weigh pretrained language models.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        summary = (module.__doc__ or "").strip().splitlines()[0].partition(": ")[2]
        module.add_arguments(commands.add_parser(name, help=summary, description=summary))
    options = parser.parse_args(arguments)
    try:
        COMMANDS[options.command].run(options)
    except EngineError as error:
        print(f"error: {error}", file=sys.stderr)
        if isinstance(error, InputError):
            for bad in error.rows[ROWS_IN_MESSAGE:]:
                print(f"  row {bad.row}: {bad.reason}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
