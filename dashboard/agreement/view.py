"""Two evaluations side by side: the user's runs and, marked as such, the results published in a paper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.agreement.charts import PER_CENT, scatter
from dashboard.faces import FACES
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.paper_tables import columns_of
from dashboard.shared.ranks import rank_labels
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import column_label, measure_help, verbatim
from engine.evaluations.agreement.evaluate import MEASURES, agreement_table, printed_table
from engine.evaluations.paper_tables.sentence_clustering import COMPARED, TABLES
from engine.evaluations.shared.common_columns import RANK_FIRST
from engine.language.quantities import decimals
from engine.messages.languages import mark, tr, translated
from engine.messages.message import Message, together
from engine.options import option, options_of

AS_PUBLISHED = mark("in the paper")
BENCHMARK_TITLE = mark("Benchmark")
COEFFICIENTS = {"spearman": "ρ", "kendall": "τ_b"}


FEWEST_MODELS = 6  # below, a rank correlation is no evidence of anything


def title_of(kind: str) -> str:
    """The title of the page of a kind of run, or what the benchmark is called."""
    return tr(_title(kind))


def _title(kind: str) -> str:
    return FACES[kind].page.title if kind in FACES else BENCHMARK_TITLE


def model_numbers(table: pd.DataFrame, *, key: str) -> None:
    """Draw a `model_table`: the value of each evaluation and, beside it, the rank; shares in per cent."""
    columns: dict[str, Any] = {"model": st.column_config.TextColumn(tr("Model"), width="medium")}
    shown = with_shown_models(table).copy()
    for kind in (kind for kind in MEASURES if kind in table):
        measure = MEASURES[kind]
        if measure in PER_CENT:
            shown[kind] *= 100
        number_format = f"%.{decimals(shown[kind].dropna().tolist())}f" + ("%%" if measure in PER_CENT else "")
        columns[kind] = st.column_config.NumberColumn(
            f"{title_of(kind)}: {column_label(measure)}", format=number_format, help=measure_help(measure)
        )
        rank = f"rank {kind}"  # untranslated
        shown[rank] = rank_labels(table, of=f" {kind}")
        columns[rank] = st.column_config.TextColumn(
            tr("Rank"),
            help=_meaning_of_ranks(table, kind),
        )
    st.dataframe(
        shown,
        hide_index=True,
        column_config=columns,
        column_order=list(columns),
        key=key,
        placeholder="–",
        alt=tr("Each model's number and rank under each evaluation"),
    )


def _meaning_of_ranks(table: pd.DataFrame, kind: str) -> str:
    if table[f"{RANK_FIRST.name} {kind}"].isna().all():
        return tr("By {evaluation}: 1 is best; differences between models are not tested.", evaluation=title_of(kind))
    return tr(
        "By {evaluation}, 1 is best. From 1 + the number of models that are significantly better, to the number of "
        "models less those that are significantly worse.",
        evaluation=title_of(kind),
    )


@dataclass(frozen=True)
class PairAndTable:
    """What is drawn beside the runs, as written in the page's URL."""

    pair: tuple[str, ...] = option(
        (),
        "The two evaluations that are drawn; the first two where none are named.",  # untranslated
    )
    table: str = option(
        next(iter(TABLES)),
        "The table of the papers that is shown.",  # untranslated
        choices=tuple(TABLES),
    )


PAIR, TABLE = options_of(PairAndTable).values()


def pair_choice(kinds: list[str], address: PageAddress) -> tuple[str, str]:
    """The two evaluations to draw; there are at least two."""
    pairs = {" ".join(pair): pair for pair in combinations(kinds, 2)}
    own = next(iter(pairs.values()))
    if len(pairs) == 1:
        return own
    first = tuple(address.first(PAIR, own, offered=kinds))
    at_first = next((name for name, pair in pairs.items() if pair == first), next(iter(pairs)))
    pair = pairs[
        st.segmented_control(
            tr("Compare"),
            list(pairs),
            default=at_first,
            required=True,
            key=f"agreement-pair-{address.place}",
            format_func=lambda name: _pair_title(*pairs[name]),
        )
    ]
    address.keep(PAIR, pair, own)
    return pair


