"""What can be done with the chosen runs: compare, star, tag, share, rename, cancel, delete; and undoing a deletion."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from dashboard.faces import FACES
from dashboard.runs.comparing import comparison_table, distinct, in_words
from dashboard.shared import run_progress, run_view, session
from dashboard.shared.headlines import run_title, stored
from dashboard.shared.run_links import compare_link
from dashboard.shared.wording import show_error, stamp, verbatim
from engine.errors import EngineError
from engine.evaluations.comparison.records import KINDS
from engine.messages.languages import tr, tr_n
from engine.runs.access.tags import MAX_TAG_CHARACTERS
from engine.runs.storage.run_record import RunRecord

NAME_LENGTH = 120
DELETED = "runs-deleted"  # in the session: the runs that were moved to the bin last


def action_bar(chosen: Sequence[RunRecord], tags: Sequence[str]) -> None:
    """Draw the actions of the chosen runs. tags: those that occur already."""
    access = session.access()
    own = [run for run in chosen if access.may_change(run)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not chosen:
            st.caption(tr("Select runs with the check boxes to compare, star, tag, rename or delete them."))
            return
        st.caption(
            verbatim(chosen[0].name)
            if len(chosen) == 1
            else tr_n("{n} run selected", "{n:,} runs selected", len(chosen)),
            width="content",
        )
        if len(chosen) == 2 and comparable(chosen):
            compare_link(tr("Compare"), chosen[0].id, other_id=chosen[1].id)
        if len(chosen) > 1:
            with st.popover(
                tr("Side by side"),
                icon=":material/view_column:",
                key="runs-side-by-side",
                help=tr("The settings in which they differ, and their numbers"),
            ):
                _side_by_side(chosen)
        _star_button(chosen)
        if not own:
            st.caption(tr("Only their owners can tag or delete them."), width="content")
            return
        _tag_popover(own, tags)
        if session.hosted():
            _share_button(own)
        if len(own) == len(chosen) == 1:
            _rename_popover(own[0])
        active = [run for run in own if run.state in run_progress.ACTIVE]
        if active and st.button(tr("Cancel"), key="runs-cancel", icon=":material/close:"):
            _change(active, access.cancel)
        _delete_button(
            own,
            None
            if len(own) == len(chosen)
            else tr("{own} of {n}: only the owner of a run can delete it.", own=len(own), n=len(chosen)),
        )


def undo_line() -> None:
    """After a deletion: what was moved to the bin, and a button that undoes it."""
    runs = _still_in_bin(st.session_state.get(DELETED, []))
    if not runs:
        st.session_state.pop(DELETED, None)
        return
    what = verbatim(runs[0].name) if len(runs) == 1 else tr_n("{n} run", "{n:,} runs", len(runs))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(tr(":material/delete: Moved to the bin: {what}", what=what), width="content")
        if st.button(tr("Undo"), key="runs-undo", icon=":material/undo:", type="tertiary"):
            del st.session_state[DELETED]
            _change(runs, session.access().restore)


def _still_in_bin(runs: Sequence[RunRecord]) -> list[RunRecord]:
    """Those that were neither restored nor deleted for good meanwhile; none where the list cannot be read."""
    try:
        return [run for run in runs if session.access().in_bin(run.id) is not None]
    except EngineError:  # the list below shows the error
        return []


def _side_by_side(chosen: Sequence[RunRecord]) -> None:
    """Draw in what the chosen runs differ; of more than two, a choice of two to compare in full."""
    headlines = {run.id: stored(run.headline) or [] for run in chosen}
    differences = comparison_table(chosen, headlines)
    if differences.empty:
        st.caption(tr("These runs have the same settings, data and numbers."))
    else:
        st.dataframe(
            in_words(differences),
            hide_index=True,
            placeholder="–",
            alt=tr("The selected runs side by side"),
            column_config={"what": st.column_config.TextColumn("", pinned=True)},
        )
        st.caption(
            tr("Settings that all of them share are left out; numbers are those of each run as it was submitted.")
        )
    for kind, face in FACES.items():
        if face.across_data and len({run.dataset_hash for run in chosen if run.kind == kind}) > 1:
            st.caption(tr(face.across_data))
    if len(chosen) > 2:
        _compare_two(chosen)


def comparable(runs: Sequence[RunRecord]) -> bool:
    """Whether the Compare page can compare the runs."""
    return len({run.kind for run in runs}) == 1 and runs[0].kind in KINDS and all(run.state == "done" for run in runs)


def _compare_two(chosen: Sequence[RunRecord]) -> None:
    by_id = {run.id: run for run in chosen}
    labels = dict(zip(by_id, distinct([f"{run_title(run)} · {stamp(run.created)}" for run in chosen]), strict=True))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        first, second = (
            st.selectbox(
                side,
                list(by_id),
                index=index,
                format_func=labels.__getitem__,
                key=f"runs-compared-{letter}",
                width=280,
            )
            for index, (letter, side) in enumerate(zip("AB", (tr("Left"), tr("Right")), strict=True))
        )
        pair = [by_id[run_id] for run_id in (first, second) if run_id in by_id]
        if len({run.id for run in pair}) == 2 and comparable(pair):
            compare_link(tr("Compare left with right"), pair[0].id, other_id=pair[1].id)
        else:
            st.caption(tr("Two finished runs of one kind can be compared."), width="content")


def _star_button(chosen: Sequence[RunRecord]) -> None:
    access = session.access()
    starred = access.starred(chosen)
    remove = len(starred) == len(chosen)
    if st.button(
        tr("Remove star") if remove else tr("Star"),
        key="runs-star",
        icon=":material/star:",
        help=None if session.hosted() else tr("Starred runs are listed among your runs, whoever started them."),
    ):
        _change(chosen, partial(access.star, starred=not remove))


def _tag_popover(own: Sequence[RunRecord], tags: Sequence[str]) -> None:
    common = [tag for tag in own[0].tags if all(tag in run.tags for run in own)]
    # Other runs, or other tags of theirs, are another widget: a value left from before would be taken for a wish.
    content = hashlib.sha256("\n".join([*(run.id for run in own), *common]).encode()).hexdigest()[:16]
    with st.popover(tr("Tags"), icon=":material/label:", key="runs-tags-edit"), st.form("runs-tags-form", border=False):
        wanted = st.multiselect(
            tr("Tags"),
            sorted({*tags, *common}),
            default=common,
            accept_new_options=True,
            key=f"runs-tags-of-{content}",
            placeholder=tr("Select or type"),
            help=tr("Press Enter after a new one; at most {n} characters each.", n=MAX_TAG_CHARACTERS),
        )
        if len(own) > 1:
            st.caption(tr("The tags that all selected runs have. Other tags stay unchanged."))
        if st.form_submit_button(tr("Save"), type="primary", key="runs-tags-save"):
            access = session.access()
            _change(own, lambda run_id: access.tag(run_id, retagged(_by_id(own, run_id), common, wanted)))


def retagged(run: RunRecord, common: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The tags of a run after `common`, those of all chosen runs, became `wanted`."""
    return [tag for tag in run.tags if tag not in common or tag in wanted] + [
        tag for tag in wanted if tag not in run.tags
    ]


