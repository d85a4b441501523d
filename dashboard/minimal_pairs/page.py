"""Minimal pairs: does the model prefer the acceptable sentence, or only the shorter one?"""

from dataclasses import replace
from functools import partial

import streamlit as st

from dashboard import pages
from dashboard.minimal_pairs.accuracy_cards import accuracy_cards, cluster_caption, item_caption
from dashboard.minimal_pairs.benchmark.judgements import judged_tables
from dashboard.minimal_pairs.benchmark.levels import level_tables
from dashboard.minimal_pairs.benchmark.predictions import prediction_tables
from dashboard.minimal_pairs.browser import open_browser, pair_browser
from dashboard.minimal_pairs.editing import edit_form, edited_pair
from dashboard.minimal_pairs.face import FACE, FORM
from dashboard.minimal_pairs.form import minimal_settings
from dashboard.minimal_pairs.guide import guide
from dashboard.minimal_pairs.pair_table import first_rows
from dashboard.minimal_pairs.sections import SECTION, makers, offered_tables, sections
from dashboard.minimal_pairs.tokens.contributions import token_contributions_view
from dashboard.minimal_pairs.view import OPTIONS, SECTION_OPTIONS, restricted, table, view_input
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.figure_downloads import LazyFigures
from dashboard.shared.exports.tables.offered import LazyTables
from dashboard.shared.inputs import inputs, presets
from dashboard.shared.theme import with_labels
from engine.errors import EngineError
from engine.evaluations.minimal_pairs.judgements import is_design, is_judged
from engine.evaluations.minimal_pairs.notices import not_exact
from engine.evaluations.minimal_pairs.records import ALL, WHOLE, PairScoring
from engine.evaluations.minimal_pairs.regions import of_masked_models
from engine.evaluations.minimal_pairs.stereotypes import is_bias_benchmark
from engine.inference.endpoint.settings import endpoints
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr, translated

KIND = FACE.kind
SCORES = tuple(score.card for score in NORMALIZATIONS.values())
MEASURES = ("accuracy", *SCORES, "length_slope", "accuracy_difference")
BIAS_MEASURES = ("stereotype_preference", "shared_token_preference")
JUDGED_MEASURES = (*SCORES, "judgement_auc", "judgement_mcc", "judgement_accuracy", "brier_score", "calibration_error")
DESIGN_MEASURES = ("region_surprisal", "prediction_accuracy", "prediction_effect")
DESIGN_NOTE = mark("""Each item is a sentence in several conditions. A prediction relates the surprisals of their
regions; a suite's score is the share of items for which all of its predictions hold. A model that guessed would reach
a half by one comparison, and less by several together.""")
JUDGED_NOTE = mark("""Each sentence was judged acceptable (1) or not (0). AUC needs no threshold; the threshold of MCC
and accuracy, and the curve from score to probability, are fitted to the other parts of the sentences, so that no
sentence is judged by itself. In a calibrated curve the points lie on the dotted diagonal.""")
NOTE = mark("""A and U are the numbers of tokens of the acceptable and the unacceptable sentence; they depend on the
tokenizer, so on the model. A model that used nothing but length would be correct where A < U and incorrect where A > U:
compare those two before you rely on the overall accuracy. Where A = U, LP, MeanLP and PenLP prefer the same sentence.

**Point size**: number of pairs; **bands and lines**: 95 % intervals (Wilson, or over clusters as chosen);
**dotted**: chance, or LP for comparison.
A tie counts as a pair, never as correct. Outer differences with fewer than 5 pairs are merged into one point. Scores of
different normalisations have different units.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset = inputs.dataset_input(FORM)
    models = inputs.models_input(KIND, "masked", "causal", served=tuple(endpoints()), ranks=False)
    chosen = minimal_settings(models, dataset, start)
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE, first_rows)
if run_id is not None and result is not None:
    bias, judged, design = is_bias_benchmark(result), is_judged(result), is_design(result)
    single = judged or design
    address = PageAddress(KIND, run_id, anchor="tabs" if design else "normalization")
    first_list, first_section = open_browser(run_id, result, address), address.first(SECTION, "")
    tiles = st.container()  # above the choices that they are under
    try:
        view = view_input(run_id, result, address)
    except EngineError as error:
        wording.show_error(error)
        st.stop()
    whole = replace(view, subset=ALL, result=restricted(run_id, ALL, view.unigrams, result, view.region))
    signature = result.signature | (
        {}
        if design
        else {
            "normalization": view.normalization,
            "alpha": view.alpha,
            "subset": view.subset,
            **({"unigrams": view.unigrams} if NORMALIZATIONS[view.normalization].by_unigrams else {}),
            **({"region": view.region} if view.region != WHOLE else {}),
            **({"clustered_by": view.clustered_by} if view.clustered_by else {}),
        }
    )
    reading = () if bias or single else guide(table(view, "summary"))
    guided_reading.marks(KIND, run_id, reading)
    if not single:
        with tiles:
            accuracy_cards(table(view, "summary"), stereotypes=bias)
            cluster_caption(table(view, "summary"), view.result)
            item_caption(table(view, "items"))
    run_view.notices(result)
    if inexact := not_exact(result, view.normalization, view.alpha, view.unigrams, view.region):
        run_view.notice(with_labels(translated(inexact), result.scored_models))
    for notice in of_masked_models(view.result, view.region):
        run_view.notice(with_labels(translated(notice), result.scored_models))

    figures, by = sections(view, whole, signature, address, first_section, stereotypes=bias)
    browsed = None
    if not single:
        st.markdown(tr("**Pairs** :gray[under the selected score]"))
        browsed = pair_browser(view, address, first_list, stereotypes=bias)
    address.write()  # once: every write is a step of the browser's back button
    if browsed is not None:
        model, pair = browsed
        of_sentences = restricted(run_id, ALL, view.unigrams, result)
        figures |= token_contributions_view(
            run_id,
            of_sentences,
            model,
            pair,
            view.normalization,
            view.alpha,
            signature,
            stereotypes=bias,
            region=view.region,
        )
        edit_form(view, pair)
    if not single:
        edited_pair(view, browsed[1] if browsed else None, browsed[0] if browsed else view.models[0], signature)
    run_view.excluded(view.result)
    wording.how_to_read(
        DESIGN_MEASURES if design else JUDGED_MEASURES if judged else (*MEASURES, *(BIAS_MEASURES if bias else ())),
        tr(DESIGN_NOTE if design else JUDGED_NOTE if judged else NOTE),
        guided_reading.lines(reading),
    )
    every = makers(view, whole, stereotypes=bias) | {name: partial(figures.__getitem__, name) for name in figures}
    levels, formulas = (
        address.kept(SECTION_OPTIONS[name], OPTIONS[name].default) for name in ("levels", "predictions")
    )
    offered = (
        prediction_tables(view, formulas)
        if design
        else judged_tables(view)
        if judged
        else offered_tables(view, by) | level_tables(view, levels)
    )
    chosen_columns = {"predictions": list(formulas), "levels": list(levels)}
    run_view.sign(
        FACE,
        signature | {name: values for name, values in chosen_columns.items() if values},
        LazyTables(offered),
        LazyFigures(every),
        further=[
            PairScoring(
                view.alpha, view.unigrams, by, view.subset, levels, view.clustered_by, view.region, predictions=formulas
            )
        ],
        address=address,
        result=result,
        compared=None
        if single
        else {
            "normalization": view.normalization,
            "alpha": view.alpha,
            "unigrams": view.unigrams,
            "region": view.region,
        },
    )
