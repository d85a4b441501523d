"""The cards of scores over a part of a sentence, of how scores agree with judgements, and of reading times."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard

JUDGEMENT_CARDS = (
    MeasureCard(
        "region_log_likelihood",
        "Log-likelihood of a region",
        "LP_R",
        "LP_R = Σ_{i in R} log P(w_i | w_<i),  R the tokens of the region",
        "(−∞, 0]",
        "nats",
        "higher",
        "How probable to the model is the part of the sentence that matters, given what stands before it (of a masked "
        "model: around it)?",
        "Warstadt et al. 2020 (BLiMP, TACL), section 4: one-prefix and two-prefix methods; the words that differ are "
        "the region of any two sentences",
    ),
    MeasureCard(
        "judgement_auc",
        "Area under the ROC curve",
        "AUC",
        "AUC = P(s_acceptable > s_unacceptable) + P(equal) / 2",
        "[0, 1], 0.5 is chance",
        "",
        "higher",
        "How probable is it that an acceptable sentence has a higher score than an unacceptable one? No threshold is "
        "needed.",
        "Mann and Whitney 1947; 95% interval by DeLong et al. 1988, on the log-odds",
    ),
    MeasureCard(
        "judgement_mcc",
        "Matthews correlation at a held-out threshold",
        "MCC",
        "MCC = (TP · TN − FP · FN) / √((TP + FP)(TP + FN)(TN + FP)(TN + FN))",
        "[−1, 1], 0 is chance",
        "",
        "higher",
        "How well does a threshold on the score tell acceptable from unacceptable sentences? The threshold is that of "
        "the highest MCC among other sentences.",
        "Matthews 1975; Warstadt, Singh, Bowman 2019 (CoLA, TACL), section 4; in parts of the data",
    ),
    MeasureCard(
        "judgement_accuracy",
        "Accuracy at a held-out threshold",
        "acc_t",
        "acc_t = (TP + TN) / n",
        "[0, 1]",
        "",
        "higher",
        "How many sentences does the threshold judge as people did? Always saying what is more frequent reaches the "
        "share of the more frequent judgement.",
        "Warstadt, Singh, Bowman 2019 (CoLA, TACL), section 4; the threshold is that of MCC",
    ),
    MeasureCard(
        "brier_score",
        "Brier score",
        "Brier",
        "Brier = mean of (p − y)²,  y = 1 where acceptable, else 0",
        "[0, 1]",
        "",
        "lower",
        "How far is the probability of being acceptable from the judgement? The share s of acceptable sentences alone "
        "has s (1 − s).",
        "Brier 1950; p by a logistic curve that is fitted to other sentences (Platt 1999)",
    ),
    MeasureCard(
        "calibration_error",
        "Expected calibration error",
        "ECE",
        "ECE = Σ_b (n_b / n) · |share acceptable in b − mean p in b|,  10 bins of equal width",
        "[0, 1]",
        "",
        "lower",
        "How far are the probabilities, on average, from the shares of acceptable sentences that they promise?",
        "Naeini, Cooper, Hauskrecht 2015 (AAAI), section 2",
    ),
)
DESIGN_CARDS = (
    MeasureCard(
        "region_surprisal",
        "Surprisal of a region",
        "S_R",
        "S_R = −Σ_{i in R} log2 P(w_i | w_<i),  R the tokens of the region",
        "[0, ∞)",
        "bits",
        "neither",
        "How unexpected is the part of the sentence to the model, given what stands before it (of a masked model: "
        "around it)?",
        "Gauthier et al. 2020 (SyntaxGym, ACL demonstrations), the metric sum; Hale 2001, Levy 2008",
    ),
    MeasureCard(
        "prediction_accuracy",
        "Accuracy of a prediction",
        "A_φ",
        "A_φ = items for which the formula holds / items that have every sentence that it names",
        "[0, 1]",
        "",
        "higher",
        "For how many items are the surprisals of the regions related as the prediction says?",
        "Gauthier et al. 2020 (SyntaxGym); Hu et al. 2020 (ACL): a suite is scored by all of its predictions together",
    ),
    MeasureCard(
        "prediction_effect",
        "Effect",
        "Δ",
        "Δ = mean over items of (side predicted to be greater − other side); of a formula without comparison its value",
        "(−∞, ∞), 0 is none",
        "bits",
        "higher",
        "How far are the items, on average, on the side that is predicted? Of a 2 × 2 design the interaction.",
        "the wh-licensing interaction of Wilcox et al. 2018 (BlackboxNLP), for any formula; 95% interval by Student's "
        "t over items",
    ),
)
READING_CARDS = (
    MeasureCard(
        "reading_gain",
        "Gain in held-out log-likelihood of reading times",
        "ΔLL",
        "ΔLL = mean over held-out words of log N(y; ŷ, σ²) with surprisal − without it",
        "(−∞, ∞), 0 is no gain",
        "nats per word",
        "higher",
        "How much better are the times in which people read words predicted with the model's surprisal than without it?",
        "Goodkind, Bicknell 2018 (CMCL); Wilcox et al. 2020 (CogSci); 95% interval by Student's t over items",
        digits=4,
    ),
    MeasureCard(
        "lens_surprisal",
        "Surprisal at a layer (logit lens)",
        "S_ℓ",
        "S_ℓ = −Σ_{i in w} log2 softmax(W · norm(h_ℓ))_i,  h_ℓ the state of layer ℓ before token i, norm and W the model's own",
        "[0, ∞)",
        "bits",
        "neither",
        "How unexpected is the word to what the model has computed up to a layer?",
        "nostalgebraist 2020 (the logit lens); for reading times Kuribayashi, Oseki, Ben Taieb, Inui, Baldwin 2025 (TACL 13)",
    ),
    MeasureCard(
        "reading_share",
        "Share of reading times explained by surprisal alone",
        "ΔR²",
        "ΔR² = (R² with surprisal − R² of the baseline) / (1 − R² of the baseline)",
        "[0, 1]",
        "",
        "higher",
        "Of what the baseline leaves open in the times in which people read words, how much does the model's surprisal "
        "explain?",
        "BabyLM challenge, reading task (babylm-org/babylm-eval 2026), there in per cent; data and regressions of de Varda, "
        "Marelli, Amenta 2023; 95% interval by the jackknife over items",
        digits=4,
    ),
    MeasureCard(
        "acquisition_correlation",
        "Correlation of ages of acquisition",
        "r_AoA",
        "r_AoA = Pearson's r over words of (age at which half of the children say it, log10(step + 1) at which surprisal is "
        "half-way from chance to its least)",
        "[−1, 1], 0 is no relation",
        "",
        "higher",
        "Does the model learn words in the order in which children do?",
        "Chang, Bergen 2022 (TACL); BabyLM challenge, age of acquisition (babylm-org/babylm-eval 2026); 95% interval by "
        "Fisher 1921",
    ),
)
