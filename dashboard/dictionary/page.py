"""Dictionaries: idf dictionaries to browse, compare and build, with the low-frequency threshold of each."""

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
NOTE = """A token with an idf above the **threshold** counts as low-frequency: the reading penalty applies to those
only. The threshold divides the dictionary's *entries* (70 % below, 30 % above, unless you choose otherwise), not the
running text. A dictionary belongs to the tokenizer it was counted with; those you build are offered wherever a
dictionary of that tokenizer can be chosen. On the command line:
`python -m engine idf --model MODEL --corpus FILE --out FILE.json.gz`."""

pages.heading("dictionary")
run_id = run_view.run_from_url()
result = run_view.finished_result(run_id, KIND)
if result is not None:
    run_view.notices(result)
shown = str(run_id) if result is not None else ""  # for keys: once the run is done, its dictionary is chosen
default = f"{SAVED}{run_id}"
view = st.segmented_control("View", list(VIEWS), format_func=VIEWS.__getitem__, default="browse", required=True,
                            key=f"corpora-view-{run_id or ''}", label_visibility="collapsed")
try:
    available = dictionaries.available_dictionaries()
    if view == "build":
        build()
    elif not available:
        st.info("There is no dictionary yet. Build one of your own.", icon=":material/menu_book:")
    elif view == "compare":
        compare(available, shown, default)
    else:
        browse(choose(available, f"corpora-dictionary-{shown}", first=default))
        with st.expander(f"All {len(available):,} dictionaries", icon=":material/list:"):
            st.dataframe(pd.DataFrame({
                "Name": [entry.name for entry in available],
                "Tokenizer": [entry.model or entry.tokenizer[:12] for entry in available],
                "Documents": [entry.n_documents for entry in available],
                "A document is": [entry.unit for entry in available],
                "Made by": ["built in" if not entry.run_id else "you" if entry.own else "the team"
                            for entry in available],
            }), hide_index=True, placeholder="–", alt="All dictionaries")
except EngineError as error:
    show_error(error)
wording.how_to_read(("idf",), NOTE)
if result is not None:
    run_view.sign(result.signature, {"counts": result.counts})
