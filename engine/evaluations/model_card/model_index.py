"""A card as the metadata of a README.md on the Hugging Face Hub: its `model-index`, by huggingface_hub's classes.

https://huggingface.co/docs/hub/model-cards: the block lists the results of evaluations by task and dataset. What it has
no field for (interval, items, better end, run) stands in the `args` of a metric, which the Hub keeps as they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from engine.datasets.sample_data import name_of_content
from engine.evaluations.model_card.card import ON_CARDS, CardOfModel
from engine.measures.cards.catalog import CARDS
from engine.models.sources.names import without_label
from engine.version import VERSION

# The Hub's metrics; other measures go by the key of their card.
METRICS = {"classification_accuracy": "accuracy", "pearson": "pearsonr"}
FRONT_MATTER = "---"
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")


def eval_results(card: CardOfModel) -> list[Any]:
    """The `huggingface_hub.EvalResult` of each number for which one end is better; undefined numbers are left out."""
    from huggingface_hub import EvalResult

    return [
        EvalResult(
            task_type=ON_CARDS[row["evaluation"]].task(_run(card, row["run"])["signature"], card.model),
            task_name=ON_CARDS[row["evaluation"]].task_name,
            dataset_type=name_of_content(_revision(card, row["run"])) or row["dataset"],
            dataset_name=row["dataset"],
            dataset_revision=_revision(card, row["run"]),
            metric_type=METRICS.get(row["measure"], row["measure"]),
            metric_value=row["value"],
            metric_name=_metric_name(row),
            metric_args=_arguments(row),
        )
        for row in card.headlines.to_dict("records")
        if row["better"] != "neither" and math.isfinite(row["value"])
    ]


def model_index(card: CardOfModel) -> list[dict[str, Any]]:
    """The block itself, as `huggingface_hub.repocard_data.eval_results_to_model_index` makes it."""
    from huggingface_hub.repocard_data import eval_results_to_model_index

    return eval_results_to_model_index(name_on_hub(card.model), eval_results(card))


def model_card_text(card: CardOfModel, body: str = "") -> str:
    """A README.md for the Hub: the metadata, then `body` in Markdown. `huggingface_hub.ModelCard` reads it.

    A card without a number for which one end is better has no model-index.
    """
    from huggingface_hub import ModelCardData

    results = eval_results(card)
    data = ModelCardData(
        model_name=name_on_hub(card.model) if results else None, eval_results=results or None, tags=["hakari"]
    )
    return f"{FRONT_MATTER}\n{data.to_yaml(line_break=chr(10))}\n{FRONT_MATTER}\n\n{body}".rstrip() + "\n"


def eval_result_files(card: CardOfModel) -> dict[str, str]:
    """Files for the folder `.eval_results` of a repository on the Hub, by path: one for each number, as the Hub asks.

    The Hub shows them where `dataset.id` is a benchmark of its own; here it is the data's name, to be replaced by that.
    https://huggingface.co/docs/hub/eval-results
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    from huggingface_hub.utils._fixes import yaml_dump

    rows = [
        row for row in card.headlines.to_dict("records") if row["better"] != "neither" and math.isfinite(row["value"])
    ]
    files: dict[str, str] = {}
    for row, result in zip(rows, eval_results(card), strict=True):
        parts = (row["evaluation"], row["measure"], row["setting"], row["items"])
        stem = _NOT_IN_NAMES.sub("_", " ".join(filter(None, parts)).lower()).strip("_")
        number, path = 1, f".eval_results/{stem}.yaml"
        while path in files:
            number += 1
            path = f".eval_results/{stem}_{number}.yaml"
        ends = (row["ci_low"], row["ci_high"])
        interval = f", 95% interval {ends[0]:.4g} to {ends[1]:.4g}" if all(map(math.isfinite, ends)) else ""
        entry = EvalResultEntry(
            dataset_id=result.dataset_type,
            task_id=row["evaluation"].replace("-", "_"),
            value=row["value"],
            notes=f"{result.metric_name}, n = {row['n']}{interval}; Hakari {VERSION}, run {row['run']}",
        )
        files[path] = yaml_dump(eval_result_entries_to_yaml([entry]))
    return files


def name_on_hub(model: str) -> str:
    """What the block calls a model: its name without label and revision, of a path the last part.

    >>> name_on_hub("Ours=owner/name@v1"), name_on_hub("/data/models/ours/")
    ('owner/name', 'ours')
    """
    name = without_label(model).partition("@")[0].rstrip("/")
    return name if name.count("/") == 1 and not name.startswith((".", "/", "~")) else name.rpartition("/")[2]


def _metric_name(row: Mapping[Any, Any]) -> str:
    """The measure with what it is under and over, so that no two metrics of a dataset have one name."""
    details = ", ".join(filter(None, (row["setting"], row["items"])))
    return f"{CARDS[row['measure']].name} ({details})"


def _arguments(row: Mapping[Any, Any]) -> dict[str, Any]:
    ends = {name: row[name] for name in ("ci_low", "ci_high") if math.isfinite(row[name])}
    setting = {"setting": row["setting"]} if row["setting"] else {}
    return {
        "n": int(row["n"]),
        "items": row["items"],
        **setting,
        **ends,
        "better": row["better"],
        "run": row["run"],
        "hakari": VERSION,
    }


def _revision(card: CardOfModel, run_id: str) -> str:
    """The content hash of the data of a run."""
    return str(_run(card, run_id)["dataset"])


def _run(card: CardOfModel, run_id: str) -> Mapping[str, Any]:
    """What the signature of a card says of one of its runs."""
    return next(run for run in card.signature["runs"] if run["run"] == run_id)
