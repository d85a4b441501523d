"""The page of minimal pairs by the kind of the data of a result."""

from __future__ import annotations

from dashboard.minimal_pairs.kinds import acquisition, pairs, reading, single_sentences, texts
from dashboard.minimal_pairs.kinds.kind_page import KindPage
from engine.evaluations.minimal_pairs.records import Result

PAGES = {
    page.data.name: page
    for page in (
        pairs.OF_PAIRS,
        pairs.OF_STEREOTYPES,
        single_sentences.OF_JUDGED,
        single_sentences.OF_CONDITIONS,
        reading.OF_READING,
        acquisition.OF_ACQUISITION,
        texts.OF_TEXTS,
    )
}


def page_of(result: Result) -> KindPage:
    """What the page shows of the data of a result."""
    return PAGES[result.data_kind.name]
