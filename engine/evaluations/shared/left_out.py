"""What a result keeps of its data: rows that could not be used, in its table `excluded` and counted in its signature,
and there the commit of data that were read by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import pandas as pd

from engine.datasets.hub.names import read_by_commit
from engine.evaluations.shared.declared_tables import tables_of

Result = TypeVar("Result", bound=Any)

EXCLUDED = "excluded"
SIGNED = "rows_left_out"  # in a signature: how many
SOURCE = "read_from_hub"  # in a signature: data of the Hugging Face Hub with the commit that was read
NO_MODEL = ""  # in place of the model of a row that no model was given


def with_left_out(dataset: Any, result: Result) -> Result:
    """The result whose `excluded` begins with the rows that `dataset` left out, and whose signature counts them.

    In these rows `model` is "" and so is every text but the reason. Without such rows it is the result itself, whose
    signature names data that were read from the hub.
    """
    if named := read_by_commit(dataset.name):
        result = replace(result, signature={**result.signature, SOURCE: named})
    if not dataset.left_out:
        return result
    table = tables_of(type(result))[EXCLUDED]
    rows = table.frame_of_records(
        [
            {**dict.fromkeys(table.headers, ""), "model": NO_MODEL, "row": bad.row, "reason": bad.reason}
            for bad in dataset.left_out
        ]
    )
    excluded = pd.concat([rows, result.excluded], ignore_index=True) if len(result.excluded) else rows
    return replace(result, excluded=excluded, signature={**result.signature, SIGNED: len(dataset.left_out)})
