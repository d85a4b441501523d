"""Data sets: data kept by name, in versions, with the runs that used them."""

import streamlit as st

from dashboard import pages
from dashboard.datasets.catalogue import catalogue
from dashboard.datasets.details import details
from dashboard.datasets.table import kinds_of, overview, samples
from dashboard.shared import session
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.inputs.kept import label
from dashboard.shared.wording import show_error
from engine.errors import EngineError
from engine.messages.languages import tr
from engine.options import Option

DATASET = Option("The data set shown.", name="dataset")  # untranslated

pages.heading("datasets")
try:
    access = session.datasets()
    by_id = {known.id: known for known in access.readable()}
except EngineError as error:
    show_error(error)
    st.stop()
linked = st.query_params.get(DATASET.name)
if linked is not None and linked not in by_id:
    st.warning(
        tr("There is no data set at this link; it may have been deleted, or is no longer shared."),
        icon=":material/link_off:",
    )
if not by_id:
    st.info(
        tr(
            "No data set is kept yet. Upload or paste data on a page such as Clusters or Minimal pairs, and press "
            "*Keep* beside their rows."
        ),
        icon=":material/inventory_2:",
    )
    samples()
    catalogue()
    st.stop()

if len(by_id) > 1:
    overview(list(by_id.values()), access)
ids = list(by_id)
address = PageAddress("datasets", "kept", anchor="dataset")
chosen = st.selectbox(
    tr("Data set"),
    ids,
    index=ids.index(address.first(DATASET, ids[0], offered=by_id)),
    key=address.key("dataset"),
    format_func=lambda set_id: f"{label(by_id[set_id])} · {kinds_of(by_id[set_id])}",
)
address.keep(DATASET, chosen, None)
address.write()
details(by_id[chosen], access)
samples()
catalogue()
st.caption(
    tr("Deleting a data set leaves every run its data. Others see a data set only while it is shared.")
    if session.hosted()
    else tr("Deleting a data set leaves every run its data. Whoever uses this instance can read it.")
)
