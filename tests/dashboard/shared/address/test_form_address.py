"""What a form is set to before anything is run is in the address: a reload opens it so, and a run's link is without it."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.inputs import inputs
from engine.datasets.formats.files import Table, read_table
from engine.datasets.hub.catalogue import of_kind
from tests.dashboard.minimal_pairs.test_page import GPT, finished, pairs
from tests.support import page_visits
from tests.support.page_visits import drawn, words

NAME = of_kind("minimal-pairs")[0].hub
pytestmark = [pytest.mark.usefixtures("no_cache_outlives_a_test"), pytest.mark.usefixtures("backend")]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that the Hub is asked for; each is a table of two pairs."""
    names: list[str] = []

    def read(function: Any, key: Any, content: Any, *, name: str = "", **how: Any) -> Table:
        names.append(name)
        return read_table(b"sentence_good,sentence_bad,text,label\na b,b a,x y,1\nc d,d c,z w,2\n", "train.csv")

    monkeypatch.setattr(inputs, "read_upload", read)
    return names


def own(app: AppTest) -> dict[str, Any]:
    """The form's part of the address."""
    return {name: app.query_params[name] for name in ("data", "header") if name in app.query_params}


def reloaded(app: AppTest, page: str) -> AppTest:
    """The page at the address that it has now, in a session of its own."""
    return page_visits.visit(page, **app.query_params)


def test_a_name_of_the_hub_survives_a_reload(asked: list[str]) -> None:
    page, kind = "minimal_pairs", "minimal-pairs"
    name = of_kind(kind)[0].hub
    app = page_visits.visit(page)
    assert own(app) == {}
    app.get_by_key(f"{kind}-source").set_value("hub")
    assert own(drawn(app)) == {"data": "hub"}
    app.selectbox(key=f"{kind}-hub").set_value(name)
    assert own(drawn(app)) == {"data": name} and asked[-1] == name
    asked.clear()
    again = reloaded(app, page)
    assert again.session_state[f"{kind}-source"] == "hub" and again.selectbox(key=f"{kind}-hub").value == name
    assert asked[-1] == name and own(again) == own(app)
    again.get_by_key(f"{kind}-source").set_value("sample")
    assert own(drawn(again)) == {}
    back = drawn(again)
    back.query_params["data"] = name  # as the browser's back button
    assert drawn(back).session_state[f"{kind}-source"] == "hub"


def test_a_typed_name_opens_from_a_link(asked: list[str]) -> None:
    typed = "hub:somebody/pairs:all/test"
    app = page_visits.visit("minimal_pairs", data=typed)
    assert asked[-1] == typed and not app.error
    assert app.session_state["minimal-pairs-hub"] == typed
    assert own(app) == {"data": typed}


def test_what_the_first_row_is_survives_a_reload_and_holds_for_the_next_file() -> None:
    content = b"the cat sits\tpets\nthe dog runs\tpets\nrain falls\tweather\n"
    app = page_visits.visit("clusters")
    app.get_by_key("clusters-source").set_value("upload")
    assert own(drawn(app)) == {"data": "upload"}
    app.file_uploader[0].upload("mine.tsv", content)
    drawn(app)
    header = next(box for box in app.selectbox if "-header-" in str(box.key))
    assert header.value == "detect"
    header.set_value("data")
    assert own(drawn(app)) == {"data": "upload", "header": "data"}
    again = reloaded(app, "clusters")
    assert own(again) == own(app)  # also before the file is there again
    again.file_uploader[0].upload("mine.tsv", content)
    drawn(again)
    assert next(box for box in again.selectbox if "-header-" in str(box.key)).value == "data"
    assert own(again) == own(app)
    again.file_uploader[0].upload("other.tsv", content)  # said of the first file, not of every one
    drawn(again)
    assert next(box for box in again.selectbox if "-header-" in str(box.key)).value == "detect"
    assert own(again) == {"data": "upload"}


def test_beside_a_run_nothing_is_read_or_written(asked: list[str]) -> None:
    run_id = finished(pairs(("a b", "b a"), ("c d", "d c")), GPT)
    app = page_visits.visit("minimal_pairs", run=run_id, data=NAME)
    assert app.session_state["minimal-pairs-source"] == "sample" and not asked
    shown = page_visits.visit("minimal_pairs", run=run_id)
    shown.get_by_key("minimal-pairs-source").set_value("hub")
    assert own(drawn(shown)) == {}


@pytest.mark.parametrize(("name", "value"), [("data", "elsewhere"), ("data", "upload:x"), ("header", "maybe")])
def test_what_is_not_offered_is_ignored_in_words(name: str, value: str) -> None:
    app = page_visits.visit("clusters", **{"data": "upload", name: value})
    assert f"The link asks for {name}" in words(app) and value in words(app)
    assert app.session_state["clusters-source"] == ("sample" if name == "data" else "upload")
