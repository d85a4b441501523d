"""What few clusters of answers make of an interval: none below FEWEST_CLUSTERS, a rough one below FEW_CLUSTERS.

The clusters are those of pairs made from one template, or the words that sentences are masked at.
"""

from __future__ import annotations

from engine.measures.statistics.clustered import FEW_CLUSTERS, FEWEST_CLUSTERS
from engine.messages.message import Message

TOO_FEW_CLUSTERS, FEW = Message("too few clusters"), Message("few clusters: a rough interval")


def note_of(n_clusters: int, too_few: str = TOO_FEW_CLUSTERS, few: str = FEW) -> str:
    """What so many clusters make of an interval.

    >>> note_of(2), note_of(12), note_of(67)
    ('too few clusters', 'few clusters: a rough interval', '')
    """
    return too_few if n_clusters < FEWEST_CLUSTERS else few if n_clusters < FEW_CLUSTERS else ""
