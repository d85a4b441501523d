"""The comments on a run as its report and its bundle have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from engine.messages.languages import tr
from engine.runs.comments.access import CommentAccess, row_of


@dataclass(frozen=True)
class CommentLine:
    """A comment in words. time: in UTC, as ISO 8601 has it. row: of the pair or sentence that it is about, or ""."""

    author: str
    time: str
    row: str
    text: str

    def about(self) -> tuple[str, ...]:
        """Author, time and row, for a reader."""
        return self.author, self.time, tr("row {row}", row=self.row) if self.row else ""


def comment_lines(access: CommentAccess, run_id: str) -> tuple[CommentLine, ...]:
    """The comments on a run that the viewer may read, the first one first."""
    talk = access.of_run(run_id)
    return tuple(
        CommentLine(talk.names[comment.author], f"{comment.created:%Y-%m-%dT%H:%M:%SZ}", row_of(comment), comment.text)
        for comment in talk.comments
    )


def comment_table(lines: Sequence[CommentLine]) -> pd.DataFrame:
    """The comments as a table: author, time, row, text."""
    return pd.DataFrame([vars(line) for line in lines], columns=["author", "time", "row", "text"])
