"""The cards of what is measured of sentences in templates."""

from __future__ import annotations

from engine.measures.cards.card import MeasureCard

PROMPT_CARDS = (
    MeasureCard(
        "in_template_log_likelihood",
        "Log-probability in a template",
        "in-template LP",
        "in-template LP = log P(S, end of the template | beginning of the template),  its mean over several templates",
        "(−∞, 0]",
        "nats",
        "higher",
        "How probable is the sentence to the model where a template says that a grammatical sentence follows?",
        "Ide et al. 2025 (NAACL), in-template LP; the log-probability of the whole text in their code differs by that of "
        "the beginning, the same for every sentence; the mean over templates is ours",
        digits=2,
    ),
    MeasureCard(
        "yes_no_log_odds",
        "Log-odds of yes",
        "Yes/No",
        "Yes/No = log P(yes | question on S) − log P(no | question on S),  its mean over several questions",
        "(−∞, ∞), above 0 yes is the more probable answer",
        "nats",
        "higher",
        "How much more probable than no is yes to the model, as the answer to whether the sentence is acceptable?",
        "Ide et al. 2025 (NAACL), Yes/No probability: P(yes) / (P(yes) + P(no)) is the logistic function of it, so it has "
        "the same order; their published script divides logits in place of probabilities; answers of several tokens and "
        "the mean over questions are ours",
        digits=2,
    ),
    MeasureCard(
        "prompt_votes",
        "Votes of the templates",
        "prompt vote",
        "prompt vote(S) = number of templates in which S has the higher score of its pair",
        "[0, number of templates]",
        "predictions",
        "higher",
        "Which sentence of a pair do most templates prefer, each by its own score? As many for either, which an odd number "
        "of templates allows only where one is a tie itself: a tie.",
        "Ide et al. 2025 (NAACL), the ensemble: a majority vote of five predictions; ties are ours",
        digits=0,
    ),
)
