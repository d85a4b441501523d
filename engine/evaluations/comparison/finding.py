"""The finding of a comparison: which side is better by the number that stands for its kind, and whether by more than chance."""

from __future__ import annotations

from collections.abc import Mapping

from engine.evaluations.comparison.records import Comparison
from engine.evaluations.shared.finding import Contest, Contrast, Standing, finding_of, p_value
from engine.language.quantities import decimals
from engine.measures.cards.card import Better
from engine.measures.cards.catalog import CARDS
from engine.messages.message import Message

LEFT, RIGHT = "left", "right"
# Measures that are shown in per cent.
SHARES = ("accuracy", "classification_accuracy", "mask_probability", "nearest_own_centroid")
# By kind: the measures that the finding may be about, the first that a comparison has, with their names in it; and what
# they are over.
OF_KIND: Mapping[str, tuple[Mapping[str, Message], str]] = {
    "clusters": ({"dispersion_score": Message("dispersion score M_m")}, "sentence"),
    "classification": ({"classification_accuracy": Message("mean accuracy")}, "test sentence"),
    "fill-mask": ({"mask_probability": Message("mean probability of the masked words")}, "sentence"),
    "alignment": ({"penalized_f1": Message("mean penalised F1"), "f1": Message("mean F1")}, "pair"),
    "metric-study": ({"pearson": Message("Pearson's r")}, "pair"),
    "minimal-pairs": ({"accuracy": Message("accuracy")}, "pair"),
}
RANKS_NOBODY = ("alignment",)  # a mean similarity describes the pairs
SIGNIFICANT = 0.05


def finding(kind: str, comparison: Comparison, names: tuple[str, str], *, ranks: bool = True) -> Message:
    """What a comparison found by its first number; where the correction for the others matters, that too.

    names: what sentences call the left and the right side. ranks: whether the data have a better end, which those of
    stereotypes have not.
    """
    measures, noun = OF_KIND[kind]
    numbers = comparison.numbers
    rows = [rows.iloc[0] for measure in measures if len(rows := numbers[(numbers["measure"] == measure).to_numpy()])]
    if not rows:
        return Message("The two sides have no number in common.")
    row = rows[0]
    card = CARDS[row["measure"]]
    better: Better = card.better if ranks and kind not in RANKS_NOBODY else "neither"
    contrast = Contrast(
        float(row["difference"]),
        float(row["ci_low"]),
        float(row["ci_high"]),
        float(row["p_value"]),
        1,
        bool(row["p_value"] < SIGNIFICANT) if row["p_value"] == row["p_value"] else bool(row["separable"]),
    )
    is_share = row["measure"] in SHARES
    values = [float(row["first"]), float(row["second"])]
    digits = _share_digits(values) if is_share else decimals(values) if card.unit or kind == "clusters" else 3
    contest = Contest(
        measures[row["measure"]],
        better,
        int(row["n"]),
        noun,
        [Standing(LEFT, values[0]), Standing(RIGHT, values[1])],
        {(LEFT, RIGHT): contrast},
        is_share,
        digits,
        row["reason"] if values[0] != values[0] and values[1] != values[1] else "",
        names={LEFT: names[0], RIGHT: names[1]},
        are_sides=True,
    )
    return finding_of(contest, corrected(comparison, row["measure"]))


def corrected(comparison: Comparison, measure: str) -> list[Message]:
    """Says so where a difference is significant alone, but not corrected for the numbers of the comparison."""
    numbers = comparison.numbers
    row = numbers[(numbers["measure"] == measure).to_numpy()].iloc[0]
    if not row["p_value"] < SIGNIFICANT <= row["p_holm"]:
        return []
    n = int(numbers["p_holm"].notna().sum())
    return [
        Message(
            "Corrected for the {n} numbers of this comparison it is not significant ({p}).",
            n=n,
            p=p_value(float(row["p_holm"])),
        )
    ]


def main_measure(kind: str, comparison: Comparison) -> str:
    """The measure that the finding is about, "" for none."""
    there = set(comparison.numbers["measure"])
    return next((measure for measure in OF_KIND[kind][0] if measure in there), "")


def _share_digits(values: list[float]) -> int:
    """Decimals of shares in per cent: one where they are large enough."""
    return max(1, decimals(100 * value for value in values) - 1)
