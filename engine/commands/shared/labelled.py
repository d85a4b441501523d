"""Labelled sentences for commands: a table, or the livedoor corpus as a folder or an archive."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from engine.commands.shared.common import read_columns, say, skips_bad_rows
from engine.commands.shared.options import add_options, is_given, settings_from
from engine.datasets import reader_process
from engine.datasets.formats.archives import is_archive
from engine.datasets.labelled import labelled_sentences, livedoor
from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.datasets.vectors.files import VectorFile, read_vectors
from engine.datasets.vectors.matching import attached
from engine.errors import InputError
from engine.messages.message import Message
from engine.models.sources.names import split_label
from engine.options import options_of


def add_labelled_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare --part, --per-category and --draw-seed."""
    layout = parser.add_argument_group(Message("the livedoor corpus (--data is its folder, zip or tar.gz)"))
    add_options(layout, livedoor.Drawing, only_given=True)


def add_vectors_argument(parser: argparse.ArgumentParser) -> None:
    """Declare --vectors."""
    parser.add_argument(
        "--vectors",
        action="append",
        default=[],
        metavar="[LABEL=]FILE",
        help=Message(
            "vectors of the sentences that were computed elsewhere, as a model beside those of --model or in their place: "
            ".npy, .npz or .safetensors with a row for each sentence in the order of the data, or a table with the column "
            "vector (a list) or a column for each dimension, and sentence; may be repeated"
        ),
    )


def read_labelled_with_vectors(options: argparse.Namespace) -> tuple[LabelledSentences, tuple[str, ...]]:
    """As `read_labelled`, with the vectors of --vectors, and the models: those of --model, then those of the files."""
    dataset = read_labelled(options)
    files: list[VectorFile] = []
    labels: list[str] = []
    skips = skips_bad_rows(options)
    for word in options.vectors:
        label, name = ("", word) if Path(word).exists() else split_label(word)
        path = Path(name).expanduser()
        files.append(reader_process.read(read_vectors, path, name=path.name, skip_bad_rows=skips))
        labels.append(label)
    dataset = attached(dataset, files, labels, skip_bad_rows=skips) if files else dataset
    return dataset, (*options.model, *(vectors.name for vectors in dataset.vectors))


def read_labelled(options: argparse.Namespace) -> LabelledSentences:
    """The sentences that --data, --column and the options of `add_labelled_arguments` describe.

    All articles that cannot be read are listed on stderr. Raises InputError, also for an option that does not apply to
    the kind of data.
    """
    if not (options.data.is_dir() or is_archive(options.data.name)):
        if any(is_given(options, livedoor.Drawing, name) for name in options_of(livedoor.Drawing)):
            raise InputError(
                Message(
                    "--part, --per-category and --draw-seed apply to the articles of the corpus; "
                    "{name} is a table. Leave them out, or give the corpus as --data.",
                    name=options.data.name,
                )
            )
        return labelled_sentences.from_table(
            *read_columns(options, options.data, labelled_sentences.from_table), skip_bad_rows=skips_bad_rows(options)
        )
    if options.column:
        raise InputError(
            Message(
                "--column applies to a table; {name} is a folder or an archive. Leave it out.", name=options.data.name
            )
        )
    corpus = reader_process.read(livedoor.read_livedoor, options.data)
    for bad in corpus.bad:
        say(Message("left out: {reason}", reason=bad.reason), file=sys.stderr)
    return livedoor.labelled(corpus, **asdict(settings_from(options, livedoor.Drawing)))
