"""Metric study: which model, dictionary and penalty correlate best with human scores?"""

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.metric_study.annotators import annotators_view
from dashboard.metric_study.cards import metric_cards
from dashboard.metric_study.cases import single_pairs
from dashboard.metric_study.chosen_setting import setting_view
from dashboard.metric_study.face import FACE, FORM
from dashboard.metric_study.form import metric_settings, with_scores
from dashboard.metric_study.grid import choose_setting
from dashboard.metric_study.guide import guide
from dashboard.metric_study.paper_tables import paper_tables
from dashboard.metric_study.systems import systems_view
from dashboard.shared import guided_reading, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.inputs import inputs, presets
from engine.evaluations.metric_study.records import Result
from engine.evaluations.metric_study.tables import tables
from engine.messages.languages import mark, tr

KIND = FACE.kind
MEASURES = (
    "pearson",
    "spearman",
    "kendall",
    "williams",
    "annotator_agreement",
    "human_ceiling",
    "f1",
    "penalized_f1",
    "sentbleu",
    "chrf",
    "vector_cosine",
    "entity_accuracy",
)
TABLES_KEPT = 2
NOTE = mark("""**Intervals** are of 95% (the cards below say how) and assume independent pairs. **Two settings** on
the same pairs are compared by Williams' test, not by their intervals, which may overlap although the difference is
significant. Its p is two-sided and not corrected for the number of settings, so the advantage of the best one is
overestimated; *p, Holm* is corrected over every two settings and methods and valid after the choice of the best.
**Colours** of the heat map are relative to one grid and not comparable between grids.""")


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def file_tables(run_id: str, _result: Result) -> dict[str, pd.DataFrame]:
    """The tables of the command line, shared by all sessions; `run_id` is the cache key of the result."""
    return tables(_result)


pages.heading(FACE.page.name)
run_id = run_view.run_from_url(FACE)
with run_view.inputs_panel(FACE.kind, run_id):
    start, head = presets.start(KIND), presets.head()
    dataset = with_scores(inputs.dataset_input(FORM))
    models = inputs.models_input(KIND, "masked", ranks=False, texts=dataset.references if dataset is not None else ())
    chosen = metric_settings(models, start, dataset)
    presets.choice(head, KIND, chosen)
    run_view.submit_button(KIND, chosen, dataset)

result = run_view.finished_result(run_id, FACE)
if run_id is not None and result is not None:
    found = run_view.finding(FACE.found(result))
    run_view.notices(result)
    view = PageAddress("metric", run_id, anchor="measure")
    view.notices()
    reading = guide(result)
    metric_cards(result)
    guided_reading.marks(KIND, run_id, reading)
    setting, figures = choose_setting(view, result)
    if setting is not None:
        figures |= setting_view(run_id, result, setting)
        with st.expander(
            tr("Single pairs"), icon=":material/compare:", expanded=True, key=f"metric-cases-open-{run_id}"
        ):
            single_pairs(view, run_id, result, setting)
    view.write()
    if len(result.system_agreement) or len(result.entity_accuracy):
        with st.expander(tr("Systems"), icon=":material/leaderboard:", key=f"metric-systems-{run_id}"):
            systems_view(result)
    with st.expander(tr("Agreement of the annotators"), icon=":material/groups:", key=f"metric-annotators-{run_id}"):
        annotators_view(result)
    with st.expander(tr("Published numbers"), icon=":material/menu_book:", key=f"metric-paper-{run_id}"):
        paper_tables(result)
    run_view.excluded(result)
    wording.how_to_read(MEASURES, tr(NOTE), guided_reading.lines(reading))
    run_view.sign(FACE, result.signature, file_tables(run_id, result), figures, address=view, found=found)
