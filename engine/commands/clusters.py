"""`python -m engine clusters`: in-class and out-of-class dispersion of labelled sentences under each model."""

from __future__ import annotations

import argparse
from dataclasses import replace

from engine.commands.shared.common import add_evaluation_arguments, gateway_session, print_notices, write_tables
from engine.commands.shared.labelled import add_labelled_arguments, add_vectors_argument, read_labelled_with_vectors
from engine.commands.shared.options import add_options, settings_from
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.errors import InputError
from engine.evaluations.clusters import records
from engine.evaluations.clusters.evaluate import evaluate
from engine.evaluations.shared.declared_tables import frames_of
from engine.messages.message import Message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser, needs_model=False)
    add_vectors_argument(parser)
    add_labelled_arguments(parser)
    add_preset(parser, "clusters")
    add_options(parser, records.Settings)


def run(options: argparse.Namespace) -> None:
    """Evaluate and write models.csv, classes.csv and every other table of the result."""
    settings = settings_from(options, records.Settings, models=())
    chosen = settings.correction
    for name, needed in (("whitened_dims", "whitening"), ("removed_components", "all-but-the-top")):
        if getattr(settings, name) is not None and chosen != needed:
            flag = name.replace("_", "-")
            raise InputError(
                Message(
                    "--{flag} is of another correction than {chosen}: add --correction {needed}, or leave it out.",
                    flag=flag,
                    chosen=chosen,
                    needed=needed,
                )
            )
    dataset, models = read_labelled_with_vectors(options)
    settings = replace(settings, models=models)
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, records.FILES, frames_of(result, records.FILES), dataset)
    track(options, "clusters", result, dataset.name)
