"""A name of the pair on show, read otherwise from the page: it goes into the list, the address and the command."""

from __future__ import annotations

import pytest

from dashboard.shared import session
from engine.datasets.sentence_pairs import SentencePairs
from engine.evaluations.alignment.records import Settings
from tests.support.fakes import FakeBackend
from tests.support.page_visits import SECONDS, drawn, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
PAIR = SentencePairs("made up", ("光宙は笑った",), ("ぴかちゅうは笑った",), ("",), {}, (1,))


@pytest.fixture
def run_id(backend: FakeBackend) -> str:
    runs = session.engine().runs
    run_id = runs.submit("alignment", Settings(("owner/bert",)), PAIR).run_id
    assert runs.wait(run_id, SECONDS).state == "done", runs.get(run_id)
    return run_id


def test_a_reading_given_on_the_page_counts_at_once(run_id: str) -> None:
    app = visit("alignment", run=run_id)
    before = [metric.delta for metric in app.metric]
    for name, kana in (("光宙", "ピカチュウ"), ("ぴかちゅう", "ぴかちゅう")):
        app.text_input(key=f"alignment-read-as-name-{run_id}-1").input(name)
        app.text_input(key=f"alignment-read-as-kana-{run_id}-1").input(kana)
        app.get_by_key(f"alignment-read-as-add-{run_id}-1").click()
        drawn(app)
    assert not app.exception
    assert app.query_params["readings"] == "光宙=ぴかちゅう;ぴかちゅう=ぴかちゅう"
    assert "M = 1.00" in words(app) and [metric.delta for metric in app.metric] != before
    other = visit("alignment", run=run_id, readings=app.query_params["readings"])  # another session
    assert [metric.delta for metric in other.metric] == [metric.delta for metric in app.metric]


def test_what_is_no_reading_is_refused_in_words(run_id: str) -> None:
    app = visit("alignment", run=run_id)
    app.text_input(key=f"alignment-read-as-name-{run_id}-1").input("光宙")
    app.text_input(key=f"alignment-read-as-kana-{run_id}-1").input("pikachu")
    app.get_by_key(f"alignment-read-as-add-{run_id}-1").click()
    assert "no name and reading in kana" in words(drawn(app)) and "readings" not in app.query_params


def test_a_reading_is_added_to_a_list_in_one_line_and_takes_the_place_of_that_of_a_variant(run_id: str) -> None:
    app = visit("alignment", run=run_id, readings="光宙=みつおき;東=ひがし/あずま;渡辺=わたべ")
    for name, kana in (("光宙", "ピカチュウ"), ("渡邊", "わたなべ")):
        app.text_input(key=f"alignment-read-as-name-{run_id}-1").input(name)
        app.text_input(key=f"alignment-read-as-kana-{run_id}-1").input(kana)
        app.get_by_key(f"alignment-read-as-add-{run_id}-1").click()
        drawn(app)
    assert app.query_params["readings"] == "東=ひがし/あずま;光宙=ぴかちゅう;渡邊=わたなべ"


def test_a_list_that_links_cannot_hold_is_refused_and_the_former_kept(run_id: str) -> None:
    former = ";".join(f"名{number}=ながいなまえ" for number in range(60))
    app = visit("alignment", run=run_id, readings=former)
    app.text_input(key=f"alignment-read-as-name-{run_id}-1").input("光宙")
    app.text_input(key=f"alignment-read-as-kana-{run_id}-1").input("ぴか" * 40)
    app.get_by_key(f"alignment-read-as-add-{run_id}-1").click()
    assert "at most 700 characters" in words(drawn(app)) and app.query_params["readings"] == former
