"""The kept data sets in a table, and the pages that their format fits."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard.faces import FACES
from dashboard.shared import session
from dashboard.shared.headlines import shown_dataset
from engine.datasets import sample_data
from engine.evaluations.catalog import EVALUATIONS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of
from engine.runs.access.datasets import DatasetAccess
from engine.runs.storage.kept import KeptDataset

HASH_DIGITS = 12
NAMES = {"en": mark("English"), "ja": mark("Japanese")}  # of languages
SAMPLES = mark("Samples, written for this project; the pages open on them")


def fitting_kinds(known: KeptDataset) -> list[str]:
    """The kinds of run that take such a data set."""
    return [kind for kind, evaluation in EVALUATIONS.items() if evaluation.dataset_type.__name__ == known.dataset_type]


def kinds_of(known: KeptDataset) -> str:
    """The titles of the pages that take such a data set."""
    return translated(list_of(tr(FACES[kind].page.title) for kind in fitting_kinds(known)))


def overview(datasets: Sequence[KeptDataset], access: DatasetAccess) -> None:
    """Draw a row for each data set."""
    table = pd.DataFrame(
        [
            {
                "name": known.name,
                "fits": kinds_of(known),
                "rows": known.newest.n_rows,
                "versions": len(known.versions),
                "owner": tr("you") if access.may_change(known) else access.owner_name(known),
                **({"shared": known.shared} if session.hosted() else {}),
                "changed": known.newest.created,
                "content": known.newest.dataset_hash[:HASH_DIGITS],
            }
            for known in datasets
        ]
    )
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        alt=tr("The kept data sets"),
        column_config={
            "name": st.column_config.TextColumn(tr("Name"), pinned=True),
            "fits": tr("Pages"),
            "rows": st.column_config.NumberColumn(tr("Rows"), format="localized"),
            "versions": tr("Versions"),
            "owner": tr("Owner"),
            "shared": tr("Shared"),
            "changed": st.column_config.DatetimeColumn(tr("Last version"), format="distance"),
            "content": st.column_config.TextColumn(
                tr("Content hash"),
                help=tr(
                    "The first digits of the SHA-256 of the newest version; the signature of a run has them as `dataset`."
                ),
            ),
        },
    )


def samples() -> None:
    """Draw a row for each sample, in each of its languages."""
    st.markdown(f"**{tr(SAMPLES)}**")
    rows = [
        {
            "name": shown_dataset(name),
            "language": tr(NAMES[language]),
            "fits": translated(list_of(tr(FACES[kind].page.title) for kind in kinds)),
            "rows": n,
            "content": digest[:HASH_DIGITS],
        }
        for name, language, kinds, n, digest in _samples()
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        alt=tr("The samples"),
        column_config={
            "name": st.column_config.TextColumn(tr("Name"), pinned=True),
            "language": tr("Language"),
            "fits": tr("Pages"),
            "rows": st.column_config.NumberColumn(tr("Rows"), format="localized"),
            "content": tr("Content hash"),
        },
    )


@st.cache_resource(show_spinner=False)
def _samples() -> list[tuple[str, str, list[str], int, str]]:
    """Name, language, kinds of run, number of rows and content hash of each sample."""
    by_content: dict[str, tuple[str, str, list[str], int, str]] = {}
    for language in sample_data.LANGUAGES:
        for kind, face in FACES.items():
            if face.sample is None:
                continue
            further = face.form.further_samples.values() if face.form is not None else ()
            for data in (face.evaluation.sample(language), *(sample.sample(language) for sample in further)):
                row = by_content.setdefault(data.content_hash, (data.name, language, [], data.n, data.content_hash))
                row[2].append(kind)
    return list(by_content.values())
