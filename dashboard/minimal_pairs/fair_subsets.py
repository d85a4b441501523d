"""Fair subsets of a minimal-pairs run: what remains, accuracies and ranks beside all pairs, the file to keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.minimal_pairs.categories import column_input
from dashboard.minimal_pairs.fair_subset_charts import fair_figure
from dashboard.minimal_pairs.picked import Pick, clickable
from dashboard.minimal_pairs.view import SUBSET_LABELS, View, table
from dashboard.shared import session
from dashboard.shared.exports.signing import digest
from dashboard.shared.headlines import short
from dashboard.shared.wording import show_error, verbatim
from engine.datasets.minimal_pairs.export import MIME_BY_SUFFIX, export_pairs
from engine.errors import EngineError
from engine.evaluations.minimal_pairs import fair_subsets
from engine.evaluations.minimal_pairs.records import Result

FAIR = "All pairs beside the fair subset"
FILE_LABELS = {fair_subsets.EQUAL: "equal", fair_subsets.EQUAL_FOR_ALL: "equal-for-all",
               fair_subsets.MATCHED: "matched"}
EXPORTS_KEPT = 4
HEIGHT, FEW = 420, 12


def fair_section(view: View, whole: View, signature: Mapping[str, Any], *, stereotypes: bool) -> dict[str, go.Figure]:
    """Draw the section; `whole` is the view of all pairs. Returns its figure by its caption.

    `stereotypes`: to prefer `sent_more` is not to be right, so nobody is ranked by it.
    """
    subsets = [name for name in FILE_LABELS if name != fair_subsets.EQUAL_FOR_ALL or len(view.models) > 1]
    default = view.subset if view.subset in subsets else subsets[-2]
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        subset = str(st.segmented_control("Subset", subsets, format_func=SUBSET_LABELS.__getitem__, default=default,
                                          required=True, key=f"minimal-fair-subset-{view.run_id}",
                                          label_visibility="collapsed"))
        column = column_input(view, "fair")
    st.caption(fair_subsets.SUBSETS[subset])
    rows = _rows(view.run_id, subset, whole.result)
    beside = table(whole, "beside", subset, column)
    downloads(view.run_id, whole.result, subset, rows)
    if not any(len(found) for found in rows.values()):
        st.info("No pair is in this subset.", icon=":material/filter_alt_off:")
        return {}
    wide = beside_table(beside, ranked=not stereotypes)
    st.dataframe(wide, hide_index=True, height="auto" if len(wide) < FEW else HEIGHT, column_config=_columns(wide),
                 placeholder="–",
                 alt=f"{'Share of sent_more' if stereotypes else 'Accuracy'} in all pairs and in the fair subset, with "
                     "the change of each model, by category")
    about_ranks = ("**Rank**: among the models in the category, all pairs → fair subset where it changes; whether two "
                   "models can be told apart, Models says.")
    what = "How often sent_more is preferred, per cent." if stereotypes else "Per cent."
    ranked = len(view.models) > 1 and not stereotypes
    st.caption(f"{what} **Δ**: fair less all, in points. {about_ranks if ranked else ''}")
    model = view.models[0]
    if len(view.models) > 1:
        model = str(st.pills("Model", view.models, default=model, required=True, format_func=verbatim,
                             key=f"minimal-fair-model-{view.run_id}", label_visibility="collapsed"))
    figure = fair_figure(beside, model)

    def pick(point: Mapping[str, Any]) -> Pick | None:
        data = point.get("customdata")
        return Pick(model, field=column if data[0] else "", value=str(data[0])) if data else None

    clickable(figure, "fair", view.run_id, signature, pick, FAIR)
    return {FAIR: figure}


def beside_table(beside: pd.DataFrame, *, ranked: bool = True) -> pd.DataFrame:
    """`fair_subsets.beside` a line for each category, the models side by side, as the paper's table 3 has it.

    Columns: Category, then of each model "<model> all", "… fair", "… Δ", "… rank" where several are
    `ranked` ("2 → 1", or "2"), "… n" and "… fair n". The overall line is first.
    """
    models = list(dict.fromkeys(beside["model"]))
    order = beside[["overall", "category"]].drop_duplicates().sort_values("overall", ascending=False, kind="stable")
    keyed = {(line["overall"], line["category"], line["model"]): line for line in beside.to_dict("records")}
    lines = []
    for overall, category in order.itertuples(index=False):
        line: dict[str, Any] = {"Category": "all" if overall else category or "(none)"}
        for model in models:
            found = keyed.get((overall, category, model))
            if found is None:
                continue
            line |= {f"{model} all": 100 * found["accuracy"], f"{model} fair": 100 * found["fair_accuracy"],
                     f"{model} Δ": 100 * found["change"]}
            if ranked and len(models) > 1:
                line[f"{model} rank"] = _rank(found["rank"], found["fair_rank"])
            line |= {f"{model} n": found["n"], f"{model} fair n": found["fair_n"]}
        lines.append(line)
    return pd.DataFrame(lines)


def downloads(run_id: str, result: Result, subset: str, rows: Mapping[str, Any]) -> None:
    """How many pairs remain, with a button for each file: one for all models where they share the subset."""
    shared = subset == fair_subsets.EQUAL_FOR_ALL or len(rows) == 1
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for model, found in rows.items():
            n = int((result.pairs["model"] == model).sum())
            of = "" if shared else f"{verbatim(model)}: "
            st.markdown(f"{of}**{len(found):,}** :gray[of {n:,} pairs remain]", width="content")
            if len(found):
                _download(run_id, model, subset, tuple(found.tolist()), shared)
            if shared:
                break


def _download(run_id: str, model: str, subset: str, rows: tuple[int, ...], shared: bool) -> None:
    label = FILE_LABELS[subset] if shared else f"{FILE_LABELS[subset]}-{model.rsplit('/', 1)[-1]}"
    try:
        name, mime = _export_name(run_id, label, digest({"rows": rows}), rows)
        st.download_button(
            f"Download {name}", lambda: _export(run_id, label, rows), file_name=name, mime=mime, on_click="ignore",
            key=f"minimal-fair-download-{model}", icon=":material/download:", type="secondary",
            help="These pairs in the format they came in, ready to be weighed again.")
    except EngineError as error:
        show_error(error)


def _export(run_id: str, label: str, rows: tuple[int, ...]) -> bytes:
    return export_pairs(session.access().dataset(run_id), rows, label).content


@st.cache_data(max_entries=64, show_spinner=False)
def _export_name(run_id: str, label: str, pairs: str, _rows: tuple[int, ...]) -> tuple[str, str]:
    """The name and kind of the file; `pairs` stands for the rows."""
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
    found: dict[str, Any] = {"Category": st.column_config.TextColumn("Category", width=150, pinned=True)}
    for name in wide.columns[1:]:
        label, what = short(name), name.rsplit(" ", 1)[1]
        if what == "rank":
            found[name] = st.column_config.TextColumn(label)
        else:
            digits = {"n": "localized", "Δ": "%+.1f"}.get(what, "%.1f")
            found[name] = st.column_config.NumberColumn(label, format=digits)
    return found
