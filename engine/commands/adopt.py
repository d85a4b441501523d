"""`python -m engine adopt`: list the results in the data directory again that are missing in the list of runs."""

from __future__ import annotations

import argparse
import sys

from engine.commands.shared.common import add_directory_argument, print_notices, say
from engine.errors import InputError, RunError
from engine.evaluations.catalog import EVALUATIONS
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.adoption import adopt
from engine.runs.open import opened_storage

MAX_OWNER_CHARACTERS = 300


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--owner",
        metavar="ADDRESS",
        help=Message(
            "owner of results that do not say whose they are, as those of version 0.1.0 and "
            "earlier: the e-mail address of a member, or local on a machine without sign-in"
        ),
    )
    parser.add_argument("--dry-run", action="store_true", help=Message("only print what would be listed"))
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """List the results again, and print each and the counts. Raises RunError when a result could not be listed."""
    owner = options.owner.strip().lower() if options.owner is not None else None
    if owner is not None and not 0 < len(owner) <= MAX_OWNER_CHARACTERS:
        raise InputError(
            Message(
                "--owner is an address of 1 to {MAX_OWNER_CHARACTERS} characters; got {owner}.",
                MAX_OWNER_CHARACTERS=MAX_OWNER_CHARACTERS,
                owner=len(owner),
            )
        )
    n_listed, n_refused = 0, 0
    with opened_storage(options.directory) as (store, artifacts, _):
        n_before = sum(store.n_by_state().values())
        for adoption in adopt(store, artifacts, EVALUATIONS, owner=owner, dry_run=options.dry_run):
            if adoption.entry is None:
                n_refused += 1
                say(
                    Message("{run_id}: not listed. {reason}", run_id=adoption.run_id, reason=adoption.reason),
                    file=sys.stderr,
                )
                continue
            n_listed += 1
            entry = adoption.entry
            print(f"{entry.id}  {entry.created[:10]}  {entry.owner}  {entry.kind}  {entry.name}")
            if adoption.reason:
                print_notices((Message("{run}: {reason}", run=entry.id, reason=adoption.reason),))
        n_after = sum(store.n_by_state().values())
    listed = count(n_listed, "result")
    say(
        Message("{listed} would be listed again.", listed=listed)
        if options.dry_run
        else Message("{listed} were listed again.", listed=listed)
    )
    say(Message("runs in the list before: {n_before:,}, after: {n_after:,}", n_before=n_before, n_after=n_after))
    if n_refused:
        raise RunError(
            Message(
                "{n_refused} could not be listed; nothing of them was changed.", n_refused=count(n_refused, "result")
            )
        )
