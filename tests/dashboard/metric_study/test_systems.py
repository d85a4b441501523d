"""The page of a metric study whose candidates are of several systems."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.metric_study.systems import scores_by_setting
from dashboard.shared import session
from engine.datasets import sample_data
from engine.evaluations.metric_study.records import Settings
from tests.support import page_visits
from tests.support.page_visits import SECONDS, drawn

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test", "backend")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_ranks_systems_by_every_setting_and_column(language: str) -> None:
    pairs = sample_data.scored_pairs()
    dataset = replace(
        pairs,
        references=tuple(pairs.references[i - i % 2] for i in range(pairs.n)),
        further={
            "system": tuple("ab"[i % 2] for i in range(pairs.n)),
            "COMET": tuple(str(i % 7) for i in range(pairs.n)),
            "names": tuple((f"{pairs.candidates[i][:2]}|まさか", "", "いない名")[i % 3] for i in range(pairs.n)),
        },
    )
    runs = session.engine().runs
    run_id = runs.submit(
        "metric-study",
        Settings(("somebody/first",), idfs=("none",), metric_columns=("COMET",), entity_column="names"),
        dataset,
    ).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    app = page_visits.at("metric_study")
    app.query_params["run"] = run_id
    app.session_state["language"] = language
    drawn(app)
    ranking = next(frame.value for frame in app.dataframe if "soft_pairwise_accuracy" in frame.value)
    table = runs.result(run_id).system_agreement
    assert sorted(ranking["soft_pairwise_accuracy"]) == sorted(table["soft_pairwise_accuracy"])
    assert "COMET" in set(ranking["setting"])
    assert any(
        isinstance(frame.value, pd.DataFrame) and set(frame.value.index) == {"a", "b"} for frame in app.dataframe
    )
    entities = next(
        frame.value for frame in app.dataframe if "0.500" in frame.value.iloc[:, 3:4].astype(str).to_numpy()
    )
    assert entities.iloc[:, 1].tolist() == [20, 20, 40] and entities.iloc[:, 2].tolist() == [10, 10, 20]
    assert entities.columns[2] == {"en": "Correct", "ja": "正解数"}[language]
    grid = next(frame.value for frame in app.dataframe if "p holm" in frame.value)
    corrected = runs.result(run_id).correlations["williams_holm_p"]
    assert (grid["p holm"] != "").sum() == corrected.notna().sum() > 0


def test_settings_of_one_name_keep_their_own_scores() -> None:
    cells = [
        ("human", "human", "", "", {"s": 0.5, "t": 1.0}),
        ("metric", "Human score", "", "", {"s": 20.0, "t": 10.0}),
        ("bertscore", "m", "/a/mine.json", "none", {"s": 0.25, "t": 0.5}),
        ("bertscore", "m", "/b/mine.json", "none", {"s": 0.75, "t": 0.125}),
    ]
    columns = ["kind", "model", "idf", "penalty", "system", "score"]
    rows = [(*cell, system, score) for *cell, scores in cells for system, score in scores.items()]
    wide, names = scores_by_setting(pd.DataFrame(rows, columns=columns))
    assert wide.index.tolist() == ["t", "s"] and len(wide.columns) == len(names) == 4
    assert wide.to_numpy().tolist() == [[1.0, 10.0, 0.5, 0.125], [0.5, 20.0, 0.25, 0.75]]
    assert [names[column] for column in wide.columns][:2] == ["Human score", "Human score"]
