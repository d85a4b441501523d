"""The tasks of the BabyLM challenge in a run: its numbers beside ours, and the predictions that it takes."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.view import TABLES_KEPT, ScoredRun
from dashboard.shared import session
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import measure_help, show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.minimal_pairs.babylm.predictions import prediction_files, prediction_paths, zipped
from engine.evaluations.minimal_pairs.babylm.scores import babylm
from engine.evaluations.minimal_pairs.babylm.tasks import parts_of
from engine.evaluations.presets import preset
from engine.messages.languages import tr, translated
from engine.messages.message import list_of

HEIGHT, FEW = 420, 12
SHARES = ("challenge", "accuracy", "ci_low", "ci_high")
FILE = "babylm-predictions.zip"
_OF_SCORING = ("pll", "prefix", "leading_space", "encoder_reads")  # the settings that the preset is about


def challenge_section(view: ScoredRun) -> dict[str, go.Figure]:
    """Draw the table of the tasks and the download of the predictions; it has no figure."""
    table = challenge_table(view.run_id)
    st.markdown(
        tr(
            "**Tasks of the BabyLM challenge** :gray[as the challenge counts, and as Hakari does, from the same scores]"
        ),
        help=measure_help("accuracy"),
    )
    if table.empty:
        st.caption(tr("No row of the data is of a task of the challenge."))
        return {}
    st.dataframe(
        with_shown_models(table).assign(**{name: 100 * table[name] for name in SHARES}),
        hide_index=True,
        height="auto" if len(table) < FEW else HEIGHT,
        placeholder="–",
        alt=tr("Tasks of the BabyLM challenge: its number and ours for each model"),
        column_order=["model", "folder", "challenge", *SHARES[1:], "n_tied", "n", "n_subsets", "n_unscored"],
        column_config={
            "model": tr("Model"),
            "folder": tr("Task"),
            "challenge": st.column_config.NumberColumn(
                tr("As BabyLM"),
                format="%.2f",
                help=tr(
                    "The mean of the accuracies of the subsets, in %; a tie is right. Of wug_adj and wug_past 100 times "
                    "Spearman's correlation with the share of people who choose the first form."
                ),
            ),
            "accuracy": st.column_config.NumberColumn(
                tr("Accuracy %"),
                format="%.2f",
                help=tr(
                    "Over all items; a tie is not right. Of wug_adj and wug_past the form that more people choose."
                ),
            ),
            "ci_low": st.column_config.NumberColumn(tr("95% from"), format="%.1f"),
            "ci_high": st.column_config.NumberColumn(tr("to"), format="%.1f"),
            "n_tied": tr("Ties"),
            "n": tr("Items"),
            "n_subsets": tr("Subsets"),
            "n_unscored": tr("Without a score"),
        },
    )
    st.caption(
        tr(
            "By log-likelihoods without normalisation; in EWoK, COMPS and entity tracking of what follows the context, "
            "given the context."
        )
    )
    settings, as_challenge = view.result.settings, preset("minimal-pairs", "babylm").settings
    if any(getattr(settings, name) != getattr(as_challenge, name) for name in _OF_SCORING):
        st.caption(
            tr(
                "This run is not scored as the challenge scores: the preset *{name}* at the head of the form is "
                "(`--preset babylm`).",
                name=tr(preset("minimal-pairs", "babylm").title),
            )
        )
    _download(view.run_id)
    return {}


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def challenge_table(run_id: str) -> pd.DataFrame:
    """The table of the tasks of a run; never changed."""
    access = session.access()
    return babylm(access.result(run_id), access.dataset(run_id))


def _download(run_id: str) -> None:
    n_unscored = int(challenge_table(run_id)["n_unscored"].sum())
    if n_unscored:
        st.caption(
            tr("There are no predictions to submit: {n:,} items have no score, see what was left out.", n=n_unscored)
        )
        return
    try:
        names = _places(run_id)
    except EngineError as error:
        show_error(error)
        return
    st.download_button(
        tr("Download {file}", file=FILE),
        lambda: _files(run_id),
        file_name=FILE,
        mime="application/zip",
        on_click="ignore",
        key="minimal-babylm-download",
        icon=":material/download:",
        type="secondary",
        help=tr(
            "The predictions in the folders in which the challenge's script looks for them: {names}.",
            names=verbatim(translated(list_of(names))),
        ),
    )


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _places(run_id: str) -> tuple[str, ...]:
    """The folder and the revision of each model of a run. Raises InputError where two would have one file."""
    access = session.access()
    dataset = access.dataset(run_id)
    paths = prediction_paths(access.result(run_id), dataset, parts_of(dataset))
    return tuple(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths.values()))


def _files(run_id: str) -> bytes:
    access = session.access()
    return zipped(prediction_files(access.result(run_id), access.dataset(run_id)))
