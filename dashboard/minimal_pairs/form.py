"""How sentences are scored: the choices of a minimal-pairs run, each with the rule that it stands for."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.wording import verbatim
from engine.datasets.minimal_pairs.layouts import is_about_stereotypes
from engine.datasets.minimal_pairs.pairs import MinimalPairs
from engine.evaluations.minimal_pairs.records import PRECISIONS, Settings
from engine.evaluations.minimal_pairs.scoring_rules import PLL, PLL_RULES, SPACE_RULES, WORD_RULES, WORDS, opening_rule

PRECISION_RULES = {
    "fp32": "Every pair in float32.",
    "bf16": "Every pair in bfloat16, its logits in float32: faster, most of all on a GPU; close pairs may come out "
            "otherwise.",
    "fp16": "Every pair in float16, for graphics cards without bfloat16: more exact, but some models leave its range.",
    "exact-decisions": "bfloat16 first, then float32 again for every pair whose winner the measured error could change "
                       "under any score shown: every decision is float32's.",
}
PRECISION_NAMES = {"exact-decisions": "exact decisions"}


def minimal_settings(models: tuple[str, ...], dataset: MinimalPairs | None) -> Settings:
    """Draws the popover and returns the settings for `models`."""
    with st.popover("Settings", icon=":material/tune:", key="minimal-pairs-settings", width="content"):
        st.markdown("**Masked models**")
        pll = _choice("Pseudo-log-likelihood", PLL, "pll")
        st.caption(verbatim(PLL_RULES[pll]))
        words = _choice("Words", WORDS, "words", disabled=pll == "original")
        if pll != "original":
            st.caption(verbatim(WORD_RULES[words]))
        shared = st.toggle("CrowS-Pairs' shared-token measure, too", False, key="minimal-pairs-shared",
                           persist_state="session", help="The benchmark's own: it scores only the tokens that both "
                           "sentences share, each masked alone. A second pass; masked models only.",
                           disabled=dataset is None or not is_about_stereotypes(dataset.formats))
        st.markdown("**Causal models**")
        bos = st.toggle("Score the first token", True, key="minimal-pairs-bos", persist_state="session",
                        help="With a BOS token before it, where the tokenizer has one.")
        st.caption(verbatim(opening_rule(True, bos)))
        space = st.toggle("A space before the sentence", False, key="minimal-pairs-space", persist_state="session")
        st.caption(verbatim(SPACE_RULES[space]))
        st.markdown("**Precision**")
        precision = _choice("Precision", PRECISIONS, "precision")
        st.caption(PRECISION_RULES[precision])
        seed = st.number_input("Seed", 0, value=0, step=1, key="minimal-pairs-seed", persist_state="session", width=140,
                               help="Draws the matched sample, and the sample that exact decisions measure errors on.")
    return Settings(models, pll=pll, words=words, precision=precision, bos=bos, leading_space=space,
                    shared_tokens=shared and dataset is not None and is_about_stereotypes(dataset.formats), seed=seed)


def _choice(label: str, options: tuple[str, ...], name: str, *, disabled: bool = False) -> str:
    return str(st.segmented_control(
        label, options, default=options[0], required=True, key=f"minimal-pairs-{name}", persist_state="session",
        disabled=disabled, format_func=lambda option: PRECISION_NAMES.get(option, option),
        label_visibility="collapsed" if name != "words" else "visible"))
