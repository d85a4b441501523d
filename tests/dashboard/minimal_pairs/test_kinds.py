"""Each kind of minimal-pair data has what the evaluation and the page know of it."""

from __future__ import annotations

from dataclasses import fields

from dashboard.minimal_pairs.kinds.catalog import PAGES
from dashboard.minimal_pairs.view import Chosen
from engine.datasets.minimal_pairs.kinds import KINDS
from engine.evaluations.minimal_pairs.files import ANALYSES, FILES
from engine.evaluations.minimal_pairs.records import PairScoring
from engine.measures.cards.catalog import CARDS


def test_every_kind_has_an_analysis_and_a_page() -> None:
    assert set(KINDS) == set(ANALYSES) == set(PAGES)
    assert all(ANALYSES[name].data is PAGES[name].data is kind for name, kind in KINDS.items())


def test_what_the_records_name_is_there() -> None:
    options = {field.name for record in (Chosen, PairScoring) for field in fields(record)}
    for name in KINDS:
        assert set(ANALYSES[name].not_applicable) | PAGES[name].choices <= options
        assert set(PAGES[name].measures) <= CARDS.keys() and PAGES[name].note
        # The page offers no choice that the command refuses.
        assert not PAGES[name].choices & set(ANALYSES[name].not_applicable)
    assert len({table.name for table in FILES}) == len(FILES)