def _by_id(runs: Sequence[RunRecord], run_id: str) -> RunRecord:
    return next(run for run in runs if run.id == run_id)


def _share_button(own: Sequence[RunRecord]) -> None:
    share = not all(run.shared for run in own)
    if st.button(
        tr("Share") if share else tr("Stop sharing"),
        key="runs-share",
        icon=":material/group:",
        help=tr("Everybody who may sign in here can open a shared run and finds it among the team's."),
    ):
        _change(own, partial(session.access().share, shared=share))


def _rename_popover(run: RunRecord) -> None:
    with st.popover(tr("Rename"), icon=":material/edit:", key="runs-rename"), st.form(f"rename-{run.id}", border=False):
        name = st.text_input(tr("Name"), run.name, max_chars=NAME_LENGTH, key=f"run-name-{run.id}")
        if st.form_submit_button(tr("Save"), type="primary", key=f"run-save-{run.id}") and name.strip():
            _change([run], lambda run_id: session.access().rename(run_id, name))


def _delete_button(own: Sequence[RunRecord], note: str | None) -> None:
    if session.access().bin_days:
        if st.button(tr("Delete"), key="runs-delete", icon=":material/delete:", help=note):
            st.session_state[DELETED] = list(own)
            _change(own, _binned)
        return
    with st.popover(tr("Delete"), key="runs-delete-for-good", icon=":material/delete:", help=note):
        st.markdown(
            tr_n(
                "{n} run and its results will be deleted, and its link will stop working. This cannot be undone.",
                "{n:,} runs and their results will be deleted, and their links will stop working. This cannot be undone.",
                len(own),
            )
        )
        if st.button(tr("Delete"), type="primary", key="runs-delete-yes"):
            _change(own, _binned)


def _binned(run_id: str) -> None:
    session.access().move_to_bin(run_id)
    run_view.forget_result(run_id)


def _change(runs: Sequence[RunRecord], change: Callable[[str], object]) -> None:
    """Change runs by their ids and draw the page again; of the first that cannot be, the error is shown."""
    try:
        for run in runs:
            change(run.id)
    except EngineError as error:
        show_error(error)
        return
    st.rerun()
