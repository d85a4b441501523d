"""The confined process: `python -m engine.inference.own_code.child IN OUT`, the numbers of two pipes.

First it gives up its files, then it imports what is ours, then it gives up the rest, and then it imports the code of the
model and computes, one chunk at a time, until the pipe closes. Whatever fails on the way there ends it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from multiprocessing.connection import Connection

from engine.errors import ModelError
from engine.inference.own_code.setup import Setup
from engine.messages.message import Message
from engine.processes.confinement.confine import give_up_calls, give_up_files


def main(incoming: int, outgoing: int) -> None:
    """Confine this process and serve."""
    requests, answers = Connection(incoming, writable=False), Connection(outgoing, readable=False)
    setup: Setup = requests.recv()
    tempfile.tempdir = str(setup.folder)
    failed: Exception | None = None
    try:
        give_up_files(setup.readable, setup.folder)
    except OSError as error:
        failed = _not_confined(error)
    # From here on the libraries are imported, with threads of their own
    from engine.inference.own_code.answers import READY, packed_error

    try:
        if failed:
            raise failed
        _become_ready(setup)
    except Exception as error:
        answers.send_bytes(packed_error(error, "describe", {"model": setup.name}))
        return
    answers.send_bytes(READY)
    _serve(requests, answers)


def _become_ready(setup: Setup) -> None:
    from engine.models import worker  # noqa: F401
    from engine.models.loading.own_classes import adopt

    try:
        give_up_calls(setup.memory_bytes)
    except OSError as error:
        raise _not_confined(error) from error
    adopt(setup.config_directory, setup.code, setup.classes)


def _serve(requests: Connection, answers: Connection) -> None:
    from engine.inference.own_code.answers import packed_error, packed_pieces
    from engine.models import worker

    while True:
        try:
            operation, request = requests.recv()
        except (EOFError, OSError):
            return
        try:
            packed = packed_pieces(worker.run_chunk(operation, request))
        except Exception as error:
            packed = packed_error(error, operation, request)
        answers.send_bytes(packed)


def _not_confined(error: OSError) -> ModelError:
    return ModelError(
        Message("The model's own code is not run, because its process could not be confined: {error}.", error=error)
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
    os._exit(0)  # without what code of others may have left to be done at the end
