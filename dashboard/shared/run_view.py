"""What all evaluation pages share: submit a run, show its progress, open it from its link, sign and export it.

run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    dataset, models = …
    run_view.submit_button(FACE.kind, Settings(models=models), dataset)
if (result := run_view.finished_result(run_id, FACE)) is not None:
    … figures …
    run_view.how_to_read(…)
    run_view.sign(FACE, result.signature, {"models": result.models, …})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.shared import guided_reading, run_actions, run_progress, samples, session
from dashboard.shared.address.page_address import SAMPLE, PageAddress
from dashboard.shared.caches.large import large
from dashboard.shared.column_heads import heads
from dashboard.shared.comments.talk import comments
from dashboard.shared.exports import run_exports as exports
from dashboard.shared.exports.figure_downloads import figure_downloads
from dashboard.shared.exports.live import LiveView
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.face import AnyFace, Face, Result
from dashboard.shared.headlines import run_title, stored, to_store
from dashboard.shared.inputs import sample_language
from dashboard.shared.paper_tables import paper_tables_button
from dashboard.shared.run_links import compare_link, rating_link, run_link
from dashboard.shared.theme import with_labels, with_shown_models
from dashboard.shared.wording import ago, duration, show_error, verbatim
from dashboard.streamlit_internals import Container
from engine.errors import EngineError
from engine.evaluations.catalog import EVALUATIONS
from engine.evaluations.comparison.records import KINDS
from engine.evaluations.shared.declared_tables import Table
from engine.evaluations.shared.finding import left_out_rows
from engine.language.quantities import count
from engine.messages.languages import mark, sentences, tr, translated
from engine.messages.message import Message, together
from engine.runs.naming import unknown_run
from engine.runs.ratings.questions import BY_KIND as RATED_KINDS
from engine.runs.storage.run_record import RunRecord

NOTICES_SHOWN = 2
SAID = "said-on-arrival"
PANEL = mark("New evaluation: data, models, settings")
OF_EARLIER_CODE = mark("It was evaluated by an earlier version of the code.")
SAMPLE_SHOWN = mark("This is the result of the sample. For yours open *{panel}*.")


def run_from_url(face: AnyFace | None = None) -> str | None:
    """The run that the address names (`?run=…`), or None.

    For a `face` whose sample was evaluated it is, without one in the address, that of the sample, as long as the sample
    is what the form of the page is set to.
    """
    if said := st.session_state.pop(SAID, ""):
        st.toast(said, icon=":material/info:")
    if named := st.query_params.get("run"):
        return named
    if face is not None and st.session_state.get(f"{face.kind}-source", "sample") == "sample":
        sample_language.open_asked(face.kind)
        st.session_state[SAMPLE] = samples.finished(face)
    return st.session_state.get(SAMPLE)


def _is_sample(run_id: str | None) -> bool:
    """Whether the run shown is that of the sample, which the address does not name."""
    return run_id is not None and st.session_state.get(SAMPLE) == run_id


def inputs_panel(kind: str, run_id: str | None) -> Container:
    """The container of a page's inputs: a drawer above the result, open while there is none.

    A run that is opened, or just submitted, closes it; the viewer opens and closes it as well.
    """
    key, of_run = f"{kind}-inputs", f"{kind}-inputs-above"
    is_new = run_id is not None and st.session_state.get(of_run) != run_id and not _is_sample(run_id)
    if is_new or key not in st.session_state:
        st.session_state[key] = run_id is None
    st.session_state[of_run] = run_id
    return st.expander(tr(PANEL), icon=":material/tune:", key=key, on_change="rerun")


def submit(kind: str, settings: Any, dataset: Any, name: str | None = None, said: str = "") -> None:
    """Submit a run and go to its link, where what is `said` is shown; an error is shown where this is called."""
    try:
        submission = session.access().submit(kind, settings, dataset, name)
    except EngineError as error:
        show_error(error)
        return
    restored = tr("This run was in the bin and is restored.") if submission.restored else ""
    show_run(submission.run_id, sentences(said, restored))


def submit_button(kind: str, settings: Any, dataset: Any | None, label: str = mark("Run")) -> None:
    """The button that submits a run and goes to its link; disabled while a dataset or a model is missing."""
    ready = dataset is not None and bool(settings.models)
    if st.button(tr(label), type="primary", key=f"{kind}-submit", disabled=not ready, icon=":material/balance:"):
        submit(kind, settings, dataset)


def show_run(run_id: str, said: str = "") -> None:
    """Go to the link of a run on the present page; choices of the run shown before do not apply to the new one.

    said: Markdown that is shown for a moment there. What is drawn before a page is left may never reach the browser.
    """
    st.session_state[SAID] = said
    st.query_params.from_dict({"run": run_id})
    st.rerun()


def finished_result(
    run_id: str | None, face: Face[Result], first_rows: run_progress.FirstRows | None = None
) -> Result | None:
    """The result of the run in the address, once it is done; until then this draws its progress, or its error.

    first_rows: what the page shows meanwhile of the result of the first rows, under the first model.
    """
    if run_id is None:
        return None
    view = session.access().get(run_id)
    if view is not None and view.kind == face.kind:
        view = run_progress.awaited(view)
    if view is None:
        run_actions.unknown_run(run_id)
    elif view.kind != face.kind:
        _run_of_another_page(view)
    elif view.state in run_progress.ACTIVE:
        run_progress.watch(view, face, first_rows)
    elif view.state != "done":
        _stopped(view)
    else:
        try:
            result: Result = load_result(run_id)
        except EngineError as error:
            show_error(error)
            if _is_sample(run_id):
                samples.again(face, run_id)
            return None
        _describe(view, face, result)
        if _is_sample(run_id):
            is_current = samples.is_current(face, run_id)
            said = sentences(tr(SAMPLE_SHOWN, panel=tr(PANEL)), "" if is_current else tr(OF_EARLIER_CODE))
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(f":material/lightbulb: {said}", width="content")  # untranslated
                if not is_current:
                    samples.again(face, run_id)
                samples.other_language(face, run_id)
                guided_reading.control(face.kind)
        else:
            _headline(view, has_guide=face.sample is not None)
        return result
    return None


def finding(message: Message) -> Message:
    """Draw the finding of what is on show, the first line of a result: what was found in bold, then what would change it.

    It is returned for the end of the page (`sign`).
    """
    first, *further = message.parts
    rest = translated(together(" ", further))  # which has no space between Japanese sentences
    shown = [f"**{verbatim(translated(first))}**", *([verbatim(rest)] if rest else [])]
    with st.container(key="finding"):
        st.markdown(" ".join(shown))  # Markdown ends bold at a space, in Japanese too
    return message


def _describe(run: RunRecord, face: AnyFace, result: Any) -> None:
    """Store what lists and the preview of a link say of a run, where it is not stored yet."""
    if run.n_rows is None or stored(run.headline) is not None:
        return
    with suppress(EngineError):  # the list of runs cannot be written at the moment, or the run was deleted meanwhile
        session.access().describe(run.id, to_store(face.headlines(result), face.found(result)), run.n_rows)


def load_result(run_id: str) -> Any:
    """The result of a run that the viewer may read, shared by all sessions: pages never change it."""
    access = session.access()
    if access.get(run_id) is None:
        forget_result(run_id)
        raise unknown_run(run_id)
    with st.spinner(tr("Opening the result …")):
        return large().get((run_id, "result"), lambda: access.result(run_id))


def forget_result(run_id: str) -> None:
    """Remove a deleted result from the cache."""
    large().forget(run_id)


def notices(result: Any, key: str = "run-notices") -> None:
    """Draw the notices of a result: what was left out, what is undefined. Many stand under their number.

    key: of these, where a page draws those of two results.
    """
    models = getattr(result, "scored_models", getattr(result.settings, "models", ()))
    texts = [with_labels(translated(text), models) for text in result.notices]
    few = len(texts) <= NOTICES_SHOWN
    with (
        st.container()
        if few
        else st.expander(
            tr("{n:,} notes on this result", n=len(texts)), icon=":material/info:", type="compact", key=key
        )
    ):
        for text in texts:
            notice(text)


def notice(text: str) -> None:
    """Draw one notice."""
    st.caption(f":orange[:material/info:] {verbatim(translated(text))}")  # untranslated


def excluded(result: Any) -> None:
    """Draw the items that were left out, each with its reason; nothing when there are none."""
    left_out = result.excluded
    if left_out.empty:
        return
    rows = translated(count(left_out_rows(left_out), "row"))  # each once, however many models left it out
    with st.expander(tr("Left out: {rows}", rows=rows), icon=":material/content_cut:"):
        shown = with_shown_models(left_out).assign(reason=[translated(reason) for reason in left_out["reason"]])
        st.dataframe(
            shown,
            hide_index=True,
            placeholder="–",
            column_config=heads(map(str, shown.columns)),
            alt=tr("What was left out, and why"),
        )


def sign(
    face: AnyFace | None,
    signature: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, go.Figure] = MappingProxyType({}),
    *,
    drawings: Mapping[str, Drawing] = MappingProxyType({}),
    settings: Sequence[Any] | None = None,
    further: Sequence[Any] = (),
    address: PageAddress | None = None,
    compared: Mapping[str, Any] | None = MappingProxyType({}),
    declared: Sequence[Table] = (),
    result: Any = None,
    found: str = "",
    live: Callable[[], Sequence[LiveView]] = tuple,
) -> None:
    """Draw the end of a page: downloads, the link, then the signature, in a line and in full.

    `face`: that of the run shown; None where the page is not that of a run.
    `figures`, caption -> figure, are all figures of the page: they can be downloaded, and the report of the run shows
    them beside the tables; `drawings` are further ones for print. `settings`: those with which commands give what is
    shown, None for the run's; `further`: records of options that the commands have beside. `address`: where the choices
    of the page stand. `compared`: those that count in a comparison, by name; None for a result that has none.
    `declared`: the declarations of the tables where the page is not that of a run. `result`: that of the run, where
    papers printed tables that belong beside it. `found`: the finding of what is shown, for the report.
    """
    run_id = run_from_url()
    view = session.access().get(run_id) if run_id and face is not None else None
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if figures:
            figure_downloads(figures, signature, drawings)
        exports.downloads(offered := exports.offered_tables(view, tables, declared), signature)
        if view is not None and face is not None:
            exports.export_popover(
                face, view, signature, offered, figures, settings, further, drawings, result, found, live
            )
            if address is not None:
                address.copy_link()
            if view.kind in KINDS and compared is not None:
                compare_link(tr("Compare with …"), view.id, compared)
            if result is None or face.is_judged(result):
                if view.kind in RATED_KINDS:
                    rating_link(view.id)
                paper_tables_button(view.kind, result)
    exports.signature_in_full(signature)


def _stopped(view: RunRecord) -> None:
    if view.state == "cancelled":
        st.info(
            tr("This run was cancelled. Its finished parts are kept: run it again, and it continues from there."),
            icon=":material/cancel:",
        )
    else:
        st.error(
            tr("This run failed. {message}", message=verbatim(translated(view.message or ""))), icon=":material/error:"
        )
        st.caption(
            tr(
                "Correct what the message names and start a new evaluation, or run the same again: finished "
                "parts are kept."
            )
        )
    with st.container(horizontal=True):
        if st.button(tr("Run again"), key="run-again", type="primary", icon=":material/refresh:"):
            _submit_again(view)
        if st.button(tr("Start over"), key="run-afresh"):
            run_actions.clear_address()


def _submit_again(view: RunRecord) -> None:
    access = session.access()
    try:
        settings, dataset = access.settings(view.id), access.dataset(view.id)
    except EngineError as error:
        show_error(error)
        return
    submit(view.kind, settings, dataset, view.name)


def _run_of_another_page(view: RunRecord) -> None:
    title = translated(EVALUATIONS[view.kind].title) if view.kind in EVALUATIONS else view.kind
    st.info(
        tr("The run at this link belongs to another page: {page}.", page=verbatim(title)), icon=":material/alt_route:"
    )
    run_link(view, tr("Open it there"))


def _headline(view: RunRecord, *, has_guide: bool) -> None:
    facts = run_progress.facts_of(view)
    if view.finished is not None:
        facts.append(tr("finished {ago}", ago=ago(view.finished)))
    if view.seconds is not None:
        facts.append(tr("took {duration}", duration=duration(view.seconds)))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"**{verbatim(run_title(view))}** :gray[· {verbatim(' · '.join(facts))}]",  # untranslated
            help=tr("The address of this page is the link to this run. It opens for the team once you share the run.")
            if session.hosted()
            else tr("The address of this page is the link to this run. Whoever has it sees the same result."),
            width="content",
        )
        run_actions.sharing_and_note(view)
        comments(view)
        if has_guide:
            guided_reading.control(view.kind, of_sample=False)
    if view.note:
        st.caption(f":material/sticky_note_2: {verbatim(view.note)}")
    of_another = run_actions.is_of_another_browser(view) or (session.hosted() and not session.access().may_change(view))
    if of_another and st.button(
        tr("Run it as my own"),
        key="run-clone",
        icon=":material/content_copy:",
        help=tr("The same data and settings as a run of yours; parts that are cached for you are not computed again."),
    ):
        _submit_again(view)
