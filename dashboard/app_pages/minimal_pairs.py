"""Minimal pairs: does the model prefer the acceptable sentence, or only the shorter one?"""

import pandas as pd
import streamlit as st

from dashboard import inputs, pages, run_view, wording
from dashboard.charts import minimal_pairs as charts
from dashboard.components.accuracy_cards import ORDER, accuracy_cards
from dashboard.components.pair_browser import CARD_BY_NORMALIZATION, pair_browser
from engine.evaluations.minimal_pairs import (
    DEFAULT_ALPHA,
    PLL,
    WORDS,
    Result,
    Settings,
    by_category,
    by_difference,
    summary,
)
from engine.measures.acceptability import NORMALIZATIONS

KIND = "minimal-pairs"
MEASURES = ("accuracy", *CARD_BY_NORMALIZATION.values())
KEPT = 24
NOTE = """A and U are the numbers of tokens of the acceptable and the unacceptable sentence; they depend on the
tokenizer, so on the model. A model that knew nothing but length would be right where A < U and wrong where A > U:
compare those two before you believe the first number. Where A = U, MeanLP and PenLP decide as LP does.

**Point size**: number of pairs; **bands and lines**: 95 % intervals (Wilson); **dotted**: chance. A tie counts as a
pair, never as right. Scores of different normalisations have different units."""


@st.cache_data(max_entries=KEPT, show_spinner=False)
def by_stratum(run_id: str, normalization: str, alpha: float, _result: Result) -> pd.DataFrame:
    """Accuracy by stratum under one normalisation; `run_id` stands for the result."""
    return summary(_result, (normalization,), alpha)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def in_detail(run_id: str, normalization: str, alpha: float, _result: Result) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Accuracy by token difference, and by category."""
    return by_difference(_result, normalization, alpha), by_category(_result, normalization, alpha)


pages.heading("minimal_pairs")
run_id = run_view.run_from_url()
with run_view.inputs_panel(run_id):
    dataset = inputs.dataset_input(KIND)
    models = inputs.models_input(KIND, "masked", "causal")
    with st.popover("Settings", icon=":material/tune:", key="minimal-pairs-settings"):
        pll = st.segmented_control(
            "Masked models", PLL, default=PLL[0], required=True, key="minimal-pairs-pll", persist_state="session",
            help="word-l2r masks a token together with what follows in its word; original masks it alone, which "
            "favours words of many pieces.")
        words = st.segmented_control(
            "Words of masked models", WORDS, default=WORDS[0], required=True, key="minimal-pairs-words",
            persist_state="session", disabled=pll == "original",
            help="Who tells where a word ends. auto: MeCab where the text has kana or kanji.")
        bos = st.toggle("Score the first token of causal models", True, key="minimal-pairs-bos",
                        persist_state="session", help="With a BOS token before it; else pairs that differ in the first "
                        "word lose that difference.")
        leading_space = st.toggle("A space before the sentence", False, key="minimal-pairs-space",
                                  persist_state="session", help="As English BLiMP is often scored; not for Japanese.")
    run_view.submit_button(KIND, Settings(models, pll=pll, words=words, bos=bos, leading_space=leading_space), dataset)

result = run_view.finished_result(run_id, KIND)
if run_id is not None and result is not None:
    run_view.notices(result)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        normalization = st.segmented_control(
            "Score", NORMALIZATIONS, default="LP", required=True, persist_state="session",
            key="minimal-pairs-normalization", help="How a sentence's log-likelihood is set against its length.")
        alpha = st.slider("alpha of PenLP", 0.0, 2.0, DEFAULT_ALPHA, 0.05, key="minimal-pairs-alpha", width=220,
                          persist_state="session", disabled=normalization != "PenLP",
                          help="0: length does not count, as in LP. The paper has 0.8.")
    # alpha concerns PenLP alone: nothing else is computed again when it moves.
    alphas = {name: alpha if name == "PenLP" else DEFAULT_ALPHA for name in NORMALIZATIONS}
    accuracy_cards(by_stratum(run_id, normalization, alphas[normalization], result))
    points, categories = in_detail(run_id, normalization, alphas[normalization], result)

    st.markdown("**Accuracy against the token difference** :gray[|A| − |U|; point size: pairs; band: 95 %]")
    st.plotly_chart(charts.difference_figure(points), key="minimal-pairs-difference", config={"displayModeBar": False},
                    alt="Accuracy against the token difference, a line for each model")
    if categories["category"].nunique() > 1:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown("**Accuracy by category** :gray[with 95 % intervals]", width="content")
            stratum = st.segmented_control("Pairs", list(ORDER), format_func=ORDER.__getitem__, default="all",
                                           required=True, key="minimal-pairs-stratum", label_visibility="collapsed")
        st.plotly_chart(charts.category_figure(categories, stratum), key="minimal-pairs-categories",
                        config={"displayModeBar": False}, alt="Accuracy in each category, a point for each model")

    st.markdown("**The pairs** :gray[as the chosen score decides them]")
    pair_browser(run_id, result, normalization, alphas[normalization])
    run_view.excluded(result)
    wording.how_to_read(MEASURES, NOTE)
    full = pd.concat([by_stratum(run_id, name, alphas[name], result) for name in NORMALIZATIONS], ignore_index=True)
    run_view.sign(result.signature | {"normalization": normalization, "alpha": alpha},
                  {"pairs": result.pairs, "summary": full})
