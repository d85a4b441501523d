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

OPTIONS = options_of(Settings)
CHOICE_NAMES = {
    "auto": "automatic", "bos": "BOS", "eos": "EOS", "template": "tokenizer's own", "none": "nothing"}


def minimal_settings(models: tuple[str, ...], dataset: MinimalPairs | None) -> Settings:
    """Draws the popover and returns the settings for `models`."""
    with st.popover("Settings", icon=":material/tune:", key="minimal-pairs-settings", width="content"):
        st.markdown("**Masked models**")
        pll = _choice("Pseudo-log-likelihood", "pll", label_visibility="collapsed")
        st.caption(verbatim(OPTIONS["pll"].choices[pll]))
        words = _choice("Words", "words", disabled=pll == "original")
        if pll != "original":
            st.caption(verbatim(OPTIONS["words"].choices[words]))
        shared = settings.toggle("CrowS-Pairs' shared-token measure, too", OPTIONS["shared_tokens"],
                                 key="minimal-pairs-shared",
                                 disabled=dataset is None or not is_about_stereotypes(dataset.formats))
        st.markdown("**Causal models**")
        prefix = _choice("Before the first token", "prefix")
        st.caption(verbatim(OPTIONS["prefix"].choices[prefix]))
        space = settings.toggle("A space before the sentence", OPTIONS["leading_space"], key="minimal-pairs-space")
        st.caption(verbatim(SPACE_RULES[space]))
        precision = precision_input(OPTIONS["precision"], "minimal-pairs")
        st.caption(OPTIONS["precision"].choices[precision])
        exact = _exact_scores() if precision == EXACT_DECISIONS else {}
        seed = settings.number("Seed", OPTIONS["seed"], key="minimal-pairs-seed", width=140)
    return Settings(models, pll=pll, words=words, precision=precision, prefix=prefix, leading_space=space,
                    shared_tokens=shared and dataset is not None and is_about_stereotypes(dataset.formats), seed=seed,
                    **exact)


def _exact_scores() -> dict[str, Any]:
    """The scores whose decisions are exact, and alpha where PenLP is one of them."""
    scores = settings.pills("Exact under", OPTIONS["exact_scores"], key="minimal-pairs-exact-scores")
    if "PenLP" not in scores:
        return {"exact_scores": scores}
    return {"exact_scores": scores, "exact_alpha": settings.slider(
        "Exact at alpha", OPTIONS["exact_alpha"], step=0.05, key="minimal-pairs-exact-alpha")}


def _choice(label: str, name: str, **look: Any) -> str:
    return str(settings.segments(label, OPTIONS[name], words=CHOICE_NAMES, key=f"minimal-pairs-{name}", **look))
