"""Accounts and sign-ins: who owns what after the first sign-in by issuer and subject, and when a sign-in ends."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from engine.datasets.labelled.labelled_sentences import LabelledSentences
from engine.errors import AccessError
from engine.hosted import MEMBERS_FILE
from engine.runs.access import member_list
from engine.runs.access.audit import FILE as AUDIT_FILE
from engine.runs.access.audit import AuditLog, audit_log
from engine.runs.access.datasets import DatasetAccess
from engine.runs.access.member_list import MemberList
from engine.runs.access.membership import Membership
from engine.runs.access.viewers import Viewer, member_id
from engine.runs.open import Engine, open_engine
from engine.runs.storage import kept, listing, members
from engine.runs.storage.database import MIGRATIONS, database_url, open_database
from engine.runs.storage.run_entry import from_bytes
from engine.runs.storage.schema import SignInRow
from engine.runs.storage.store import Store
from tests.support import fake_runs
from tests.support.fake_runs import FakeGateway, Settings, Words, words
from tests.support.fakes import FakeBackend

ISSUER = "https://accounts.example"
ANN, BEN = "Ann@lab.example", "ben@lab.example"
EVALUATIONS = {
    "weights": replace(
        fake_runs.EVALUATIONS["weights"], evaluate=lambda settings, dataset, _: evaluated(settings, dataset)
    )
}
SENTENCES = LabelledSentences("mine.csv", ("文1", "文2"), ("一", "二"), (1, 2))


def evaluated(settings: Settings, dataset: Words) -> fake_runs.Result:
    return fake_runs.evaluate(settings, dataset, FakeGateway().session("", lambda *_: None, lambda: False))


def claims(subject: str, address: str, issuer: str = ISSUER) -> dict[str, object]:
    return {"iss": issuer, "sub": subject, "email": address, "email_verified": True, "name": address.split("@")[0]}


@pytest.fixture
def members_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "members"
    file.write_text(f"{ANN}\n{BEN}\n", encoding="utf-8")
    monkeypatch.setenv(MEMBERS_FILE, str(file))
    monkeypatch.setattr(member_list, "SHORTER_SECONDS", 0.0)
    return file


@pytest.fixture
def engine(tmp_path: Path, members_file: Path) -> Iterator[Engine]:
    with open_engine(tmp_path / "data", backend=FakeBackend(), evaluations=EVALUATIONS) as opened:
        yield opened


def membership_of(engine: Engine) -> Membership:
    assert engine.membership is not None
    return engine.membership


def actions(engine: Engine) -> list[dict[str, object]]:
    lines = (engine.data_dir / AUDIT_FILE).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def database_of_the_version_before(folder: Path) -> tuple[str, str, str]:
    """A data directory as 0.3.0 left it before accounts: a run, a data set and stars under addresses; their ids."""
    ann, ben = Viewer("ann@lab.example"), Viewer("ben@lab.example")
    with open_engine(folder, backend=FakeBackend(), evaluations=EVALUATIONS) as engine:
        access = engine.access(ann)
        own = access.submit("weights", Settings(), words(3)).run_id
        of_ben = engine.access(ben).submit("weights", Settings(factor=2.0), words(4)).run_id
        assert engine.runs.wait(own, 20).state == engine.runs.wait(of_ben, 20).state == "done"
        engine.access(ben).share(of_ben, True)
        access.share(own, True)
        for run_id in (own, of_ben):
            access.star(run_id, True)
        set_id = DatasetAccess(access).keep(SENTENCES, "titles")
        DatasetAccess(access).extend(set_id, LabelledSentences("more.csv", ("文3", "文4"), ("一", "二"), (1, 2)))
    migrate(folder, "0005")
    return own, of_ben, set_id


def migrate(folder: Path, revision: str) -> None:
    from alembic import command
    from alembic.config import Config

    database = open_database(database_url(folder))
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with database.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)
    database.dispose()


def test_what_members_owned_by_their_address_is_theirs_after_the_first_sign_in(
    tmp_path: Path,
    members_file: Path,
) -> None:
    own, of_ben, set_id = database_of_the_version_before(tmp_path / "data")
    with open_engine(tmp_path / "data", backend=FakeBackend(), evaluations=EVALUATIONS) as engine:
        membership = membership_of(engine)
        membership.start(claims("17", ANN), "key")
        viewer = membership.viewer(claims("17", ANN), "key")
        assert viewer.id == member_id(ISSUER, "17")
        access = engine.access(viewer)
        assert [run.id for run in access.mine()] == [own]
        run = access.get(own)
        assert run is not None and run.shared and access.may_change(run)
        access.rename(own, "still mine")
        assert access.starred(access.team()) == {own, of_ben}
        known = DatasetAccess(access).get(set_id)
        assert known is not None and DatasetAccess(access).may_change(known) and known.newest.number == 2
        assert DatasetAccess(access).owner_name(known) == ANN  # shown by the address, not by the id
        # Somebody who has not signed in since is still called by the address.
        assert access.owner_names([run.owner for run in access.team()]) == {
            viewer.id: ANN,
            "ben@lab.example": "ben@lab.example",
        }
        entry = engine.artifacts.entry(own)
        assert entry is not None and from_bytes(entry, "entry").owner == viewer.id  # when the list is lost, too
        again = access.submit("weights", Settings(), words(3))
        assert again.reused and again.run_id == own


def test_a_list_that_goes_back_to_the_version_before_knows_its_members_by_their_addresses(
    tmp_path: Path,
    members_file: Path,
) -> None:
    own, _, set_id = database_of_the_version_before(tmp_path / "data")
    with open_engine(tmp_path / "data", backend=FakeBackend(), evaluations=EVALUATIONS) as engine:
        membership_of(engine).start(claims("17", ANN), "key")
        assert engine.store.get(own).owner.startswith("member:")  # type: ignore[union-attr]
    migrate(tmp_path / "data", "0005")
    with closing(Store(database_url(tmp_path / "data"))) as store:
        assert store.get(own).owner == "ann@lab.example"  # type: ignore[union-attr]
        assert kept.get(store, set_id).owner == "ann@lab.example"  # type: ignore[union-attr]
        assert listing.starred(store, "ann@lab.example", [own]) == {own}


def test_an_address_belongs_to_the_account_that_signed_in_with_it_first(engine: Engine) -> None:
    membership = membership_of(engine)
    membership.start(claims("17", ANN), "first")
    run_id = engine.access(membership.viewer(claims("17", ANN), "first")).submit("weights", Settings(), words(2)).run_id
    for number, other in enumerate((claims("18", ANN), claims("17", ANN, "https://other.example"))):
        membership.start(other, f"other {number}")
        with pytest.raises(AccessError, match="belongs to another account"):
            membership.viewer(other, f"other {number}")
    engine.runs.wait(run_id, 20)
    account = members.by_address(engine.store, "ann@lab.example")
    members.release(engine.store, account, with_runs=True)
    with pytest.raises(AccessError, match="has ended"):
        membership.viewer(claims("17", ANN), "first")
    membership.start(claims("18", ANN), "second")
    assert [run.id for run in engine.access(membership.viewer(claims("18", ANN), "second")).mine()] == [run_id]
    # Released without them, the runs wait for their own account.
    members.release(engine.store, members.by_address(engine.store, "ann@lab.example"), with_runs=False)
    membership.start(claims("19", ANN), "third")
    assert engine.access(membership.viewer(claims("19", ANN), "third")).mine() == []


def test_an_account_whose_address_changes_keeps_what_it_owns(engine: Engine) -> None:
    membership = membership_of(engine)
    membership.start(claims("17", ANN), "key")
    run_id = engine.access(membership.viewer(claims("17", ANN), "key")).submit("weights", Settings(), words(2)).run_id
    membership.start(claims("17", BEN), "later")
    viewer = membership.viewer(claims("17", BEN), "later")
    assert [run.id for run in engine.access(viewer).mine()] == [run_id] and viewer.address == BEN
    assert [account.address for account in members.every(engine.store)] == [BEN]


def test_an_address_that_looks_like_a_members_is_refused(tmp_path: Path) -> None:
    listed = MemberList({"HAKARI_ALLOWED_EMAILS": "сосо@lab.example", "HAKARI_ALLOWED_DOMAINS": "lab.example"})
    with closing(Store(database_url(tmp_path))) as store:
        membership = Membership(store, listed)
        membership.start(claims("1", "coco@lab.example"), "latin")
        assert membership.viewer(claims("1", "coco@lab.example"), "latin").address == "coco@lab.example"
        membership.start(claims("2", "сосо@lab.example"), "cyrillic")
        with pytest.raises(AccessError, match="can be taken for others"):
            membership.viewer(claims("2", "сосо@lab.example"), "cyrillic")


def test_a_sign_in_that_was_ended_is_worth_nothing(engine: Engine) -> None:
    membership = membership_of(engine)
    for key, subject, address in (("a", "17", ANN), ("b", "17", ANN), ("c", "18", BEN)):
        membership.start(claims(subject, address), key)
    membership.end("a")
    with pytest.raises(AccessError, match=r"has ended\. Sign in again"):
        membership.viewer(claims("17", ANN), "a")
    assert membership.ended(["a", "b", "c", "never begun"]) == {"a", "never begun"}
    assert membership.end_everywhere(membership.viewer(claims("17", ANN), "b")) == 1
    assert membership.ended(["b", "c"]) == {"b"}
    assert membership.member_of("b") is None and membership.member_of("c") is not None
    with pytest.raises(AccessError, match="has ended"):  # another account's sign-in does not help
        membership.viewer(claims("17", ANN), "c")


def test_a_member_who_is_taken_off_the_list_is_signed_out_for_good(engine: Engine, members_file: Path) -> None:
    membership = membership_of(engine)
    for key, subject, address in (("a", "17", ANN), ("c", "18", BEN)):
        membership.start(claims(subject, address), key)
    members_file.write_text(f"{BEN}\n", encoding="utf-8")
    with pytest.raises(AccessError, match="is not a member"):  # at once, before anybody looked after it
        membership.viewer(claims("17", ANN), "a")
    assert membership.member_of("a") is None
    assert membership.ended(["a", "c"]) == {"a"}
    members_file.write_text(f"{ANN}\n{BEN}\n", encoding="utf-8")
    assert membership.ended(["a", "c"]) == {"a"}  # the cookie of before stays worthless
    membership.start(claims("17", ANN), "d")
    assert membership.viewer(claims("17", ANN), "d").id == member_id(ISSUER, "17")


def test_a_stranger_is_told_why_and_let_in_once_listed(engine: Engine, members_file: Path) -> None:
    membership = membership_of(engine)
    eve = claims("66", "eve@elsewhere.example")
    membership.start(eve, "key")
    assert membership.is_open("key") and membership.member_of("key") is None
    with pytest.raises(AccessError, match=r"eve@elsewhere\.example is not a member"):
        membership.viewer(eve, "key")
    assert membership.ended(["key"]) == set()  # the page that says so stays open
    members_file.write_text("@elsewhere.example\n", encoding="utf-8")
    assert membership.viewer(eve, "key").address == "eve@elsewhere.example"
    assert membership.member_of("key") is not None
    members_file.write_text("", encoding="utf-8")
    assert membership.ended(["key"]) == set()  # an editor empties a file before it writes it; what ends stays ended
    members_file.write_text("ann@lab.example\n", encoding="utf-8")
    assert membership.ended(["key"]) == {"key"}


def test_a_sign_in_ends_by_itself_after_thirty_days(engine: Engine) -> None:
    membership = membership_of(engine)
    membership.start(claims("17", ANN), "old")
    with engine.store.session() as session:
        session.execute(update(SignInRow).values(created=datetime.now(UTC) - timedelta(days=30, seconds=1)))
    assert membership.ended(["old"]) == {"old"}
    membership.start(claims("17", ANN), "new")
    assert set(members.member_sign_ins(engine.store)) == {"new"}


def test_who_did_what_is_logged_without_a_word_of_the_data(engine: Engine, members_file: Path) -> None:
    membership = membership_of(engine)
    membership.start(claims("17", ANN), "key")
    membership.start(claims("66", "eve@elsewhere.example"), "eve")
    viewer = membership.viewer(claims("17", ANN), "key")
    access = engine.access(viewer)
    run_id = access.submit("weights", Settings(), words(3), "a secret name").run_id
    engine.runs.wait(run_id, 20)
    access.share(run_id, True)
    access.share(run_id, False)
    set_id = DatasetAccess(access).keep(SENTENCES, "secret titles")
    DatasetAccess(access).share(set_id, True)
    DatasetAccess(access).delete(set_id)
    access.move_to_bin(run_id)
    access.restore(run_id)
    access.delete(run_id)
    membership.end_everywhere(viewer)
    membership.start(claims("17", ANN), "key")
    membership.end("key")
    logged = actions(engine)
    assert [line["action"] for line in logged] == [
        "sign-in",
        "sign-in refused",
        "submit",
        "share",
        "stop sharing",
        "share",
        "delete",
        "move to the bin",
        "restore",
        "delete",
        "sign-out everywhere",
        "sign-in",
        "sign-out",
    ]
    assert {str(line["address"]).lower() for line in logged} == {ANN.lower(), "eve@elsewhere.example"}
    assert logged[3]["user"] == viewer.id and logged[3]["run"] == run_id and logged[5]["dataset"] == set_id
    assert all(datetime.fromisoformat(str(line["time"])).tzinfo is not None for line in logged)
    file = engine.data_dir / AUDIT_FILE
    text = file.read_text(encoding="utf-8")
    assert "secret" not in text and "文" not in text and not any(word in text for word in words(3).texts)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_where_the_log_is_and_what_is_said_when_it_cannot_be_written(tmp_path: Path) -> None:
    local = audit_log({}, tmp_path, hosted=False)
    local.record("share")
    audit_log({"HAKARI_AUDIT_LOG": "off"}, tmp_path, hosted=True).record("share")
    assert list(tmp_path.iterdir()) == []
    elsewhere = audit_log({"HAKARI_AUDIT_LOG": str(tmp_path / "a.jsonl")}, tmp_path / "data", hosted=False)
    elsewhere.record("share", Viewer("member:1"), run="r")
    (tmp_path / "a.jsonl").rename(tmp_path / "a.jsonl.1")  # rotated
    elsewhere.record("delete")
    assert [
        json.loads((tmp_path / name).read_text(encoding="utf-8"))["action"] for name in ("a.jsonl.1", "a.jsonl")
    ] == ["share", "delete"]
    unwritable = AuditLog(tmp_path)
    unwritable.record("share")
    assert "cannot be written: Is a directory" in unwritable.fault
