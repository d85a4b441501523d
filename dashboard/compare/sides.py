"""The two sides of a comparison: run, model and how each is shown, as the address and the widgets have them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import streamlit as st

from dashboard.minimal_pairs.view import CORPORA, REGION_LABELS, known_regions
from dashboard.runs.comparing import distinct
from dashboard.shared import dictionaries, run_view, session
from dashboard.shared.address.texts import name_of
from dashboard.shared.address.view import View
from dashboard.shared.inputs import settings
from dashboard.shared.theme import shortened
from dashboard.shared.wording import model_name, verbatim
from engine.commands.compare import NOT_COMPARED
from engine.errors import InputError
from engine.evaluations.alignment.records import THRESHOLDS, WITHOUT_DICTIONARY, Scoring
from engine.evaluations.alignment.scoring import WITHOUT_IDF
from engine.evaluations.comparison.grid_sides import grid_of
from engine.evaluations.comparison.records import (
    KINDS,
    AlignmentView,
    GridView,
    PairView,
    Shown,
    Side,
    scored_models,
)
from engine.evaluations.minimal_pairs.judgements import is_single
from engine.evaluations.minimal_pairs.records import THESE, WHOLE
from engine.evaluations.minimal_pairs.records import Shown as PairScoring
from engine.evaluations.minimal_pairs.views import available
from engine.evaluations.shared.dictionaries import BUILT_IN
from engine.language.readings.own import own_readings
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.options import Option, check_value, option, options_of
from engine.runs.storage.run_record import RunRecord
from engine.runs.storage.searching import Search
from engine.translation import tr

LISTED = 100
NONE = "none"


@dataclass(frozen=True)
class Chosen:
    """What names a side in the address, beside how it is shown."""

    run: str = option("", "The run.")  # untranslated
    model: str = option("", "The model of the run.")  # untranslated


@dataclass(frozen=True)
class ChosenSide:
    """A side, the run that it is of, and what is shown of it in words."""

    run: RunRecord
    side: Side
    shown: Mapping[str, str]


def address_view() -> View:
    """The choices of both sides in the address of the page."""
    return View("compare", "sides", anchor="a-run")


class SideInput:
    """The widgets of one side, `letter` "a" or "b"; the same letter begins its names in the address."""

    def __init__(self, letter: str, address: View) -> None:
        self._letter, self.address = letter, address
        # A choice that another kind of run has is none of the run on show.
        self.address.own(self._declared(declared) for record in (Chosen, PairView, PairScoring, AlignmentView, Scoring,
                                                                 GridView) for declared in options_of(record).values())

    def run(self, runs: Sequence[RunRecord], default: RunRecord, kinds: Collection[str] = KINDS) -> RunRecord:
        """The chosen run, at first that of the address, else `default`, which is one of `runs`.

        kinds: of which a run may be that the address alone names.
        """
        by_id = {run.id: run for run in runs}
        declared = self._declared(options_of(Chosen)["run"])
        linked = st.query_params.get(f"{self._letter}-run")
        if linked and linked not in by_id:
            found = session.access().get(linked)
            if found is not None and found.state == "done" and found.kind in kinds:
                by_id[found.id] = found
        first = self.address.first(declared, default.id, offered=by_id)
        # Streamlit knows an option by its label, and two runs of one file may begin in one minute.
        labels = dict(zip(by_id, distinct([f"{run.name} · {run.created.astimezone():%Y-%m-%d %H:%M}"
                                           for run in by_id.values()]), strict=True))
        chosen = st.selectbox(tr("Run {letter}", letter=self._letter.upper()), list(by_id),
                              index=list(by_id).index(first), key=self._key("run"), format_func=labels.__getitem__)
        self.address.keep(declared, chosen, None)
        return by_id[chosen]

    def side(self, run: RunRecord, default_model: str | None = None) -> ChosenSide:
        """The side of a run: its model and how it is shown. Raises EngineError for a result that cannot be opened."""
        result = run_view.load_result(run.id)
        models = scored_models(result)
        base = default_model if default_model in models else models[0]
        declared = self._declared(options_of(Chosen)["model"])
        model = self.address.first(declared, base, offered=models)
        if len(models) > 1:
            model = str(st.pills(tr("Model"), models, default=model, required=True, format_func=model_name,
                                 key=self._key("model", run.id, str(base))))
        else:
            st.caption(verbatim(shortened(model)))
        self.address.keep(declared, model, None)
        views: dict[str, Callable[[str, Any, str], Shown]] = {
            "minimal-pairs": self._pairs, "alignment": self._alignment, "metric-study": self._grid}
        shown = views.get(run.kind)
        view = shown(run.id, result, model) if shown is not None else None
        return ChosenSide(run, Side("", result, model, view), _in_words(view))

    def _pairs(self, run_id: str, result: Any, model: str) -> PairView:
        scores = available(result.pairs)
        options = options_of(PairScoring)
        normalization = self._first(options_of(PairView)["normalization"], PairView.normalization, scores)
        first = PairScoring(alpha=self._first(options["alpha"], options["alpha"].default))
        corpora: dict[str, str] = {THESE: tr(CORPORA[THESE])}
        if any(NORMALIZATIONS[score].by_unigrams for score in scores):
            corpora |= dictionaries.choices({result.tokenizers[model]}, with_occurrences=True)
        regions = (WHOLE,) if is_single(result) else known_regions(run_id, result)
        first = replace(first, unigrams=self._first(options["unigrams"], THESE, corpora),
                        region=self._first(options["region"], WHOLE, regions))
        alpha, unigrams, region = first.alpha, first.unigrams, first.region
        with st.container(horizontal=True, vertical_alignment="bottom"):
            normalization = str(st.selectbox(tr("Score"), scores, index=scores.index(normalization), width=180,
                                             key=self._key("score", run_id)))
            if NORMALIZATIONS[normalization].has_alpha:
                alpha = settings.slider(tr("alpha of PenLP"), options["alpha"], step=0.05, first=first, width=180,
                                        key=self._key("alpha", run_id))
            if NORMALIZATIONS[normalization].by_unigrams and len(corpora) > 1:
                unigrams = str(settings.list_of(tr("Unigrams from"), options["unigrams"], corpora, first=first,
                                                width=180, key=self._key("unigrams", run_id)))
            if len(regions) > 1:
                region = str(settings.list_of(
                    tr("Counted"), options["region"], {name: tr(REGION_LABELS[name]) for name in regions}, first=first,
                    width=180, key=self._key("region", run_id)))
        view = PairView(normalization, PairScoring(alpha, unigrams, region=region))
        self._keep(view, PairView())
        self._keep(view.scoring, PairScoring(), but=NOT_COMPARED)
        return view

    def _alignment(self, run_id: str, result: Any, model: str) -> AlignmentView:
        own: Scoring = result.settings.scoring
        options = options_of(Scoring)
        offered = {**{name: name for name in (*WITHOUT_DICTIONARY, *BUILT_IN, own.idf)},
                   **dictionaries.choices([result.tokenizers[model]], words=True)}
        first = replace(own, **{name: self._first(declared, getattr(own, name), offered if name == "idf" else None)
                                for name, declared in options.items()})
        first = self._possible(first, own)
        held = result.layers[model]
        own_layer = held[result.layer_index(model)]
        layer_option = options_of(AlignmentView)["layer"]
        layer = self._first(layer_option, own_layer, held)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            idf = str(settings.list_of(tr("idf weights"), options["idf"], offered, first=first, width=180,
                                       key=self._key("idf", run_id)))
            penalty = str(settings.segments(tr("Penalty"), options["penalty"], first=first,
                                            key=self._key("penalty", run_id)))
            if len(held) > 1:
                layer = int(st.selectbox(tr("Layer"), held, index=held.index(layer), width=90,
                                         key=self._key("layer", run_id, model)))
        scoring = replace(first, idf=idf, penalty=penalty)
        if penalty == "reading" and idf == NONE and scoring.criterion not in WITHOUT_IDF:
            st.caption(tr(":material/info: Without idf weights no token is low-frequency: no penalty."))
            scoring = replace(scoring, penalty=NONE)
        self._keep(scoring, own)
        self.address.keep(self._declared(layer_option), layer, own_layer)
        return AlignmentView(None if layer == own_layer else layer, scoring)

    def _grid(self, run_id: str, result: Any, model: str) -> GridView:
        grid = [(str(row["idf"]), str(row["penalty"])) for row in grid_of(result, model).to_dict("records")]
        if not grid:
            return GridView()
        options = options_of(GridView)
        first = tuple(self._first(options[name], grid[0][place], {setting[place] for setting in grid})
                      for place, name in enumerate(("idf", "penalty")))
        chosen = st.selectbox(tr("Setting"), grid, index=grid.index(first) if first in grid else 0,
                              key=self._key("setting", run_id, model), format_func=_setting)
        view = GridView(*chosen)
        self._keep(view, GridView(*grid[0]))
        return view

    def _possible(self, first: Scoring, own: Scoring) -> Scoring:
        """The scoring without choices of the address that no widget here can mend: a threshold, readings of one's own.
        """
        checks: tuple[tuple[Callable[[Scoring], Any], tuple[str, ...]], ...] = (
            (lambda scoring: check_value(THRESHOLDS[scoring.threshold_kind], scoring.threshold),
             ("threshold", "threshold_kind")),
            (lambda scoring: own_readings(scoring.readings), ("readings",)))
        for check_choice, names in checks:
            try:
                check_choice(first)
            except InputError as error:
                for name in names:
                    self.address.ignore(name_of(self._declared(options_of(Scoring)[name])), error.message)
                first = replace(first, **{name: getattr(own, name) for name in names})
        return first

    def _first(self, declared: Option, base: Any, offered: Any = None) -> Any:
        return self.address.first(self._declared(declared), base, offered=offered)

    def _keep(self, chosen: Any, base: Any, but: Sequence[str] = ()) -> None:
        for name, declared in options_of(type(chosen)).items():
            if name not in but:
                self.address.keep(self._declared(declared), getattr(chosen, name), getattr(base, name))

    def _declared(self, declared: Option) -> Option:
        return replace(declared, name=f"{self._letter}_{declared.name}")

    def _key(self, *parts: str) -> str:
        return "-".join(["compare", self._letter, *parts, self.address.place])


def comparable_runs() -> list[RunRecord]:
    """The viewer's own finished runs that can be compared, the newest first."""
    runs = session.access().mine(Search(states=("done",), limit=LISTED))
    return [run for run in runs if run.kind in KINDS]


