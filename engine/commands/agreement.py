"""`python -m engine agreement`: do clusters, fill-mask and classification agree about the order of the models?"""

from __future__ import annotations

import argparse

import pandas as pd

from engine.commands.shared import output
from engine.commands.shared.common import print_notices, write_tables
from engine.commands.shared.options import add_options, settings_from
from engine.evaluations.agreement import directories
from engine.evaluations.agreement.evaluate import MODELS, agreement_notices, agreement_table, model_table
from engine.messages.message import Message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_options(parser, directories.Sources)
    parser.add_argument(
        "--out", required=True, type=output.folder, metavar="DIR", help=Message("folder for the tables")
    )


def run(options: argparse.Namespace) -> None:
    """Compare and write models.csv and agreement.csv; with --published also what the papers printed."""
    sources = settings_from(options, directories.Sources)
    results = directories.read_directories(sources)
    frames: dict[str, pd.DataFrame] = {}
    if results:
        table = model_table(results)
        frames = {"models": MODELS.completed(table)[0], "agreement": agreement_table(table)}
    if sources.published:
        frames |= {
            "published_models": directories.published_models(),
            "published_agreement": directories.published_agreement(),
        }
    print_notices(agreement_notices(results))
    write_tables(
        options.out, directories.signature_of(results, published=sources.published), directories.FILES, frames, None
    )
