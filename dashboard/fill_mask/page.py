"""Fill-mask: how probable does a model find a masked word, and what does it predict instead?"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.fill_mask import charts
from dashboard.fill_mask.editing import edit_form, edited_predictions
from dashboard.fill_mask.face import FACE
from dashboard.fill_mask.form import fill_mask_settings, masked_sentences_input
from dashboard.fill_mask.guide import guide
from dashboard.fill_mask.items import choose_item, first_rows
from dashboard.fill_mask.means import comparisons, means_input, means_table
from dashboard.fill_mask.predictions import predictions_of, sentence_line
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.inputs import inputs, presets
from engine.evaluations.shared.declared_tables import frames_of
from engine.messages.languages import mark, tr
from engine.messages.message import Message

KIND = FACE.kind
NOTE = mark("""**Bars**: mean probability of the masked words; **lines**: 95% intervals of a bootstrap over the words.
**Predictions**: the most probable tokens of the whole vocabulary at the mask; the masked word has the strong colour. A
word of several subwords has one mask for each, all masked for the predictions; its probability is that of the first
subword, times that of the second given the first, and so on. Another vocabulary splits words differently: look at the
subwords before you compare models.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset = masked_sentences_input()
    models = inputs.models_input(KIND, "masked", texts=dataset.texts if dataset is not None else ())
    chosen = fill_mask_settings(models, start)
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE, first_rows)
if run_id is not None and result is not None:
    view = PageAddress(KIND, run_id)
    means = means_input(view, result)
    view.notices()
    found = run_view.finding(FACE.found(result, means))
    reading = guide(means, result)
    means_table(means, result)
    run_view.notices(result)
    several_domains = means["domain"].nunique() > 2  # one of them is all
    with st.grid(2 if several_domains else 1, min_column_width=340, row_height="content"):
        with st.container(border=True):
            draw_figure(
                charts.mean_bars(means),
                key="fill-mask-means",
                config={"displayModeBar": False},
                alt=tr("Mean probability of the masked words under each model, over all sentences"),
            )
        if several_domains:
            with st.container(border=True):
                draw_figure(
                    charts.domain_bars(means),
                    key="fill-mask-domains",
                    config={"displayModeBar": False},
                    alt=tr("Mean probability of the masked words under each model, in each domain"),
                )
    guided_reading.marks(KIND, run_id, reading)
    comparisons(result)

    hint = tr("choose one to see what the models predict")
    st.markdown(f"**{tr('Sentences')}** :gray[{hint}]")  # untranslated
    item, is_linked = choose_item(run_id, result, view)
    st.markdown(f"## {sentence_line(item)}", anchors=False)
    predictions = predictions_of(result, int(item["row"]), view, is_linked=is_linked)
    edit_form(run_id, result, item)
    edited_predictions(run_id, view)
    view.write()
    run_view.excluded(result)
    wording.how_to_read((charts.MEASURE,), tr(NOTE), guided_reading.lines(reading))
    makers: dict[str, Callable[[], Any]] = {
        Message("Mean probability of the masked words"): partial(charts.mean_bars, means)
    }
    if several_domains:
        makers[Message("In each domain")] = partial(charts.domain_bars, means)
    makers |= {caption: partial(predictions.__getitem__, caption) for caption in predictions}
    # The tables hold both: the means over the sentences of each model, and over those of all models.
    subset = {"means_over": "common sentences"}  # untranslated
    signature = result.signature | ({} if means is result.models else subset)
    run_view.sign(
        FACE,
        signature,
        frames_of(result, FACE.evaluation.tables),
        LazyFigures(makers),
        address=view,
        result=result,
        found=found,
    )
