"""Corpora: idf dictionaries to browse, compare and build, and where low frequency begins in each."""

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.dictionary.browse import browse, choose
from dashboard.dictionary.build import KIND, build
from dashboard.dictionary.compare import compare
from dashboard.shared import dictionaries, run_view, wording
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.evaluations.shared.dictionaries import SAVED

VIEWS = {"browse": "Browse", "compare": "Compare", "build": "Build"}
NOTE = """A token with an idf above the **threshold** counts as low-frequency: the penalty for readings looks at those
alone. The threshold parts the dictionary's *entries* (70 % below, 30 % above, unless you choose otherwise), not the
running text. A dictionary belongs to the tokenizer it was counted with; those you build are offered wherever a
dictionary of that tokenizer can be chosen. On the command line:
`python -m engine idf --model MODEL --corpus FILE --out FILE.json.gz`."""

pages.heading("dictionary")
run_id = run_view.run_from_url()
result = run_view.finished_result(run_id, KIND)
if result is not None:
    run_view.notices(result)
shown = str(run_id) if result is not None else ""  # for keys: once the run is done, its dictionary is chosen
ours = f"{SAVED}{run_id}"
view = st.segmented_control("View", list(VIEWS), format_func=VIEWS.__getitem__, default="browse", required=True,
                            key=f"corpora-view-{run_id or ''}", label_visibility="collapsed")
try:
    found = dictionaries.listed()
    if view == "build":
        build()
    elif not found:
        st.info("No dictionary is built in here. Build one of your own.", icon=":material/menu_book:")
    elif view == "compare":
        compare(found, shown, ours)
    else:
        browse(choose(found, f"corpora-dictionary-{shown}", first=ours))
        with st.expander(f"All {len(found):,} dictionaries", icon=":material/list:"):
            st.dataframe(pd.DataFrame({
                "Name": [one.name for one in found], "Tokenizer": [one.model or one.tokenizer[:12] for one in found],
                "Documents": [one.n_documents for one in found], "A document is": [one.unit for one in found],
                "Made by": ["built in" if not one.run_id else "you" if one.own else "the team" for one in found],
            }), hide_index=True, placeholder="–", alt="All dictionaries")
except EngineError as error:
    show_error(error)
wording.how_to_read(("idf",), NOTE)
if result is not None:
    run_view.sign(result.signature, {"counts": result.counts})
