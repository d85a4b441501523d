"""`python -m engine classification`: how well a small network tells labelled sentences apart by models' vectors."""

from __future__ import annotations

import argparse

from engine.commands.shared.common import add_evaluation_arguments, gateway_session, print_notices, write_tables
from engine.commands.shared.labelled import add_labelled_arguments, add_vectors_argument, read_labelled_with_vectors
from engine.commands.shared.options import add_options, settings_from
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.evaluations.classification import records
from engine.evaluations.classification.evaluate import evaluate
from engine.evaluations.shared.declared_tables import frames_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, needs_model=False)
    add_vectors_argument(parser)
    add_labelled_arguments(parser)
    add_preset(parser, "classification")
    add_options(parser, records.Settings)


def run(options: argparse.Namespace) -> None:
    """Train, test and write models.csv, runs.csv, confusion.csv and what else the result holds."""
    dataset, models = read_labelled_with_vectors(options)
    settings = settings_from(options, records.Settings, models=models)
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, records.FILES, frames_of(result, records.FILES), dataset)
    track(options, "classification", result, dataset.name)
