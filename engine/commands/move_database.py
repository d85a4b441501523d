"""`python -m engine move-database`: move the list of runs into another database, such as from SQLite to PostgreSQL."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from sqlalchemy import URL

from engine.commands.shared.common import add_directory_argument, say
from engine.errors import InputError
from engine.messages.message import Message
from engine.runs.storage.database import SQLITE_FILE, URL_VARIABLE, checked_url, file_url
from engine.runs.storage.directory import data_directory
from engine.runs.storage.moving import move_runs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="DATABASE",
        help=Message(
            "where the runs are: URL or SQLite file (default: {SQLITE_FILE} in the data directory)",
            SQLITE_FILE=SQLITE_FILE,
        ),
    )
    parser.add_argument(
        "--to",
        dest="target",
        metavar="DATABASE",
        help=Message(
            "an empty database: a URL or a SQLite file (default: {URL_VARIABLE}, which does "
            "not show a password in the list of processes)",
            URL_VARIABLE=URL_VARIABLE,
        ),
    )
    parser.add_argument(
        "--dry-run", action="store_true", help=Message("only check both databases and print the counts")
    )
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Move the runs and print the counts before and after."""
    target_text = options.target or os.environ.get(URL_VARIABLE, "").strip()
    if not target_text:
        raise InputError(
            Message(
                "No database to move to: set {URL_VARIABLE}, or give --to. Such as "
                "postgresql://user:password@host:5432/hakari.",
                URL_VARIABLE=URL_VARIABLE,
            )
        )
    target = _url(target_text, "--to" if options.target else URL_VARIABLE)
    source = (
        _url(options.source, "--from") if options.source else file_url(data_directory(options.directory) / SQLITE_FILE)
    )
    move = move_runs(source, target, dry_run=options.dry_run)
    say(Message("runs in the source: {n_source:,}", n_source=move.n_source))
    say(Message("runs in the target before: {n_before:,}", n_before=move.n_before))
    if options.dry_run:
        say(Message("Nothing was moved (--dry-run)."))
        return
    say(Message("runs in the target after: {n_after:,}, each compared with its source", n_after=move.n_after))
    if move.kept_file is not None:
        say(Message("The former list is kept as {kept_file}.", kept_file=move.kept_file))
    elif source.get_backend_name() == "sqlite":
        say(
            Message(
                "The former list is still {database}; move it away before the server starts.", database=source.database
            )
        )
    say(
        Message("Start the server with {URL_VARIABLE} set to the target.", URL_VARIABLE=URL_VARIABLE)
        if target.get_backend_name() != "sqlite"
        else Message("Start the server with the target as its list of runs.")
    )


def _url(text: str, name: str) -> URL:
    return checked_url(text, name) if "://" in text else file_url(Path(text).expanduser().absolute())