def named(first: ChosenSide, second: ChosenSide) -> tuple[ChosenSide, ChosenSide]:
    """Both sides with a name for figures and tables: A or B, and in what they differ."""
    names = []
    for letter, own, other in (("A", first, second), ("B", second, first)):
        parts = [shortened(own.side.model)] if own.side.model != other.side.model else []
        parts += [f"{name} {value}" for name, value in own.shown.items() if other.shown.get(name) != value]
        if own.run.id != other.run.id and not parts:
            parts = [own.run.name if own.run.name != other.run.name else f"{own.run.created:%Y-%m-%d %H:%M}"]
        names.append(f"{letter}: {', '.join(parts)}" if parts else letter)
    one, two = (replace(chosen, side=replace(chosen.side, name=name))
                for chosen, name in zip((first, second), names, strict=True))
    return one, two


def _in_words(view: Shown | None) -> dict[str, str]:
    """The choices of a view by name, those that do not matter to it left out."""
    if view is None:
        return {}
    values = {name: value for name, value in asdict(view).items() if name != "scoring"}
    scoring = getattr(view, "scoring", None)
    values |= asdict(scoring) if scoring is not None else {}
    if isinstance(view, PairView):
        values = {"score": view.normalization,
                  **({"alpha": view.scoring.alpha} if NORMALIZATIONS[view.normalization].has_alpha else {}),
                  **({"unigrams": view.scoring.unigrams} if NORMALIZATIONS[view.normalization].by_unigrams else {}),
                  **({"region": view.scoring.region} if view.scoring.region != WHOLE else {})}
    return {name.replace("_", " "): str(value) for name, value in values.items() if value is not None}


def _setting(setting: tuple[str, str]) -> str:
    return tr("idf {idf}, penalty {penalty}", idf=setting[0], penalty=setting[1])
