"""The card of every measure: what it asks, its formula, range, unit and better end, and where it is from.

Help texts, axes and the README read the cards, so that a direction is written down once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Better = Literal["lower", "higher", "neither"]


@dataclass(frozen=True)
class MeasureCard:
    """What a reader needs to know of one measure; `unit` is "" for a pure number."""

    key: str
    name: str
    symbol: str
    formula: str
    range: str
    unit: str
    better: Better
    question: str
    source: str


_CLUSTERS = "Shibayama, Cao, Bai, Ma, Shinnou 2020 (PACLIC 34), section 3.1"
_BERTSCORE = "Zhang, Kishore, Wu, Weinberger, Artzi 2020 (BERTScore, ICLR), section 3"
_NOVELS = "BERTScore for Japanese novel translation with a penalty by edit distance of readings, section 3"
_LENGTH = "Ueda, Mita, Komachi 2024 (NLP), section 3.2"

_ALL = (
    MeasureCard(
        "in_class_dispersion", "In-class dispersion", "A_m",
        "A_m = Σ_i Σ_{j in C_i} ||g_i − x_ij||²", "[0, ∞)", "squared vector entries", "lower",
        "How far do the sentences of a class lie from its centroid, summed over all sentences?",
        f"{_CLUSTERS}, equation 1",
    ),
    MeasureCard(
        "out_of_class_dispersion", "Out-of-class dispersion", "B_m",
        "B_m = Σ_i ||g − g_i||²,  g = mean of the g_i", "[0, ∞)", "squared vector entries", "higher",
        "How far do the classes' centroids lie from their common mean, summed over the classes?",
        f"{_CLUSTERS}, equation 2",
    ),
    MeasureCard(
        "dispersion_score", "Dispersion score", "M_m",
        "M_m = A_m / B_m", "[0, ∞)", "", "lower",
        "How much do sentences scatter within their classes for each unit that the classes lie apart? "
        "It grows with the number of sentences per class.",
        f"{_CLUSTERS}, step 5",
    ),
    MeasureCard(
        "precision", "BERTScore precision", "P",
        "P = Σ_j w_j max_i cos(x_i, x̂_j) / Σ_j w_j", "[−1, 1]", "", "higher",
        "How much of the candidate is found in the reference?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "recall", "BERTScore recall", "R",
        "R = Σ_i w_i max_j cos(x_i, x̂_j) / Σ_i w_i", "[−1, 1]", "", "higher",
        "How much of the reference is found in the candidate?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "f1", "BERTScore F1", "F1",
        "F1 = 2 P R / (P + R)", "[−1, 1] for positive P and R", "", "higher",
        "How well do the two sentences cover each other, both ways at once?",
        f"{_BERTSCORE}",
    ),
    MeasureCard(
        "idf", "Inverse document frequency", "idf",
        "idf(t) = log((N + 1) / (df(t) + 1)),  0 for special tokens", "[0, log(N + 1)]", "nats", "neither",
        "How rare is the token among the N documents of a corpus?",
        f"{_BERTSCORE}, with the smoothing of bert_score 0.3.13",
    ),
    MeasureCard(
        "agreement", "Agreement coefficient", "M",
        "M = 1 − editdistance(reading, reading of its match) / longer reading;  "
        "1 for tokens that are not low-frequency",
        "[0, 1]", "", "higher",
        "Is the low-frequency token read like the token it was matched with?",
        _NOVELS,
    ),
    MeasureCard(
        "precision_penalty", "Precision penalty", "penalty_P",
        "penalty_P = mean of M over the candidate's tokens", "[0, 1], 1 = no penalty", "", "higher",
        "How far do the candidate's rare tokens keep their reading in the reference?",
        _NOVELS,
    ),
    MeasureCard(
        "recall_penalty", "Recall penalty", "penalty_R",
        "penalty_R = mean of M over the reference's tokens", "[0, 1], 1 = no penalty", "", "higher",
        "How far do the reference's rare tokens keep their reading in the candidate?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_precision", "Penalised precision", "P′",
        "P′ = P · penalty_P", "[−1, 1]", "", "higher",
        "How much of the candidate is found in the reference, names that are read otherwise held against it?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_recall", "Penalised recall", "R′",
        "R′ = R · penalty_R", "[−1, 1]", "", "higher",
        "How much of the reference is found in the candidate, names that are read otherwise held against it?",
        _NOVELS,
    ),
    MeasureCard(
        "penalized_f1", "Penalised F1", "F1′",
        "F1′ = 2 P′ R′ / (P′ + R′)", "[−1, 1] for positive P′ and R′", "", "higher",
        "How well do the two sentences cover each other, names that are read otherwise held against them?",
        _NOVELS,
    ),
    MeasureCard(
        "log_likelihood", "Log-likelihood", "LP",
        "LP = log P(S), the sum over the scored tokens", "(−∞, 0]", "nats", "higher",
        "How probable is the sentence to the model? Each further token lowers it.",
        "Ueda, Mita, Komachi 2024 (NLP), section 2, equations 1 to 3",
    ),
    MeasureCard(
        "mean_log_likelihood", "Mean log-likelihood", "MeanLP",
        "MeanLP = log P(S) / |S|", "(−∞, 0]", "nats per token", "higher",
        "How probable is the sentence to the model, per token?",
        f"{_LENGTH}, equation 4",
    ),
    MeasureCard(
        "penalized_log_likelihood", "Length-penalised log-likelihood", "PenLP",
        "PenLP = log P(S) / ((5 + |S|) / (5 + 1))^α", "(−∞, 0]", "nats per (scaled length)^α", "higher",
        "How probable is the sentence to the model, its length counted partly (α = 0.8) against it?",
        f"{_LENGTH}, equation 5, the outer bracket restored",
    ),
    MeasureCard(
        "log_likelihood_per_character", "Log-likelihood per character", "LP / character",
        "log P(S) / number of characters", "(−∞, 0]", "nats per character", "higher",
        "How probable is the sentence to the model, per character, whatever its tokenizer makes of it?",
        "Our addition; the usual way to compare models with different vocabularies",
    ),
    MeasureCard(
        "accuracy", "Accuracy on minimal pairs", "accuracy",
        "accuracy = n_correct / n;  a tie counts in n, never as correct", "[0, 1], 0.5 is chance", "", "higher",
        "In how many pairs does the model give the acceptable sentence the higher score?",
        "Ueda, Mita, Komachi 2024 (NLP), section 1; ties counted apart is ours",
    ),
)

CARDS: dict[str, MeasureCard] = {card.key: card for card in _ALL}
