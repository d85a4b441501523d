"""Dictionaries: idf dictionaries to browse, compare and build, with the low-frequency threshold of each."""

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.dictionary.browse import BROWSED, Browsed, browse, choose, unit_name
from dashboard.dictionary.build import build
from dashboard.dictionary.compare import Compared, compare
from dashboard.dictionary.face import FACE
from dashboard.shared import dictionaries, run_view, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.evaluations.shared.dictionaries import SAVED
from engine.messages.languages import mark, tr
from engine.options import Option, options_of

VIEWS = {"browse": mark("Browse"), "compare": mark("Compare"), "build": mark("Build")}
VIEW = Option("What the page shows.", "browse", choices=dict.fromkeys(VIEWS, ""), name="view")  # untranslated
NOTE = mark("""A token with an idf above the **threshold** counts as low-frequency: the reading penalty applies to those
only. The threshold divides the dictionary's *entries* (70% below, 30% above, unless you choose otherwise), not the
running text. A dictionary belongs to the tokenizer it was counted with; those you build are offered wherever a
dictionary of that tokenizer can be chosen. A dictionary of **words** fits every model: in an alignment each token has
the idf of the word that it belongs to, so that a rare name is rare although its characters are frequent. More than 30%
of its entries may occur in one document only: then a smaller share, or an idf, is the better threshold. On the command
line: `python -m engine idf --model MODEL --corpus FILE --out FILE.json.gz`, `--words` in place of `--model MODEL`.""")

pages.heading(FACE.page.name)
run_id = run_view.run_from_url()
result = run_view.finished_result(run_id, FACE)
if result is not None:
    run_view.notices(result)
# Keys of their own while the run is in progress: once it is done, its dictionary is chosen.
waiting = "-waiting" if run_id is not None and result is None else ""
default = f"{SAVED}{run_id}"
address = PageAddress("corpora", run_id or "", anchor="view")
address.own((*options_of(Browsed).values(), *options_of(Compared).values()))
address.notices()
first_view = address.first(VIEW, "browse")
view = st.segmented_control(
    tr("View"),
    list(VIEWS),
    format_func=lambda name: tr(VIEWS[name]),
    default=first_view,
    required=True,
    key=address.key("view"),
    label_visibility="collapsed",
)
address.keep(VIEW, view, "browse")
try:
    available = dictionaries.available_dictionaries()
    if view == "build":
        build()
    elif not available:
        st.info(tr("There is no dictionary yet. Build one."), icon=":material/menu_book:")
    elif view == "compare":
        compare(available, address, default, waiting)
    else:
        browse(
            choose(available, BROWSED, address, key=f"dictionary{waiting}", title=tr("Dictionary"), default=default),
            address,
        )
        with st.expander(tr("All {n:,} dictionaries", n=len(available)), icon=":material/list:"):
            st.dataframe(
                pd.DataFrame(
                    {
                        tr("Name"): [entry.name for entry in available],
                        tr("Tokenizer"): [entry.counted_with or entry.tokenizer[:12] for entry in available],
                        tr("Documents"): [entry.n_documents for entry in available],
                        tr("A document is"): [unit_name(entry.unit) for entry in available],
                        tr("Created by"): [
                            tr("built in") if not entry.run_id else tr("you") if entry.own else tr("the team")
                            for entry in available
                        ],
                    }
                ),
                hide_index=True,
                placeholder="–",
                alt=tr("All dictionaries"),
            )
except EngineError as error:
    show_error(error)
wording.how_to_read(("idf",), tr(NOTE))
if result is not None:
    run_view.sign(FACE, result.signature, {"counts": result.counts})
address.write()
address.copy_link()
