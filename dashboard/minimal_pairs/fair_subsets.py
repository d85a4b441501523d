"""Fair subsets of a minimal-pairs run: size, accuracies and ranks compared with all pairs, and a file of the pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.categories import column_input
from dashboard.minimal_pairs.charts import fair_figure
from dashboard.minimal_pairs.figure_selection import PointSelection, clickable
from dashboard.minimal_pairs.view import ScoredRun, SectionChoices, table
from dashboard.minimal_pairs.words import PairWords
from dashboard.shared import session
from dashboard.shared.exports.file_names import of_name
from dashboard.shared.exports.signing import digest
from dashboard.shared.headlines import short
from dashboard.shared.wording import model_name, show_error
from engine.datasets.minimal_pairs.export import MIME_BY_SUFFIX, export_pairs
from engine.errors import EngineError
from engine.evaluations.minimal_pairs import fair_subsets
from engine.evaluations.minimal_pairs.records import (
    CUT_ALIKE,
    CUT_DIFFERENTLY,
    EQUAL,
    EQUAL_FOR_ALL,
    MATCHED,
    SUBSETS,
    Result,
)
from engine.messages.languages import mark, tr, tr_n, translated
from engine.models.sources.names import shown_name

FAIR = mark("All pairs and the fair subset")
FILE_LABELS = {
    CUT_ALIKE: "cut-alike",
    CUT_DIFFERENTLY: "cut-differently",
    EQUAL: "equal",
    EQUAL_FOR_ALL: "equal-for-all",
    MATCHED: "matched",
}
# The columns of each model by the end of their names: label and format.
COLUMNS = {
    "all": (mark("{model} all"), "%.1f"),
    "fair": (mark("{model} fair"), "%.1f"),
    "±": (mark("{model} ±"), "%.1f"),
    "Δ": (mark("{model} Δ"), "%+.1f"),
    "rank": (mark("{model} rank"), ""),
    "fair n": (mark("{model} fair n"), "localized"),
    "n": (mark("{model} n"), "localized"),
}
EXPORTS_KEPT = 4
HEIGHT, FEW = 420, 12


def fair_section(
    view: ScoredRun, whole: ScoredRun, signature: Mapping[str, Any], choices: SectionChoices, words: PairWords
) -> dict[str, go.Figure]:
    """Draw the section; `whole` is the view of all pairs. Returns its figure by its caption."""
    subsets, default = _subsets(view), default_subset(view)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        subset = str(
            st.segmented_control(
                tr("Subset"),
                subsets,
                format_func=lambda name: tr(SUBSETS[name].label),
                required=True,
                default=choices.first("fair", default, subsets),
                key=choices.key("fair"),
                label_visibility="collapsed",
            )
        )
        choices.keep("fair", subset, default)
        column = column_input(view, "fair", choices)
    st.caption(translated(SUBSETS[subset].meaning))
    rows = _rows(view.run_id, subset, whole.result)
    beside = table(whole, "beside", subset, column)
    downloads(view.run_id, whole.result, subset, rows)
    if not any(len(rows_of_model) for rows_of_model in rows.values()):
        st.info(tr("This subset has no pairs."), icon=":material/filter_alt_off:")
        return {}
    wide = beside_table(beside, ranked=words.ranks)
    st.dataframe(
        wide,
        hide_index=True,
        height="auto" if len(wide) < FEW else HEIGHT,
        column_config=_columns(wide),
        placeholder="–",
        alt=tr(words.fair_table),
    )
    st.caption(tr(words.fair_unit))
    if subset == MATCHED:
        st.caption(tr("**±**: standard deviation over all samples that could be drawn, that is over seeds."))
    if len(view.models) > 1 and words.ranks:
        st.caption(
            tr(
                "**Rank**: among the models in the category, all pairs → fair subset where it changes; the tab "
                "Models tests which differences are significant."
            )
        )
    model = choices.model(view, "fair")
    figure = fair_figure(beside, model)

    def decode(point: Mapping[str, Any]) -> PointSelection | None:
        data = point.get("customdata")
        return PointSelection(model, field=column if data[0] else "", value=str(data[0])) if data else None

    clickable(figure, "fair", view.run_id, signature, decode, tr(FAIR))
    return {FAIR: figure}


def default_subset(view: ScoredRun) -> str:
    """The subset that the section shows at first: that of the page, if it is a fair one, or A = U."""
    return view.subset if view.subset in _subsets(view) else _subsets(view)[-2]


def _subsets(view: ScoredRun) -> list[str]:
    return [name for name in FILE_LABELS if name != EQUAL_FOR_ALL or len(view.models) > 1]


def beside_table(beside: pd.DataFrame, *, ranked: bool = True) -> pd.DataFrame:
    """`fair_subsets.beside` with a row for each category, the models side by side, as in the paper's table 3.

    Columns: Category, then of each model, by its label if it has one, "<model> all", "… fair", "… ±" where the
    subset is drawn, "… Δ", "… rank" where several are `ranked` ("2 → 1", or "2"), "… n" and "… fair n". The overall row
    is first.
    """
    models = list(dict.fromkeys(beside["model"]))
    order = beside[["overall", "category"]].drop_duplicates().sort_values("overall", ascending=False, kind="stable")
    drawn = bool(beside["fair_deviation"].notna().any())
    by_key = {(row["overall"], row["category"], row["model"]): row for row in beside.to_dict("records")}
    rows = []
    for overall, category in order.itertuples(index=False):
        row: dict[str, Any] = {"Category": tr("all") if overall else category or tr("(none)")}
        for model in models:
            values = by_key.get((overall, category, model))
            if values is None:
                continue
            name = shown_name(model)
            row |= {f"{name} all": 100 * values["accuracy"], f"{name} fair": 100 * values["fair_accuracy"]}
            if drawn:
                row[f"{name} ±"] = 100 * values["fair_deviation"]
            row[f"{name} Δ"] = 100 * values["change"]
            if ranked and len(models) > 1:
                row[f"{name} rank"] = _rank(values["rank"], values["fair_rank"])
            row |= {f"{name} n": values["n"], f"{name} fair n": values["fair_n"]}  # untranslated
        rows.append(row)
    return pd.DataFrame(rows)


def downloads(run_id: str, result: Result, subset: str, rows: Mapping[str, Any]) -> None:
    """Draw how many pairs remain, with a download for each model: one for all where they share the subset."""
    shared = subset == EQUAL_FOR_ALL or len(rows) == 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for model, kept_rows in rows.items():
            n = int((result.pairs["model"] == model).sum())
            remain = tr_n(
                "**{kept:,}** :gray[of {n} pair remain]",
                "**{kept:,}** :gray[of {n:,} pairs remain]",
                n,
                kept=len(kept_rows),
            )
            st.markdown(remain if shared else f"{model_name(model)}: {remain}", width="content")
            if len(kept_rows):
                _download(run_id, model, subset, tuple(kept_rows.tolist()), shared)
            if shared:
                break


def _download(run_id: str, model: str, subset: str, rows: tuple[int, ...], shared: bool) -> None:
    label = (
        FILE_LABELS[subset]
        if shared
        else f"{FILE_LABELS[subset]}-{of_name(shown_name(model).rsplit('/', 1)[-1], 'model')}"
    )
    try:
        name, mime = _export_name(run_id, label, digest({"rows": rows}), rows)
        st.download_button(
            tr("Download {file}", file=name),
            lambda: _export(run_id, label, rows),
            file_name=name,
            mime=mime,
            on_click="ignore",
            key=f"minimal-fair-download-{model}",
            icon=":material/download:",
            type="secondary",
            help=tr("These pairs in the format of the uploaded file, to be evaluated again."),
        )
    except EngineError as error:
        show_error(error)


def _export(run_id: str, label: str, rows: tuple[int, ...]) -> bytes:
    return export_pairs(session.access().dataset(run_id), rows, label).content


@st.cache_data(max_entries=64, show_spinner=False)
def _export_name(run_id: str, label: str, pairs: str, _rows: tuple[int, ...]) -> tuple[str, str]:
    """The name and MIME type of the file; `pairs` is the cache key of the rows."""
    dataset = session.access().dataset(run_id)
    chosen = dataset.subset(_rows)
    if len(set(chosen.sources)) > 1:
        return f"minimal-pairs-{label}.zip", MIME_BY_SUFFIX[".zip"]
    file = export_pairs(dataset, chosen.rows[:1], label)
    return file.name.rsplit("/", 1)[-1], file.mime


@st.cache_resource(max_entries=EXPORTS_KEPT, show_spinner=False)
def _rows(run_id: str, subset: str, _result: Result) -> dict[str, Any]:
    return fair_subsets.fair_rows(_result, subset, _result.settings.seed)


def _rank(before: Any, after: Any) -> str:
    if pd.isna(after):
        return str(before)
    return f"{before}" if before == after else f"{before} → {after}"


def _columns(wide: pd.DataFrame) -> dict[str, Any]:
    columns: dict[str, Any] = {"Category": st.column_config.TextColumn(tr("Category"), width=150, pinned=True)}
    for name in wide.columns[1:]:
        kind = next(kind for kind in COLUMNS if name.endswith(f" {kind}"))
        head, number_format = COLUMNS[kind]
        label = tr(head, model=short(name.removesuffix(f" {kind}")))
        columns[name] = (
            st.column_config.NumberColumn(label, format=number_format)
            if number_format
            else st.column_config.TextColumn(label)
        )
    return columns
