"""`python -m engine idf`: an idf dictionary of a model's tokenizer, counted in a corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from engine.commands.common import add_cache_argument, gateway_session
from engine.evaluations.dictionaries import build_dictionary
from engine.evaluations.idf_files import write_idf


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--model", required=True, metavar="M", help="whose tokenizer to count with")
    parser.add_argument("--corpus", action="append", required=True, type=Path, metavar="FILE",
                        help="text or Aozora files, folders or zips; may be repeated")
    parser.add_argument("--unit", choices=["file", "line"], default="file", help="what a document is")
    parser.add_argument("--name", help="what the dictionary is called (default: the name of the file)")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=".json or .json.gz")
    add_cache_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Count and write the dictionary."""
    name = options.name or options.out.name.split(".")[0]
    with gateway_session(options) as session:
        dictionary = build_dictionary(
            options.model, options.corpus, session, name=name, unit=options.unit,
            report=lambda done: print(f"{done:,} documents", file=sys.stderr, flush=True),
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_idf(dictionary, options.out)
    print(f"{len(dictionary.document_counts):,} pieces in {dictionary.n_documents:,} documents", file=sys.stderr)
