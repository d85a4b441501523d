"""`python -m engine fill-mask`: how probable is the masked word of each sentence to each model?"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial
from typing import Any

from engine.commands.shared.common import (
    add_evaluation_arguments,
    gateway_session,
    named_columns,
    print_notices,
    read_columns,
    reading,
    skips_bad_rows,
    write_tables,
)
from engine.commands.shared.options import add_options, settings_from
from engine.commands.shared.presets import add_preset
from engine.commands.shared.tracking import track
from engine.datasets import reader_process
from engine.datasets.formats.files import read_table
from engine.datasets.labelled import domain_sentences
from engine.datasets.labelled.domain_sentences import DomainSentences
from engine.datasets.labelled.webis import Reviews, is_review_file, read_reviews
from engine.datasets.masked import masked_sentences
from engine.datasets.masked.masked_building import Building, build, find_nouns
from engine.datasets.masked.masked_sentences import MaskedSentences
from engine.errors import InputError
from engine.evaluations.fill_mask import records
from engine.evaluations.fill_mask.evaluate import evaluate
from engine.evaluations.shared.declared_tables import frames_of
from engine.messages.message import Message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_evaluation_arguments(parser)
    add_preset(parser, "fill-mask")
    add_options(parser, records.Settings)
    building = parser.add_argument_group(
        "building",
        Message(
            "Without a word to mask in every row, words are chosen: with --domain-column, or when "
            "--data is Webis-CLS-10 (a folder, a zip or tar of it, or one .review file)."
        ),
    )
    building.add_argument(
        "--domain-column", metavar="NAME", help=Message("the column of domains: build from these sentences")
    )
    add_options(building, Building, but=("seed",))  # --seed is of the intervals and of what is drawn
    add_options(building, Reviews)


def run(options: argparse.Namespace) -> None:
    """Evaluate and write models.csv, items.csv, predictions.csv, pieces.csv, comparisons.csv and more."""
    settings = settings_from(options, records.Settings, models=tuple(options.model))
    dataset, built = _dataset(options, settings.seed)
    with gateway_session(options) as session:
        result = evaluate(settings, dataset, session)
    print_notices(result.notices)
    write_tables(options.out, {**result.signature, **built}, records.FILES, frames_of(result, records.FILES), dataset)
    track(options, "fill-mask", result, dataset.name)


def _dataset(options: argparse.Namespace, seed: int) -> tuple[MaskedSentences, dict[str, Any]]:
    """The masked sentences, and how they were built if they were."""
    sentences = _sentences(options)
    if sentences is None:
        return masked_sentences.from_table(
            *read_columns(options, options.data, masked_sentences.from_table), skip_bad_rows=skips_bad_rows(options)
        ), {}
    building = asdict(settings_from(options, Building, seed=seed))
    dataset = build(find_nouns(sentences), **building)
    return dataset, {"building": {**building, "from": sentences.name, "content": sentences.content_hash[:12]}}


def _sentences(options: argparse.Namespace) -> DomainSentences | None:
    """What the words are chosen from; None for a table that says the word of each row."""
    if options.data.is_dir() or is_review_file(options.data.name):
        if options.domain_column or options.column:
            raise InputError(
                Message("--domain-column and --column concern tables; reviews have their domains in their names.")
            )
        return reader_process.read(read_reviews, options.data, **asdict(settings_from(options, Reviews)))
    if options.domain_column is None:
        return None
    columns = {**(named_columns(options) or {}), "domain": options.domain_column}
    judge = partial(domain_sentences.from_table, columns=columns)
    table = reader_process.read(read_table, options.data, judge=judge, **reading(options))
    return domain_sentences.from_table(table, columns, skip_bad_rows=skips_bad_rows(options))