def side_by_side(table: pd.DataFrame, first: str, second: str) -> dict[str, go.Figure]:
    """Draw the user's models under two evaluations on the left, those of a paper that has both on the right.

    Returns the figures by caption.
    """
    with st.grid(2, min_column_width=340):
        with st.container(border=True):
            st.markdown(f"**{tr('Your runs')}**")
            figures = _points(table, first, second, published=False)
        with st.container(border=True):
            printed = printed_table(first, second)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(f"**{tr('Models of the papers')}**", width="content")
                st.badge(tr(AS_PUBLISHED), icon=":material/menu_book:", color="orange")
            if printed is None:
                st.caption(tr("No paper reports both evaluations for the same models."))
            else:
                figures |= _points(printed, first, second, published=True)
                first_table, second_table = (TABLES[key] for key, _ in COMPARED[first, second])
                st.caption(
                    verbatim(
                        tr(
                            "{tables}. Other sentences and models; the coefficients are computed from the printed numbers.",
                            tables=f"{first_table.source}, {second_table.place}",
                        )
                    )
                )
    return figures


def printed_tables(address: PageAddress) -> None:
    """Draw the tables of the papers as printed, one at a time, with source and notes."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{tr('Tables of the papers')}**", width="content")
        st.badge(tr(AS_PUBLISHED), icon=":material/menu_book:", color="orange")
    first = address.first(TABLE, TABLE.default)
    key = st.selectbox(
        tr("Table"),
        list(TABLES),
        index=list(TABLES).index(first),
        label_visibility="collapsed",
        key=f"agreement-printed-{address.place}",
        persist_state="session",
        format_func=lambda key: f"{TABLES[key].source}: {translated(TABLES[key].title)}",
    )
    address.keep(TABLE, key, TABLE.default)
    table = TABLES[key]
    printed = table.printed()
    st.dataframe(
        printed,
        hide_index=True,
        column_config=columns_of(table, printed),
        placeholder="–",
        alt=tr("{title}, as published", title=translated(table.title)),
    )
    st.caption(
        tr("{source}, as published. {note}", source=verbatim(table.source), note=verbatim(translated(table.note)))
    )


def _pair_title(first: str, second: str) -> str:
    return f"{title_of(first)} – {title_of(second)}"


def _points(table: pd.DataFrame, first: str, second: str, *, published: bool) -> dict[str, go.Figure]:
    columns = ["model", first, f"rank {first}", second, f"rank {second}"]  # untranslated
    (row,) = agreement_table(table[columns]).to_dict("records")
    origin = "published" if published else "own"
    figures: dict[str, go.Figure] = {}
    if row["n"]:
        caption = together(" – ", map(_title, (first, second)))
        if published:
            caption = Message("{title}, as published", title=caption)
        figures[caption] = scatter(table, first, second, published=published)
        draw_figure(
            figures[caption],
            key=f"agreement-scatter-{origin}",
            config={"displayModeBar": False},
            alt=tr("Each model as a point: {evaluations}", evaluations=translated(caption)),
        )
    if row["reason"]:
        st.caption(
            ":orange[:material/info:] "
            + tr("No rank correlation: {reason}.", reason=verbatim(translated(row["reason"])))
        )
        return figures
    if row["n"] < FEWEST_MODELS:
        st.caption(
            tr(
                "{n} models are too few to say whether the evaluations agree, which takes at least {fewest}. For reference "
                "only: ρ = {spearman}, τ_b = {kendall}.",
                n=row["n"],
                fewest=FEWEST_MODELS,
                spearman=_signed(row["spearman"]),
                kendall=_signed(row["kendall"]),
            )
        )
        return figures
    with st.grid(2, min_column_width=120, gap="small"):
        for name, symbol in COEFFICIENTS.items():
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            st.metric(
                f"{name.capitalize()} {verbatim(symbol)}",
                _signed(row[name]),
                tr("{low} to {high}, n = {n}", low=_signed(low), high=_signed(high), n=row["n"]),
                delta_color="off",
                delta_arrow="off",
                help=measure_help(name),
            )
    return figures


def _signed(value: float) -> str:
    return (f"{value:+.2f}" if round(value, 2) else "0.00").replace("-", "−")
