"""Minimal pairs: does the model prefer the acceptable sentence, or only the shorter one?"""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard import pages
from dashboard.minimal_pairs.browser import open_browser
from dashboard.minimal_pairs.face import FACE, FORM
from dashboard.minimal_pairs.form import minimal_settings
from dashboard.minimal_pairs.kinds.catalog import page_of
from dashboard.minimal_pairs.outside.scores import scores_input
from dashboard.minimal_pairs.sections import SECTION, sections
from dashboard.minimal_pairs.view import OPTIONS, SECTION_OPTIONS, restricted, table, view_input
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.exports.tables.offered import LazyTables
from dashboard.shared.inputs import inputs, presets
from dashboard.shared.theme import with_labels
from engine.errors import EngineError
from engine.evaluations.minimal_pairs.notices import not_exact
from engine.evaluations.minimal_pairs.records import ALL, PairScoring
from engine.evaluations.minimal_pairs.regions import of_reading_on
from engine.inference.endpoint.settings import endpoints
from engine.messages.languages import tr, translated

KIND = FACE.kind

asked = pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset, tokenizer = scores_input(inputs.dataset_input(FORM))
    models = inputs.models_input(
        KIND,
        "masked",
        "causal",
        served=tuple(endpoints()),
        ranks=False,
        texts=dataset.acceptable if dataset is not None else (),
    )
    models += tuple(scores.name for scores in dataset.scores) if dataset is not None else ()
    chosen = replace(minimal_settings(models, dataset, start), tokenizer=tokenizer)
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE, lambda some: page_of(some).first_rows(some))
if run_id is not None and result is not None:
    shown = page_of(result)
    if shown.question:
        pages.ask(asked, shown.question)
    address = PageAddress(KIND, run_id, anchor=shown.anchor)
    first_list, first_section = open_browser(run_id, result, address), address.first(SECTION, "")
    tiles = st.container()  # above the choices that they are under
    try:
        view = view_input(run_id, result, address, shown.choices)
    except EngineError as error:
        wording.show_error(error)
        st.stop()
    whole = replace(view, subset=ALL, result=restricted(run_id, ALL, view.unigrams, result, view.region))
    signature = result.signature | shown.signed(view)
    reading = shown.reading(view)
    guided_reading.marks(KIND, run_id, reading)
    with tiles:
        found = run_view.finding(FACE.found(view.result, view.pair_view, partial(table, view)))
        shown.draw_summary(view)
    run_view.notices(result)
    if inexact := not_exact(result, view.normalization, view.alpha, view.unigrams, view.region):
        run_view.notice(with_labels(translated(inexact), result.scored_models))
    for notice in of_reading_on(view.result, view.region):
        run_view.notice(with_labels(translated(notice), result.scored_models))

    figures, by = sections(
        shown.sections(view, whole, signature), address, first_section, shown.own_column(view.result)
    )
    browsed = shown.browse(view, address, first_list)
    address.write()  # once: every write is a step of the browser's back button
    figures |= shown.draw_pair(view, restricted(run_id, ALL, view.unigrams, result), browsed, signature)
    run_view.excluded(view.result)
    wording.how_to_read(shown.measures, tr(shown.note), guided_reading.lines(reading))
    every = shown.makers(view, whole) | {name: partial(figures.__getitem__, name) for name in figures}
    levels, formulas = (
        address.kept(SECTION_OPTIONS[name], OPTIONS[name].default) for name in ("levels", "predictions")
    )
    chosen_columns = {"predictions": list(formulas), "levels": list(levels)}
    run_view.sign(
        FACE,
        signature | {name: values for name, values in chosen_columns.items() if values},
        LazyTables(shown.tables(view, by, levels, formulas)),
        LazyFigures(every),
        further=[
            PairScoring(
                view.alpha, view.unigrams, by, view.subset, levels, view.clustered_by, view.region, predictions=formulas
            )
        ],
        address=address,
        result=result,
        found=found,
        compared=shown.compared(view),
    )
