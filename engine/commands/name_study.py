"""`python -m engine name-study`: which setting tells the same name, written otherwise, from another name?"""

from __future__ import annotations

import argparse

from engine.commands.shared import output
from engine.commands.shared.common import add_cache_argument, gateway_session, write_tables
from engine.datasets.names.pairs import as_sentence_pairs
from engine.evaluations.alignment.name_study import AREAS, CURVES, KINDS, name_study
from engine.evaluations.shared.signature import signature
from engine.messages.message import Message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--model", required=True, metavar="M", help=Message("model that aligns the sentences"))
    parser.add_argument(
        "--out",
        required=True,
        type=output.folder,
        metavar="DIR",
        help=Message("folder for areas.csv, kinds.csv and curves.csv"),
    )
    add_cache_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Study and write areas.csv, kinds.csv and curves.csv."""
    dataset = as_sentence_pairs()
    with gateway_session(options) as session:
        tables = name_study(options.model, session)
        signed = signature(
            {"model": options.model},
            [session.describe(options.model)],
            dataset.content_hash,
            libraries=("rapidfuzz", "unidic-lite"),
        )
    write_tables(options.out, signed, (AREAS, KINDS, CURVES), tables, dataset)
