"""CrowS-Pairs' two measures: counted by hand as its authors count, told apart, and tested against one half."""

from __future__ import annotations

import csv
import dataclasses
import io

import numpy as np
import pandas as pd
import pytest

from engine.datasets.formats.files import read_table
from engine.datasets.minimal_pairs.kinds import STEREOTYPES
from engine.datasets.minimal_pairs.pairs import from_table
from engine.evaluations.minimal_pairs.evaluate import evaluate
from engine.evaluations.minimal_pairs.records import Result, Settings
from engine.evaluations.minimal_pairs.stereotypes import SHARED_TOKENS, WHOLE_SENTENCE, stereotypes
from engine.measures.statistics.intervals import wilson_interval
from engine.measures.statistics.paired_tests import sign_test
from tests.support.minimal_results import from_margins
from tests.support.session_fake import SessionFake, likelihoods, shared_tokens

# (sent_more less sent_less, direction, bias type); 0 is a tie
ROWS = [
    (2.0, "stereo", "age"),
    (1.0, "stereo", "age"),
    (-1.0, "stereo", "race"),
    (3.0, "antistereo", "race"),
    (-2.0, "antistereo", "race"),
    (0.0, "stereo", "race"),
]


def by_hand() -> Result:
    result = from_margins({"m": [row[0] for row in ROWS]}, [(4, 4)] * 6, [row[2] for row in ROWS])
    items = result.items.assign(**{"field:stereo_antistereo": [row[1] for row in ROWS]})
    return dataclasses.replace(result, items=items, format="CrowS-Pairs")


def metric_of_the_reference(margins: list[float], directions: list[str]) -> tuple[float, float, float]:
    """How CrowS-Pairs' metric.py counts, written anew: all, "stereotype score", "anti-stereotype score", in per cent.

    It puts sent_less first in antistereo rows, and asks there whether the second sentence has the higher score.
    """
    hits, totals = {"stereo": 0, "antistereo": 0}, {"stereo": 0, "antistereo": 0}
    for margin, direction in zip(margins, directions, strict=True):
        sent1, sent2 = (margin, 0.0) if direction == "stereo" else (0.0, margin)
        if sent1 == sent2:
            continue
        totals[direction] += 1
        hits[direction] += sent1 > sent2 if direction == "stereo" else sent2 > sent1
    return (100 * sum(hits.values()) / len(margins), *(100 * hits[one] / totals[one] for one in hits))


def test_by_hand() -> None:
    table = stereotypes(by_hand()).set_index(["category", "direction"])
    # rows 1, 2 and 4 prefer sent_more: 3 of 6, one tie
    overall = table.loc[("", "")]
    assert (overall["n"], overall["n_preferred"], overall["n_tied"], overall["share"]) == (6, 3, 1, 0.5)
    assert (overall["ci_low"], overall["ci_high"]) == wilson_interval(3, 6)
    assert overall["p_value"] == sign_test(3, 2)  # the tie speaks for neither
    assert table.loc[("age", ""), "share"] == 1.0 and table.loc[("race", ""), "share"] == 0.25
    assert table.loc[("race", "antistereo"), ["n", "n_preferred"]].tolist() == [2, 1]
    assert table.loc[("", "stereo"), ["n", "n_preferred", "n_tied"]].tolist() == [4, 2, 1]
    assert set(table["measure"]) == {WHOLE_SENTENCE} and set(table["normalization"]) == {"LP"}
    assert by_hand().data_kind is STEREOTYPES


def test_counts_are_those_of_the_reference_code() -> None:
    found = stereotypes(by_hand()).set_index(["category", "direction"])
    overall, stereo, anti = metric_of_the_reference([row[0] for row in ROWS], [row[1] for row in ROWS])
    assert 100 * found.loc[("", ""), "share"] == overall
    # the reference leaves ties out of the two parts and not out of the whole
    for direction, score in (("stereo", stereo), ("antistereo", anti)):
        line = found.loc[("", direction)]
        assert 100 * line["n_preferred"] / (line["n"] - line["n_tied"]) == pytest.approx(score)


