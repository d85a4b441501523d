"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.clusters import charts
from dashboard.clusters.detail_sections import detail_sections
from dashboard.clusters.explanation import explanation_figures
from dashboard.clusters.face import FACE, FORM
from dashboard.clusters.form import cluster_settings
from dashboard.clusters.guide import guide
from dashboard.clusters.map_charts import maps_figure
from dashboard.clusters.scores import (
    MEASURES,
    VARIANCES,
    disagreement_of_indices,
    ranking_statements,
    score_table,
    size_summary,
)
from dashboard.clusters.selection import map_makers, map_section
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures, camera
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.inputs import inputs, presets
from dashboard.shared.inputs.outside_vectors import vectors_input
from dashboard.shared.theme import measure_message
from engine.evaluations.shared.declared_tables import frames_of
from engine.messages.languages import mark, sentences, tr, translated

KIND, CURVE = FACE.kind, mark("Score at every layer")
CHECKS = ("classification", "fill_mask", "agreement")
NOTE = mark("""**Bars**: each model once, the best score first; the line at the end of a bar is the 95% interval of a
bootstrap that resamples the sentences within each class; models without a rank come last. **Ranks** are from first to
last place: 1 + the number of models that are significantly better on these sentences, to the number of models less those
that are significantly worse. **Maps**: one point for each sentence, in the colour of its class, or of another column
where one is chosen; near points are near in the model's space, but distances between far clusters, their sizes and the
axes have no meaning, and the maps of two models are not comparable by eye alone: compare the neighbours they share. The
scores are computed from the full vectors, not from the maps. **Sums**: A_m is a sum over sentences and B_m over classes,
so M_m grows with the number of sentences of a class; the two variances do not.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset, from_files = vectors_input(KIND, inputs.dataset_input(FORM))
    models = (
        inputs.models_input(KIND, "masked", offered=("causal",), texts=dataset.texts if dataset is not None else ())
        + from_files
    )
    chosen = cluster_settings(models, start, tuple(dataset.further) if dataset else ())
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE, maps_figure)
if run_id is not None and result is not None:
    signature, view = result.signature, PageAddress(KIND, run_id)
    view.notices()
    found = run_view.finding(FACE.found(result))
    run_view.notices(result)
    reading = guide(result)
    score_table(result)
    support = ranking_statements(result) + disagreement_of_indices(result)
    st.caption(sentences(*map(wording.verbatim, [size_summary(result), *support])))
    figures = {measure_message(measure): charts.bars(result.models, result.intervals, measure) for measure in MEASURES}
    with st.grid(len(MEASURES), min_column_width=265, gap="small"):
        for measure, (caption, figure) in zip(MEASURES, figures.items(), strict=True):
            with st.container(border=True):
                draw_figure(
                    figure,
                    key=f"clusters-bars-{measure}",
                    config=camera(caption, signature),
                    alt=tr("{measure} of each model", measure=translated(caption)),
                )
    guided_reading.marks(KIND, run_id, reading)
    if len(result.layers):
        figures[CURVE] = charts.layer_curve(result.layers, signature.get("layers"))
        draw_figure(
            figures[CURVE],
            key="clusters-layers",
            config=camera(CURVE, signature),
            alt=tr("The score of each model at every layer"),
        )
    map_section(run_id, result, view)
    detail_sections(run_id, result, view)
    view.write()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(tr("Compare with other evaluations:"), width="content")
        for name in CHECKS:
            st.page_link(pages.path(name), label=tr(pages.card(name).title), icon=pages.card(name).icon)
    run_view.excluded(result)
    wording.how_to_read((*MEASURES, *VARIANCES), tr(NOTE), guided_reading.lines(reading))
    makers: dict[str, Callable[[], Any]] = {caption: partial(figures.__getitem__, caption) for caption in figures}
    makers |= map_makers(run_id, result)
    makers |= explanation_figures(result)
    run_view.sign(
        FACE,
        signature,
        frames_of(result, FACE.evaluation.tables),
        LazyFigures(makers),
        address=view,
        result=result,
        found=found,
    )
