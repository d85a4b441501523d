"""Agreement: do the evaluations agree about the models?"""

import streamlit as st

from dashboard import pages
from dashboard.agreement.benchmark import benchmark_input
from dashboard.agreement.choice import chosen_runs, loaded, signature_of
from dashboard.agreement.model_map import MAP, chosen_part, map_section
from dashboard.agreement.terminal import same_from_a_terminal
from dashboard.agreement.view import model_numbers, pair_choice, printed_tables, side_by_side
from dashboard.shared import run_view, wording
from dashboard.shared.address.page_address import PageAddress
from engine.evaluations.agreement.evaluate import (
    AGREEMENT,
    MEASURES,
    MODELS,
    RUNS,
    agreement_notices,
    agreement_table,
    model_table,
)
from engine.messages.languages import mark, tr, translated

NOTE = mark("""**Points**: one for each model that both runs evaluated; the axes are oriented so that better is always
up and right, so agreement rises from the lower left. **Spearman's ρ** and **Kendall's τ_b** compare the order of the
models: +1 the same order, 0 no relation, −1 the opposite order; whether small or large values are better is taken into
account. They need at least 3 models; from 6 on they stand with their 95% interval, which is wide with few models: only a very
high coefficient is then evidence of agreement.

**As published** marks numbers printed in the papers, for other models on other sentences. They have figures and tables
of their own and do not enter anything computed from your runs.""")

pages.heading("agreement")
address = PageAddress("agreement", "runs", anchor="part")
address.notices()
if chosen_part(address) == MAP:
    map_section(address)
    st.stop()
with st.container(border=True):
    runs = chosen_runs(address)
    of_runs = loaded(runs)
    results, files = benchmark_input(of_runs)
table = model_table(results)
kinds = [kind for kind in MEASURES if kind in results]

if len(kinds) < 2:
    st.info(
        tr(
            "Run at least two of the three evaluations with the same models to compare their order here. Below are "
            "the published results of the papers."
        ),
        icon=":material/compare:",
    )
if len(table):
    model_numbers(table, key="agreement-models")
for notice in agreement_notices(results):
    st.warning(wording.verbatim(translated(notice)), icon=":material/difference:")
figures = {}
if len(kinds) > 1:
    figures = side_by_side(table, *pair_choice(kinds, address))
st.space("small")
printed_tables(address)
address.write()
wording.how_to_read(tuple(MEASURES[kind] for kind in MEASURES if kind in results or kind in RUNS), tr(NOTE))
if results:
    run_view.sign(
        None,
        signature_of(runs, results),
        {"models": MODELS.completed(table)[0], "agreement": agreement_table(table)},
        figures,
        declared=(MODELS, AGREEMENT),
    )
address.copy_link()
if len(kinds) > 1:
    same_from_a_terminal(runs, of_runs, files)
