"""The worker processes, and the models that each holds in memory."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared import session
from dashboard.shared.wording import duration, verbatim
from engine.inference.worker_state import WorkerState
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import list_of

REFRESH_SECONDS = 2.0
TASKS = {"encode": mark("vectors"), "masked": mark("masked prediction"), "causal": mark("left-to-right scoring")}

# What a worker computes, by the names that the engine has for it; others are shown by those.
OPERATIONS = {
    "describe": mark("facts"),
    "loading_checks": mark("checks"),
    "sentence_vectors": mark("sentence vectors"),
    "token_similarities": mark("token similarities"),
    "token_log_likelihoods": mark("log-likelihoods"),
    "shared_token_log_likelihoods": mark("log-likelihoods"),
    "fill_masks": mark("masked prediction"),
    "tokenized": mark("tokens"),
    "token_lists": mark("tokens"),
    "document_counts": mark("document frequencies"),
    "word_counts": mark("document frequencies"),
    "project": mark("maps"),
    "classify": mark("classifications"),
    "bootstrap": mark("bootstrap"),
    "label_permutation": mark("permutation test"),
    "cluster_validity": mark("validity indices"),
    "nearest_neighbours": mark("nearest neighbours"),
}


@st.fragment(run_every=REFRESH_SECONDS)
def in_memory() -> None:
    """Draw the workers, refreshed at intervals. Asks the backend only, which answers without waiting for a worker.

    Where members do not share the cache, which models the others use is shown to administrators alone.
    """
    if session.hosted() and session.engine().configuration.private_cache and not session.viewer().is_admin:
        st.info(tr("On this instance only administrators see which models are in memory."), icon=":material/memory:")
        return
    workers = session.engine().backend.workers()
    if not workers:
        st.info(
            tr("No model is in memory: no worker has started yet, or all have ended. The first run starts them."),
            icon=":material/memory:",
        )
        return
    for number, worker in enumerate(workers):
        with st.container(border=True, key=f"models-worker-{number}"):
            title = tr("Worker on {device}", device=verbatim(_device(worker)))
            process = tr("process {number}", number=worker.pid)
            st.markdown(f"**{title}** :gray[· {process}]")  # untranslated
            st.caption(verbatim(_status(worker)))
            if worker.models:
                st.dataframe(
                    pd.DataFrame(
                        [
                            {
                                "model": model.name,
                                "task": _tasks(model.task),
                                "precision": model.precision,
                                "device": model.device,
                                "memory": size(model.bytes),
                                "parameters": model.parameters,
                            }
                            for model in worker.models
                        ]
                    ),
                    hide_index=True,
                    placeholder="–",
                    alt=tr("Models in the memory of this worker"),
                    column_config={
                        "model": tr("Model"),
                        "task": st.column_config.TextColumn(tr("Used for")),
                        "precision": tr("Numeric precision"),
                        "device": tr("Device"),
                        "memory": tr("Memory"),
                        "parameters": st.column_config.NumberColumn(tr("Parameters"), format="localized"),
                    },
                )
    st.caption(
        tr(
            "A worker keeps the models that it used last, within `HAKARI_MODEL_MEMORY_GB`, each once for all "
            "tasks in one precision. Workers report this with every finished piece of work."
        )
    )


def _tasks(listed: str) -> str:
    """The tasks of a model in words.

    >>> _tasks("encode, masked")
    'vectors, masked prediction'
    """
    return translated(list_of(tr(TASKS.get(task, task)) for task in listed.split(", ")))


def _device(worker: WorkerState) -> str:
    return worker.models[0].device if worker.device == "auto" and worker.models else worker.device


def _status(worker: WorkerState) -> str:
    parts = [tr("no model")]
    if worker.models:
        parts = [
            tr_n(
                "{n} model, {size}",
                "{n:,} models, {size}",
                len(worker.models),
                size=size(sum(model.bytes for model in worker.models)),
            )
        ]
    if worker.memory_bytes is not None:
        parts.append(tr("{size} in total, with its libraries", size=size(worker.memory_bytes)))
    operation, _, model = worker.computing.partition(" ")
    task, time = tr(OPERATIONS.get(operation, operation)), duration(worker.seconds)
    if not operation:
        parts.append(tr("waiting for work"))
    elif model:
        parts.append(tr("computing {task} of {model}, for {time}", task=task, model=model, time=time))
    else:
        parts.append(tr("computing {task}, for {time}", task=task, time=time))
    return " · ".join(parts)


def size(n_bytes: int) -> str:
    """Memory in words.

    >>> size(3 * 2**30), size(20 * 2**20), size(1200)
    ('3.00 GiB', '20 MiB', '1 KiB')
    """
    for unit, name, digits in ((2**30, "GiB", 2), (2**20, "MiB", 0)):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.{digits}f} {name}"
    return f"{n_bytes / 2**10:.0f} KiB"
