"""A name of the pair shown, read otherwise from the page: it goes into the list, the address and the command."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.alignment.own_readings.read_as import names_of
from dashboard.shared import session
from tests.support.fakes import FakeBackend
from tests.support.page_visits import drawn, until, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")


def test_a_reading_given_on_the_page_counts_at_once(run_id: str) -> None:
    app = visit("alignment", run=run_id)
    before = [metric.delta for metric in app.metric]
    for name, kana in (("光宙", "ピカチュウ"), ("ぴかちゅう", "ぴかちゅう")):
        app.text_input(key=f"read-as-name-{run_id}-1").input(name)
        app.text_input(key=f"read-as-kana-{run_id}-1").input(kana)
        app.get_by_key(f"read-as-add-{run_id}-1").click()
        drawn(app)
    assert not app.exception
    assert app.query_params["readings"] == "光宙=ぴかちゅう;ぴかちゅう=ぴかちゅう"
    assert "M = 1.00" in words(app) and [metric.delta for metric in app.metric] != before
    other = visit("alignment", run=run_id, readings=app.query_params["readings"])  # another session
    assert [metric.delta for metric in other.metric] == [metric.delta for metric in app.metric]


def test_what_is_no_reading_is_refused_in_words(run_id: str) -> None:
    app = visit("alignment", run=run_id)
    app.text_input(key=f"read-as-name-{run_id}-1").input("光宙")
    app.text_input(key=f"read-as-kana-{run_id}-1").input("pikachu")
    app.get_by_key(f"read-as-add-{run_id}-1").click()
    assert "Write each as" in words(drawn(app)) and "readings" not in app.query_params


def test_a_reading_is_added_to_a_list_in_one_line_and_takes_the_place_of_that_of_a_variant(run_id: str) -> None:
    app = visit("alignment", run=run_id, readings="光宙=みつおき;東=ひがし/あずま;渡辺=わたべ")
    for name, kana in (("光宙", "ピカチュウ"), ("渡邊", "わたなべ")):
        app.text_input(key=f"read-as-name-{run_id}-1").input(name)
        app.text_input(key=f"read-as-kana-{run_id}-1").input(kana)
        app.get_by_key(f"read-as-add-{run_id}-1").click()
        drawn(app)
    assert app.query_params["readings"] == "東=ひがし/あずま;光宙=ぴかちゅう;渡邊=わたなべ"


def test_a_list_that_no_link_holds_is_put_into_a_run_and_shown_by_its_link(run_id: str, backend: FakeBackend) -> None:
    former = ";".join(f"名{number}=ながいなまえ" for number in range(60))
    app = visit("alignment", run=run_id, readings=former, search="笑")
    n_calls = len(backend.calls)
    app.text_input(key=f"read-as-name-{run_id}-1").input("光宙")
    app.text_input(key=f"read-as-kana-{run_id}-1").input("ぴか" * 40)
    app.get_by_key(f"read-as-add-{run_id}-1").click()
    assert "too long for a link" in words(drawn(app)) and "readings" not in app.query_params
    app.button(key="alignment-run-with-list").click()
    other_id = str(dict(drawn(app).query_params)["run"]).strip("[]'")
    assert other_id != run_id and "readings" not in app.query_params
    until(app, lambda app: app.metric)
    assert session.engine().runs.settings(other_id).scoring.readings == f"{former};光宙={'ぴか' * 40}"
    assert "readings 名0=ながいなまえ" in words(app) and "too long for a link" not in words(app)
    assert len(backend.calls) == n_calls
    linked = visit("alignment", run=other_id)
    assert [metric.delta for metric in linked.metric] == [metric.delta for metric in app.metric]


def test_the_form_has_the_name_of_any_token_of_a_name_and_the_word_of_others() -> None:
    tokens = pd.DataFrame(
        [
            (side, position, surface, word, name, special)
            for side in ("reference", "candidate")
            for position, (surface, word, name, special) in enumerate(
                [
                    ("[CLS]", -1, "", True),
                    ("光", 0, "光宙", False),
                    ("宙", 0, "光宙", False),
                    ("笑", 1, "", False),
                    ("った", 1, "", False),
                ]
            )
        ],
        columns=["side", "position", "surface", "word", "name_text", "special"],
    )
    names = ["", "光宙", "光宙", "笑った", "笑った"]
    assert names_of(tokens) == {"reference": names, "candidate": names}
