"""The map of models on the page of agreement: which resemble each other, by stored runs of minimal pairs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dashboard import pages
from dashboard.agreement.model_map_charts import map_figure
from dashboard.shared import run_view, session, wording
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.figures.drawing import draw_figure
from dashboard.shared.headlines import dataset_title
from dashboard.shared.theme import with_shown_models
from dashboard.shared.wording import stamp
from engine.errors import EngineError
from engine.evaluations.catalog import MINIMAL_PAIRS
from engine.evaluations.model_map.evaluate import CAUSAL, FILES, MASKED, SEQ2SEQ, MapOfModels, map_of, possible_kinds
from engine.messages.languages import mark, tr, tr_n
from engine.models.sources.names import without_label
from engine.options import option, options_of
from engine.runs.card_runs import comparable_groups
from engine.runs.computing import SAMPLES_ID
from engine.runs.storage.run_record import RunRecord

EVALUATIONS, MAP = "evaluations", "map"
PARTS = {EVALUATIONS: mark("Evaluations"), MAP: mark("Map of models")}
KINDS = {CAUSAL: mark("Causal models"), MASKED: mark("Masked models"), SEQ2SEQ: mark("Encoder-decoders")}
KEPT = 4
CAPTION = mark("Map of models")
NOTE = mark("""**Points**: models; near ones give the same sentences similar log-likelihoods, once what is the same for
all sentences of a model and for all models of a sentence is taken off. The plane shows as much of all squared distances
as two axes can; the axes have no meaning of their own. **KL** is half the variance of the difference of two models'
log-likelihoods, in bits per byte: an approximation for near models on these sentences, and for far ones an order.
Masked models have no probability of a sentence: their distances are of pseudo-log-likelihoods, without a KL.""")


@dataclass(frozen=True)
class MapChoices:
    """What of the page is shown, as written in its URL."""

    part: str = option(EVALUATIONS, "The part of the page that is open.", choices=tuple(PARTS))  # untranslated
    pairs: str = option("", "A run of the data of the map.")  # untranslated
    models: str = option(CAUSAL, "The models on the map.", choices=tuple(KINDS))  # untranslated


PART, PAIRS, MODELS = options_of(MapChoices).values()


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def mapped(run_ids: tuple[str, ...], _results: Mapping[str, Any], kind: str) -> MapOfModels:
    """The map of the models of runs, shared by all sessions and never changed."""
    return map_of(_results, kind)


def chosen_part(address: PageAddress) -> str:
    """Draws the choice of the part of the page."""
    part = str(
        st.segmented_control(
            tr("Part of the page"),
            list(PARTS),
            default=address.first(PART, PART.default),
            required=True,
            key=address.key("part"),
            label_visibility="collapsed",
            format_func=lambda name: tr(PARTS[name]),
        )
    )
    address.keep(PART, part, PART.default)
    return part


def map_section(address: PageAddress) -> None:
    """Draw the map with its distances, and what leaves the page."""
    try:
        groups = {group[0].id: group for group in comparable_groups(session.access(), MINIMAL_PAIRS.kind)}
        if not groups:
            _nothing_to_map(tr("The map is made of runs of minimal pairs, and there is none yet."), address)
            return
        results = _opened(_chosen_group(groups, address))
        if not possible_kinds(results):
            _nothing_to_map(
                tr(
                    "A map takes two causal models or two masked ones: their likelihoods are not compared. "
                    "Evaluate these pairs under another model."
                ),
                address,
            )
            return
        kind = _chosen_kind(results, address)
        address.write()
        found = mapped(tuple(results), results, kind)
    except EngineError as error:
        address.write()
        wording.show_error(error)
        return
    figure = map_figure(found, tr(KINDS[kind]))
    draw_figure(
        figure,
        key="agreement-model-map",
        config={"displayModeBar": False},
        alt=tr("Models as points: near ones give the same sentences similar log-likelihoods"),
    )
    st.caption(
        tr(
            "The plane shows {share} of all squared distances, over {n} sentences.",
            share=f"{sum(found.explained):.0%}",
            n=f"{found.models['n'].iloc[0]:,}",
        )
    )
    for notice in found.notices:
        run_view.notice(notice)
    distances = with_shown_models(found.distances).sort_values("squared_distance", kind="stable")
    st.dataframe(
        distances,
        hide_index=True,
        placeholder="–",
        alt=tr("Each two models with their distance"),
        column_order=["model", "other", *(["kl"] if kind == CAUSAL else []), "squared_distance"],
        column_config={
            "model": tr("Model"),
            "other": tr("Other model"),
            "kl": st.column_config.NumberColumn(
                tr("KL, bits per byte"), format="%.4f", help=wording.measure_help("model_kl")
            ),
            "squared_distance": st.column_config.NumberColumn(
                tr("Squared distance, nats² per sentence"), format="%.3f"
            ),
        },
    )
    wording.how_to_read(("model_kl",), tr(NOTE))
    run_view.sign(
        None,
        found.signature,
        {"models": found.models, "distances": found.distances},
        {CAPTION: figure},
        declared=FILES,
    )
    with st.container(horizontal=True, gap="small"):
        address.copy_link()
        with st.popover(
            tr("The same from a terminal"), type="tertiary", icon=":material/terminal:", key="agreement-map-terminal"
        ):
            st.code(_command(found, kind), language="bash", wrap_lines=True)


def _nothing_to_map(why: str, address: PageAddress) -> None:
    address.write()
    st.info(why, icon=":material/map:")
    st.page_link(pages.path("minimal_pairs"), label=tr("Evaluate minimal pairs"), icon=pages.card("minimal_pairs").icon)


def _chosen_group(groups: Mapping[str, Sequence[RunRecord]], address: PageAddress) -> Sequence[RunRecord]:
    """Draws the choice of the data; at first those with the most models, of these the newest.

    At first none that only others evaluated, unless there is nothing else.
    """
    of_run = {run.id: first for first, group in groups.items() for run in group}
    base = max(groups, key=lambda first: (any(map(_is_own_or_sample, groups[first])), len(_model_names(groups[first]))))
    chosen = of_run[address.first(PAIRS, base, offered=of_run)]
    labels: dict[str, str] = {}
    for first, group in groups.items():  # Streamlit knows an option by its label
        n_equal = sum(label.startswith(_label(group)) for label in labels.values())
        labels[first] = f"{_label(group)} ({n_equal + 1})" if n_equal else _label(group)
    chosen = st.selectbox(
        tr("Data"),
        list(groups),
        index=list(groups).index(chosen),
        key=address.key("pairs"),
        format_func=labels.__getitem__,
    )
    address.keep(PAIRS, chosen, None)
    return groups[chosen]


def _chosen_kind(results: Mapping[str, Any], address: PageAddress) -> str:
    """Draws the choice of the kind of models where both kinds can be mapped."""
    possible = list(possible_kinds(results))
    first = address.first(MODELS, possible[0])
    kind = first if first in possible else possible[0]
    if len(possible) > 1:
        kind = str(
            st.segmented_control(
                tr("Models"),
                possible,
                default=kind,
                required=True,
                key=address.key("models"),
                format_func=lambda name: tr(KINDS[name]),
            )
        )
    address.keep(MODELS, kind, possible[0])
    return kind


def _opened(runs: Sequence[RunRecord]) -> dict[str, Any]:
    """The results of the runs that bring a model which no newer one has; one that cannot be opened is reported."""
    seen: set[str] = set()
    results: dict[str, Any] = {}
    for run in runs:
        names = set(map(without_label, run.settings["models"]))
        if names - seen:
            try:
                results[run.id] = session.access().result(run.id)
            except EngineError as error:
                wording.show_error(error)
                continue
            seen |= names
    return results


def _is_own_or_sample(run: RunRecord) -> bool:
    return run.owner == SAMPLES_ID or session.access().may_change(run)


def _model_names(runs: Sequence[RunRecord]) -> set[str]:
    return {without_label(name) for run in runs for name in run.settings["models"]}


def _label(runs: Sequence[RunRecord]) -> str:
    n_models = tr_n("{n} model", "{n:,} models", len(_model_names(runs)))
    time = stamp(runs[0].created)
    return f"{dataset_title(runs[0])} · {n_models} · {time}"  # untranslated; a list shows no Markdown


def _command(found: MapOfModels, kind: str) -> str:
    words = [word for run in dict.fromkeys(found.models["run"]) for word in ("--run", run)]
    return shlex.join(["python", "-m", "engine", "model-map", *words, "--kind", kind, "--out", "out"])
