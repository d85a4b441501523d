"""The cards of what stands beside BERTScore and beside the correlations of a metric study."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard

STUDY_CARDS = (
    MeasureCard(
        "rescaled_bertscore",
        "BERTScore rescaled with a baseline",
        "rescaled",
        "rescaled = (score − b) / (1 − b),  b = mean score of random pairs",
        "(−∞, 1], 0 is as random pairs",
        "",
        "higher",
        "How far does a score lie between that of unrelated sentences and that of equal ones? Order and correlations "
        "stay those of the score.",
        "Zhang et al. 2020 (BERTScore, ICLR), section 5; bert_score with rescale_with_baseline",
    ),
    MeasureCard(
        "human_ceiling",
        "Human ceiling",
        "ceiling",
        "ceiling = mean over annotators of r(z of the annotator, mean of the z of the others)",
        "[−1, 1], 0 is what guessing reaches",
        "",
        "higher",
        "How well does one annotator follow the others? A metric above it follows their mean better than one of them "
        "does, which is possible: the mean of all has less noise.",
        "Leave-one-out agreement as in Agirre et al. 2012 (SemEval, task 6); z-scores are ours",
    ),
    MeasureCard(
        "entity_accuracy",
        "Entity translation accuracy",
        "M-ETA",
        "M-ETA = pairs whose candidate has an accepted form of the entity / pairs with an entity",
        "[0, 1]",
        "",
        "higher",
        "How many named entities are translated by one of their accepted names? The list of forms decides: another "
        "spelling of the right name counts as wrong.",
        "Conia et al. 2024 (EMNLP, XC-Translate); NFKC and case folding before",
    ),
    MeasureCard(
        "krippendorff_alpha",
        "Krippendorff's alpha",
        "α",
        "α = 1 − D_o / D_e;  D_o, D_e: observed and expected disagreement, δ² between ranks of ordered answers",
        "(−∞, 1], 0 is chance",
        "",
        "higher",
        "How far do raters agree beyond what their answers give by chance? Krippendorff asks for 0.8, and for 0.667 "
        "where tentative conclusions are enough.",
        "Krippendorff 2011 (Computing Krippendorff's Alpha-Reliability); 95% interval over pairs drawn anew",
    ),
)
