"""The worker processes, and the models that each holds in memory."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import session
from dashboard.shared.wording import duration, verbatim
from engine.inference.worker_state import WorkerState
from engine.language.quantities import count

REFRESH_SECONDS = 2.0
TASKS = {"encode": "vectors", "masked": "masked prediction", "causal": "left-to-right scoring"}


@st.fragment(run_every=REFRESH_SECONDS)
def in_memory() -> None:
    """Draw the workers, refreshed at intervals. Asks the backend only, which answers without waiting for a worker."""
    workers = session.engine().backend.workers()
    if not workers:
        st.info("No model is in memory: no worker has started yet, or all have ended. The first run starts them.",
                icon=":material/memory:")
        return
    for number, worker in enumerate(workers):
        with st.container(border=True, key=f"models-worker-{number}"):
            st.markdown(f"**Worker on {verbatim(_device(worker))}** :gray[· process {worker.pid}]")
            st.caption(verbatim(_status(worker)))
            if worker.models:
                st.dataframe(
                    pd.DataFrame([{"model": model.name, "task": _tasks(model.task), "precision": model.precision,
                                   "device": model.device, "memory": size(model.bytes),
                                   "parameters": model.parameters} for model in worker.models]),
                    hide_index=True, placeholder="–", alt="Models in the memory of this worker", column_config={
                        "model": "Model", "task": st.column_config.TextColumn("Used for"), "precision": "Precision",
                        "device": "Device", "memory": "Memory",
                        "parameters": st.column_config.NumberColumn("Parameters", format="localized"),
                    })
    st.caption("A worker keeps the models that it used last, within `HAKARI_MODEL_MEMORY_GB`, each once for all tasks "
               "in one precision. Workers report this with every finished piece of work.")


def _tasks(listed: str) -> str:
    """The tasks of a model in words.

    >>> _tasks("encode, masked")
    'vectors, masked prediction'
    """
    return ", ".join(TASKS.get(task, task) for task in listed.split(", "))


def _device(worker: WorkerState) -> str:
    return worker.models[0].device if worker.device == "auto" and worker.models else worker.device


def _status(worker: WorkerState) -> str:
    memory = "" if worker.memory_bytes is None else f"{size(worker.memory_bytes)} in total, with its libraries · "
    models = (f"{count(len(worker.models), 'model')}, {size(sum(model.bytes for model in worker.models))}"
              if worker.models else "no model")
    operation, _, model = worker.computing.partition(" ")
    computing = " of ".join(filter(None, (operation.replace("_", " "), model)))
    activity = f"computing {computing}, for {duration(worker.seconds)}" if worker.computing else "waiting for work"
    return f"{models} · {memory}{activity}"


def size(n_bytes: int) -> str:
    """Memory in words.

    >>> size(3 * 2**30), size(20 * 2**20), size(1200)
    ('3.00 GiB', '20 MiB', '1 KiB')
    """
    for unit, name, digits in ((2**30, "GiB", 2), (2**20, "MiB", 0)):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.{digits}f} {name}"
    return f"{n_bytes / 2**10:.0f} KiB"
