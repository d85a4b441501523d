"""Clusters: how far do a model's sentence vectors keep labelled sentences apart?"""

import streamlit as st

from dashboard import inputs, pages, run_view, wording
from dashboard.charts import clusters as charts
from dashboard.charts.theme import decimals, measure_name
from dashboard.components.cluster_settings import class_choice, cluster_settings

KIND = "clusters"
MEASURES = ("dispersion_score", "in_class_dispersion", "out_of_class_dispersion")
NOTE = """**Bars**: each model once, the best score first. **Maps**: one point for each sentence, coloured by its class;
near points are near in the model's space, but distances between far clusters, their sizes and the axes mean nothing,
and two models' maps are not comparable by eye alone. The scores come from the full vectors, not from the maps."""

pages.heading("clusters")
run_id = run_view.run_from_url()
with run_view.inputs_panel(run_id):
    dataset = inputs.dataset_input(KIND)
    models = inputs.models_input(KIND, "masked")
    run_view.submit_button(KIND, cluster_settings(models), dataset)

result = run_view.finished_result(run_id, KIND)
if result is not None:
    columns = {measure: charts.COLUMN_BY_MEASURE[measure] for measure in MEASURES}
    ranked = result.models.sort_values("rank", kind="stable")
    numbers = {column: wording.number_column(measure, decimals(ranked[column])) for measure, column in columns.items()}
    st.dataframe(
        ranked, hide_index=True, alt="Models by dispersion score",
        column_order=["rank", "model", *columns.values(), "n_sentences", "n_classes"],
        column_config={
            "rank": st.column_config.NumberColumn("Rank", width="small"), "model": st.column_config.TextColumn("Model"),
            "n_sentences": "Sentences", "n_classes": "Classes", **numbers,
        },
    )
    run_view.notices(result)
    for slot, measure in zip(st.columns(len(MEASURES)), MEASURES, strict=True):
        slot.container(border=True).plotly_chart(
            charts.bars(result.models, measure), key=f"clusters-bars-{measure}", config={"displayModeBar": False},
            alt=f"{measure_name(measure)} of each model")

    classes = charts.class_order(result.points)
    chosen = class_choice(classes, run_id)
    drawn = [model for model in ranked["model"] if charts.has_map(result.points, model)]
    with st.grid(min(len(drawn), 2) or 1, min_column_width=340):
        for model in drawn:
            with st.container(border=True):
                st.plotly_chart(charts.class_map(result.points, model, classes, chosen), key=f"clusters-map-{model}",
                                alt=f"Map of the sentences under {model}")

    with st.expander("Each class", icon=":material/category:"):
        per_sentence = result.classes.assign(per_sentence=result.classes["dispersion"] / result.classes["n"])
        st.dataframe(per_sentence, hide_index=True, alt="Dispersion of each class under each model", column_config={
            "model": "Model", "class": "Class", "n": "Sentences",
            "dispersion": st.column_config.NumberColumn(
                "Dispersion σ²", format=f"%.{decimals(per_sentence['dispersion'])}f",
                help="The class's share of A_m; the shares add up to it."),
            "centroid_distance": st.column_config.NumberColumn(
                "Centroid's distance", format=f"%.{decimals(per_sentence['centroid_distance'])}f",
                help="From the mean of all centroids; the squares of these add up to B_m."),
            "per_sentence": st.column_config.NumberColumn(
                "Variance per sentence", format=f"%.{decimals(per_sentence['per_sentence'])}f",
                help="σ² / n: comparable between classes of different size, as σ² is not."),
        })
    run_view.excluded(result)
    wording.how_to_read(MEASURES, NOTE)
    run_view.sign(result.signature, {"models": result.models, "classes": result.classes, "points": result.points})
