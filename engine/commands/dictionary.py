"""`python -m engine dictionary`: counts an idf dictionary in a corpus with the tokenizer of a model, or in words."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from engine.commands.shared import output
from engine.commands.shared.common import add_cache_argument, gateway_session, print_notices, say
from engine.commands.shared.options import add_options, settings_from
from engine.errors import InputError, reason_of
from engine.evaluations.dictionary.counting import count_corpus
from engine.evaluations.dictionary.evaluate import check_counted, notices_of
from engine.evaluations.dictionary.records import Settings
from engine.evaluations.shared.idf_files import SUFFIXES, write_idf
from engine.language.quantities import count
from engine.messages.message import Message, together


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--model", metavar="M", help=Message("model whose tokenizer is used; needed unless --words is given")
    )
    parser.add_argument(
        "--corpus",
        action="append",
        required=True,
        type=Path,
        metavar="FILE",
        help=Message("text or Aozora files, folders, zips or tars; may be repeated"),
    )
    add_options(parser, Settings)
    parser.add_argument("--name", help=Message("name of the dictionary (default: the name of the file)"))
    parser.add_argument(
        "--out", required=True, type=output.file, metavar="FILE", help=Message("ending in .json or .json.gz")
    )
    add_cache_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Count and write the dictionary."""
    if not options.out.name.endswith(SUFFIXES):
        raise InputError(
            Message(
                "The file name of a dictionary ends in {SUFFIXES}; got --out {out}.",
                SUFFIXES=together(" or ", SUFFIXES),
                out=options.out,
            )
        )
    name = options.name or options.out.name.split(".")[0]
    settings = settings_from(options, Settings, model=options.model, name=name)
    check_counted(settings)
    if settings.model is None and not settings.words:
        raise InputError(
            Message(
                "It is not said what to count: name a model whose tokenizer is used (--model M), or "
                "count words (--words)."
            )
        )
    with gateway_session(options) as session:
        control: Counter[str] = Counter()
        dictionary = count_corpus(
            options.model, options.corpus, session, name=name, unit=settings.unit, control=control
        )
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            Message(
                "The folder {parent} cannot be created: {error}.", parent=options.out.parent, error=reason_of(error)
            )
        ) from error
    write_idf(dictionary, options.out)
    say(
        Message(
            "{documents} (--unit {unit}), {units} of {types}: {out}",
            documents=count(dictionary.n_documents, "document"),
            unit=settings.unit,
            units=count(dictionary.n_tokens, "word" if settings.words else "token"),
            types=count(len(dictionary.document_counts), "type"),
            out=options.out,
        ),
        file=sys.stderr,
    )
    print_notices(notices_of(options.model, control, dictionary))
