"""`python -m engine model-map`: which models resemble each other, by the log-likelihoods of runs of minimal pairs?"""

from __future__ import annotations

import argparse

from engine.commands.shared import output
from engine.commands.shared.common import add_directory_argument, print_notices, write_tables
from engine.commands.shared.options import add_options, settings_from
from engine.errors import InputError
from engine.evaluations.model_map.evaluate import FILES, Mapped, map_of
from engine.messages.message import Message
from engine.options import check
from engine.runs.naming import unknown_run
from engine.runs.open import open_engine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--run",
        dest="runs",
        required=True,
        action="append",
        metavar="RUN",
        help=Message(
            "id of a run of minimal pairs, as in the address of its page; may be repeated; "
            "of a model in several runs the first counts"
        ),
    )
    add_options(parser, Mapped)
    parser.add_argument(
        "--out", required=True, type=output.folder, metavar="DIR", help=Message("folder for the tables")
    )
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Map the models and write models.csv and distances.csv."""
    mapped = settings_from(options, Mapped)
    check(mapped)
    with open_engine(options.directory, resume=False) as engine:
        results = {}
        for run_id in options.runs:
            record = engine.runs.get(run_id)
            if record is None:
                raise unknown_run(run_id)
            if record.kind != "minimal-pairs":
                raise InputError(
                    Message(
                        "A map of models is made of runs of minimal pairs; {run_id} is of {kind}.",
                        run_id=run_id,
                        kind=record.kind,
                    )
                )
            results[run_id] = engine.runs.result(run_id)
    found = map_of(results, mapped.kind)
    print_notices(found.notices)
    write_tables(options.out, found.signature, FILES, {"models": found.models, "distances": found.distances}, None)
