"""A side of a comparison of alignments: its scoring and layer, and the alignment of a pair under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.alignment.pair import aligned_pair
from dashboard.alignment.pair_choice import pair_table
from dashboard.alignment.printed.drawing import AlignmentDrawing
from dashboard.alignment.scores import scored
from dashboard.alignment.view import alignment_view, view_data
from dashboard.shared import dictionaries
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.compared import ChosenSide, ComparedSide, Drawn, SideChoices
from engine.errors import InputError
from engine.evaluations.alignment.records import THRESHOLDS, WITHOUT_DICTIONARY, Scoring
from engine.evaluations.alignment.scoring import WITHOUT_IDF, idf_words
from engine.evaluations.comparison.records import AlignmentView
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.language.readings.own import own_readings
from engine.messages.languages import tr, translated
from engine.messages.message import Message
from engine.options import check_value, options_of

NONE = "none"


def _choose(side: SideChoices, run_id: str, result: Any, model: str) -> AlignmentView:
    own: Scoring = result.settings.scoring
    options = options_of(Scoring)
    offered = {
        **{name: name for name in (*WITHOUT_DICTIONARY, *BUILT_IN, own.idf)},
        **dictionaries.choices([result.tokenizers[model]], words=True),
    }
    first = replace(
        own,
        **{
            name: side.first(declared, getattr(own, name), offered if name == "idf" else None)
            for name, declared in options.items()
        },
    )
    first = _possible(side, first, own)
    held = result.layers[model]
    own_layer = held[result.layer_index(model)]
    layer_option = options_of(AlignmentView)["layer"]
    layer = side.first(layer_option, own_layer, held)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        idf = str(
            settings.list_of(
                tr("idf weights"), options["idf"], offered, first=first, width=180, key=side.key("idf", run_id)
            )
        )
        penalty = str(
            settings.segments(
                tr("Penalty"),
                options["penalty"],
                words={name: name for name in options["penalty"].choices},
                first=first,
                key=side.key("penalty", run_id),
            )
        )
        if len(held) > 1:
            layer = int(
                st.selectbox(tr("Layer"), held, index=held.index(layer), width=90, key=side.key("layer", run_id, model))
            )
    scoring = replace(first, idf=idf, penalty=penalty)
    if penalty == "reading" and idf == NONE and scoring.criterion not in WITHOUT_IDF:
        st.caption(tr(":material/info: Without idf weights no token is low-frequency: no penalty."))
        scoring = replace(scoring, penalty=NONE)
    side.keep(scoring, own)
    side.address.keep(side.declared(layer_option), layer, own_layer)
    return AlignmentView(None if layer == own_layer else layer, scoring)


def _possible(side: SideChoices, first: Scoring, own: Scoring) -> Scoring:
    """The scoring without choices of the address that no widget here can mend: a threshold, readings of one's own."""
    checks: tuple[tuple[Callable[[Scoring], Any], tuple[str, ...]], ...] = (
        (
            lambda scoring: check_value(THRESHOLDS[scoring.threshold_kind], scoring.threshold),
            ("threshold", "threshold_kind"),
        ),
        (lambda scoring: own_readings(scoring.readings), ("readings",)),
    )
    for check_choice, names in checks:
        try:
            check_choice(first)
        except InputError as error:
            for name in names:
                side.ignore(options_of(Scoring)[name], error.message)
            first = replace(first, **{name: getattr(own, name) for name in names})
    return first


def _alignment(chosen: ChosenSide, row: int, signature: Mapping[str, Any]) -> Drawn:
    side = chosen.side
    view = side.shown if isinstance(side.shown, AlignmentView) else AlignmentView(scoring=side.result.settings.scoring)
    layer = side.result.layers[side.model][side.result.layer_index(side.model, view.layer)]
    scores = scored(chosen.run.id, side.model, view.scoring, layer, side.result)
    table = pair_table(side.result.pairs, scores.pairs)
    pair = table[(table["row"] == row).to_numpy()].iloc[0]
    aligned = aligned_pair(chosen.run.id, side.result, scores, pair, side.model, layer)
    st.caption(
        tr(
            "Row {row}: F1 {f1:.3f}, with penalty {penalized:.3f}",
            row=row,
            f1=pair["f1"],
            penalized=pair["penalized_f1"],
        )
        if view.scoring.penalty != "none"
        else tr("Row {row}: F1 {f1:.3f}", row=row, f1=pair["f1"])
    )
    data = view_data(aligned.tokens, aligned.similarities, aligned.threshold, aligned.scoring)
    alignment_view(data, key=f"compare-alignment-{side.name[:1]}-{row}")
    return {}, {Message("Alignment of row {row}", row=row): AlignmentDrawing(data)}


COMPARED = ComparedSide(
    (AlignmentView, Scoring), _choose, item=_alignment, told={"idf": lambda idf: translated(idf_words(idf))}
)
