"""The Runs page: search, choice, actions, the bin and undoing, pages of the list, and whose runs are seen."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.runs import listed
from dashboard.shared import session
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.storage.processes import this_process
from engine.runs.storage.searching import Search
from engine.runs.storage.store import Store
from tests.stored_runs import directories as stored_runs
from tests.support.fakes import FakeBackend
from tests.support.page_visits import at, drawn, until, visit, words

pytestmark = pytest.mark.usefixtures("no_cache_outlives_a_test")
N_STORED = len(stored_runs.kinds(stored_runs.VERSIONS[0]))


@pytest.fixture
def directory(backend: FakeBackend, tmp_path: Path) -> Path:
    return stored_runs.copied(stored_runs.VERSIONS[0], tmp_path / "data")


@pytest.fixture
def viewer(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Whose pages are drawn, as `now`."""
    present = SimpleNamespace(now=LOCAL)
    monkeypatch.setattr(session, "viewer", lambda: present.now)
    return present


def listing(app: AppTest) -> Any:
    """The table of runs, also where the chosen ones stand side by side above it."""
    return next(table for table in app.dataframe if "headline" in table.value)


def names(app: AppTest) -> list[str]:
    return [" ".join(name.split()).partition(" · ")[0] for name in list(listing(app).value["name"])]


def choose(app: AppTest, *rows: int) -> AppTest:
    app.session_state[listing(app).key] = {"selection": {"rows": list(rows), "columns": [], "cells": []}}
    return drawn(app)


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click()
    return drawn(app)


def buttons(app: AppTest) -> set[str]:
    return {button.key for button in app.button if button.key}


def runs() -> list[str]:
    return [run.id for run in session.engine().access(LOCAL).mine()]


def show(app: AppTest, which: str) -> AppTest:
    app.segmented_control(key="runs-whose").set_value(which)
    return drawn(app)


