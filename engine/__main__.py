"""`python -m engine COMMAND …`: the engine from a terminal.

Exit 0 = done, 2 = the input is wrong (every bad row on stderr), 1 = it failed.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from typing import Any

from engine.commands.shared.help import Parser
from engine.commands.shared.modules import EVALUATING, OTHERS, Commands, summary
from engine.errors import ROWS_IN_MESSAGE, EngineError, InputError, reason_of
from engine.messages.languages import tr, translated
from engine.messages.message import Message
from engine.version import VERSION

COMMANDS = Commands(*EVALUATING, *OTHERS)
# The names of the published command line that differ from those of the evaluations; they stay.
ALIASES = {"classification": "classify", "alignment": "bertscore", "dictionary": "idf"}
SKIPS = "Reading.skip_bad_rows"  # where argparse keeps the setting of `engine.datasets.formats.files`


CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
FULL = Message(
    "A file cannot be written: {error}. Make room, or choose other folders (--out, --cache, HAKARI_DATA_DIR), and give the "
    "command again: what is in the cache is not computed anew."
)
VERSION_HELP = Message("print the version and exit")


def main(
    arguments: list[str] | None = None,
    *,
    program: str = "python -m engine",
    add_commands: Callable[[Any], None] | None = None,
) -> int:
    """Run one command; returns the exit code. add_commands: adds commands that stand before those of the engine."""
    parser = Parser(prog=program, description=Message("Evaluate pretrained language models."))
    version = f"Hakari {VERSION}"
    parser.add_argument("--version", action="version", version=version, help=VERSION_HELP)
    commands = parser.add_subparsers(dest="command", required=True)
    if add_commands is not None:
        add_commands(commands)
    words = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in words if not word.startswith("-")), "")
    for name in COMMANDS:
        aliases = [ALIASES[name]] if name in ALIASES else []
        command = commands.add_parser(name, aliases=aliases, help=summary(name), description=summary(name))
        if asked in (name, *aliases):
            command.set_defaults(run=COMMANDS[name].run)
            COMMANDS[name].add_arguments(command)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except EngineError as error:
        print(tr("error: {message}", message=translated(str(error))), file=sys.stderr)
        if isinstance(error, InputError):
            for bad in error.rows[ROWS_IN_MESSAGE:]:
                print("  " + tr("row {row}: {reason}", row=bad.row, reason=translated(bad.reason)), file=sys.stderr)
            if error.rows and error.can_skip and hasattr(options, SKIPS) and not getattr(options, SKIPS):
                print(tr("--skip-bad-rows leaves them out."), file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if error.errno not in CANNOT_BE_WRITTEN:
            raise
        message = FULL.format(error=reason_of(error))
        print(tr("error: {message}", message=translated(message)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(tr("stopped"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
