"""`python -m engine members`: list who has signed in, end their sign-ins, release an address for another account."""

from __future__ import annotations

import argparse

from engine.commands.shared.common import add_directory_argument
from engine.errors import InputError
from engine.evaluations.catalog import EVALUATIONS
from engine.language.quantities import count
from engine.messages.message import Message
from engine.runs.access.look_alikes import normalized_address
from engine.runs.entries import RunEntries
from engine.runs.storage import members
from engine.runs.storage.directory import opened_storage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--sign-out",
        metavar="ADDRESS",
        help=Message("end all sign-ins of a member; pages that are open are closed within 10 seconds"),
    )
    parser.add_argument(
        "--release",
        metavar="ADDRESS",
        help=Message(
            "let another account sign in with the address, to which the runs and data sets "
            "of the present one then belong; its sign-ins end"
        ),
    )
    parser.add_argument(
        "--without-runs",
        action="store_true",
        help=Message("with --release: the next account starts without runs; those of the present one stay its own"),
    )
    add_directory_argument(parser)


def run(options: argparse.Namespace) -> None:
    """Carry out what was asked, or print the accounts. Raises InputError for an unknown address."""
    if options.without_runs and not options.release:
        raise InputError(Message("--without-runs belongs to --release ADDRESS."))
    if options.sign_out and options.release:
        raise InputError(Message("Give --sign-out or --release, not both: --release ends the sign-ins, too."))
    with opened_storage(options.directory) as (store, artifacts, _):
        if options.sign_out:
            account = members.by_address(store, normalized_address(options.sign_out.strip()))
            n_ended = members.end_sign_ins(store, account=account.id)
            print(
                Message(
                    "{n_ended} of {shown_address} ended.",
                    n_ended=count(n_ended, "sign-in"),
                    shown_address=account.shown_address,
                )
            )
        elif options.release:
            account = members.by_address(store, normalized_address(options.release.strip()))
            run_ids = members.release(store, account, with_runs=not options.without_runs)
            entries = RunEntries(store, artifacts, EVALUATIONS)
            for run_id in run_ids:
                entries.refresh(run_id)
            print(
                Message("{shown_address} is released; ", shown_address=account.shown_address)
                + (
                    Message(
                        "its {run_ids} are for the next account that signs in with it.",
                        run_ids=count(len(run_ids), "run"),
                    )
                    if not options.without_runs
                    else Message("the runs stay those of its former account.")
                )
            )
        else:
            open_sign_ins = [sign_in.account for sign_in in members.member_sign_ins(store).values()]
            accounts = members.every(store)
            if not accounts:
                print(Message("No account has signed in yet."))
            for account in accounts:
                print(
                    f"{account.shown_address}  {account.id}  {account.issuer}  "
                    f"{count(open_sign_ins.count(account.id), 'sign-in')}"
                )
