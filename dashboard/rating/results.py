"""What the raters gave, once one's own scores are complete: their agreement, every score, and the pairs as data."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.shared import session
from dashboard.shared.exports.bundle.data import data_file
from dashboard.shared.exports.tables.printed import number_text
from dashboard.shared.headlines import owner_word, run_title
from dashboard.shared.wording import measure_help, show_error, verbatim
from engine.datasets.minimal_pairs.judged import RATINGS
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.datasets.sentence_pairs import SentencePairs
from engine.errors import EngineError
from engine.evaluations.shared.evaluation import ACCEPTABILITY
from engine.messages.languages import tr, tr_n, translated
from engine.messages.message import list_of
from engine.runs.naming import MAX_NAME_CHARACTERS
from engine.runs.ratings.access import Rated, RatingAccess
from engine.runs.ratings.datasets import pair_means, pair_scores, rated_dataset, with_acceptability
from engine.runs.ratings.questions import Question, texts
from engine.runs.storage.run_record import RunRecord

SENTENCE_WIDTH = 280  # pixels, of a sentence in a table
TIED = 1e-9  # of two means, whose last digits depend on the order of adding
USED_ON = {SentencePairs: "metric_study", MinimalPairs: "minimal_pairs"}


def results(
    access: RatingAccess,
    run: RunRecord,
    dataset: SentencePairs | MinimalPairs,
    question: Question,
    pairs: list[int],
    items: list[int],
) -> None:
    """Draw the agreement of the raters, their scores, and what can be done with them.

    items: the pairs that were rated, or the sentences of `pairs`.
    """
    # Sentences have an order of each rater's own, and the interval of alpha depends on it.
    rated = access.rated(run.id, sorted(items), question.name)
    name = tr("{name}, rated", name=run_title(run))[:MAX_NAME_CHARACTERS]
    if question.name == ACCEPTABILITY and isinstance(dataset, MinimalPairs):
        _agreement(
            rated,
            tr_n(
                "{n} sentence, {raters} raters",
                "{n:,} sentences, {raters} raters",
                rated.alpha.n,
                raters=rated.scores.shape[1],
            ),
        )
        _acceptability(dataset, pairs, rated)
        data: SentencePairs | MinimalPairs = with_acceptability(dataset, pairs, rated.scores, name)
        if any(f"{column} (2)" in data.further for column in RATINGS):
            st.caption(
                tr(
                    "The data have columns {columns} already, which a run reads; the new ones have a number, and "
                    "`--ratings` on the command line names them.",
                    columns=translated(list_of(RATINGS)),
                )
            )
    else:
        _agreement(
            rated,
            tr_n(
                "{n} pair, {raters} raters", "{n:,} pairs, {raters} raters", rated.alpha.n, raters=rated.scores.shape[1]
            ),
        )
        st.dataframe(
            _table(dataset, rated),
            hide_index=True,
            placeholder="–",
            column_config=_narrow(*_heads(dataset)),
            alt=tr("The rated pairs and everybody's scores"),
        )
        data = rated_dataset(dataset, rated.scores, name)
    file = data_file(data)
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            tr("Download"),
            file.content,
            key="rating-download",
            on_click="ignore",
            icon=":material/download:",
            file_name=f"ratings.{file.name.rsplit('.', 1)[-1]}",
        )
        _keep(data)
        with st.popover(tr("Withdraw my scores"), type="tertiary", icon=":material/delete:", key="rating-withdraw"):
            st.caption(tr("All your answers to this question about the run are removed, also those not shown."))
            if st.button(tr("Withdraw them"), type="primary", key="rating-withdraw-sure"):
                access.withdraw(run.id, question.name)
                st.rerun()


def _agreement(rated: Rated, n: str) -> None:
    alpha = rated.alpha
    if rated.scores.shape[1] < 2:
        st.info(
            tr("You are the first whose scores are here. Agreement is shown when a second person has rated."),
            icon=":material/group:",
        )
        return
    if alpha.reason:
        st.info(
            tr("Krippendorff's alpha is undefined: {reason}.", reason=translated(alpha.reason)), icon=":material/group:"
        )
        return
    value, low, high = (number_text(each, 2).replace("-", "−") for each in (alpha.value, alpha.ci_low, alpha.ci_high))
    st.metric(
        tr("Krippendorff's alpha"),
        f"{value} [{low}, {high}]",
        help=measure_help("krippendorff_alpha"),
        delta=n,
        delta_color="off",
        delta_arrow="off",
    )


def _acceptability(dataset: MinimalPairs, pairs: list[int], rated: Rated) -> None:
    """Draw the mean of each sentence and the difference in each pair, the smallest first; of single sentences, those
    on which raters differ most first.
    """
    frames = pair_scores(dataset, pairs, rated.scores)
    means = pair_means(frames)
    table = pd.DataFrame({tr("Row"): [dataset.rows[item] for item in pairs]}, index=pairs)
    if len(means) == 1:
        table[tr("Sentence")] = [dataset.acceptable[item] for item in pairs]
        table[tr("Mean")] = means[0]
        order = (frames[0].max(axis=1) - frames[0].min(axis=1)).sort_values(ascending=False, kind="stable")
    else:
        difference = means[0] - means[1]
        average = float(difference.mean())
        values = {
            "higher": int((difference > TIED).sum()),
            "n": len(pairs),
            "same": int((difference.abs() <= TIED).sum()),
            "difference": number_text(abs(average), 2),
        }
        st.caption(
            tr(
                "The acceptable sentence has the higher mean in {higher:,} of {n:,} pairs, the same in {same:,}; "
                "its mean is lower by {difference} on average.",
                **values,
            )
            if average < -TIED
            else tr(
                "The acceptable sentence has the higher mean in {higher:,} of {n:,} pairs, the same in {same:,}; "
                "on average the means are equal.",
                **values,
            )
            if average <= TIED
            else tr(
                "The acceptable sentence has the higher mean in {higher:,} of {n:,} pairs, the same in {same:,}; "
                "its mean is higher by {difference} on average.",
                **values,
            )
        )
        table[tr("Unacceptable")] = [dataset.unacceptable[item] for item in pairs]
        table[tr("Acceptable")] = [dataset.acceptable[item] for item in pairs]
        table[tr("Mean, unacceptable")], table[tr("Mean, acceptable")] = means[1], means[0]
        table[tr("Difference")] = difference
        order = difference.sort_values(kind="stable")
        if n_halves := sum(
            int((frame.notna() & ~other.notna()).to_numpy().sum()) for frame, other in (frames, frames[::-1])
        ):
            st.caption(
                tr_n(
                    "{n} score is shown but in no mean: its rater has not rated the other sentence of the pair.",
                    "{n:,} scores are shown but in no mean: their raters have not rated the other sentences of the pairs.",
                    n_halves,
                )
            )
    for rater, name in _named(rated):
        for frame, label in zip(
            reversed(frames),
            (tr("{rater}, unacceptable", rater=name), tr("{rater}, acceptable", rater=name))
            if len(frames) > 1
            else (name,),
            strict=True,
        ):
            table[_free(label, table)] = frame[rater]
    decimals = {
        column: st.column_config.NumberColumn(format="%.2f")
        for column in (tr("Mean"), tr("Mean, unacceptable"), tr("Mean, acceptable"), tr("Difference"))
    }
    st.dataframe(
        table.loc[order.index],
        hide_index=True,
        placeholder="–",
        column_config=decimals | _narrow(tr("Sentence"), tr("Unacceptable"), tr("Acceptable")),
        alt=tr("The rated sentences and everybody's scores"),
    )


def _heads(dataset: SentencePairs | MinimalPairs) -> tuple[str, str]:
    """What the columns of the two sentences are called, in the order of `texts`."""
    return (
        (tr("Reference"), tr("Candidate"))
        if isinstance(dataset, SentencePairs)
        else (tr("Unacceptable"), tr("Acceptable"))
    )


def _narrow(*columns: str) -> dict[str, Any]:
    """Columns of sentences, so narrow that the numbers after them stand on the screen."""
    return {column: st.column_config.TextColumn(width=SENTENCE_WIDTH) for column in columns}


def _free(label: str, table: pd.DataFrame) -> str:
    """The label, with spaces after it where a column of the table has it."""
    while label in table.columns:
        label += " "
    return label


def _table(dataset: SentencePairs | MinimalPairs, rated: Rated) -> pd.DataFrame:
    """A row for each pair; those on which raters differ most come first."""
    pairs = [texts(dataset, int(item)) for item in rated.scores.index]
    heads = _heads(dataset)
    spread = rated.scores.max(axis=1) - rated.scores.min(axis=1)
    table = pd.DataFrame(
        {
            tr("Row"): [dataset.rows[int(item)] for item in rated.scores.index],
            heads[0]: [first for first, _ in pairs],
            heads[1]: [second for _, second in pairs],
        },
        index=rated.scores.index,
    )
    for rater, name in _named(rated):
        table[_free(name, table)] = rated.scores[rater]
    return table.loc[spread.sort_values(ascending=False, kind="stable").index]


def _named(rated: Rated) -> list[tuple[str, str]]:
    """The column of each rater, and what a reader sees as its head."""
    return [
        (column, owner_word(rater, column)) for column, rater in zip(rated.scores.columns, rated.raters, strict=True)
    ]


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
            st.page_link(
                pages.path("datasets"),
                label=tr("Open"),
                icon=pages.card("datasets").icon,
                query_params={"dataset": set_id},
            )
