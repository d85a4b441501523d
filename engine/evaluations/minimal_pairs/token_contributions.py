"""Token contributions of one pair: the tokens of both sentences side by side, and what each adds to the margin."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.evaluations.minimal_pairs.exact_decisions import SIDES
from engine.evaluations.minimal_pairs.records import WHOLE, Result
from engine.evaluations.minimal_pairs.regions import BITS, ends_of_texts
from engine.evaluations.minimal_pairs.unigrams import token_unigrams
from engine.evaluations.minimal_pairs.views import DEFAULT_ALPHA, byte_counts
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.evaluations.shared.stored_table import rows_where
from engine.measures.minimal_pairs.normalizations import Sentences, normalization_named
from engine.measures.minimal_pairs.token_alignment import aligned_tokens
from engine.measures.minimal_pairs.word_boundaries import boundary_terms
from engine.messages.message import Message

CHANGES = {
    "equal": Message("shared tokens"),
    "replace": Message("exchanged tokens"),
    "delete": Message("only in the acceptable sentence"),
    "insert": Message("only in the unacceptable sentence"),
}

NO_PARTS = Message(
    "{name} is a score of the sentence in a template, and no sum over its own tokens: it has no token contributions."
)
_CHANGE = Column(
    "change",
    "text",
    "; ".join(f"{change}: {label}" for change, label in CHANGES.items()),
    words=lambda change: CHANGES.get(change, change),
)
CONTRIBUTIONS = Table(
    "contributions",
    Message("A row for each slot: the tokens of both sentences that are held together."),
    (
        Column("slot", "integer", "number of the slot, from 0"),
        _CHANGE,
        *(
            column
            for side in SIDES
            for column in (
                Column(
                    f"{side}_position",
                    "integer or none",
                    Message("position in the {side} sentence; none where it has no token", side=side),
                ),
                Column(f"{side}_token", "text", Message("token of the {side} sentence; missing likewise", side=side)),
                Column(f"{side}_log_likelihood", "number", "its log-likelihood; NaN likewise", "nats", "higher"),
                Column(f"{side}_part", "number", "what it adds to the score of the sentence; NaN likewise"),
            )
        ),
        Column(
            "contribution", "number", "acceptable_part less unacceptable_part; all add up to the margin of the pair"
        ),
    ),
)
BY_CHANGE = Table(
    "contributions_by_change",
    Message("A row for each change that there is."),
    (
        _CHANGE,
        Column("label", "text", "the change in words"),
        Column("n_slots", "integer", "slots", "slots"),
        Column("contribution", "number", "sum of the contributions"),
    ),
)


@returns(CONTRIBUTIONS)
def token_contributions(
    result: Result, model: str, row: int, normalization: str = "LP", alpha: float = DEFAULT_ALPHA, region: str = WHOLE
) -> pd.DataFrame:
    """The tokens of a pair side by side, and where the difference of its two scores comes from.

    A token adds to the score of its sentence its log-likelihood by the sentence's divisor, under SLOR less its
    unigram's, under MORCELA less beta times it, and with its share of gamma, under WordLP with the boundary after it
    less that before it. Under a `region` that the pair has in both sentences, the tokens outside add nothing, and the
    margin is that of the region.

    Raises InputError for a pair that the model did not score, a normalisation that there is not, and a prompted score,
    which is no sum over these tokens.
    """
    if normalization_named(normalization).is_prompted:
        raise InputError(NO_PARTS.format(name=normalization))
    pairs, tokens = result.pairs, result.tokens
    pair = pairs[(pairs["model"] == model).to_numpy() & (pairs["row"] == row).to_numpy()]
    if pair.empty:
        raise InputError(Message("{model} has no scores for row {row}.", model=model, row=row))
    there = [name for name in ("side", "token", "log_likelihood", "regions", "boundary") if name in tokens.columns]
    of_pair = rows_where(tokens, there, model=model, row=row)
    score, taken_off = normalization_named(normalization), np.zeros(len(of_pair))
    beta, gamma = (
        float(pair[f"morcela_{name}"].iloc[0]) if score.is_fitted and len(pair) else 0.0 for name in ("beta", "gamma")
    )
    if score.by_unigrams:
        unigrams = token_unigrams(result, model, result.tokenizers[model], result.unigrams)
        is_of_pair = (rows_where(tokens, ["row"], model=model)["row"] == row).to_numpy()
        taken_off = unigrams[is_of_pair] * (beta if score.is_fitted else 1)
    inside = (
        np.ones(len(of_pair), dtype=bool)
        if region == WHOLE
        else of_pair["regions"].to_numpy(dtype=np.int64) & BITS[region] > 0
    )
    begins = inside
    if score.by_words:
        before = of_pair["boundary"].to_numpy(dtype=np.float64)
        lengths = np.array([pair[f"{side}_tokens"].iloc[0] for side in SIDES])
        terms, begins = boundary_terms(before, ends_of_texts(pair, before, lengths), lengths, inside)
        taken_off = taken_off - terms if score.adds_boundaries else taken_off
    by_side = {}
    for side in SIDES:
        chosen = (of_pair["side"] == side).to_numpy()
        own = of_pair[chosen]
        # A score is linear in its tokens: what one nat adds is the same for each.
        n_scored = max(1, int(inside[chosen].sum()))
        length = score.length(
            Sentences(
                [0.0],
                [n_scored],
                characters=pair[f"{side}_characters"],
                bytes=byte_counts(pair, side),
                words=[max(1, int(begins[chosen].sum()))],
            ),
            alpha,
        )[0]
        values = own["log_likelihood"].to_numpy(dtype=np.float64)
        by_side[side] = (
            own["token"].astype(str).tolist(),
            values,
            (values - taken_off[chosen] + gamma / n_scored) / length * inside[chosen],
        )
    slots = aligned_tokens(by_side[SIDES[0]][0], by_side[SIDES[1]][0])
    columns: dict[str, object] = {"slot": range(len(slots)), "change": [slot.change for slot in slots]}
    for side, positions in zip(SIDES, ([slot.first for slot in slots], [slot.second for slot in slots]), strict=True):
        names, values, parts = by_side[side]
        columns[f"{side}_position"] = pd.array(positions, dtype="Int64")
        columns[f"{side}_token"] = pd.array([None if i is None else names[i] for i in positions], dtype="str")
        columns[f"{side}_log_likelihood"] = [np.nan if i is None else values[i] for i in positions]
        columns[f"{side}_part"] = [np.nan if i is None else parts[i] for i in positions]
    table = pd.DataFrame(columns)
    both = [table[f"{side}_part"].fillna(0.0) for side in SIDES]
    return table.assign(contribution=both[0] - both[1])


@returns(BY_CHANGE)
def contributions_by_change(contributions: pd.DataFrame) -> pd.DataFrame:
    """Where the difference comes from, in four lines at most."""
    totals = contributions.groupby("change", sort=False)["contribution"].agg(["size", "sum"])
    present = [change for change in CHANGES if change in totals.index]
    return pd.DataFrame(
        {
            "change": present,
            "label": [CHANGES[change] for change in present],
            "n_slots": totals.loc[present, "size"].to_numpy(),
            "contribution": totals.loc[present, "sum"].to_numpy(),
        }
    )
