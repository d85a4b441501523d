"""Without sign-in: signed cookies, each browser's own list, everybody's list, names, stars and tags."""

from __future__ import annotations

import errno
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import AccessError, InputError, RunError
from engine.runs.access import browsers as browsers_module
from engine.runs.access.access import RunAccess
from engine.runs.access.browsers import Browsers, browsers
from engine.runs.access.tags import MAX_TAG_CHARACTERS, MAX_TAGS
from engine.runs.access.viewers import LOCAL, Viewer
from engine.runs.computing import SAMPLES_ID
from engine.runs.queue import RunQueue
from engine.runs.storage.searching import Search
from tests.support.fake_runs import FakeGateway, Settings, queues, words

ANN, BEN = Viewer("ann@lab.example"), Viewer("ben@lab.example")


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[RunQueue]:
    with queues(tmp_path, FakeGateway()) as open_one:
        yield open_one()


def access_of(queue: RunQueue, viewer: Viewer) -> RunAccess:
    return RunAccess(queue, queue._store, viewer)


def browser(letter: str) -> Viewer:
    return Viewer(f"browser:{letter * 32}", signed_in=False)


def submitted(access: RunAccess, n: int = 3, name: str | None = None) -> str:
    return access.submit("weights", Settings(), words(n), name).run_id


def ids(runs: list[object]) -> set[str]:
    return {run.id for run in runs}  # type: ignore[attr-defined]


def test_a_cookie_is_a_browser_of_this_instance_alone(tmp_path: Path) -> None:
    ours = browsers(tmp_path)
    cookie = ours.issue()
    viewer = ours.viewer(cookie)
    assert viewer is not None and viewer.id == f"browser:{cookie[:32]}" and not viewer.signed_in
    assert ours.issue() != cookie and browsers(tmp_path).viewer(cookie) == viewer  # after a restart, too
    other_id = "0" * 32
    for forged in (
        "",
        cookie[:32],
        other_id,
        other_id + cookie[32:],
        cookie[:-1],
        cookie + "0",
        cookie.upper(),
        cookie[:-1] + ("0" if cookie[-1] != "0" else "1"),
        Browsers(b"other").issue(),
    ):
        assert ours.viewer(forged) is None


def test_instances_on_one_host_do_not_overwrite_each_others_cookies() -> None:
    assert Browsers(b"a").cookie_name != Browsers(b"b").cookie_name


