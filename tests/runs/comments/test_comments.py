"""Comments on runs: who reads and writes them, what they may hold, who is told, and how they go."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from engine.errors import AccessError, InputError, RunError
from engine.evaluations.alignment.records import Settings
from engine.runs.access.viewers import LOCAL_ID, Viewer
from engine.runs.comments import rows
from engine.runs.comments.access import (
    MOST_A_MINUTE,
    MOST_CHARACTERS,
    MOST_NEW,
    MOST_OF_AN_AUTHOR,
    MOST_ON_A_RUN_A_MINUTE,
    CommentAccess,
    row_of,
    view_of,
)
from engine.runs.comments.rows import Comment
from engine.runs.computing import SAMPLES_ID
from engine.runs.open import Engine, open_engine
from engine.runs.operation.member_data import export_member, forget_member
from engine.runs.pretraining.jobs import PretrainingJobs
from engine.runs.storage import members
from engine.runs.storage.members import Account
from engine.runs.storage.schema import CommentRow, VisitRow
from tests.runs.ratings.test_ratings import SIMILAR
from tests.support.fakes import FakeBackend

ISSUER = "https://login.example"
ANN, BEN, EVE = (Viewer(f"{name}-id", name=name, address=f"{name}@lab.example") for name in ("ann", "ben", "eve"))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path, backend=FakeBackend()) as opened:
        for viewer in (ANN, BEN, EVE):
            members.bind(opened.store, account(viewer), ())
        yield opened


def account(viewer: Viewer) -> Account:
    return Account(viewer.id, ISSUER, viewer.name, viewer.address, viewer.address)


def submitted(engine: Engine, *, shared: bool = True, owner: Viewer = ANN) -> str:
    run_id = engine.access(owner).submit("alignment", Settings(("owner/name",)), SIMILAR).run_id
    engine.access(owner).share(run_id, shared)
    return run_id


def of(engine: Engine, viewer: Viewer) -> CommentAccess:
    return CommentAccess(engine.access(viewer))


def n_rows(engine: Engine, table: type) -> int:
    with engine.store.session() as session:
        return int(session.scalar(select(func.count()).select_from(table)) or 0)


def test_whoever_reads_a_run_reads_and_writes_its_comments(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, BEN).write(run_id, "Why is row 3 so low?", {"run": ["x"], "row": ["3"], "models": ["a", "b"]})
    of(engine, ANN).write(run_id, "  Its name.\r\nIt has two readings.  ")
    talk = of(engine, EVE).of_run(run_id)
    assert [(talk.names[comment.author], comment.text) for comment in talk.comments] == [
        ("ben@lab.example", "Why is row 3 so low?"),
        ("ann@lab.example", "Its name.\nIt has two readings."),
    ]
    first, second = talk.comments
    assert view_of(first) == {"row": ["3"], "models": ["a", "b"]} and row_of(first) == "3"  # of this run, no other
    assert (view_of(second), row_of(second)) == ({}, "")
    assert of(engine, EVE).n_of_run(run_id) == 2 and not talk.closed


def test_comments_on_a_private_run_do_not_exist_for_others(engine: Engine) -> None:
    run_id = submitted(engine, shared=False)
    of(engine, ANN).write(run_id, "For @eve and me alone")
    (comment,) = of(engine, ANN).of_run(run_id).comments
    for attempt in (
        lambda access: access.of_run(run_id),
        lambda access: access.n_of_run(run_id),
        lambda access: access.write(run_id, "hello"),
        lambda access: access.close(run_id, True),
    ):
        with pytest.raises(RunError, match="no run") as for_eve:
            attempt(of(engine, EVE))
        with pytest.raises(RunError) as unknown:
            of(engine, EVE).of_run("0" * 32)
        assert str(for_eve.value).replace(run_id, "") == str(unknown.value).replace("0" * 32, "")
    with pytest.raises(RunError, match="no such comment") as foreign:
        of(engine, EVE).remove(comment.id)
    with pytest.raises(RunError) as none:
        of(engine, EVE).remove("nothing")
    assert str(foreign.value) == str(none.value)
    assert of(engine, EVE).new(datetime.min.replace(tzinfo=UTC)) == []  # she is named, and may not read the run
    engine.access(ANN).share(run_id, True)
    assert [found.text for found, _ in of(engine, EVE).new(datetime.min.replace(tzinfo=UTC))] == [comment.text]


def test_the_author_is_the_viewer_and_removes_it_or_the_owner_does(engine: Engine) -> None:
    run_id = submitted(engine)
    by_ben = of(engine, BEN).write(run_id, "mine")
    by_ann = of(engine, ANN).write(run_id, "the owner's")
    assert (by_ben.author, by_ann.author) == (BEN.id, ANN.id)
    with pytest.raises(RunError):
        of(engine, BEN).remove(by_ann.id)
    with pytest.raises(RunError):
        of(engine, EVE).remove(by_ben.id)
    of(engine, ANN).remove(by_ben.id)
    of(engine, ANN).remove(by_ann.id)
    assert n_rows(engine, CommentRow) == 0


def test_the_owner_alone_closes_comments_and_those_that_are_there_stay(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, BEN).write(run_id, "before")
    with pytest.raises(AccessError):
        of(engine, BEN).close(run_id, True)
    of(engine, ANN).close(run_id, True)
    for viewer in (ANN, BEN):
        with pytest.raises(InputError, match="no comments"):
            of(engine, viewer).write(run_id, "after")
    talk = of(engine, BEN).of_run(run_id)
    assert talk.closed and len(talk.comments) == 1
    of(engine, ANN).close(run_id, False)
    of(engine, BEN).write(run_id, "after")


@pytest.mark.parametrize("text", ["", " \n ", "\x00\x07", "a" * (MOST_CHARACTERS + 1)])
def test_no_text_and_one_that_is_too_long_are_refused(engine: Engine, text: str) -> None:
    with pytest.raises(InputError, match="A comment"):
        of(engine, ANN).write(submitted(engine), text)


def test_text_is_kept_as_it_is_but_for_what_turns_a_line_around(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, ANN).write(run_id, "<script>alert(1)</script> **x** \u202eevil\u202c 雨")
    assert of(engine, ANN).of_run(run_id).comments[0].text == "<script>alert(1)</script> **x**  evil  雨"


def test_how_many_somebody_writes_in_a_minute_is_bounded(engine: Engine) -> None:
    run_id = submitted(engine)
    for number in range(MOST_A_MINUTE):
        of(engine, BEN).write(run_id, f"{number}")
    with pytest.raises(InputError, match="a minute"):
        of(engine, BEN).write(run_id, "one more")
    of(engine, EVE).write(run_id, "another's are not counted")
    earlier = datetime.now(UTC) - timedelta(minutes=2)
    rows.add(engine.store, Comment("old", run_id, EVE.id, "t", "", earlier), ())
    assert rows.n_of_author(engine.store, EVE.id, datetime.now(UTC) - timedelta(minutes=1)) == 1


def test_how_many_all_browsers_write_on_a_run_is_bounded(engine: Engine) -> None:
    run_id = submitted(engine)
    for number in range(MOST_ON_A_RUN_A_MINUTE):
        rows.add(engine.store, Comment(f"{number}", run_id, f"browser:{number}", "spam", "", datetime.now(UTC)), ())
    with pytest.raises(InputError, match="At most 30 comments a minute"):
        of(engine, EVE).write(run_id, "another cookie")
    of(engine, EVE).write(submitted(engine, owner=BEN), "on another run")


def test_nobody_fills_a_run(engine: Engine) -> None:
    run_id, earlier = submitted(engine), datetime.now(UTC) - timedelta(hours=1)
    for number in range(MOST_OF_AN_AUTHOR):
        rows.add(engine.store, Comment(f"{number}", run_id, EVE.id, "spam", "", earlier), ())
    with pytest.raises(InputError, match="at most 200 comments of one person"):
        of(engine, EVE).write(run_id, "one more")
    of(engine, BEN).write(run_id, "there is room")


def test_a_view_that_is_too_long_is_kept_as_its_row(engine: Engine) -> None:
    comment = of(engine, ANN).write(submitted(engine), "x", {"row": ["7"], "selected": ["9" * 2_000]})
    assert view_of(comment) == {"row": ["7"]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("@eveさん、見て", [EVE]),
        ("これは@eve", [EVE]),
        ("@eve.", [EVE]),
        ("@eve-mail and @eve.lee and x.@eve", []),
        ("@eve@lab.example.org", []),
        ("@eve.example", []),
        ("@eve@lab.example, @Ben", [BEN, EVE]),
    ],
)
def test_whom_a_text_names(engine: Engine, text: str, told: list[Viewer]) -> None:
    run_id, start = submitted(engine), datetime.min.replace(tzinfo=UTC)
    of(engine, ANN).write(run_id, text)
    assert [viewer for viewer in (BEN, EVE) if of(engine, viewer).new(start)] == told


def test_the_longest_name_is_meant_and_no_other(engine: Engine) -> None:
    longer = Viewer("eve-lee-id", name="eve.lee", address="eve.lee@lab.example")
    members.bind(engine.store, account(longer), ())
    of(engine, ANN).write(submitted(engine), "@eve.lee, look")
    start = datetime.min.replace(tzinfo=UTC)
    assert len(of(engine, longer).new(start)) == 1 and of(engine, EVE).new(start) == []


def test_no_reader_is_told_of_members_who_took_no_part(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, BEN).write(run_id, "I took part")
    run, access = engine.store.get(run_id), of(engine, EVE)
    assert run is not None and access.suggested(run, access.of_run(run_id)) == ["ann@lab.example", "ben@lab.example"]


def test_unreadable_comments_take_no_readable_ones_place(engine: Engine) -> None:
    start = datetime.min.replace(tzinfo=UTC)
    seen, private = submitted(engine), submitted(engine, shared=False, owner=BEN)
    rows.add(engine.store, Comment("seen", seen, ANN.id, "seen", "", datetime.now(UTC)), [EVE.id])
    for number in range(3 * MOST_NEW):
        later = datetime.now(UTC) + timedelta(seconds=number)
        rows.add(engine.store, Comment(f"{number}", private, BEN.id, "hidden", "", later), [EVE.id])
    assert [comment.text for comment, _ in of(engine, EVE).new(start)] == ["seen"]


def test_two_first_visits_at_once_are_one(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(*_: object) -> None:
        raise IntegrityError("INSERT", {}, Exception("UNIQUE constraint failed"))

    monkeypatch.setattr(Session, "merge", taken)
    assert rows.visit(engine.store, EVE.id, datetime.now(UTC)) is None


def test_those_who_are_named_or_took_part_are_told_since_their_last_visit(engine: Engine) -> None:
    run_id = submitted(engine)
    before = of(engine, EVE).since_last_time()
    assert of(engine, BEN).since_last_time() <= datetime.now(UTC)
    of(engine, BEN).write(run_id, "no name; mail a@eve.example or @evelyn")
    assert of(engine, EVE).new(before) == []
    of(engine, BEN).write(run_id, "Look, @EVE!")
    of(engine, BEN).write(run_id, "and (@eve@lab.example)")
    told = of(engine, EVE).new(before)
    assert [(comment.text, run.id) for comment, run in told] == [
        ("and (@eve@lab.example)", run_id),
        ("Look, @EVE!", run_id),
    ]
    assert len(of(engine, ANN).new(before)) == 3  # on her own run
    assert of(engine, BEN).new(before) == []  # his own
    of(engine, EVE).write(run_id, "Seen.")
    assert [comment.text for comment, _ in of(engine, BEN).new(before)] == ["Seen."]  # where he took part
    assert of(engine, EVE).since_last_time() >= before
    assert of(engine, EVE).new(of(engine, EVE).since_last_time()) == []


def test_a_part_of_an_address_that_two_members_have_names_neither(engine: Engine) -> None:
    members.bind(engine.store, Account("other-id", ISSUER, "other", "eve@else.example", "eve@else.example"), ())
    assert "eve" not in of(engine, ANN).mentionable() and of(engine, ANN).mentionable()["ben"] == BEN.id
    assert of(engine, ANN).mentionable()["eve@else.example"] == "other-id"


def test_browsers_of_an_instance_without_sign_in_talk_too(engine: Engine) -> None:
    first, second = (Viewer(f"browser:{letter * 32}", signed_in=False) for letter in "ab")
    run_id = engine.access(first).submit("alignment", Settings(("owner/name",)), SIMILAR).run_id
    engine.access(second).name_myself("Second")
    since = of(engine, second).since_last_time()
    of(engine, first).write(run_id, "Is it so, @second?")
    assert [comment.text for comment, _ in of(engine, second).new(since)] == ["Is it so, @second?"]
    comment = of(engine, second).write(run_id, "It is.")
    assert of(engine, first).of_run(run_id).names[second.id] == "Second"
    with pytest.raises(RunError):
        of(engine, Viewer("browser:" + "c" * 32, signed_in=False)).remove(comment.id)
    of(engine, Viewer(LOCAL_ID, signed_in=False)).of_run(run_id)  # who sees all runs of browsers


def test_the_run_of_a_sample_takes_none(engine: Engine) -> None:
    run_id = engine.runs.submit("alignment", Settings(("owner/name",)), SIMILAR, owner=SAMPLES_ID).run_id
    with pytest.raises(InputError, match="no comments"):
        of(engine, ANN).write(run_id, "x")


def test_comments_go_with_their_run(engine: Engine) -> None:
    run_id = submitted(engine)
    of(engine, BEN).write(run_id, "x")
    engine.access(ANN).move_to_bin(run_id)
    with pytest.raises(RunError):
        of(engine, BEN).of_run(run_id)
    assert of(engine, BEN).new(datetime.min.replace(tzinfo=UTC)) == []
    engine.access(ANN).restore(run_id)
    assert of(engine, BEN).n_of_run(run_id) == 1
    engine.access(ANN).delete(run_id)
    assert n_rows(engine, CommentRow) == 0


def test_a_member_is_exported_and_forgotten_with_their_comments(engine: Engine, tmp_path: Path) -> None:
    run_id, of_eve = submitted(engine), submitted(engine, owner=EVE)
    of(engine, EVE).write(run_id, "by eve")
    of(engine, BEN).write(run_id, "for @eve and @ann")
    of(engine, BEN).write(of_eve, "on her run")
    of(engine, EVE).since_last_time()
    jobs = PretrainingJobs(tmp_path, 0)
    archive = tmp_path / "eve.zip"
    export_member(engine.store, engine.artifacts, jobs, account(EVE), archive)
    with zipfile.ZipFile(archive) as opened:
        lines = opened.read("tables/comments.jsonl").decode().splitlines()
        assert [json.loads(line)["text"] for line in lines] == ["by eve"]
        assert json.loads(opened.read("tables/visits.jsonl"))["viewer"] == EVE.id
    n = forget_member(engine.store, engine.artifacts, jobs, account(EVE))
    assert n["comments"] == 1 and n["visits"] == 1
    assert [comment.text for comment in of(engine, ANN).of_run(run_id).comments] == ["for @eve and @ann"]
    with engine.store.session() as session:
        (left,) = session.scalars(select(CommentRow))
        assert EVE.id not in left.mentions and f"\n{ANN.id}\n" in left.mentions
    assert n_rows(engine, VisitRow) == 0


def test_comments_of_an_address_go_over_to_its_account(engine: Engine) -> None:
    former = Viewer("dan@lab.example")
    run_id = submitted(engine)
    of(engine, former).write(run_id, "before accounts")
    dan = Viewer("dan-id", address="dan@lab.example")
    members.bind(engine.store, Account("dan-id", ISSUER, "dan", "dan@lab.example", "dan@lab.example"), (former.id,))
    (comment,) = of(engine, dan).of_run(run_id).comments
    assert comment.author == dan.id
    of(engine, dan).remove(comment.id)
