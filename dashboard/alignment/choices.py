"""What the alignment page shows of a run, as written in its URL: the scoring, and the choices beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.alignment.pair_choice import AS_IN_THE_FILE, ORDERS, Listed
from dashboard.alignment.scores import own_layer
from dashboard.alignment.scoring_choices import OPTIONS, dictionaries_offered
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.address.texts import name_of, to_texts
from engine.datasets.human_scores import SCALES
from engine.evaluations.alignment.human import offered_scales
from engine.evaluations.alignment.records import THRESHOLDS, Result, Scoring, Settings
from engine.messages.languages import mark
from engine.options import option


@dataclass(frozen=True)
class AlignmentChoices:
    """The choices beside the scoring; those of the run shown begin with its own models and layers (`own_choices`)."""

    model: str = option("", "The model shown.")  # untranslated
    layer: tuple[int, ...] = option((), "Hidden state that is compared, of each model.", least=0)  # untranslated
    search: str = option("", "Text that one of the two sentences contains.")  # untranslated
    order: str = option(AS_IN_THE_FILE, "Order of the pairs.", choices=ORDERS)  # untranslated
    category: tuple[str, ...] = option((), "Categories of the pairs listed; all where none is named.")  # untranslated
    human_scale: str = option("", "Scale of the human scores.", choices=("", *SCALES))  # untranslated
    row: int | None = option(None, "Row of the pair shown.", unset="the first listed")  # untranslated


def show_scoring(run_id: str, result: Result, preset: Settings) -> None:
    """Have the page show a run with the scoring of a preset: by its address, as a link does."""
    names = {name_of(declared) for declared in OPTIONS.values()}
    address = {name: st.query_params.get_all(name) for name in st.query_params if name not in names}
    own = result.settings.scoring
    chosen = {
        name_of(declared): to_texts(getattr(preset.scoring, name))
        for name, declared in OPTIONS.items()
        if getattr(preset.scoring, name) != getattr(own, name)
    }
    st.query_params.from_dict(address | {"run": [run_id]} | chosen)


def compared(result: Result, scoring: Scoring) -> dict[str, Any]:
    """What of a scoring a link to a comparison names: a list of readings only where it is not the run's own, for that
    may be longer than a link can be.
    """
    is_own = scoring.readings == result.settings.scoring.readings
    return {name: value for name, value in asdict(scoring).items() if name != "readings" or not is_own}


def own_choices(result: Result) -> AlignmentChoices:
    """What a run is shown with where its address says nothing."""
    models = result.settings.models
    return AlignmentChoices(model=models[0], layer=tuple(own_layer(result, model) for model in models))


def first_scoring(view: PageAddress, result: Result) -> Scoring:
    """The scoring that a run is first shown with: that of its settings, with what the address says."""
    own = result.settings.scoring
    kind = view.first(OPTIONS["threshold_kind"], own.threshold_kind)
    return view.first_record(
        own, offered={"idf": dictionaries_offered(result)}, declared={"threshold": THRESHOLDS[kind]}
    )


def first_choices(view: PageAddress, result: Result) -> AlignmentChoices:
    """What a run is first shown with beside the scoring: its own, with what the address says."""
    own, models = own_choices(result), result.settings.models
    categories = [name for name in pd.unique(result.pairs["category"]) if name]
    shown = view.first_record(
        own,
        offered={
            "model": models,
            "category": categories if len(categories) > 1 else (),
            "human_scale": ("", *offered_scales(result.pairs)),
            "row": result.pairs["row"].tolist(),
        },
    )
    if len(shown.layer) != len(models) or any(
        layer not in result.layers[model] for model, layer in zip(models, shown.layer, strict=True)
    ):
        view.ignore("layer", mark("is no layer that the run holds of each model"))
        return replace(shown, layer=own.layer)
    return shown


def keep(
    view: PageAddress,
    result: Result,
    scoring: Scoring,
    model: str,
    layers: Mapping[str, int],
    listed: Listed,
    scale: str = "",
) -> None:
    """Write what is shown to the URL."""
    view.keep_record(scoring, result.settings.scoring)
    view.keep_record(
        AlignmentChoices(
            model,
            tuple(layers[name] for name in result.settings.models),
            listed.text,
            listed.order,
            tuple(listed.categories),
            scale,
            listed.row,
        ),
        own_choices(result),
    )
    view.write()