def test_numbers_are_stored_once_and_then_read_from_the_list(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = until(visit("runs"), lambda app: "…" not in list(listing(app).value["headline"]))
    table = listing(app).value
    assert (
        len(table) == N_STORED
        and table["dataset"].str.contains(r"\s·\s\d+\srows?$|file", regex=True).all()
        and (table["headline"] != "–").all()
    )
    monkeypatch.setattr(listed, "FACES", {})  # any result that is read now is a KeyError
    assert listing(visit("runs")).value["headline"].tolist() == table["headline"].tolist()


def test_a_result_that_cannot_be_read_does_not_stop_the_list(directory: Path) -> None:
    run_id = runs()[0]
    sound = {file: file.read_bytes() for file in (directory / "results" / run_id).iterdir()}
    for file in sound:
        file.write_bytes(b"damaged")
    app = until(visit("runs"), lambda app: "…" not in list(listing(app).value["headline"]))
    assert listing(app).value["headline"][0] == "–" and not app.error
    assert session.engine().access(LOCAL).get(run_id).headline is None  # type: ignore[union-attr]
    for file, content in sound.items():
        file.write_bytes(content)
    app = until(visit("runs"), lambda app: "…" not in list(listing(app).value["headline"]))
    assert listing(app).value["headline"][0] != "–"


def test_a_deleted_run_is_undone_at_once_or_restored_from_the_bin(directory: Path) -> None:
    before = runs()
    app = choose(visit("runs"), 0, 2)
    assert "2 runs selected" in words(app)
    press(app, "runs-delete")
    assert runs() == [before[1], *before[3:]] and "Moved to the bin: 2 runs" in words(app)
    press(app, "runs-undo")
    assert runs() == before and "Moved to the bin" not in words(app)
    press(choose(app, 1), "runs-delete")
    link = visit("clusters", run=before[1])
    assert "The run at this link is in the bin." in words(link)
    app = show(visit("runs"), "bin")
    assert len(names(app)) == 1 and "30 days" in words(app) and buttons(app) == {"bin-delete-yes"}
    press(choose(app, 0), "bin-restore")
    assert runs() == before and "The bin is empty." in words(app)
    app = press(choose(show(visit("runs"), "mine"), 0), "runs-delete")
    session.engine().access(LOCAL).restore(before[0])  # elsewhere
    assert "Moved to the bin" not in words(drawn(app)) and "runs-undo" not in buttons(app)
    press(choose(app, 0), "runs-delete")
    press(show(visit("runs"), "bin"), "bin-delete-yes")
    assert session.engine().runs.get(before[0]) is None and not (directory / "results" / before[0]).exists()


def test_the_link_of_a_run_in_the_bin_restores_it_for_its_owner(directory: Path, viewer: SimpleNamespace) -> None:
    store = session.engine().store
    run_id = next(run.id for run in store.search(Search(kind="clusters")))
    store.change(run_id, owner=f"browser:{'a' * 32}")
    viewer.now = Viewer(f"browser:{'a' * 32}", signed_in=False)
    session.access().move_to_bin(run_id)
    viewer.now = Viewer(f"browser:{'b' * 32}", signed_in=False)
    other = visit("clusters", run=run_id)
    assert "There is no run at this link." in words(other) and "run-restore" not in buttons(other)
    viewer.now = Viewer(f"browser:{'a' * 32}", signed_in=False)
    app = press(visit("clusters", run=run_id), "run-restore")
    assert app.download_button and store.get(run_id).deleted is None  # type: ignore[union-attr]


def test_the_page_of_anothers_run_says_whose_it_is_and_stars_it(directory: Path, viewer: SimpleNamespace) -> None:
    store = session.engine().store
    run_id = next(run.id for run in store.search(Search(kind="clusters")))
    store.change(run_id, owner=f"browser:{'a' * 32}")
    viewer.now = Viewer(f"browser:{'b' * 32}", signed_in=False)
    app = visit("clusters", run=run_id)
    assert "Started by Browser aaaa" in words(app) and "run-clone" in buttons(app)
    assert not [box for box in app.text_area if box.label == "Note"]
    app.toggle(key=f"run-star-{run_id}").set_value(True)
    drawn(app)
    assert run_id in [run.id for run in session.access().mine()]
    app.toggle(key=f"run-star-{run_id}").set_value(False)
    drawn(app)
    assert run_id not in [run.id for run in session.access().mine()]
    press(app, "run-clone")
    (own,) = [run for run in session.access().mine() if run.owner == viewer.now.id]
    assert own.id != run_id and app.query_params["run"] in (own.id, [own.id])
    session.engine().runs.wait(own.id, 30)
    viewer.now = Viewer(f"browser:{'a' * 32}", signed_in=False)
    app = visit("clusters", run=run_id)
    assert "Started by" not in words(app) and [box for box in app.text_area if box.label == "Note"]


def test_tags_stars_and_names_of_the_chosen_runs(directory: Path) -> None:
    app = choose(visit("runs"), 0, 1)
    tags = next(box for box in app.multiselect if box.label == "Tags")
    tags.set_value(["draft"])
    press(app, "runs-tags-save")
    assert list(listing(app).value["tags"][:3]) == ["draft", "draft", ""]
    press(choose(app, 0), "runs-star")
    assert names(app)[0].startswith("★ ") and not names(app)[1].startswith("★")
    app.toggle(key="runs-starred").set_value(True)
    assert len(names(drawn(app))) == 1
    app.toggle(key="runs-starred").set_value(False)
    app.pills(key="runs-tags").set_value(["draft"])
    assert len(names(drawn(app))) == 2
    app.pills(key="runs-tags").set_value([])
    choose(drawn(app), 0)
    run_id = runs()[0]
    app.text_input(key=f"run-name-{run_id}").set_value("斉藤さんの実験")
    press(app, f"run-save-{run_id}")
    assert names(app)[0] == "★ 斉藤さんの実験"


def test_tags_that_not_all_chosen_runs_have_stay(directory: Path) -> None:
    access = session.engine().access(LOCAL)
    first, second = runs()[:2]
    access.tag(first, ["common", "own"])
    access.tag(second, ["common"])
    app = choose(visit("runs"), 0, 1)
    tags = next(box for box in app.multiselect if box.label == "Tags")
    assert tags.value == ["common"]
    tags.set_value(["new"])
    press(app, "runs-tags-save")
    assert [access.get(run_id).tags for run_id in (first, second)] == [("own", "new"), ("new",)]  # type: ignore[union-attr]


def test_the_tags_are_those_of_the_runs_that_are_chosen_now(directory: Path) -> None:
    access = session.engine().access(LOCAL)
    for run_id in runs()[:6]:
        access.tag(run_id, ["common"])
    app = choose(visit("runs"), *range(6))
    assert next(box for box in app.multiselect if box.label == "Tags").value == ["common"]
    choose(app, *range(7))  # the last one has no tag
    assert next(box for box in app.multiselect if box.label == "Tags").value == []


def test_two_runs_of_a_kind_lead_to_compare_and_several_are_side_by_side(directory: Path) -> None:
    listed = session.engine().access(LOCAL).mine()
    first, second = (index for index, run in enumerate(listed) if run.kind == "minimal-pairs")
    other = next(index for index, run in enumerate(listed) if run.kind == "alignment")
    app = until(visit("runs"), lambda app: "…" not in list(listing(app).value["headline"]))
    both = f"a-run={listed[first].id}&b-run={listed[second].id}"
    assert compare_links(choose(app, first, second)) == {"Compare": both}
    assert not compare_links(choose(app, first, other))
    choose(app, *sorted((first, second, other)))
    differences = next(table.value for table in app.dataframe if "what" in table.value)
    assert {"Kind", "Dataset"} <= set(differences["what"]) and len(differences.columns) == 4
    app.selectbox(key="runs-compared-A").set_value(listed[first].id)
    app.selectbox(key="runs-compared-B").set_value(listed[second].id)
    assert compare_links(drawn(app)) == {"Compare left with right": both}
    app.selectbox(key="runs-compared-B").set_value(listed[other].id)
    assert not compare_links(drawn(app)) and "can be compared" in words(app)


def test_the_list_is_cut_into_pages_and_searched_by_the_store(backend: FakeBackend) -> None:
    store = session.engine().store
    n = 2 * page_size() + 3
    for number in range(n):
        added(store, f"run {number}", f"data {number}.csv")
    app = visit("runs")
    assert names(app) == [f"run {number}" for number in reversed(range(n - page_size(), n))]
    assert f"{n} runs" in words(app)
    app.session_state["runs-page"] = 3
    assert names(drawn(app)) == ["run 2", "run 1", "run 0"]
    app.text_input(key="runs-text").set_value("data 17.csv")
    assert names(drawn(app)) == ["run 17"]
    app.text_input(key="runs-text").set_value("nothing has this")
    assert "No run matches." in words(drawn(app))
    app.text_input(key="runs-text").set_value("")
    app.selectbox(key="runs-order").set_value("oldest")
    assert names(drawn(app))[0] == "run 0"


def test_each_browser_sees_its_own_runs_and_whose_the_others_are(
    backend: FakeBackend,
    viewer: SimpleNamespace,
) -> None:
    store = session.engine().store
    one, two = (Viewer(f"browser:{letter * 32}", signed_in=False) for letter in "ab")
    for owner in (one, two, LOCAL):
        added(store, f"of {owner.id[:9]}", owner=owner.id)
    viewer.now = one
    app = visit("runs")
    assert names(app) == ["of local", "of browser:a"]
    show(app, "team")
    assert dict(zip(names(app), listing(app).value["owner"], strict=True)) == {
        "of local": "Everybody",
        "of browser:b": "Browser bbbb",
        "of browser:a": "Browser aaaa",
    }
    choose(app, names(app).index("of browser:b"))
    assert buttons(app) & {"runs-delete", "runs-star", "runs-rename", "runs-tags-save"} == {"runs-star"}
    press(app, "runs-star")
    assert set(names(show(app, "mine"))) == {"of local", "of browser:a", "★ of browser:b"}
    app.text_input(key="runs-my-name-text").set_value("Ann 研究室")
    press(app, "runs-my-name-save")
    viewer.now = two
    other = show(visit("runs"), "team")
    assert "Ann 研究室" in list(listing(other).value["owner"])
    other.text_input(key="runs-my-name-text").set_value("ann 研究室")
    press(other, "runs-my-name-save")
    assert "is taken" in other.error[0].value


def compare_links(app: AppTest) -> dict[str, str]:
    """The query of each link to the Compare page, by its label."""
    return {link.label: link.proto.query_string for link in app.get("page_link") if "Compare" in link.label}


def added(store: Store, name: str, dataset: str = "d.csv", owner: str = "local") -> str:
    other = this_process()  # whose runs the engine does not start
    store.heartbeat(other)
    run_id = store.add(
        owner=owner,
        kind="clusters",
        name=name,
        settings={"models": ["m"]},
        dataset_name=dataset,
        dataset_hash="h",
        dataset_notices=(),
        key=name,
        process_id=other.id,
    )
    assert store.cancel(run_id)
    return run_id


def page_size() -> int:
    source = (Path(__file__).parents[3] / "dashboard/runs/page.py").read_text(encoding="utf-8")
    return int(source.partition("PER_PAGE = ")[2].splitlines()[0])


def test_the_page_in_japanese_keeps_the_address_of_one_in_english(directory: Path) -> None:
    app = at("runs")
    app.session_state["language"] = "ja"
    app.query_params["runs-order"] = "Oldest first"
    app.query_params["runs-states"] = ["done"]
    assert drawn(app).selectbox(key="runs-order").value == "oldest"
    assert app.selectbox(key="runs-order").options[:2] == ["新しい順", "古い順"]
    assert app.pills(key="runs-states").value == ["done"]
    assert len(names(app)) == len(runs()) > 0 and set(listing(app).value["open"]) == {"開く"}
    assert f"{len(runs())}件" in words(app)


def test_the_address_keeps_every_filter_and_opens_the_list_as_it_was(directory: Path) -> None:
    added(session.engine().store, "Fresh", dataset="fresh.csv")
    app = visit("runs")
    assert len(names(app)) == len(runs()) == N_STORED + 1
    app.pills(key="runs-started").set_value("day")  # the others were stored long ago
    app.pills(key="runs-kind").set_value("clusters")
    app.pills(key="runs-states").set_value(["cancelled"])
    app.selectbox(key="runs-model").set_value("m")
    app.selectbox(key="runs-dataset").set_value("fresh.csv")
    app.selectbox(key="runs-order").set_value("oldest")
    app.text_input(key="runs-text").set_value("fres")
    assert names(drawn(app)) == ["Fresh"]
    # an address names each of them under its key, which the browser writes
    widgets = [*app.pills, *app.selectbox, *app.text_input, *app.toggle, *app.segmented_control]
    filters = {widget.key: widget.proto.query_param_key for widget in widgets if str(widget.key).startswith("runs-")}
    assert filters == {key: key for key in filters} and len(filters) >= 9
    again = visit("runs", **{"runs-started": "In the last 24 hours", "runs-text": "fres", "runs-order": "Oldest first"})
    assert names(again) == ["Fresh"] and again.pills(key="runs-started").value == "day"
    assert again.text_input(key="runs-text").value == "fres" and again.selectbox(key="runs-order").value == "oldest"
