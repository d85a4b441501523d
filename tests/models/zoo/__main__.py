"""`python -m tests.models.zoo sweep`: every class of the installed transformers, tried once; see `sweep`."""

from __future__ import annotations

import argparse

from tests.models.zoo.sweep import SECONDS, sweep


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.models.zoo", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("sweep", help="try every class and write tests/models/zoo/SWEEP.md")
    command.add_argument("--seconds", type=float, default=SECONDS, help="for each class (default: %(default)s)")
    command.add_argument("--minutes", type=float, default=600, help="for all of them (default: %(default)s)")
    command.add_argument("--again", nargs="*", default=[], help="classes to try again, or outcomes: exact, refused …")
    arguments = parser.parse_args()
    sweep(arguments.seconds, arguments.minutes, arguments.again)


if __name__ == "__main__":
    main()
