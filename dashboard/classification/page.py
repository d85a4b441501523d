"""Classification: can a small network classify sentences by a model's vectors?"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.classification import charts, scores
from dashboard.classification.face import FACE, FORM
from dashboard.classification.form import classification_settings
from dashboard.classification.guide import guide
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.inputs import inputs, presets
from dashboard.shared.inputs.outside_vectors import vectors_input
from engine.evaluations.shared.declared_tables import frames_of
from engine.messages.languages import mark, tr
from engine.messages.message import Message
from engine.models.sources.names import shown_name

KIND = FACE.kind
NOTE = mark("""A check on the clusters: a small network can classify vectors that form separable groups, whatever the
shape of the groups. It is trained on some of the sentences of each class and tested on the others; each training run begins
with other random weights.

**Dots**: the training runs; **bar**: their mean; **band**: its 95% interval (Wilson), over the test sentences: more
runs do not narrow it. **Dotted**: the accuracy of always predicting the largest class, the baseline. **Ranks** are from
first to last place: 1 + the number of models that are significantly better, to the number of models less those that are
significantly worse, compared sentence by sentence. **Confusion matrices**: a row is a true class, its darkest
cell the class it was most often predicted as; correct predictions are on the diagonal. **Training accuracy**: the
accuracy on the training sentences after the last epoch. Runs on other sentences, or with another split, cannot be
compared; vectors that differ in their last digits, as on another machine, can change the prediction of a sentence or
two.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset, from_files = vectors_input(KIND, inputs.dataset_input(FORM))
    models = inputs.models_input(KIND, "masked", texts=dataset.texts if dataset is not None else ()) + from_files
    chosen = classification_settings(models, start)
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE)
if run_id is not None and result is not None:
    view = PageAddress(KIND, run_id)
    view.notices()
    found = run_view.finding(FACE.found(result))
    reading = guide(result)
    scores.score_table(result)
    st.caption(wording.verbatim(scores.size_summary(result)))
    run_view.notices(result)
    with st.container(border=True):
        draw_figure(
            charts.run_dots(result.models, result.runs),
            key="classification-runs",
            config={"displayModeBar": False},
            alt=tr("Accuracy of each training run, and the mean, under each model"),
        )
    guided_reading.marks(KIND, run_id, reading)

    note = tr("number of test sentences, over all training runs")
    st.markdown(f"**{tr('Confusion matrices')}** :gray[{note}]")  # untranslated
    classes = list(dict.fromkeys(result.classes["class"]))
    ranked = result.models.sort_values("rank", kind="stable")["model"].tolist()
    with st.grid(2, min_column_width=340):
        for model in ranked:
            with st.container(border=True):
                draw_figure(
                    charts.confusion_matrix(result.confusion, model, classes),
                    key=f"classify-map-{model}",
                    config={"displayModeBar": False},
                    alt=tr("Confusion matrix of {model}", model=shown_name(model)),
                )
    with st.expander(tr("Accuracy by class"), icon=":material/category:"):
        scores.class_table(result)
    with st.expander(tr("Sentences misclassified in every run"), icon=":material/rule:"):
        scores.misclassified_sentences(result, view)
    if len(result.comparisons):
        with st.expander(tr("Pairwise comparisons of models"), icon=":material/balance:"):
            scores.comparisons(result)
    view.write()
    run_view.excluded(result)
    wording.how_to_read((charts.MEASURE,), tr(NOTE), guided_reading.lines(reading))
    matrices: dict[str, Callable[[], Any]] = {
        Message("Confusion matrix of {model}", model=shown_name(model)): partial(
            charts.confusion_matrix, result.confusion, model, classes
        )
        for model in ranked
    }
    runs: dict[str, Callable[[], Any]] = {
        Message("Accuracy of each training run"): partial(charts.run_dots, result.models, result.runs)
    }
    run_view.sign(
        FACE,
        result.signature,
        frames_of(result, FACE.evaluation.tables),
        LazyFigures(runs | matrices),
        address=view,
        result=result,
        found=found,
    )