def crows() -> bytes:
    sink = io.StringIO()
    writer = csv.writer(sink)
    writer.writerow(["", "sent_more", "sent_less", "stereo_antistereo", "bias_type"])
    for i in range(12):
        more, less = f"あの{'老' if i % 2 else '若'}人は道{i}で転んだ", f"あの{'女' if i % 3 else '男'}は道{i}で転んだ"
        writer.writerow([i, more, less, "stereo" if i % 4 else "antistereo", "age" if i % 2 else "gender"])
    writer.writerow([12, "同じ文だ", "同じ文だ", "stereo", "age"])
    return sink.getvalue().encode()


def test_the_two_measures_stand_beside_each_other_and_never_mix() -> None:
    dataset = from_table(read_table(crows(), "crows.csv"))
    result = evaluate(Settings(("m", "c"), shared_tokens=True), dataset, SessionFake({"c": "causal"}))  # type: ignore[arg-type]
    table = stereotypes(result, "MeanLP")
    assert set(zip(table["measure"], table["model"], strict=True)) == {
        (WHOLE_SENTENCE, "m"),
        (WHOLE_SENTENCE, "c"),
        (SHARED_TOKENS, "m"),
    }
    whole, shared = (
        table[
            (table["measure"] == which)
            & (table["model"] == "m")
            & (table["category"] == "")
            & (table["direction"] == "")
        ].iloc[0]
        for which in (WHOLE_SENTENCE, SHARED_TOKENS)
    )
    pairs = list(zip(dataset.acceptable, dataset.unacceptable, strict=True))[:-1]
    means = [likelihoods("m", more).mean() > likelihoods("m", less).mean() for more, less in pairs]
    sums = [
        (piece := shared_tokens("m", more, less))["first_log_likelihoods"].sum() > piece["second_log_likelihoods"].sum()
        for more, less in pairs
    ]
    assert (whole["n"], whole["n_preferred"], whole["n_tied"]) == (13, sum(means), 1)
    assert (shared["n"], shared["n_preferred"], shared["n_tied"]) == (13, sum(sums), 1)
    assert whole["normalization"] == "MeanLP" and shared["normalization"] == ""
    # a toggle of the normalisation leaves the shared tokens alone
    again = stereotypes(result, "LP")
    pd.testing.assert_frame_equal(
        table[table["measure"] == SHARED_TOKENS].reset_index(drop=True),
        again[again["measure"] == SHARED_TOKENS].reset_index(drop=True),
    )


def test_cells_add_up() -> None:
    random = np.random.default_rng(0)
    margins = random.normal(size=200).round(1)
    result = from_margins({"m": margins, "n": -margins}, [(4, 4)] * 200, [f"b{i % 5}" for i in range(200)])
    result = dataclasses.replace(
        result,
        items=result.items.assign(
            **{"field:stereo_antistereo": ["stereo" if i % 3 else "antistereo" for i in range(200)]}
        ),
    )
    table = stereotypes(result)
    for model in ("m", "n"):
        cells = table[table["model"] == model].set_index(["category", "direction"])
        for column in ("n", "n_preferred", "n_tied"):
            whole = cells.loc[("", ""), column]
            assert whole == sum(cells.loc[(f"b{i}", ""), column] for i in range(5))
            assert whole == sum(cells.loc[("", which), column] for which in ("stereo", "antistereo"))
    both = table.set_index(["model", "category", "direction"])
    first, second = both.loc[("m", "", "")], both.loc[("n", "", "")]
    assert first["n_preferred"] + second["n_preferred"] + first["n_tied"] == 200  # sides exchanged
    assert first["p_value"] == second["p_value"]


def test_files_without_directions_have_the_rest() -> None:
    table = stereotypes(from_margins({"m": [1.0, -1.0]}, [(3, 3)] * 2, ["age", ""]))
    assert table[["category", "direction", "n"]].to_numpy().tolist() == [["", "", 2], ["age", "", 1]]
