"""`hakari COMMAND …`, where Hakari is installed: the dashboard and the commands of the engine."""

from __future__ import annotations

import sys
from typing import Any

from dashboard import export, start
from engine.__main__ import main as engine_main


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    return engine_main(arguments, program="hakari", add_commands=_add_commands)


def _add_commands(commands: Any) -> None:
    start.add_command(commands)
    export.add_command(commands)


if __name__ == "__main__":
    sys.exit(main())
