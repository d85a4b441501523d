"""`python -m engine move-database`: move the list of runs into another database, such as from SQLite to PostgreSQL."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sqlalchemy import URL

from engine.commands.shared.common import add_directory_argument, say
from engine.errors import InputError
from engine.runs.storage.database import SQLITE_FILE, URL_VARIABLE, checked_url, file_url
from engine.runs.storage.directory import data_directory
from engine.runs.storage.moving import move_runs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument("--from", dest="source", metavar="DATABASE",
                        help=f"where the runs are: URL or SQLite file (default: {SQLITE_FILE} in the data directory)")
    parser.add_argument("--to", dest="target", metavar="DATABASE",
                        help=f"an empty database: a URL or a SQLite file (default: {URL_VARIABLE}, which does not show "
                             "a password in the list of processes)")
    parser.add_argument("--dry-run", action="store_true", help="only check both databases and print the counts")
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Move the runs and print the counts before and after."""
    target_text = options.target or os.environ.get(URL_VARIABLE, "").strip()
    if not target_text:
        raise InputError(f"No database to move to: set {URL_VARIABLE}, or give --to. Such as "
                         "postgresql://user:password@host:5432/hakari.")
    target = _url(target_text, "--to" if options.target else URL_VARIABLE)
    source = (_url(options.source, "--from") if options.source
              else file_url(data_directory(options.directory) / SQLITE_FILE))
    move = move_runs(source, target, dry_run=options.dry_run)
    say(f"runs in the source: {move.n_source:,}")
    say(f"runs in the target before: {move.n_before:,}")
    if options.dry_run:
        say("Nothing was moved (--dry-run).")
        return
    say(f"runs in the target after: {move.n_after:,}, each compared with its source")
    if move.kept_file is not None:
        say(f"The former list is kept as {move.kept_file}.")
    elif source.get_backend_name() == "sqlite":
        say(f"The former list is still {source.database}; move it away before the server starts.")
    say(f"Start the server with {URL_VARIABLE} set to the target." if target.get_backend_name() != "sqlite" else
        "Start the server with the target as its list of runs.")


def _url(text: str, name: str) -> URL:
    return checked_url(text, name) if "://" in text else file_url(Path(text).expanduser().absolute())
