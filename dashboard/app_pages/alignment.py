"""Alignment: which token of one sentence answers for which of the other, and what do names cost?"""

from dataclasses import asdict

import streamlit as st

from dashboard import inputs, pages, run_view, wording
from dashboard.charts import alignment as charts
from dashboard.components.alignment_view import alignment_view, view_data
from dashboard.components.pair_choice import choose_pair, score_cards
from dashboard.components.pair_form import pair_input, submit_pair
from dashboard.components.penalty_words import penalty_sentence
from dashboard.components.scoring_choices import scoring_input
from engine.errors import EngineError
from engine.evaluations.bertscore import Result, Scores, Scoring, Settings, matrix, rescore

KIND = "bertscore"
SOURCES = {"pair": "One pair", "dataset": "Many pairs"}
MEASURES = ("precision", "recall", "f1", "idf", "agreement", "precision_penalty", "recall_penalty", "penalized_f1")
SCORINGS_KEPT = 16
NOTE = """**Links** run from each token to its best match in the other sentence: strong where two tokens choose each
other, thin where one does. P weighs the matches of the candidate's tokens, R those of the reference's. **Shades** begin
at the median similarity of the pair, because many models find any two tokens alike: compare scores within one model and
layer only."""


@st.cache_resource(max_entries=SCORINGS_KEPT, show_spinner=False)
def scored(run_id: str, scoring: Scoring, _result: Result) -> Scores:
    """The scores of a run under a scoring, shared by all sessions: nobody writes into them."""
    return rescore(_result, scoring)


pages.heading("alignment")
run_id = run_view.run_from_url()
panel = run_view.inputs_panel(run_id)
result = run_view.finished_result(run_id, KIND)
with panel:
    source = st.segmented_control("Sentences", list(SOURCES), format_func=SOURCES.__getitem__, default="pair",
                                  required=True, key="alignment-source", persist_state="session",
                                  label_visibility="collapsed")
    with st.form("alignment-pair", border=False, enter_to_submit=False) if source == "pair" else st.container():
        if source == "pair":
            reference, candidate = pair_input(run_id, result)
        else:
            dataset = inputs.dataset_input(KIND)
        models = inputs.models_input(KIND, "masked")
        layer = st.number_input("Layer", value=None, step=1, key="alignment-layer", placeholder="the last", width=220,
                                persist_state="session", help="0 = embeddings; -1 = the last, also when left empty.")
        settings = Settings(models=models, layer=layer)
        if source == "dataset":
            run_view.submit_button(KIND, settings, dataset)
        elif st.form_submit_button("Weigh", type="primary", key="alignment-submit", icon=":material/balance:"):
            submit_pair(settings, reference, candidate)

if run_id is not None and result is not None:
    run_view.notices(result)
    scoring = scoring_input(run_id, result)
    try:
        scores = scored(run_id, scoring, result)
    except EngineError as error:
        wording.show_error(error)
        st.stop()
    for notice in scores.notices:
        st.caption(f":material/info: {wording.verbatim(notice)}")
    models = result.settings.models
    model = models[0]
    if len(models) > 1:
        model = st.pills("Model", models, default=model, required=True, key=f"alignment-model-{run_id}",
                         format_func=wording.verbatim)
    penalised = scoring.penalty == "reading"
    of_model = scores.pairs[scores.pairs["model"] == model]
    pair = choose_pair(result.pairs, of_model, key=run_id, penalised=penalised)
    tokens = charts.pair_tokens(scores.tokens, model, pair["row"])
    similarities = matrix(result, model, pair["row"])
    score_cards(pair, penalised=penalised)
    if penalised:
        said = wording.verbatim(penalty_sentence(pair, tokens, joined=scoring.pairing == "joined"))
        if pair["f1"] > pair["penalized_f1"]:
            st.warning(said, icon=":material/record_voice_over:")
        else:
            st.caption(f":material/record_voice_over: {said}")
    alignment_view(view_data(tokens, similarities, scores.thresholds[model], penalised=penalised,
                             joined=scoring.pairing == "joined"), key=f"alignment-view-{run_id}")
    st.plotly_chart(charts.heat_map(similarities, tokens), key="alignment-heat-map", config={"displayModeBar": False},
                    alt="Similarity of every token of the reference to every token of the candidate")
    run_view.excluded(result)
    wording.how_to_read(MEASURES, NOTE)
    shown = result.signature | {"settings": {**result.signature.get("settings", {}), "scoring": asdict(scoring)}}
    run_view.sign(shown, {"pairs": scores.pairs, "tokens": scores.tokens})
