"""How right a model is in each template alone. No model is run."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.evaluations.minimal_pairs.clustered.intervals import OVER, shares_over
from engine.evaluations.minimal_pairs.prompts.templates import templates_of
from engine.evaluations.minimal_pairs.records import PROMPTED, Result
from engine.evaluations.minimal_pairs.views import COUNTED, by_model, clusters_of
from engine.evaluations.shared.common_columns import MODEL
from engine.evaluations.shared.declared_tables import Column, Table, returns
from engine.measures.minimal_pairs.acceptability import decisions
from engine.messages.message import Message

TEMPLATES = Table(
    "templates",
    Message("A row for each template that a model scored the sentences in."),
    (
        MODEL,
        PROMPTED["template"],
        PROMPTED["score"],
        Column("text", "text", "the template; {sentence} stands for the sentence"),
        *COUNTED,
        *OVER,
        Column(
            "answers", "text", 'the answers to a question, yes first, as "Yes,No"; "" of a template for in-template LP'
        ),
    ),
    only_with_rows=True,
    since="0.3.0",
)


@returns(TEMPLATES)
def by_template(result: Result, clustered_by: str = "") -> pd.DataFrame:
    """Accuracy of the prediction of each template alone, over the pairs of the result; no rows without prompts.

    clustered_by: the column whose values are the clusters of pairs, as in `views.clusters_of`.
    """
    answers = [",".join(template.answers) for template in templates_of(result.settings)]
    parts = []
    for model, pairs in by_model(result):
        own = result.prompted[(result.prompted["model"] == model).to_numpy()]
        clusters = clusters_of(result, pairs, clustered_by)
        for number, of_template in enumerate((part for _, part in own.groupby("template")), 1):
            scores = of_template.set_index("item").loc[pairs["item"].to_numpy()]
            decided = decisions(scores["acceptable_score"], scores["unacceptable_score"], pairs["identical"].to_numpy())
            line = {
                "model": model,
                "template": number,
                "score": of_template["score"].iloc[0],
                "text": result.signature["templates"][number - 1],
                "n": len(pairs),
                "n_correct": int((decided == 1).sum()),
                "n_tied": int((decided == 0).sum()),
                "accuracy": float((decided == 1).mean()),
                "answers": answers[number - 1],
            }
            over = shares_over(decided == 1, np.zeros(len(pairs), dtype=np.intp), 1, clusters, clustered_by)
            parts.append(pd.DataFrame(line | over, index=[0]))
    return TEMPLATES.arranged(pd.concat(parts, ignore_index=True)) if parts else TEMPLATES.frame()
