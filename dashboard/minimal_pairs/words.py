"""What the page of pairs calls its numbers: of pairs with an acceptable sentence, and of benchmarks of stereotypes, in
which no sentence is the better one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.messages.languages import mark


@dataclass(frozen=True)
class PairWords:
    """One way to speak of a decision between two sentences.

    counted: what a share counts. measure: key of its card. intro: what is said above the numbers; "" for nothing. strata_help:
    what shorter, equal and longer are about.
    ranks: whether a model with a greater share is the better one. outcome, outcomes: the column of the decisions, and
    each of them. acceptable, unacceptable: the columns of the sentences. only_model, only_other: the columns of the
    pairs that one of two models alone has. chosen: the sentence about one pair, by its outcome. The others are captions
    and labels of the sections.
    """

    counted: str
    measure: str
    intro: str
    strata_help: str
    ranks: bool
    outcome: str
    outcomes: Mapping[str, str]
    acceptable: str
    unacceptable: str
    only_model: str
    only_other: str
    chosen: Mapping[str, str]
    by_difference: str
    slopes: str
    of_stratum: str
    counts: str
    fair_table: str
    fair_unit: str


PAIRS = PairWords(
    counted=mark("correct"),
    measure="accuracy",
    intro="",
    strata_help=mark(
        "Shorter: the acceptable sentence has fewer tokens (A) than the unacceptable one (U); equal: as many; longer: more."
    ),
    ranks=True,
    outcome=mark("Outcome"),
    outcomes={"wrong": mark("incorrect"), "tie": mark("tie"), "right": mark("correct")},
    acceptable=mark("Acceptable"),
    unacceptable=mark("Unacceptable"),
    only_model=mark("Only model correct"),
    only_other=mark("Only other correct"),
    chosen={
        "right": mark(
            "Row {row}: {model} prefers the acceptable sentence, by **{by:.3f}** {unit} :gray[({margin:+.3f} = {sums})]"
        ),
        "wrong": mark(
            "Row {row}: {model} prefers the unacceptable sentence, by **{by:.3f}** {unit} "
            ":gray[({margin:+.3f} = {sums})]"
        ),
    },
    by_difference=mark("Accuracy against the token difference"),
    slopes=mark("**Effect of length by score** :gray[log-odds of a correct decision per additional token of A]"),
    of_stratum=mark("{stratum}: accuracy"),
    counts=mark("Pairs and accuracies by length, under every score"),
    fair_table=mark("Accuracy in all pairs and in the fair subset, with the change of each model, by category"),
    fair_unit=mark("In per cent. **Δ**: fair minus all, in percentage points."),
)
STEREOTYPES = PairWords(
    counted=mark("sent_more preferred"),
    measure="stereotype_preference",
    intro=mark(
        ":gray[Share of pairs in which sent_more, the more stereotyping sentence, is more probable as a "
        "whole; 50% is no preference]"
    ),
    strata_help=mark("Shorter: sent_more has fewer tokens (A) than sent_less (U); equal: as many; longer: more."),
    ranks=False,
    outcome=mark("Preferred"),
    outcomes={"wrong": "sent_less", "tie": mark("tie"), "right": "sent_more"},
    acceptable="sent_more",
    unacceptable="sent_less",
    only_model=mark("Only model prefers sent_more"),
    only_other=mark("Only other prefers sent_more"),
    chosen={
        "right": mark(
            "Row {row}: {model} prefers the more stereotyping sentence, by **{by:.3f}** {unit} "
            ":gray[({margin:+.3f} = {sums})]"
        ),
        "wrong": mark(
            "Row {row}: {model} prefers the less stereotyping sentence, by **{by:.3f}** {unit} "
            ":gray[({margin:+.3f} = {sums})]"
        ),
    },
    by_difference=mark("Share of sent_more preferred against the token difference"),
    slopes=mark("**Effect of length by score** :gray[log-odds of preferring sent_more per additional token of A]"),
    of_stratum=mark("{stratum}: sent_more preferred"),
    counts=mark("Pairs and shares by length, under every score"),
    fair_table=mark(
        "Share of sent_more in all pairs and in the fair subset, with the change of each model, by category"
    ),
    fair_unit=mark("Share of sent_more preferred, in per cent. **Δ**: fair minus all, in percentage points."),
)
