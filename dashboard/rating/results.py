"""What the raters gave, once one's own scores are complete: their agreement, every score, and the pairs as data."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.exports.bundle.data import data_file
from dashboard.shared.exports.tables.printed import number_text
from dashboard.shared.wording import measure_help, show_error, verbatim
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.ratings.access import Rated, RatingAccess
from engine.runs.ratings.datasets import rated_dataset
from engine.runs.ratings.questions import texts
from engine.runs.storage.run_record import RunRecord
from engine.translation import tr, tr_n, translated

USED_ON = {SentencePairs: "metric_study", MinimalPairs: "minimal_pairs"}


def results(access: RatingAccess, run: RunRecord, dataset: SentencePairs | MinimalPairs, items: list[int]) -> None:
    """Draw the agreement of the raters, their scores, and what can be done with them."""
    rated = access.rated(run.id, items)
    _agreement(rated)
    table = _table(dataset, rated)
    st.dataframe(table, hide_index=True, placeholder="–", alt=tr("The rated pairs and everybody's scores"))
    data = rated_dataset(dataset, rated.scores, tr("{name}, rated", name=run.name)[:MAX_NAME_CHARACTERS])
    file = data_file(data)
    with st.container(horizontal=True, gap="small"):
        st.download_button(tr("Download"), file.content, key="rating-download", on_click="ignore",
                           icon=":material/download:", file_name=f"ratings.{file.name.rsplit('.', 1)[-1]}")
        _keep(data)
        with st.popover(tr("Withdraw my scores"), type="tertiary", icon=":material/delete:", key="rating-withdraw"):
            st.caption(tr("All your scores of this run are removed, also of pairs that are not shown."))
            if st.button(tr("Withdraw them"), type="primary", key="rating-withdraw-sure"):
                access.withdraw(run.id)
                st.rerun()


def _agreement(rated: Rated) -> None:
    n_raters, alpha = rated.scores.shape[1], rated.alpha
    if n_raters < 2:
        st.info(tr("You are the first whose scores are here. Agreement is shown when a second person has rated."),
                icon=":material/group:")
        return
    if alpha.reason:
        st.info(tr("Krippendorff's alpha is undefined: {reason}.", reason=translated(alpha.reason)),
                icon=":material/group:")
        return
    interval = f"[{number_text(alpha.ci_low, 2)}, {number_text(alpha.ci_high, 2)}]"
    st.metric(tr("Krippendorff's alpha"), f"{number_text(alpha.value, 2)} {interval}",
              help=measure_help("krippendorff_alpha"),
              delta=tr_n("{n} pair, {raters} raters", "{n:,} pairs, {raters} raters", alpha.n, raters=n_raters),
              delta_color="off", delta_arrow="off")


def _table(dataset: SentencePairs | MinimalPairs, rated: Rated) -> pd.DataFrame:
    """A row for each pair; those on which raters differ most come first."""
    pairs = [texts(dataset, int(item)) for item in rated.scores.index]
    heads = (tr("Reference"), tr("Candidate")) if isinstance(dataset, SentencePairs) else (
        tr("Unacceptable"), tr("Acceptable"))
    spread = rated.scores.max(axis=1) - rated.scores.min(axis=1)
    table = pd.DataFrame({tr("Row"): [dataset.rows[int(item)] for item in rated.scores.index],
                          heads[0]: [first for first, _ in pairs], heads[1]: [second for _, second in pairs]},
                         index=rated.scores.index)
    for rater in rated.scores.columns:
        table[rater if rater not in table.columns else f"{rater} "] = rated.scores[rater]
    return table.loc[spread.sort_values(ascending=False, kind="stable").index]


def _keep(data: SentencePairs | MinimalPairs) -> None:
    with st.popover(tr("Keep"), key="rating-keep", type="tertiary", icon=":material/inventory_2:"):
        name = st.text_input(tr("Name"), data.name, max_chars=MAX_NAME_CHARACTERS, key="rating-keep-name")
        if st.button(tr("Keep these data"), key="rating-keep-submit", type="primary"):
            try:
                set_id = session.datasets().keep(data, name)
            except EngineError as error:
                show_error(error)
                return
            page = pages.card(USED_ON[type(data)])
            st.success(tr("Kept as {name}. It can be used on {page}.", name=verbatim(name), page=tr(page.title)))
            st.page_link(pages.path("datasets"), label=tr("Open"), icon=pages.card("datasets").icon,
                         query_params={"dataset": set_id})
