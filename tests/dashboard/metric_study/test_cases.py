"""What is said of the pairs that the penalty changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd

from dashboard.metric_study.cases import change_summary
from engine.evaluations.metric_study.cases import NEARER
from engine.evaluations.metric_study.records import BERTSCORE
from engine.messages.languages import in_language


def test_the_summary_of_changes_names_the_weights_in_the_readers_language() -> None:
    grid = pd.DataFrame({"penalty": ["none", "reading"], "pearson": [0.5, 0.75]})
    grid = grid.assign(kind=BERTSCORE, model="m", idf="references", n=4)
    result: Any = SimpleNamespace(correlations=grid)
    table = pd.DataFrame({"nearer": [NEARER[0], NEARER[0], NEARER[1]]})
    setting = grid.iloc[1].to_dict()
    assert change_summary(result, setting, table) == (
        "With m and idf references the penalty changes 3 of 4 pairs: 2 nearer to the human score, 1 farther away. r changes "
        "by +0.250."
    )
    with in_language("ja"):
        said = change_summary(result, setting, table)
    assert said.startswith("m、idf 参照文では、ペナルティにより4対中3対のスコアが変わり、2対は人手評価に近づき、")
