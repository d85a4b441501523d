"""The process of a pretraining job: python -m engine.runs.pretraining.process FOLDER. It ends with its server."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from pathlib import Path

from engine.errors import EngineError, InputError
from engine.models.pretraining.settings import Settings
from engine.runs.pretraining.jobs import CORPUS, MODEL, read_task, write_status

LOOK_SECONDS = 1.0
STATUS_SECONDS = 0.5  # between two notes of the step
CHECKPOINTS = 20  # of a run; a job that is stopped loses less than the time between two
MOST_STEPS_APART = 200


def main(folder: Path) -> int:
    """Pretrain the model of a job and keep nothing else of it; returns the exit code."""
    from engine.models.pretraining.pretrain import pretrain

    task = read_task(folder)
    settings = Settings(**task["settings"])
    apart = max(1, min(MOST_STEPS_APART, settings.steps // CHECKPOINTS))
    noted = [0.0]

    def note_step(step: int) -> None:
        if step == settings.steps or time.monotonic() - noted[0] >= STATUS_SECONDS:
            noted[0] = time.monotonic()
            write_status(folder, step=step)

    write_status(folder, problem="", message="")
    try:
        pretrain(
            [folder / path for path in task["paths"]],
            folder / MODEL / task["name"],
            settings,
            save_every=apart,
            evaluate_every=max(apart, settings.steps // 10),
            on_step=note_step,
            report=lambda line: write_status(folder, message=line),
            command=f"pretraining on the Models page: {', '.join(task['corpus'])}",
        )
    except InputError as error:
        shutil.rmtree(folder / MODEL, ignore_errors=True)
        shutil.rmtree(folder / CORPUS, ignore_errors=True)
        write_status(folder, problem=str(error))
        return error.exit_code
    except EngineError as error:
        write_status(folder, message=str(error))
        return error.exit_code
    shutil.rmtree(folder / CORPUS, ignore_errors=True)
    return 0


def _end_with(server: int) -> None:
    while os.getppid() == server:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    sys.exit(main(Path(sys.argv[1])))
