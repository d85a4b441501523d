"""The finished runs to compare: one of each kind, by default those that share the most models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.faces import FACES
from dashboard.shared import run_view, samples, session
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.signing import digest
from dashboard.shared.headlines import run_title
from dashboard.shared.wording import show_error, stamp
from engine.errors import EngineError
from engine.evaluations.agreement.evaluate import RUNS
from engine.messages.languages import tr, tr_n
from engine.models.sources.names import without_label
from engine.options import Option
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.version import VERSION

LISTED = 50
COMBINED = 12  # newest runs of each kind among which the default is chosen


def chosen_runs(address: PageAddress) -> dict[str, RunRecord]:
    """Draws a choice for each kind and returns the chosen runs by kind; for a kind without one, a link to start it.

    The address names the chosen runs (`?clusters=…&classification=…`), so a link shows the same to all who may read
    them.
    """
    finished = _finished()
    former_names = {kind: FACES[kind].former_name for kind in RUNS}
    former = {kind: view for kind, view in _linked(former_names).items() if kind not in st.query_params}
    linked = _linked({kind: kind for kind in RUNS})
    first = most_shared(finished) | former
    chosen: dict[str, RunRecord] = {}
    with st.grid(len(RUNS), min_column_width=260, gap="small"):
        for kind in RUNS:
            with st.container():
                page = FACES[kind].page
                others = [runs[kind] for runs in (first, linked) if kind in runs]
                by_id = {view.id: view for view in (*finished[kind], *others)}
                if not by_id:
                    st.markdown(f":small[{tr(page.title)}]")  # untranslated
                    st.page_link(pages.path(page.name), label=tr("No run yet: start one"), icon=page.icon)
                    continue
                labels = _labels(list(by_id.values()), page.title)
                declared = Option("The run of this kind.", name=kind)  # untranslated
                first_id = address.first(declared, first.get(kind, next(iter(by_id.values()))).id, offered=by_id)
                chosen_id = st.selectbox(
                    tr(page.title),
                    list(by_id),
                    index=list(by_id).index(first_id),
                    key=f"agreement-{kind}-{address.place}",
                    format_func=labels.__getitem__,
                )
                address.keep(declared, chosen_id, None)  # also the default: another viewer's is another
                chosen[kind] = by_id[chosen_id]
                n_models = len(chosen[kind].settings["models"])
                st.caption(tr_n("{n} model", "{n:,} models", n_models))
    return chosen


def loaded(runs: Mapping[str, RunRecord]) -> dict[str, Any]:
    """The results of runs by kind; of one that cannot be opened the error is shown instead."""
    results = {}
    for kind, view in runs.items():
        try:
            results[kind] = run_view.load_result(view.id)
        except EngineError as error:
            show_error(error)
    return results


def most_shared(finished: Mapping[str, Sequence[RunRecord]]) -> dict[str, RunRecord]:
    """One run of each kind that has any: those that share the most models, of these the newest.

    `finished` holds finished runs by kind, the newest first.
    """
    kinds = [kind for kind, views in finished.items() if views]
    best: tuple[int, tuple[RunRecord, ...]] = (-1, ())
    # The newest of all kinds come first; a later combination must share more to be taken.
    combinations = product(*(range(min(len(finished[kind]), COMBINED)) for kind in kinds))
    for indices in sorted(combinations, key=sum):
        views = tuple(finished[kind][index] for kind, index in zip(kinds, indices, strict=True))
        models = [set(map(without_label, view.settings["models"])) for view in views]
        n_shared = len(set.intersection(*models)) if models else 0
        if n_shared > best[0]:
            best = n_shared, views
    return dict(zip(kinds, best[1], strict=True))


def signature_of(runs: Mapping[str, RunRecord], results: Mapping[str, Any]) -> dict[str, Any]:
    """What determines an agreement: the runs, and the digests of their signatures."""
    return {
        "runs": {kind: runs[kind].id for kind in results if kind in runs},
        "signatures": {kind: digest(result.signature) for kind, result in results.items()},
        "versions": {"hakari": VERSION},
    }


def _finished() -> dict[str, list[RunRecord]]:
    try:
        access = session.access()
        return {
            kind: access.mine(Search(kind=kind, states=("done",), limit=LISTED)) or _of_sample(kind) for kind in RUNS
        }
    except EngineError as error:
        show_error(error)
        return {kind: [] for kind in RUNS}


def _of_sample(kind: str) -> list[RunRecord]:
    """The run of a kind's sample, for a viewer who has none of that kind."""
    run_id = samples.finished(FACES[kind])
    run = session.access().get(run_id) if run_id else None
    return [run] if run is not None else []


def _linked(names: Mapping[str, str]) -> dict[str, RunRecord]:
    """The runs that the address names, as far as they can be read and are finished; `names`: kind -> name there."""
    views = {
        kind: session.access().get(run_id)
        for kind, name in names.items()
        if name and (run_id := st.query_params.get(name))
    }
    return {kind: view for kind, view in views.items() if view and view.kind == kind and view.state == "done"}


def _labels(views: Sequence[RunRecord], title: str) -> dict[str, str]:
    """Names, less the page's title, with the time of the run, by id; a repeated label is numbered."""
    labels: dict[str, str] = {}
    n_by_label: Counter[str] = Counter()
    for view in views:
        label = f"{stamp(view.created)} · {run_title(view).removeprefix(f'{title}: ')}"
        n_by_label[label] += 1
        labels[view.id] = label if n_by_label[label] == 1 else f"{label} ({n_by_label[label]})"
    return labels
