"""Alignment: which token of one sentence matches which of the other, and how much do different readings cost?"""

from functools import partial

import plotly.graph_objects as go
import streamlit as st

from dashboard import pages
from dashboard.alignment.choices import compared, first_choices, first_scoring, keep, show_scoring
from dashboard.alignment.face import FACE
from dashboard.alignment.guide import guide
from dashboard.alignment.human import human_section, shown_scale, with_disagreement
from dashboard.alignment.inputs import KIND, alignment_inputs
from dashboard.alignment.live import live_pairs
from dashboard.alignment.own_readings.read_as import tokens_to_read
from dashboard.alignment.pair import aligned_pair, pair_view, similarities_view
from dashboard.alignment.pair_choice import Listed, choose_pair, open_pairs, pair_table
from dashboard.alignment.pair_form import edit_pair
from dashboard.alignment.scores import (
    first_rows,
    layer_input,
    scored,
    shown_layer,
    shown_settings,
    shown_signature,
    tables,
    tokens_download,
)
from dashboard.alignment.scoring_choices import scoring_input
from dashboard.alignment.spread.section import spread
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.print.files import Drawing
from dashboard.shared.theme import with_labels
from engine.errors import EngineError
from engine.messages.languages import mark, tr, translated

MEASURES = (
    "precision",
    "recall",
    "f1",
    "idf",
    "agreement",
    "name_similarity",
    "precision_penalty",
    "recall_penalty",
    "penalized_f1",
)
NOTE = mark("""**Links** run from each token to its best match in the other sentence: strong where each token is the
best match of the other, thin where only one is. P is the weighted mean over the candidate's tokens, R over the
reference's. **Shades** begin at the median similarity of the pair, because under many models any two tokens are
similar: compare scores within one model and layer only. In the **heat map** solid squares are the best matches of
the candidate's tokens, dotted ones those of the reference's. With the unit **word**, the similarity of two words is
the mean over the best matches of their pieces, in both directions.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
panel = run_view.inputs_panel(FACE.kind, run_id)
result = run_view.finished_result(run_id, FACE, first_rows)
with panel:
    alignment_inputs(run_id, result)

if run_id is not None and result is not None:
    headline = st.container()  # above the choices that it is under
    run_view.notices(result)
    view = PageAddress(KIND, run_id, anchor="idf")
    place, models, first = view.place, result.settings.models, first_choices(view, result)
    first_layers = dict(zip(models, first.layer, strict=True))
    if view.opened:
        open_pairs(place, Listed(first.search, first.order, first.category, first.row))
    scoring_at_first = first_scoring(view, result)
    view.notices()
    model = first.model
    if len(models) > 1:
        model = st.pills(
            tr("Model"),
            models,
            default=model,
            required=True,
            key=f"alignment-model-{place}",
            format_func=wording.model_name,
        )
    over_pairs = st.container()  # above the choices that the numbers are under
    scoring = scoring_input(
        run_id,
        place,
        result,
        scoring_at_first,
        partial(show_scoring, run_id, result),
        partial(layer_input, place, result, model, first_layers[model]),
    )
    layers = {name: shown_layer(place, name, first_layers[name]) for name in models}
    try:
        scores = {name: scored(run_id, name, scoring, layers[name], result) for name in models}
    except EngineError as error:
        wording.show_error(error)
        st.stop()

    with headline:
        found = run_view.finding(FACE.found(result, scores))
    penalised = scoring.penalty != "none"
    signature = shown_signature(result, scores, layers)
    figures: dict[str, go.Figure] = {}
    drawings: dict[str, Drawing] = {}
    scale = shown_scale(place, result.pairs, first.human_scale)
    table = with_disagreement(pair_table(result.pairs, scores[model].pairs), penalised=penalised, scale=scale)
    if len(table) > 1:
        with over_pairs:
            figures |= spread(place, table, signature, penalised=penalised)
        for notice in scores[model].notices:
            st.caption(":material/info: " + wording.verbatim(with_labels(translated(notice), models)))
        figures |= human_section(run_id, place, result, scoring, table, signature, scale)
    pair, listed = choose_pair(table, place, penalised=penalised)
    keep(view, result, scoring, model, layers, listed, scale)
    reading: tuple[str, ...] = ()
    shown_row = None if pair is None else int(pair["row"])
    if pair is not None:
        aligned = aligned_pair(run_id, result, scores[model], pair, model, layers[model])
        reading = guide(aligned)
        guided_reading.marks(KIND, run_id, reading)
        data, drawings = pair_view(aligned)
        tokens_to_read(data, f"view-of-{run_id}", place, int(pair["row"]), aligned.tokens, scoring)
        edit_pair(run_id, result, pair, layers[model], scoring)
        figures |= similarities_view(aligned)

    run_view.excluded(result)
    wording.how_to_read(MEASURES, tr(NOTE), guided_reading.lines(reading))
    tokens_download(scores, signature)
    offered = tables(scores) | {"excluded": result.excluded}
    run_view.sign(
        FACE,
        signature,
        offered,
        figures,
        drawings=drawings,
        address=view,
        settings=shown_settings(result, scoring, layers),
        found=found,
        live=partial(live_pairs, run_id, result, scores[model], table, model, layers[model], shown_row),
        compared=compared(result, scoring) | {"model": model, "layer": layers[model]},
    )
