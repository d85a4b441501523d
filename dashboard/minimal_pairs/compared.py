"""A side of a comparison of minimal pairs: its score, and the tokens of a pair under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard.minimal_pairs import view as pair_view
from dashboard.minimal_pairs.tokens.contributions import token_contributions_view
from dashboard.minimal_pairs.view import CORPORA, known_regions
from dashboard.minimal_pairs.words import PAIRS
from dashboard.shared import dictionaries
from dashboard.shared.inputs import settings
from dashboard.shared.inputs.compared import ChosenSide, ComparedSide, Drawn, SideChoices, words_of
from engine.commands.compare import NOT_COMPARED
from engine.evaluations.minimal_pairs.records import ALL, THESE, WHOLE, PairScoring, PairView
from engine.evaluations.minimal_pairs.views import available
from engine.measures.minimal_pairs.normalizations import NORMALIZATIONS
from engine.messages.languages import mark, tr
from engine.options import options_of


def _choose(side: SideChoices, run_id: str, result: Any, model: str) -> PairView:
    scores = available(result.pairs)
    options = options_of(PairScoring)
    normalization = side.first(options_of(PairView)["normalization"], PairView.normalization, scores)
    first = PairScoring(alpha=side.first(options["alpha"], options["alpha"].default))
    corpora: dict[str, str] = {THESE: tr(CORPORA[THESE])}
    if any(NORMALIZATIONS[score].by_unigrams for score in scores):
        corpora |= dictionaries.choices({result.tokenizers[model]}, with_occurrences=True)
    regions = known_regions(run_id, result)
    first = replace(
        first,
        unigrams=side.first(options["unigrams"], THESE, corpora),
        region=side.first(options["region"], WHOLE, regions),
    )
    alpha, unigrams, region = first.alpha, first.unigrams, first.region
    with st.container(horizontal=True, vertical_alignment="bottom"):
        normalization = str(
            st.selectbox(
                tr("Score"),
                scores,
                index=scores.index(normalization),
                width=180,
                key=side.key("score", run_id),
                format_func=tr,
            )
        )
        if NORMALIZATIONS[normalization].has_alpha:
            alpha = settings.slider(
                tr("alpha of PenLP"), options["alpha"], step=0.05, first=first, width=180, key=side.key("alpha", run_id)
            )
        if NORMALIZATIONS[normalization].by_unigrams and len(corpora) > 1:
            unigrams = str(
                settings.list_of(
                    tr("Unigrams from"),
                    options["unigrams"],
                    corpora,
                    first=first,
                    width=180,
                    key=side.key("unigrams", run_id),
                )
            )
        if len(regions) > 1:
            region = str(
                settings.list_of(
                    tr("Counted"),
                    options["region"],
                    settings.labels_of(options["region"], regions),
                    first=first,
                    width=180,
                    key=side.key("region", run_id),
                )
            )
    view = PairView(normalization, PairScoring(alpha, unigrams, region=region))
    side.keep(view, PairView())
    side.keep(view.scoring, PairScoring(), but=NOT_COMPARED)
    return view


def _in_words(view: PairView) -> dict[str, str]:
    score, scoring = NORMALIZATIONS[view.normalization], view.scoring
    return words_of(
        {
            mark("score"): view.normalization,
            **({"alpha": scoring.alpha} if score.has_alpha else {}),
            **({mark("unigrams"): scoring.unigrams} if score.by_unigrams else {}),
            **({"region": scoring.region} if scoring.region != WHOLE else {}),
        }
    )


def _tokens(chosen: ChosenSide, row: int, signature: Mapping[str, Any]) -> Drawn:
    side = chosen.side
    view = side.shown if isinstance(side.shown, PairView) else PairView()
    shown = pair_view.ScoredRun(
        chosen.run.id,
        ALL,
        view.scoring.unigrams,
        view.normalization,
        view.scoring.alpha,
        pair_view.restricted(chosen.run.id, ALL, view.scoring.unigrams, side.result, view.scoring.region),
        view.scoring.region,
    )
    table = pair_view.table(shown, "pairs", side.model)
    result = pair_view.restricted(chosen.run.id, ALL, view.scoring.unigrams, side.result)
    pair = table[(table["row"] == row).to_numpy()].iloc[0]
    return token_contributions_view(
        f"compare-{side.name[:1]}",
        result,
        side.model,
        pair,
        view.normalization,
        view.scoring.alpha,
        signature,
        region=view.scoring.region,
    ), {}


COMPARED = ComparedSide(
    (PairView, PairScoring), _choose, _in_words, _tokens, PAIRS.outcomes, {"score": tr, "region": tr}
)
