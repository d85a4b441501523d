"""The view of a minimal-pairs run: score, alpha, corpus of SLOR, subset of pairs; and its tables, cached for each.

Nothing here runs a model: a toggle is arithmetic on the stored sums, done once for all sessions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.minimal_pairs.benchmark.columns import clusters_input
from dashboard.minimal_pairs.benchmark.tables import BY_SCORE, OVER_CLUSTERS, TABLES
from dashboard.shared import dictionaries
from dashboard.shared.address.page_address import PageAddress
from dashboard.shared.caches.large import large
from dashboard.shared.inputs import settings
from dashboard.shared.wording import measure_help, model_name, verbatim
from engine.evaluations.minimal_pairs import (
    fair_subsets,
)
from engine.evaluations.minimal_pairs import (
    views as pair_views,
)
from engine.evaluations.minimal_pairs.reading.times import BASELINES, WITH_PREVIOUS
from engine.evaluations.minimal_pairs.records import (
    ALL,
    EQUAL_FOR_ALL,
    SUBSETS,
    THESE,
    TOKENS,
    WHOLE,
    PairScoring,
    PairView,
    Result,
)
from engine.evaluations.minimal_pairs.regions import of_region, regions_of
from engine.evaluations.minimal_pairs.running_text.tables import MEASURES
from engine.evaluations.minimal_pairs.unigrams import with_unigrams
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr, translated
from engine.messages.message import list_of
from engine.models.sources.names import shown_name
from engine.options import option, options_of

OPTIONS = options_of(PairScoring)
FIRST_SCORE = "LP"
TABLES_KEPT = 1024  # small ones, 10 for each run shown
CORPORA = {THESE: mark("these sentences"), "novel": mark("novels"), "wiki": mark("Wikipedia")}


@dataclass(frozen=True)
class Chosen:
    """The choice of the whole page beside `PairScoring`, as written in its URL."""

    normalization: str = option(
        FIRST_SCORE,
        "How a sentence's log-likelihood is normalised by its length.",  # untranslated
        choices=tuple(NORMALIZATIONS),
    )


SECTIONS = (
    STEREOTYPES,
    JUDGED,
    PREDICTED,
    REGIONS,
    READING,
    LAYERS,
    ACQUISITION,
    WORDS,
    TEXTS,
    CHECKPOINTS,
    LENGTH,
    SCORES,
    CATEGORIES,
    LEVELS,
    CHALLENGE,
    FAIR,
    MODELS,
    SCORING,
) = (
    mark("Stereotypes"),
    mark("Judgements"),
    mark("Predictions"),
    mark("Regions"),
    mark("Reading times"),
    mark("By layer"),
    mark("Acquisition"),
    mark("Words"),
    mark("Running text"),
    mark("Checkpoints"),
    mark("Length"),
    mark("Scores"),
    mark("Categories"),
    mark("Levels"),
    mark("BabyLM"),
    mark("Fair subsets"),
    mark("Models"),
    mark("Scoring"),
)
# The easiest first where short sentences are preferred.
STRATA = {
    "all": mark("All"),
    "A<U": mark("Shorter, A < U"),
    "A=U": mark("Equal, A = U"),
    "A>U": mark("Longer, A > U"),
}
DIRECTIONS = {"": mark("both"), "stereo": "stereo", "antistereo": "antistereo"}


@dataclass(frozen=True)
class Sectioned:
    """The section that is open and its own choices, as written in the page's URL."""

    section: str = option(
        "",
        "The section that is open; the first that the run has where none is named.",  # untranslated
        choices=("", *SECTIONS),
    )
    section_model: str = option("", "The model that the section shows; the first where none is named.")  # untranslated
    lines: str = option("models", "What has a line of its own.", choices=("models", "scores", "files"))  # untranslated
    beside_lp: bool = option(True, "Whether LP is drawn beside the chosen score.")  # untranslated
    correlation: str = option(
        "spearman",
        "The coefficient of score and number of tokens.",  # untranslated
        choices=("spearman", "pearson"),
    )
    by: str = option("", "The column that the pairs are grouped by; the first where none is named.")  # untranslated
    stratum: str = option(
        "all",
        "Which sentence is longer in the pairs that are counted.",  # untranslated
        choices=STRATA,
    )
    direction: str = option("", "The rows of a bias benchmark that are counted.", choices=DIRECTIONS)  # untranslated
    fair: str = option(
        "",
        "The fair subset that is compared with all pairs.",  # untranslated
        choices=("", *SUBSETS),
    )
    levels: tuple[str, ...] = option((), "The columns of the table by levels.")  # untranslated
    suite: str = option("", "The suite that is shown.")  # untranslated
    measure: str = option(
        "bits_per_byte",
        "What is drawn of running text.",  # untranslated
        choices=tuple(MEASURES),
    )
    predictions: tuple[str, ...] = option((), "The formulas in place of those of the data.")  # untranslated
    baseline: str = option(
        WITH_PREVIOUS,
        "What reading times are predicted from without surprisal.",  # untranslated
        choices=BASELINES,
    )
    word: str = option("", "The word whose curve is shown; the first where none is named.")  # untranslated
    time_column: str = option("", "The column of reading times; the first where none is named.")  # untranslated
    two: tuple[str, ...] = option((), "The two models whose largest differences are listed.")  # untranslated


