"""The parts of a card: its numbers, the models beside it, length bias, readings, map, checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.faces import FACES
from dashboard.model_card import tables
from dashboard.model_card.choice import ChosenRuns, evaluation_title
from dashboard.model_card.evaluation import check, checked
from dashboard.models.checks import check_lines, show_checks
from dashboard.shared import run_view
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.headlines import shown_dataset
from dashboard.shared.theme import short_names
from dashboard.shared.wording import column_label, measure_help, show_error, verbatim
from engine.errors import EngineError
from engine.evaluations.catalog import MINIMAL_PAIRS
from engine.evaluations.model_card.card import CardOfModel, CardRun
from engine.measures.cards.catalog import CARDS
from engine.messages.languages import mark, tr, tr_n, translated
from engine.messages.message import list_of, together
from engine.models.sources.facts import ModelFacts

RANK_WIDTH = 130  # pixels
MAP = mark("Map of the sentences")


def nothing_chosen(runs: ChosenRuns) -> None:
    """Draw what to do where no finished run is chosen."""
    text = tr("No finished evaluation of this model is chosen. Evaluate it above.")
    if runs.n_others:
        text += " " + tr_n(
            "{n} run on other data or of others can be chosen under *Runs of the card*.",  # untranslated
            "{n:,} runs on other data or of others can be chosen under *Runs of the card*.",
            runs.n_others,
        )
    st.info(text, icon=":material/id_card:")


def missing_runs(runs: ChosenRuns) -> None:
    """Draw which runs the address names that are not there for this reader."""
    if runs.missing:
        st.warning(
            verbatim(
                tr_n(
                    "The link names a run that is left out: {runs}. It may have been deleted, be of another model, or not be "
                    "shared with you.",
                    "The link names {n} runs that are left out: {runs}. They may have been deleted, be of "
                    "another model, or not be shared with you.",
                    len(runs.missing),
                    runs=translated(list_of(runs.missing)),
                )
            ),
            icon=":material/link_off:",
        )


def left_out(card: CardOfModel) -> None:
    """Draw which of the chosen runs are not on the card, and why."""
    for text in card.left_out:
        st.warning(verbatim(translated(text)), icon=":material/broken_image:")


def headline_grid(card: CardOfModel) -> None:
    """Draw the first number of each run, with its interval, its direction, its place among the models and its data."""
    first = card.headlines.drop_duplicates("run")
    with st.grid(3, min_column_width=200, gap="small"):
        for row in first.to_dict("records"):
            measure = row["measure"]
            head = column_label(measure) if row["better"] != "neither" else CARDS[measure].symbol
            label = f"{evaluation_title(row['evaluation'])}: {head}"
            with st.container(border=True, height="stretch", gap="xsmall"):
                st.metric(
                    verbatim(label),
                    tables.number(row["value"], measure),
                    _beside(row, card),
                    delta_color="off",
                    delta_arrow="off",
                    help="  \n".join((measure_help(measure), verbatim(tables.words(row)))),
                )
                st.caption(verbatim(tr("{dataset} · n = {n}", dataset=tables.data(row), n=f"{row['n']:,}")))


def all_numbers(card: CardOfModel, parts: Sequence[CardRun]) -> None:
    """Draw what each run of the card found, and every number as a table, folded. parts: the runs on the card."""
    with st.expander(tr("All numbers"), icon=":material/table_rows:"):
        for part in parts:
            found = translated(FACES[part.kind].found(part.result))
            st.markdown(f"**{tr(FACES[part.kind].page.title)}** {verbatim(found)}")  # untranslated
        labels: dict[str, Any] = tables.numbers_heads()
        labels["rank"] = st.column_config.TextColumn(labels["rank"], width=RANK_WIDTH)
        st.dataframe(
            tables.numbers_table(card),
            hide_index=True,
            placeholder="–",
            column_config=labels,
            alt=tr("Every number of the card"),
        )


def others(card: CardOfModel) -> None:
    """Draw the model against each other model with the same data and settings."""
    untested = _untested(card)
    if not card.others.empty:
        st.dataframe(
            tables.others_table(card),
            hide_index=True,
            placeholder="–",
            column_config=tables.others_heads(),
            alt=tr("The model against each other model"),
        )
        st.caption(
            tr(
                "Paired tests on the items that both models have, corrected by Holm's method for the models "
                "under one number; *not separable* is no sign that two models are equal."
            )
        )
    elif not untested:
        st.info(tr("No other model was evaluated with the same data and settings yet."), icon=":material/compare:")
    for text in untested:
        st.info(text, icon=":material/compare:")


def length(card: CardOfModel) -> None:
    """Draw the length bias of each run of minimal pairs."""
    if card.length_bias.empty:
        if MINIMAL_PAIRS.kind in set(card.headlines["evaluation"]):
            text = tr("Length bias is of pairs of two sentences with log-likelihoods; the data of this card hold none.")
        else:
            text = tr("Length bias needs a run of minimal pairs.")
        st.info(text, icon=":material/straighten:")
        return
    st.dataframe(
        tables.length_table(card),
        hide_index=True,
        placeholder="–",
        column_config=tables.length_heads(),
        alt=tr("The length slope by normalisation"),
    )
    st.caption(verbatim(translated(CARDS["length_slope"].question)))


def readings(card: CardOfModel) -> None:
    """Draw how the tokenizer cuts names, and what has a reading."""
    if card.readings.empty:
        st.info(tr("Readings need a run of alignment."), icon=":material/translate:")
        return
    for row in card.readings.to_dict("records"):
        st.caption(verbatim(tables.data(row)))
        with st.grid(4, min_column_width=150, gap="small"):
            st.metric(
                tr("Names that are one token"),
                _share(row["n_whole_names"], row["n_names"]),
                tr("{done:,} of {total:,}", done=row["n_whole_names"], total=row["n_names"]),
                delta_color="off",
                delta_arrow="off",
                border=True,
            )
            st.metric(
                tr("Tokens of a name"),
                "–" if pd.isna(row["tokens_per_name"]) else f"{row['tokens_per_name']:.2f}",
                border=True,
            )
            st.metric(
                tr("Names that are read whole"),
                _share(row["n_read_names"], row["n_names"]),
                tr("{done:,} of {total:,}", done=row["n_read_names"], total=row["n_names"]),
                delta_color="off",
                delta_arrow="off",
                border=True,
                help=tr(
                    "Every token of the name has a reading that leaves out nothing, under the settings of the run."
                ),
            )
            st.metric(
                tr("Tokens without a whole reading"),
                _share(row["n_unread"], row["n_tokens"]),
                tr("{n:,} unknown", n=row["n_unknown"]),
                delta_color="off",
                delta_arrow="off",
                border=True,
            )


def map_of(runs: list[CardRun]) -> dict[str, Any]:
    """The maps of the clusters runs, by caption."""
    drawn = [(run, draw(run.result, run.model)) for run in runs if (draw := FACES[run.kind].map_figure) is not None]
    return {
        together(": ", [MAP, shown_dataset(run.dataset_name)]): figure for run, figure in drawn if figure is not None
    }


def maps(figures: dict[str, Any]) -> None:
    """Draw the maps."""
    if not figures:
        st.info(tr("A map needs a run of clusters."), icon=":material/bubble_chart:")
    for number_of_map, (caption, figure) in enumerate(figures.items()):
        draw_figure(
            figure, key=f"model-card-map-{number_of_map}", alt=translated(caption), config={"displayModeBar": False}
        )


def checks(model: str) -> None:
    """Draw what was found when the model was loaded, or the button that loads it."""
    if checked(model) is None:
        if not st.button(tr("Load and check the model"), key="model-card-check", icon=":material/fact_check:"):
            st.caption(
                tr("Reads the weights into memory and tries them on a few tokens, once for each version of the files.")
            )
            return
        try:
            check(model)
        except EngineError as error:
            show_error(error)
            return
        st.rerun()  # the downloads have the checks, too
    inspection = checked(model)
    if inspection is not None:
        show_checks(inspection.facts, inspection.checks)
        if inspection.refusal is not None:
            show_error(inspection.refusal)


def checks_table(card: CardOfModel) -> pd.DataFrame:
    """The checks as a table of sentences, for the report."""
    facts: ModelFacts | None = card.facts
    lines = [] if facts is None else [text for _, text in check_lines(facts, card.checks)]
    return pd.DataFrame({tr("Checks"): [*lines, *filter(None, [translated(card.refusal)])]})


def card_notices(card: CardOfModel) -> None:
    """Draw the notices of the card, folded."""
    if texts := [text for text in card.notices if text not in card.left_out]:
        with st.expander(tr("Notices: {n:,}", n=len(texts)), icon=":material/info:"):
            for text in texts:
                run_view.notice(text)


def _beside(row: dict[Any, Any], card: CardOfModel) -> str | None:
    place = tables.rank(row, card) if row["n_models"] > 1 and not pd.isna(row["rank"]) else ""
    interval = "" if tables.interval(row) == "–" else tables.interval(row)
    return " · ".join(filter(None, (interval, place))) or None


def _share(n: int, total: int) -> str:
    return f"{n / total:.0%}" if total else "–"


def _untested(card: CardOfModel) -> list[str]:
    """For each run without a paired test, the other models with its data and settings, as Markdown."""
    tested = set(card.others["run"])
    texts = []
    for run in card.signature["runs"]:
        measures = card.headlines.loc[card.headlines["run"] == run["run"], "measure"].unique()
        if run["others"] and run["run"] not in tested and len(measures):
            texts.append(
                verbatim(
                    tr(
                        "{evaluation}: two models are not tested against each other under {measures}. Evaluated with the same "
                        "data and settings: {models}.",
                        evaluation=evaluation_title(run["evaluation"]),
                        measures=translated(list_of(translated(CARDS[measure].name) for measure in measures)),
                        models=translated(list_of(short_names(run["others"]).values())),
                    )
                )
            )
    return texts
