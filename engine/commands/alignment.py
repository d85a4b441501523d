"""`python -m engine alignment`: P, R and F1 of sentence pairs, plain and with the reading penalty."""

from __future__ import annotations

import argparse
from dataclasses import replace

from engine.commands.shared.baseline_file import with_baselines
from engine.commands.shared.common import (
    add_evaluation_arguments,
    gateway_session,
    print_notices,
    read_columns,
    skips_bad_rows,
    write_tables,
)
from engine.commands.shared.options import WithChoice, add_option, add_options, dest, settings_from
from engine.commands.shared.own_readings import with_own_readings
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.datasets import sentence_pairs
from engine.datasets.formats.delimited import csv_text
from engine.errors import InputError, reason_of
from engine.evaluations.alignment import records
from engine.evaluations.alignment.evaluate import evaluate
from engine.evaluations.alignment.rescoring import rescore, scored_signature
from engine.messages.message import Message
from engine.options import option_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    add_preset(parser, "alignment")
    add_options(parser, records.Settings, but=("all_layers", "threshold", "threshold_kind"))
    threshold = parser.add_mutually_exclusive_group()
    kind = option_of(records.Scoring, "threshold_kind")
    for name, declared in records.THRESHOLDS.items():
        if name == kind.default:
            add_option(threshold, records.Scoring, declared)
        else:  # taken only where it is given
            add_option(
                threshold,
                records.Scoring,
                replace(declared, default=None),
                action=WithChoice,
                default=argparse.SUPPRESS,
                const=(dest(records.Scoring, kind.name), name),
            )


def run(options: argparse.Namespace) -> None:
    """Align and write pairs.csv, tokens.csv and excluded.csv."""
    dataset = sentence_pairs.from_table(
        *read_columns(options, options.data, sentence_pairs.from_table, several=sentence_pairs.MULTI_COLUMN_ROLES),
        skip_bad_rows=skips_bad_rows(options),
    )
    settings = with_baselines(with_own_readings(settings_from(options, records.Settings, models=tuple(options.model))))
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    scores = rescore(result, settings.scoring)
    print_notices((*result.notices, *scores.notices))
    write_tables(
        options.out,
        scored_signature(result, scores),
        records.FILES,
        {"pairs": scores.pairs, "excluded": result.excluded, "baselines": result.baselines},
        dataset,
    )
    track(options, "alignment", result, dataset.name)
    try:
        # In parts: the tokens of 100,000 pairs would not fit into memory as one table.
        for number, part in enumerate(scores.token_parts()):
            table = records.TOKEN_SCORES.arranged(part)
            with (options.out / "tokens.csv").open("a" if number else "w", encoding="utf-8", newline="") as file:
                file.write(csv_text(table, header=not number))
    except OSError as error:
        raise InputError(
            Message("{out} cannot be written: {error}.", out=options.out / "tokens.csv", error=reason_of(error))
        ) from error
