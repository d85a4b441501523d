"""Classification: can a small network tell the classes apart by a model's sentence vectors?"""

from functools import partial

import streamlit as st

from dashboard import pages
from dashboard.classification import charts, scores
from dashboard.classification.form import classification_settings
from dashboard.shared import run_view, wording
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.inputs import inputs

KIND = "classification"
NOTE = """A check on the clusters: vectors that lie in separable groups can be told apart by a small network, whatever
its shape. It is trained on most of each class and asked for the rest, several times with other random weights.

**Dots**: the runs; **bar**: their mean; **band**: its 95 % interval (Wilson), which is about the test sentences: more
runs do not narrow it. **Dotted**: the share of the largest class, which needs no vectors at all. **Ranks** that are
tied: these sentences and runs do not tell the models apart, compared answer by answer. **Maps**: a row is a class, its
darkest cell what it was most often called; on the diagonal it was right. **In training**: the share of its own training
sentences that the network has right in the end. Runs on other sentences, or with another split, do not compare; vectors
that differ in their last digits, as on another machine, can move a run by a sentence or two."""

pages.heading("classification")
run_id = run_view.run_from_url()
with run_view.inputs_panel(run_id):
    dataset = inputs.dataset_input(KIND)
    models = inputs.models_input(KIND, "masked")
    run_view.submit_button(KIND, classification_settings(models), dataset)

result = run_view.finished_result(run_id, KIND)
if run_id is not None and result is not None:
    scores.score_table(result)
    st.caption(wording.verbatim(scores.size_line(result)))
    run_view.notices(result)
    for sentence in scores.what_to_mind(result):
        st.warning(wording.verbatim(sentence), icon=":material/balance:")
    with st.container(border=True):
        st.plotly_chart(charts.run_dots(result.models, result.runs), key="classification-runs",
                        config={"displayModeBar": False}, alt="Accuracy of each run, and the mean, under each model")

    st.markdown("**What is taken for what** :gray[number of test sentences, over all runs]")
    classes = list(dict.fromkeys(result.classes["class"]))
    ranked = result.models.sort_values("rank", kind="stable")["model"].tolist()
    with st.grid(2, min_column_width=340):
        for model in ranked:
            with st.container(border=True):
                st.plotly_chart(charts.confusion_map(result.confusion, model, classes), key=f"classify-map-{model}",
                                config={"displayModeBar": False}, alt=f"Confusion of the classes under {model}")
    with st.expander("Each class", icon=":material/category:"):
        scores.class_table(result)
    with st.expander("Sentences that were never right", icon=":material/rule:"):
        scores.missed_sentences(result, run_id)
    if len(result.comparisons):
        with st.expander("Every two models", icon=":material/balance:"):
            scores.comparisons(result)
    run_view.excluded(result)
    wording.how_to_read((charts.MEASURE,), NOTE)
    maps = {f"What is taken for what under {model}": partial(charts.confusion_map, result.confusion, model, classes)
            for model in ranked}
    run_view.sign(result.signature, {
        "models": result.models, "runs": result.runs, "confusion": result.confusion, "classes": result.classes,
        "sentences": result.sentences,
    }, LazyFigures({"Accuracy of each run": partial(charts.run_dots, result.models, result.runs), **maps}))
