"""Agreement: do the three evaluations agree about the models?"""

import streamlit as st

from dashboard import pages
from dashboard.agreement.choice import chosen_runs, loaded, other_files, signature_of
from dashboard.agreement.view import model_numbers, pair_choice, printed_tables, side_by_side
from dashboard.shared import run_view, wording
from engine.evaluations.agreement.evaluate import MEASURES, agreement_table, model_table

NOTE = """**Points**: one for each model that both runs judged; the axes are turned so that better is always above and
on the right, so agreement rises from the lower left. **Spearman's ρ** and **Kendall's τ_b** ask whether the models
stand in one order: +1 the same order, 0 none, −1 the opposite one; whether an evaluation calls small or large numbers
better is taken care of. Small beside them the 95 % interval: with a handful of models it is wide, and only a very high
coefficient says anything. They need at least 3 models.

**As published** are numbers printed by the papers, for other models on other sentences. They stand in figures and
tables of their own and enter nothing that is computed from your runs."""

pages.heading("agreement")
with st.container(border=True):
    runs = chosen_runs()
results = loaded(runs)
table = model_table(results)
kinds = [kind for kind in MEASURES if kind in results]

if len(kinds) < 2:
    st.info("Weigh the same models in at least two of the three ways, and their order is compared here. Below stands "
            "what the papers found.", icon=":material/compare:")
if len(table):
    model_numbers(table, key="agreement-models")
for name in other_files(results):
    st.warning(f"{wording.verbatim(name)} stands for other files in one of these runs than in another: they are two "
               "models of one name.", icon=":material/difference:")
if len(kinds) > 1:
    side_by_side(table, *pair_choice(kinds))
st.space("small")
printed_tables()
wording.how_to_read(tuple(MEASURES.values()), NOTE)
if results:
    run_view.sign(signature_of(runs, results), {"models": table, "agreement": agreement_table(table)})
