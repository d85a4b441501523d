"""The finding of minimal pairs: that of the kind of data that was evaluated."""

from __future__ import annotations

from engine.evaluations.minimal_pairs.files import analysis_of
from engine.evaluations.minimal_pairs.kinds.pair_findings import Tables, of_headlines
from engine.evaluations.minimal_pairs.records import PairView, Result
from engine.messages.message import Message


def finding(result: Result, shown: PairView | None = None, table: Tables | None = None) -> Message:
    """What was found; shown, table: as `pair_findings.of_pairs` takes them."""
    analysis = analysis_of(result.data_kind)
    if analysis.finding is not None:
        return analysis.finding(result, shown, table)
    return of_headlines(result, analysis.headlines)
