"""Compare: in what do two runs, two models of a run, or two settings of one differ?"""

import pandas as pd
import streamlit as st

from dashboard import pages
from dashboard.compare.charts import drawn_items, scatter
from dashboard.compare.command import command_popover
from dashboard.compare.items import item_detail, items_section
from dashboard.compare.numbers import numbers_section, settings_section, settings_that_differ
from dashboard.compare.sides import (
    LEFT,
    RIGHT,
    SideInput,
    address_view,
    comparable_runs,
    found_by,
    named,
    ranks_models,
)
from dashboard.faces import FACES
from dashboard.shared import run_view, samples, wording
from dashboard.shared.caches.large import large
from dashboard.shared.exports.figure_downloads import camera
from dashboard.shared.exports.signing import digest
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.inputs.compared import ChosenSide
from engine.errors import EngineError
from engine.evaluations.comparison.compare import compare
from engine.evaluations.comparison.records import FILES, Comparison, scored_models
from engine.messages.languages import mark, tr
from engine.version import VERSION

FIGURE = mark("Left against right")
NOTE = mark("""**Numbers** are over the items that both sides have, matched by their texts. The interval and the test
are of the difference on the same items: McNemar's exact test where each item is right or wrong, a paired bootstrap for
means, Williams' test for two correlations with the same human scores; p is corrected for the rows of the table by
Holm's method. **Points**: one for each item that is drawn, on the dotted line where both sides give it the same number. **What
changed most**: items that the two sides decide differently, then those whose numbers differ most in a unit that can be
compared.""")


def compared(sides: tuple[ChosenSide, ChosenSide]) -> Comparison:
    """The comparison of two sides, shared by all sessions and never changed."""
    key = repr([(side.run.id, side.side.model, side.side.shown, side.side.name) for side in sides])
    return large().get(
        (sides[0].run.id, "compared", key), lambda: compare(sides[0].run.kind, sides[0].side, sides[1].side)
    )


pages.heading("compare")
try:
    runs = [*comparable_runs(), *samples.done(FACES)]
except EngineError as error:
    wording.show_error(error)
    st.stop()
if not runs:
    st.info(
        tr("There is nothing to compare yet: evaluate two models in one run, or the same data twice."),
        icon=":material/compare:",
    )
    st.stop()

address = address_view()
inputs = SideInput("a", address), SideInput("b", address)
try:
    with st.grid(2, min_column_width=300, gap="small"):
        with st.container(border=True):
            first_run = inputs[0].run(runs, next((run for run in runs if len(run.models) > 1), runs[0]))
            first = inputs[0].side(first_run)
        with st.container(border=True):
            same_kind = [run for run in (first_run, *runs) if run.kind == first_run.kind]
            others = [run for run in same_kind if run.dataset_hash == first_run.dataset_hash and run.id != first_run.id]
            several = len(scored_models(first.side.result)) > 1
            second_run = inputs[1].run(same_kind, others[0] if others and not several else first_run, [first_run.kind])
            other_model = (
                next((model for model in scored_models(first.side.result) if model != first.side.model), None)
                if second_run.id == first_run.id
                else first.side.model
            )
            second = inputs[1].side(second_run, other_model)
    address.notices()
    sides = named(first, second)
    with st.spinner(tr("Comparing …")):
        comparison = compared(sides)
except EngineError as error:
    wording.show_error(error)
    st.stop()

names = sides[0].side.name, sides[1].side.name
if names == (tr(LEFT), tr(RIGHT)):
    address.write()
    st.info(
        tr("Both sides are the same. Select another run, model or score for one of them."), icon=":material/compare:"
    )
    st.stop()
signature = {
    "sides": {
        letter: {
            "run": side.run.id,
            "signature": digest(side.side.result.signature),
            "model": side.side.model,
            **side.shown,
        }
        for letter, side in zip("AB", sides, strict=True)
    },
    "versions": {"hakari": VERSION},
}
found = run_view.finding(found_by(sides, comparison))
numbers_section(comparison, names, ranks=ranks_models(sides))
differing = settings_that_differ(*sides)
settings_section(differing, sides[0].run.kind)
drawn = drawn_items(comparison.items)
figure = scatter(drawn, names)
draw_figure(
    figure,
    key="compare-scatter",
    config=camera(FIGURE, signature),
    alt=tr(
        "Every item under both sides: {first} on the horizontal axis, {second} on the vertical axis",
        first=names[0],
        second=names[1],
    ),
)
if len(drawn) < len(comparison.items):
    st.caption(
        tr(
            "{drawn:,} of {n:,} items are drawn: those that changed most, and a sample of the others.",
            drawn=len(drawn),
            n=len(comparison.items),
        )
    )
item = items_section(comparison, sides, digest(signature), address)
address.write()
figures, drawings = item_detail(item, sides, signature) if item is not None else ({}, {})
wording.how_to_read(tuple(dict.fromkeys(comparison.numbers["measure"])), tr(NOTE))
tables: dict[str, pd.DataFrame] = {"numbers": comparison.numbers, "items": comparison.items, "settings": differing}
run_view.sign(None, signature, tables, {FIGURE: figure, **figures}, drawings=drawings, declared=FILES, found=found)
with st.container(horizontal=True, gap="small"):
    address.copy_link()
    command_popover(sides)
