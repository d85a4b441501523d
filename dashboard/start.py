"""`hakari run`: start the dashboard from the command line of an installed Hakari."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from engine.messages.languages import mark, tr

SERVER = Path(__file__).with_name("server.py")
LOOPBACK = ("127.", "localhost", "::1")
SUMMARY = mark("start the dashboard, on http://localhost:8501 by default")
PORT_HELP = mark("port of the server")
ADDRESS_HELP = mark("who reaches it: 127.0.0.1 this machine alone, 0.0.0.0 every machine of the network")
OPEN = mark(
    "Open: every machine that reaches {address} may use this dashboard, without a sign-in unless one is set up."
)


def add_command(commands: Any) -> None:
    """Add it to the subparsers of argparse. Other settings of the server are variables, as STREAMLIT_SERVER_…"""
    command = commands.add_parser("run", help=SUMMARY, description=SUMMARY)
    command.set_defaults(run=run)
    command.add_argument("--port", type=int, metavar="N", help=PORT_HELP)
    command.add_argument("--address", metavar="ADDRESS", help=ADDRESS_HELP)


def run(options: argparse.Namespace) -> None:
    """Become the server: a signal to this process is one to it."""
    if options.address and not options.address.startswith(LOOPBACK):
        print(tr(OPEN, address=options.address), file=sys.stderr)
    flags = [f"--server.{name}={value}" for name in ("address", "port") if (value := getattr(options, name))]
    # -P: a file in the working directory is not taken for a library.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "streamlit", "run", str(SERVER), *flags])
