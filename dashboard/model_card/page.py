"""Model card: what do all evaluations say of one model, beside the models evaluated so far?"""

from collections.abc import Sequence

import streamlit as st

from dashboard import pages
from dashboard.model_card import sections
from dashboard.model_card.choice import PART, chosen_model, chosen_runs
from dashboard.model_card.downloads import card_downloads, command_lines, same_from_a_terminal, tables
from dashboard.model_card.evaluation import checked, evaluate_form, progress_of
from dashboard.shared import run_view, session, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.exports.signing import digest
from engine.errors import EngineError
from engine.evaluations.model_card.assemble import card_of
from engine.evaluations.model_card.card import FILES, CardOfModel, CardRun
from engine.messages.languages import mark, tr
from engine.runs.card_runs import card_parts, runs_like
from engine.runs.storage.run_record import RunRecord

KEPT = 4
NOTE = mark("""**Numbers** are those of the runs, each with the 95% interval that its evaluation gives; the arrow says
which end is better. **Place** is among the models that were evaluated with the same data and settings, in these runs or
in others that you can open, the samples' included; models that do not differ significantly share places. Intervals and
tests of minimal pairs take the pairs as independent; the run's page has them over clusters of pairs. A BERTScore
without human scores describes the pairs and ranks no model.""")
TITLES = {
    "others": mark("Other models"),
    "length": mark("Length bias"),
    "readings": mark("Readings"),
    "map": mark("Map"),
    "checks": mark("Checks"),
}


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def assembled(model: str, key: str, _runs: Sequence[RunRecord]) -> tuple[CardOfModel, list[CardRun]]:
    """The card of runs and the runs on it with their results, shared by all sessions and never changed."""
    access = session.access()
    parts = card_parts(access, _runs, model, access.result)
    card = card_of(model, parts.runs, left_out=parts.left_out)
    on_card = {run["run"] for run in card.signature["runs"]}
    return card, [part for part in parts.runs if part.run_id in on_card]


pages.heading("model_card")
address = PageAddress("model_card", "card", anchor="model")
address.notices()
try:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = chosen_model(address)
        chosen = chosen_runs(model, address)
    sections.missing_runs(chosen)
    evaluate_form(model, chosen)
    progress_of(model, chosen)
    if not chosen.finished:
        address.write()
        sections.nothing_chosen(chosen)
        st.stop()
    with st.spinner(tr("Comparing …")):
        key = repr([(run.id, [other.id for other in runs_like(session.access(), run)]) for run in chosen.finished])
        card, parts = assembled(model, key, chosen.finished)
except EngineError as error:
    address.write()
    wording.show_error(error)
    st.stop()

if (inspection := checked(model)) is not None:
    refusal = str(inspection.refusal) if inspection.refusal is not None else ""
    card = CardOfModel(**{**vars(card), "facts": inspection.facts, "checks": inspection.checks, "refusal": refusal})
sections.left_out(card)
sections.headline_grid(card)
sections.all_numbers(card, parts)
part = st.segmented_control(
    tr("Part of the card"),
    list(TITLES),
    default=address.first(PART, PART.default),
    required=True,
    key=address.key("part"),
    format_func=lambda name: tr(TITLES[name]),
    label_visibility="collapsed",
)
address.keep(PART, part, PART.default)
figures = sections.map_of(parts)
{
    "others": lambda: sections.others(card),
    "length": lambda: sections.length(card),
    "readings": lambda: sections.readings(card),
    "map": lambda: sections.maps(figures),
    "checks": lambda: sections.checks(model),
}[part]()
sections.card_notices(card)
address.write()
wording.how_to_read(tuple(dict.fromkeys(card.headlines["measure"])), tr(NOTE))
runs = [run for run in chosen.finished if run.id in {part.run_id for part in parts}]
commands = command_lines(model, runs, parts)
card_downloads(card, figures, commands)
run_view.sign(
    None,
    {
        "model": model,
        "runs": [run.id for run in runs],
        "card": digest(card.signature),
        "versions": card.signature["versions"],
    },
    tables(card),
    figures,
    declared=FILES,
)
with st.container(horizontal=True, gap="small"):
    address.copy_link()
    same_from_a_terminal(runs, commands)