def test_the_secret_is_for_its_owner_alone_and_made_once(tmp_path: Path) -> None:
    names: list[str] = []
    threads = [threading.Thread(target=lambda: names.append(browsers(tmp_path).cookie_name)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = tmp_path.iterdir()
    assert len(set(names)) == 1 and len(names) == 8 and file.name == browsers_module.SECRET_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and len(file.read_bytes()) == 32
    file.write_bytes(b"short")
    with pytest.raises(InputError, match="has 5 bytes"):
        browsers(tmp_path)


def test_the_secret_is_made_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(browsers_module.os, "link", refused)
    name = browsers(tmp_path).cookie_name
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and len(file.read_bytes()) == 32
    browsers_module._write_new(file, b"another")  # a second process is too late
    assert browsers(tmp_path).cookie_name == name


def test_each_browser_has_its_own_list_and_all_may_read_all(queue: RunQueue) -> None:
    one, two, local = (access_of(queue, viewer) for viewer in (browser("a"), browser("b"), LOCAL))
    of_one, of_two, of_nobody = submitted(one), submitted(two), submitted(local)
    submitted(access_of(queue, Viewer(SAMPLES_ID)))
    assert len({of_one, of_two, of_nobody}) == 3
    assert ids(one.mine()) == {of_one, of_nobody} and ids(two.mine()) == {of_two, of_nobody}
    assert ids(local.mine()) == {of_nobody}
    for access in (one, two, local):
        assert ids(access.team()) == {of_one, of_two, of_nobody} and access.count(Search(limit=1), team=True) == 3
        assert all(access.get(run_id) for run_id in (of_one, of_two, of_nobody))
        assert access.facets(team=True).owners == tuple(sorted(["local", browser("a").id, browser("b").id]))
        assert access.may_change(access.get(of_nobody))  # type: ignore[arg-type]
    assert ids(two.team(Search(owner=browser("a").id))) == {of_one}
    for change in (
        lambda: two.move_to_bin(of_one),
        lambda: two.rename(of_one, "x"),
        lambda: two.delete(of_one),
        lambda: two.tag(of_one, ["x"]),
        lambda: local.move_to_bin(of_one),
    ):
        with pytest.raises(AccessError, match="belongs to another browser"):
            change()


def test_what_members_keep_private_stays_so_without_sign_in(queue: RunQueue) -> None:
    private, shared = submitted(access_of(queue, ANN)), submitted(access_of(queue, ANN), 4)
    access_of(queue, ANN).share(shared, True)
    for viewer in (browser("a"), LOCAL):
        access = access_of(queue, viewer)
        assert access.get(private) is None and ids(access.team()) == {shared}
        assert ids(access.team(Search(owner=ANN.id, text="words"))) == {shared} and access.mine() == []
        assert access.count(Search(text="words"), team=True) == 1
        with pytest.raises(RunError, match="no run"):
            access.star(private, True)


def test_runs_of_browsers_are_nothing_to_members(queue: RunQueue) -> None:
    of_browser = submitted(access_of(queue, browser("a")))
    ann = access_of(queue, ANN)
    assert ann.get(of_browser) is None and ann.mine() == ann.team() == []


def test_a_star_puts_anothers_run_into_ones_own_list(queue: RunQueue) -> None:
    one, two = access_of(queue, browser("a")), access_of(queue, browser("b"))
    run_id = submitted(one)
    two.star(run_id, True)
    two.star(run_id, True)  # a second time changes nothing
    assert ids(two.mine()) == ids(two.mine(Search(starred_by=two.viewer.id))) == {run_id}
    assert two.starred(two.mine()) == {run_id} and one.starred(one.mine()) == set()
    two.star(run_id, False)
    assert two.mine() == [] and two.starred(one.mine()) == set()


def test_stars_of_members_show_nothing_that_is_not_shared_any_more(queue: RunQueue) -> None:
    ann, ben = access_of(queue, ANN), access_of(queue, BEN)
    run_id = submitted(ann)
    ann.share(run_id, True)
    ben.star(run_id, True)
    starred = Search(starred_by=BEN.id)
    assert ids(ben.team(starred)) == {run_id} and ben.mine(starred) == []
    ann.share(run_id, False)
    assert ben.team(starred) == ben.mine(starred) == [] and ben.count(starred, team=True) == 0


def test_tags_are_searched_filtered_and_listed_among_what_one_may_see(queue: RunQueue) -> None:
    ann, ben = access_of(queue, ANN), access_of(queue, BEN)
    run_id, other = submitted(ann), submitted(ann, 4)
    ann.tag(run_id, ["  table   2", "Draft", "draft", ""])
    run = ann.get(run_id)
    assert run is not None and run.tags == ("table 2", "Draft")
    assert ids(ann.mine(Search(tags=("draft", "table 2")))) == ids(ann.mine(Search(text="TABLE"))) == {run_id}
    assert ann.mine(Search(tags=("tab",))) == [] and ann.facets(team=False).tags == ("Draft", "table 2")
    assert ben.facets(team=True).tags == ben.facets(team=False).tags == () and ben.team(Search(text="draft")) == []
    assert ben.count(Search(tags=("draft",)), team=True) == 0
    ann.share(other, True)
    assert ben.facets(team=True).tags == () and ids(ben.team()) == {other}
    for bad in (["x" * (MAX_TAG_CHARACTERS + 1)], [str(n) for n in range(MAX_TAGS + 1)]):
        with pytest.raises(InputError, match="at most"):
            ann.tag(run_id, bad)
    ann.tag(run_id, ["ÄNDERUNG Б"])
    assert ids(ann.mine(Search(tags=ann.facets(team=False).tags))) == {run_id}
    ann.tag(run_id, [])
    assert ann.get(run_id).tags == ()  # type: ignore[union-attr]


def test_a_browser_gives_itself_a_name_that_nobody_else_has(queue: RunQueue) -> None:
    one, two = access_of(queue, browser("a")), access_of(queue, browser("b"))
    submitted(one), submitted(two), submitted(access_of(queue, LOCAL))
    assert two.owner_names(run.owner for run in two.team()) == {
        one.viewer.id: "Browser aaaa",
        two.viewer.id: "Browser bbbb",
        "local": "Everybody",
    }
    one.name_myself("  Ann   B. ")
    one.name_myself("Ann B.")
    assert two.owner_names(run.owner for run in two.team())[one.viewer.id] == "Ann B."
    for taken in (
        "ann b.",
        "Ａnn B.",
        "Browser 12ab",
        "everybody",
        "x" * 41,
        "Ann\u200b B.",
        "Ann\ufe0f B.",
        "\u0410nn B.",
        "全員",
    ):
        with pytest.raises(InputError):
            two.name_myself(taken)
    one.name_myself("")
    two.name_myself("ann b.")
    assert one.owner_names(run.owner for run in one.team())[one.viewer.id] == "Browser aaaa"
    for nobody in (LOCAL, ANN):
        with pytest.raises(AccessError):
            access_of(queue, nobody).name_myself("x")


def test_lists_are_sorted_and_cut_by_the_store(queue: RunQueue) -> None:
    ann = access_of(queue, ANN)
    runs = {name: submitted(ann, n, name) for name, n in (("b", 3), ("A", 9), ("c", 5))}

    def names(**fields: object) -> list[str]:
        return [run.name for run in ann.mine(Search(**fields))]  # type: ignore[arg-type]

    assert names() == ["c", "A", "b"] and names(order="oldest") == ["b", "A", "c"]
    assert names(order="name") == ["A", "b", "c"] and names(order="largest dataset") == ["A", "c", "b"]
    assert names(limit=2) == ["c", "A"] and names(limit=2, offset=2) == ["b"]
    assert ann.count(Search(limit=1, offset=2), team=False) == 3
    ann.describe(runs["b"], {"numbers": [["x", "1"]]}, 77)
    run = ann.get(runs["b"])
    assert run is not None and run.headline == {"numbers": [["x", "1"]]} and run.n_rows == 77
