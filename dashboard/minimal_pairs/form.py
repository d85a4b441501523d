"""How sentences are scored: the choices of a minimal-pairs run, each with the rule that it stands for."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.shared.inputs import settings
from dashboard.shared.inputs.precision import precision_input
from dashboard.shared.wording import verbatim
from engine.datasets.minimal_pairs.layouts import is_about_stereotypes
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.records import Settings
from engine.evaluations.minimal_pairs.scoring_rules import SPACE_RULES
from engine.options import options_of
from engine.precision import EXACT_DECISIONS
from engine.translation import mark, tr, translated

OPTIONS = options_of(Settings)
CHOICE_NAMES = {
    "auto": mark("automatic"), "bos": "BOS", "eos": "EOS", "template": mark("tokenizer's own"), "none": mark("nothing")}


def minimal_settings(models: tuple[str, ...], dataset: MinimalPairs | None) -> Settings:
    """Draws the popover and returns the settings for `models`."""
    with st.popover(tr("Settings"), icon=":material/tune:", key="minimal-pairs-settings", width="content"):
        st.markdown(tr("**Masked models**"))
        pll = _choice(tr("Pseudo-log-likelihood"), "pll", label_visibility="collapsed")
        st.caption(verbatim(translated(OPTIONS["pll"].choices[pll])))
        words = _choice(tr("Words"), "words", disabled=pll == "original")
        if pll != "original":
            st.caption(verbatim(translated(OPTIONS["words"].choices[words])))
        shared = settings.toggle(tr("CrowS-Pairs' shared-token measure, too"), OPTIONS["shared_tokens"],
                                 key="minimal-pairs-shared",
                                 disabled=dataset is None or not is_about_stereotypes(dataset.formats))
        st.markdown(tr("**Causal models**"))
        prefix = _choice(tr("Before the first token"), "prefix")
        st.caption(verbatim(translated(OPTIONS["prefix"].choices[prefix])))
        space = settings.toggle(tr("A space before the sentence"), OPTIONS["leading_space"], key="minimal-pairs-space")
        st.caption(verbatim(translated(SPACE_RULES[space])))
        precision = precision_input(OPTIONS["precision"], "minimal-pairs")
        st.caption(translated(OPTIONS["precision"].choices[precision]))
        exact = _exact_scores() if precision == EXACT_DECISIONS else {}
        seed = settings.number(tr("Seed"), OPTIONS["seed"], key="minimal-pairs-seed", width=140)
    return Settings(models, pll=pll, words=words, precision=precision, prefix=prefix, leading_space=space,
                    shared_tokens=shared and dataset is not None and is_about_stereotypes(dataset.formats), seed=seed,
                    **exact)


def _exact_scores() -> dict[str, Any]:
    """The scores whose decisions are exact, and alpha where PenLP is one of them."""
    scores = settings.pills(tr("Exact under"), OPTIONS["exact_scores"], key="minimal-pairs-exact-scores")
    if "PenLP" not in scores:
        return {"exact_scores": scores}
    return {"exact_scores": scores, "exact_alpha": settings.slider(
        tr("Exact at alpha"), OPTIONS["exact_alpha"], step=0.05, key="minimal-pairs-exact-alpha")}


def _choice(label: str, name: str, **look: Any) -> str:
    return str(settings.segments(label, OPTIONS[name], words={word: tr(text) for word, text in CHOICE_NAMES.items()},
                                 key=f"minimal-pairs-{name}", **look))
