"""The cards of how a metric ranks systems of translation."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard

SYSTEM_CARDS = (
    MeasureCard(
        "pairwise_accuracy",
        "Pairwise accuracy of systems",
        "PA",
        "PA = pairs of systems that metric and humans put in one order / pairs of systems",
        "[0, 1], 0.5 is chance",
        "",
        "higher",
        "How many pairs of systems does the metric rank as the humans do? A pair that humans hardly tell apart counts "
        "like any other.",
        "Kocmi et al. 2021 (WMT)",
    ),
    MeasureCard(
        "soft_pairwise_accuracy",
        "Soft pairwise accuracy",
        "SPA",
        "SPA = 1 − mean of |p_human − p_metric| over pairs of systems",
        "[0, 1]",
        "",
        "higher",
        "Is the metric as sure as the humans which of two systems is better? p is that of a paired permutation test; "
        "it assumes that segments are independent.",
        "Thompson et al. 2024 (WMT, arXiv 2409.09598)",
    ),
    MeasureCard(
        "tie_calibrated_accuracy",
        "Pairwise accuracy with tie calibration",
        "acc_eq",
        "acc_eq = mean over segments of (C + T_both) / pairs, differences ≤ ε being ties",
        "[0, 1]",
        "",
        "higher",
        "Of two translations of one segment, does the metric say better, worse or equal as the humans do? ε is fitted "
        "on the same pairs, so acc_eq is slightly too high.",
        "Deutsch, Foster, Freitag 2023 (EMNLP, arXiv 2305.14324)",
    ),
    MeasureCard(
        "perm_both",
        "PERM-BOTH",
        "δ",
        "p = (1 + exchanges with δ* ≥ δ) / (1 + exchanges),  δ = r_best − r",
        "[−2, 2]",
        "",
        "neither",
        "Is the best setting still ahead when the two metrics' scores are exchanged at random? It assumes no normal "
        "scores, and does not correct for choosing the best afterwards.",
        "Deutsch, Dror, Roth 2021 (TACL, arXiv 2104.00054)",
    ),
)
