"""`python -m engine metric-study`: which model, dictionary and penalty follow human scores best?"""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.commands.shared.common import (
    add_evaluation_arguments,
    gateway_session,
    print_notices,
    read_columns,
    reading,
    skips_bad_rows,
    write_tables,
)
from engine.commands.shared.options import add_options, is_given, settings_from
from engine.commands.shared.own_readings import with_own_readings
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.datasets import reader_process, sentence_pairs, xc_translate
from engine.evaluations.metric_study import records
from engine.evaluations.metric_study.evaluate import evaluate, fitting_idfs
from engine.evaluations.metric_study.tables import FILES, tables
from engine.messages.message import Message

# Of the scoring that all settings of the grid share: what the grid itself goes through.
OF_THE_GRID = ("idf", "penalty")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    add_preset(parser, "metric-study")
    add_options(parser, records.Settings, but=OF_THE_GRID)
    parser.add_argument(
        "--predictions",
        type=Path,
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help=Message(
            "of references of XC-Translate in --data: the predictions, JSON lines of id and "
            "prediction; a file for each system, named after it"
        ),
    )


def run(options: argparse.Namespace) -> None:
    """Study and write settings.csv, methods.csv, pairs.csv, cases.csv, method_cases.csv and the tables beside them."""
    table, columns = read_columns(options, options.data, sentence_pairs.from_table, sentence_pairs.MULTI_COLUMN_ROLES)
    if options.predictions:
        named = [(path.name, path) for path in options.predictions]
        table = xc_translate.with_predictions(
            table, reader_process.read(xc_translate.read_predictions, named, **reading(options))
        )
    dataset = sentence_pairs.from_table(table, columns, skip_bad_rows=skips_bad_rows(options))
    with gateway_session(options) as session:
        grid = {} if is_given(options, records.Settings, "idfs") else {"idfs": fitting_idfs(options.model, session)}
        settings = with_own_readings(settings_from(options, records.Settings, models=tuple(options.model), **grid))
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, result.signature, FILES, tables(result), dataset)
    track(options, "metric-study", result, dataset.name)
