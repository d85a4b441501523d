"""What several tests of the alignment's page open."""

from __future__ import annotations

import pytest

from dashboard.shared import session
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.records import Settings
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS

# Names that no dictionary reads: the reading of the first is the second.
PAIR = SentencePairs("made up", ("光宙は笑った",), ("ぴかちゅうは笑った",), ("",), {}, (1,))


@pytest.fixture
def run_id(backend: FakeBackend) -> str:
    """The id of a finished run of PAIR."""
    runs = session.engine().runs
    run_id = runs.submit("alignment", Settings(("owner/bert",)), PAIR).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id