SECTION_OPTIONS = options_of(Sectioned)


@dataclass(frozen=True)
class SectionChoices:
    """The choices of the open section; is_linked: whether those of the address are its own."""

    address: PageAddress
    is_linked: bool

    def first(self, name: str, base: Any, offered: Collection[Any] | None = None) -> Any:
        """What a choice of `Sectioned` is set to at first."""
        return self.address.first(SECTION_OPTIONS[name], base, offered=offered) if self.is_linked else base

    def keep(self, name: str, value: Any, base: Any) -> None:
        """Write a choice to the URL where it is another than `base`."""
        self.address.keep(SECTION_OPTIONS[name], value, base)

    def key(self, name: str) -> str:
        """The key of a widget."""
        return f"minimal-pairs-{name}-{self.address.place}"

    def model(self, view: ScoredRun, name: str) -> str:
        """Draw a choice among the models, if there is one, and return it."""
        models = view.models
        model = str(self.first("section_model", models[0], models))
        if len(models) > 1:
            model = str(
                st.pills(
                    tr("Model"),
                    models,
                    default=model,
                    required=True,
                    format_func=model_name,
                    key=self.key(f"{name}-model"),
                    label_visibility="collapsed",
                )
            )
        self.keep("section_model", model, models[0])
        return model


@dataclass(frozen=True)
class ScoredRun:
    """A run shown, as it is scored: the pairs (a key of `records.SUBSETS`), the corpus of SLOR, score, alpha and region,
    and the column of the clusters that intervals are over.

    `result` has those pairs only; the other fields are its cache key.
    """

    run_id: str
    subset: str
    unigrams: str
    normalization: str
    alpha: float
    result: Result = field(compare=False, repr=False)
    region: str = WHOLE
    clustered_by: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the run."""
        return self.result.scored_models

    @property
    def pair_view(self) -> PairView:
        """The view as the engine knows it."""
        return PairView(
            self.normalization,
            PairScoring(
                self.alpha, self.unigrams, subset=self.subset, region=self.region, clustered_by=self.clustered_by
            ),
        )


def view_input(run_id: str, result: Result, address: PageAddress, choices: Collection[str]) -> ScoredRun:
    """Draws the choices of the whole page, at first as the address has them, keeps them for it and returns them.

    choices: those of `Chosen` and `PairScoring` that there are; none where the data have no score. Raises InputError for an
    unusable corpus.
    """
    if not choices:
        address.notices()
        return ScoredRun(run_id, ALL, result.unigrams, FIRST_SCORE, OPTIONS["alpha"].default, result)
    place = address.place
    regions, region = known_regions(run_id, result), str(WHOLE)
    scores = pair_views.available(result.pairs)
    subsets = [name for name in SUBSETS if name != EQUAL_FOR_ALL or len(result.scored_models) > 1]
    corpora: dict[str, str] = {THESE: THESE}
    if any(NORMALIZATIONS[score].by_unigrams for score in scores):
        corpora |= dictionaries.choices(set(result.tokenizers.values()), with_occurrences=True)
    columns = pair_views.cluster_columns(result) if "clustered_by" in choices else ()
    first = address.first_record(Chosen(), offered={"normalization": scores})
    first_shown = replace(
        PairScoring(),
        alpha=address.first(OPTIONS["alpha"], OPTIONS["alpha"].default),
        unigrams=address.first(OPTIONS["unigrams"], THESE, offered=corpora),
        subset=address.first(OPTIONS["subset"], ALL, offered=subsets),
        region=address.first(OPTIONS["region"], WHOLE, offered=regions),
        clustered_by=address.first(OPTIONS["clustered_by"], "", offered=("", *columns)),
    )
    address.notices()
    score_key, region_key = (f"minimal-pairs-{name}-{place}" for name in ("normalization", "region"))
    asked = st.session_state.get(score_key) or first.normalization
    chosen_region = st.session_state.get(region_key, first_shown.region)
    if chosen_region != WHOLE:  # a part of a sentence has fewer scores
        scores = pair_views.available(restricted(run_id, ALL, result.unigrams, result, chosen_region).pairs)
    first_score = first.normalization if first.normalization in scores else FIRST_SCORE
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        card = NORMALIZATIONS[asked if asked in scores else first_score].card
        normalization = str(
            st.segmented_control(
                tr("Score"),
                scores,
                format_func=tr,
                default=first_score,
                required=True,
                key=score_key,
                wrap=True,
                help=tr("How a sentence's log-likelihood is normalised by its length.") + f"\n\n{measure_help(card)}",
            )
        )
        alpha = OPTIONS["alpha"].default
        if NORMALIZATIONS[normalization].has_alpha:
            alpha = settings.slider(
                tr("alpha of PenLP"),
                OPTIONS["alpha"],
                step=0.05,
                width=220,
                first=first_shown,
                key=f"minimal-pairs-alpha-{place}",
            )
        unigrams = OPTIONS["unigrams"].default
        if NORMALIZATIONS[normalization].by_unigrams and len(corpora) > 1:
            unigrams = str(
                settings.list_of(
                    tr("Unigrams from"),
                    OPTIONS["unigrams"],
                    {name: tr(CORPORA[name]) if name in CORPORA else word for name, word in corpora.items()},
                    first=first_shown,
                    key=f"minimal-pairs-unigrams-{place}",
                    width=260,
                )
            )
        subset = (
            str(
                settings.segments(
                    tr("Pairs"),
                    OPTIONS["subset"],
                    first=first_shown,
                    but=[name for name in OPTIONS["subset"].choices if name not in subsets],
                    key=f"minimal-pairs-subset-{place}",
                    wrap=True,
                    help="\n\n".join(
                        [
                            tr("Everything below is computed from these pairs only."),
                            *(
                                f"**{tr(SUBSETS[name].label)}**: {translated(SUBSETS[name].meaning)}"
                                for name in subsets
                            ),
                        ]
                    ),
                )
            )
            if "subset" in choices
            else ALL
        )
        if len(regions) > 1:
            region = str(
                settings.list_of(
                    tr("Counted"),
                    OPTIONS["region"],
                    settings.labels_of(OPTIONS["region"], regions),
                    first=first_shown,
                    key=region_key,
                    width=165,
                )
            )
        clustered_by = (
            clusters_input(columns, first_shown.clustered_by, f"minimal-pairs-clustered-by-{place}") if columns else ""
        )
    address.keep_record(Chosen(normalization), Chosen())
    address.keep_record(
        PairScoring(alpha, unigrams, subset=subset, region=region, clustered_by=clustered_by), PairScoring()
    )
    shown = restricted(run_id, subset, unigrams, result, region)
    empty = [model for model in result.scored_models if not (shown.pairs["model"] == model).any()]
    if empty:
        st.info(
            tr(
                "No such pairs for {models}; all pairs are shown.",
                models=verbatim(translated(list_of(map(shown_name, empty)))),
            ),
            icon=":material/filter_alt_off:",
        )
        subset, region, shown = ALL, WHOLE, restricted(run_id, ALL, unigrams, result)
    if normalization not in pair_views.available(shown.pairs):
        normalization, alpha = FIRST_SCORE, OPTIONS["alpha"].default
    if asked != normalization:
        st.info(
            tr("A part of a sentence has no {score}; {other} is shown.", score=asked, other=normalization),
            icon=":material/info:",
        )
    return ScoredRun(run_id, subset, unigrams, normalization, alpha, shown, region, clustered_by)


def restricted(run_id: str, subset: str, unigrams: str, result: Result, region: str = WHOLE) -> Result:
    """The result of these pairs and this region, without its tokens, with the unigrams of this corpus; shared by all
    sessions."""
    if unigrams == result.unigrams:
        counted = result
    else:
        with st.spinner(tr("Counting …")):
            counted = _counted(run_id, unigrams, result)
    if region != WHOLE:
        counted = _of_region(run_id, region, unigrams, counted)
    return counted if subset == ALL else _of_subset(run_id, subset, unigrams, region, counted)


def table(view: ScoredRun, name: str, *arguments: Any, normalization: str = "") -> pd.DataFrame:
    """One of TABLES for the view, or under another `normalization`; never changed."""
    score = normalization or view.normalization
    alpha = view.alpha if NORMALIZATIONS[score].has_alpha else pair_views.DEFAULT_ALPHA
    corpus = view.unigrams if NORMALIZATIONS[score].by_unigrams else ""
    arguments = (view.clustered_by, *arguments) if name in OVER_CLUSTERS else arguments
    key = (view.run_id, view.subset, view.region, corpus, score, alpha, name, arguments)
    if name == "pairs":  # a row for each
        return large().get(key, lambda: TABLES[name](view.result, score, alpha, *arguments))
    return _cached(*key, view.result)


def tables(view: ScoredRun, name: str, *arguments: Any) -> pd.DataFrame:
    """One of TABLES under every score that the run has, in the order of the command's table: model by model, then by
    score, those of BY_SCORE the other way round.
    """
    every = pd.concat(
        [table(view, name, *arguments, normalization=score) for score in pair_views.available(view.result.pairs)],
        ignore_index=True,
    )
    if name in BY_SCORE:
        return every
    places = {model: place for place, model in enumerate(view.result.scored_models)}
    return every.sort_values("model", key=lambda models: models.map(places), kind="stable", ignore_index=True)


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def known_regions(run_id: str, _result: Result) -> tuple[str, ...]:
    """The regions that a run knows, the whole sentence first."""
    return regions_of(_result)


def _counted(run_id: str, unigrams: str, result: Result) -> Result:
    return large().get((run_id, "unigrams", unigrams), lambda: with_unigrams(result, unigrams))


def _of_region(run_id: str, region: str, unigrams: str, result: Result) -> Result:
    return large().get((run_id, "region", region, unigrams), lambda: of_region(result, region))


def _of_subset(run_id: str, subset: str, unigrams: str, region: str, result: Result) -> Result:
    def made() -> Result:
        light = replace(result, tokens=TOKENS.frame())  # millions, which no table here needs
        return fair_subsets.restricted(light, fair_subsets.fair_rows(light, subset, result.settings.seed))

    return large().get((run_id, "subset", subset, unigrams, region), made)


@st.cache_resource(max_entries=TABLES_KEPT, show_spinner=False)
def _cached(
    run_id: str,
    subset: str,
    region: str,
    unigrams: str,
    normalization: str,
    alpha: float,
    name: str,
    arguments: tuple[Any, ...],
    _result: Result,
) -> pd.DataFrame:
    return TABLES[name](_result, normalization, alpha, *arguments)
