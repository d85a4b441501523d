from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import AccessError, InputError
from engine.hosted import MEMBERS_FILE, is_hosted
from engine.runs.access import member_list
from engine.runs.access.look_alikes import normalized_address
from engine.runs.access.member_list import MemberList, parsed_members
from engine.runs.access.viewers import Members, Viewer, member_id

ISSUER = "https://accounts.example"
WHO = {"iss": ISSUER, "sub": "17"}
ID = member_id(ISSUER, "17")
TEAM = Members(frozenset({"ann@lab.example"}), frozenset({"uni.example"}), frozenset({"boss@lab.example"}))


@pytest.mark.parametrize(
    ("claims", "viewer"),
    [
        ({"email": "ann@lab.example", "name": "Ann"}, Viewer(ID, "Ann", address="ann@lab.example")),
        ({"email": " Ann@LAB.example "}, Viewer(ID, "ann@lab.example", address="Ann@LAB.example")),
        ({"email": "anyone@uni.example", "name": "斉藤"}, Viewer(ID, "斉藤", address="anyone@uni.example")),
        (
            {"email": "boss@lab.example", "name": ""},
            Viewer(ID, "boss@lab.example", is_admin=True, address="boss@lab.example"),
        ),
    ],
)
def test_members_are_listed_by_their_address_whatever_its_case(claims: dict[str, object], viewer: Viewer) -> None:
    assert TEAM.identify({**WHO, **claims, "email_verified": True}).viewer == viewer


def test_issuer_and_subject_say_who_somebody_is() -> None:
    ann = {"email": "ann@lab.example", "email_verified": True}
    ids = {
        TEAM.identify({**ann, "iss": issuer, "sub": subject}).viewer.id
        for issuer in (ISSUER, "https://other.example")
        for subject in ("17", "18")
    }
    assert len(ids) == 4  # another account with her address is somebody else
    renamed = TEAM.identify({**WHO, "email": "boss@lab.example", "email_verified": True})
    assert renamed.viewer.id == TEAM.identify({**WHO, **ann}).viewer.id  # and hers with another address is her


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"email": "ben@lab.example", "email_verified": True}, "ben@lab.example is not a member"),
        ({"email": "ann@lab.example.evil.example", "email_verified": True}, "not a member"),
        ({"email": "x@sub.uni.example", "email_verified": True}, "not a member"),  # not what lies below a domain
        ({"email": "ann@lab.example", "email_verified": False}, "not verified"),
        ({"email": "ann@lab.example", "email_verified": "false"}, "not verified"),
        ({"email": "ann@lab.example", "email_verified": "False"}, "has not verified the address ann@lab"),
        (
            {"email": "ann@lab.example", "email_verified": None},
            "does not say whether it has verified the address ann@lab",
        ),
        ({"email": "ann@lab.example"}, "does not say whether it has verified"),
        ({"email": "ann@lab.example", "email_verified": 1}, "not verified"),
        ({"email": "ann@lab.example", "email_verified": "yes"}, "not verified"),
        ({"email": "ann@lab.example", "email_verified": "true"}, "not verified"),  # exactly true, no text
        ({"email": "ann@lab.example", "email_verified": True, "sub": None}, r"account it is \(the claims iss"),
        ({"email": "ann@lab.example", "email_verified": True, "sub": 17}, "which account it is"),
        ({"email": "ann@lab.example", "email_verified": True, "iss": ""}, "which account it is"),
        ({"email": ["ann@lab.example"], "email_verified": True}, "has no e-mail address"),
        ({"email": "ann\u200b@lab.example", "email_verified": True}, "has no e-mail address"),
        ({"email": "a\x07nn@lab.example", "email_verified": True}, "has no e-mail address"),
        ({"email": "\u212aen@lab.example", "email_verified": True}, r"can be taken for others \('\\u212aen@lab"),
        ({"email": "\uff41nn@lab.example", "email_verified": True}, "can be taken for others"),  # a full-width a
        ({"email": "ann@\uff4cab.example", "email_verified": True}, "can be taken for others"),
        ({"email": "a\u017fs@uni.example", "email_verified": True}, "can be taken for others"),  # a long s
        ({"email": "stra\u00dfe@uni.example", "email_verified": True}, "can be taken for others"),  # folds to strasse
        ({"email": "\u0430nn@uni.example", "email_verified": True}, "can be taken for others"),  # a Cyrillic a
        ({"email": "ann@l\u0430b.example", "email_verified": True}, "can be taken for others"),
        ({"email": "ann@\u043b\u0430\u0431.example", "email_verified": True}, "not a member"),
        ({"email": "a@b@uni.example"}, "has no e-mail address"),
        ({"email": "@uni.example"}, "has no e-mail address"),
        ({"name": "Ann"}, "has no e-mail address"),
    ],
)
def test_anybody_else_is_refused_and_told_why(claims: dict[str, object], message: str) -> None:
    with pytest.raises(AccessError, match=message):
        TEAM.identify({**WHO, **claims})


def test_who_is_taken_off_the_list_is_refused_with_the_same_token() -> None:
    claims = {**WHO, "email": "ann@lab.example", "email_verified": True}
    TEAM.identify(claims)
    with pytest.raises(AccessError):
        Members(domains=frozenset({"uni.example"})).identify(claims)


def test_a_star_lets_in_everybody_the_provider_signs_in() -> None:
    everybody = parsed_members({"HAKARI_ALLOWED_DOMAINS": "*"})
    assert everybody.identify({**WHO, "email": "x@y.example", "email_verified": True}).viewer.id == ID
    with pytest.raises(AccessError, match="can be taken for others"):
        everybody.identify({**WHO, "email": "斉藤@y.example", "email_verified": True})


def test_an_address_in_other_letters_is_a_member_where_it_is_listed() -> None:
    team = parsed_members(
        {"HAKARI_ALLOWED_EMAILS": "斉藤@lab.example, Олег@lab.example", "HAKARI_ALLOWED_DOMAINS": "bücher.example"}
    )
    claims = {**WHO, "email_verified": True}
    for address, normalized in (
        ("斉藤@Lab.example", "斉藤@lab.example"),
        ("олег@lab.example", "олег@lab.example"),
        ("x@xn--bcher-kva.example", "x@xn--bcher-kva.example"),
        ("x@Bücher.example", "x@xn--bcher-kva.example"),
    ):
        identity = team.identify({"email": address, **claims})
        assert (identity.account.address, identity.viewer.address) == (normalized, address)
        assert identity.former_owners == (address.lower(), normalized)  # as the rows of earlier versions have them


def test_a_list_with_look_alikes_is_refused() -> None:
    for variable, value in (
        ("HAKARI_ADMINS", "\u212aen@lab.example"),
        ("HAKARI_ALLOWED_DOMAINS", "\uff4cab.example"),
        ("HAKARI_ALLOWED_EMAILS", "\u0430nn@lab.example"),  # Cyrillic and Latin letters in one word
        ("HAKARI_ALLOWED_EMAILS", "ken@lab.example k\u03b5n@lab.example"),  # a Greek epsilon
    ):
        with pytest.raises(InputError, match=r"look like others: '.*\\u"):
            parsed_members({variable: value})
    with pytest.raises(InputError, match=r"look like others: .coco@lab\.example., ") as caught:
        parsed_members({"HAKARI_ALLOWED_EMAILS": "coco@lab.example \u0441\u043e\u0441\u043e@lab.example"})
    assert r"\u0441\u043e\u0441\u043e@lab.example" in str(caught.value)  # four Cyrillic letters
    parsed_members({"HAKARI_ALLOWED_EMAILS": "ann1@lab.example annl@lab.example 田中k@lab.example"})


@given(st.text(), st.text())
def test_two_addresses_that_are_not_refused_are_one_only_by_their_case(first: str, second: str) -> None:
    everybody = Members(frozenset({normalized_address(f"{text}@lab.example") for text in (first, second)}))
    addresses = []
    for text in (first, second):
        claims = {**WHO, "email": f"{text}@lab.example", "email_verified": True}
        try:
            addresses.append(everybody.identify(claims).account.address)
        except AccessError:
            return
    assert (addresses[0] == addresses[1]) == (first.strip().lower() == second.strip().lower())


def test_a_provider_that_does_not_say_it_can_be_trusted_by_the_operator() -> None:
    team = parsed_members({"HAKARI_ALLOWED_EMAILS": "ann@lab.example", "HAKARI_UNVERIFIED_EMAILS": "yes"})
    assert team.identify({**WHO, "email": "ann@lab.example"}).viewer.id == ID
    for verified in (False, "False", "true", 0, ""):
        with pytest.raises(AccessError, match="has not verified"):
            team.identify({**WHO, "email": "ann@lab.example", "email_verified": verified})
    with pytest.raises(InputError, match="HAKARI_UNVERIFIED_EMAILS is yes or no"):
        parsed_members({"HAKARI_ALLOWED_EMAILS": "ann@lab.example", "HAKARI_UNVERIFIED_EMAILS": "maybe"})


def test_members_come_from_the_environment() -> None:
    assert not is_hosted({}) and not is_hosted({"HAKARI_ALLOWED_EMAILS": " , "})
    listed = MemberList(
        {
            "HAKARI_ALLOWED_EMAILS": "Ann@lab.example",
            "HAKARI_ALLOWED_DOMAINS": "@uni.example",
            "HAKARI_ADMINS": "boss@lab.example",
        }
    )
    assert listed is not None and listed.current() == TEAM
    for variable, value in (
        ("HAKARI_ADMINS", "boss"),
        ("HAKARI_ALLOWED_EMAILS", "a@b.c; d@e.f"),
        ("HAKARI_ALLOWED_DOMAINS", "ann@lab.example"),
    ):
        with pytest.raises(InputError, match=variable):
            parsed_members({variable: value})


def test_a_file_of_members_is_read_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "members"
    environment = {MEMBERS_FILE: str(file), "HAKARI_ADMINS": "chief@lab.example"}
    with pytest.raises(InputError, match=r"members \(HAKARI_MEMBERS_FILE\) cannot be read: No such file"):
        MemberList(environment)
    file.write_text(
        "# the group\nAnn@lab.example  # until March\n\n@uni.example\nadmin boss@lab.example\n", encoding="utf-8"
    )
    listed = MemberList(environment)
    assert listed.current() == Members(TEAM.addresses, TEAM.domains, TEAM.admins | {"chief@lab.example"})
    monkeypatch.setattr(member_list, "SHORTER_SECONDS", 0.0)
    file.write_text("@uni.example\n", encoding="utf-8")
    assert not listed.current().admit("ann@lab.example") and listed.current().admit("x@uni.example")
    for content in ("ann\n", "admin\n", "admin ann\n", "ann@lab.example ben@lab.example\n", "@\n"):
        file.write_text(f"*\n{content}", encoding="utf-8")
        assert not listed.current().admit("ann@lab.example")  # an invalid file changes nothing
        assert "Line 2 of the file of members" in listed.fault
    file.write_bytes(b"\xff")
    assert listed.current().admit("x@uni.example") and "it is not UTF-8" in listed.fault
    file.write_text("", encoding="utf-8")
    assert listed.current().admit("x@uni.example") and "is empty" in listed.fault  # somebody writes it anew
    file.write_text("@uni.example\n", encoding="utf-8")
    assert listed.current().admit("x@uni.example") and listed.fault == ""
    file.write_text("", encoding="utf-8")
    assert listed.current().admit("x@uni.example")
    monkeypatch.setattr(member_list, "EMPTY_SECONDS", 0.0)
    assert listed.current() == Members(admins=frozenset({"chief@lab.example"})) and listed.fault == ""
    assert is_hosted({MEMBERS_FILE: str(file)})  # nobody is a member; the instance is no open one


def test_a_file_that_is_half_written_takes_nobody_off_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, now = tmp_path / "members", [100.0]
    monkeypatch.setattr("engine.runs.access.member_list.time.monotonic", lambda: now[0])
    file.write_text("ann@lab.example\nben@lab.example\n", encoding="utf-8")
    listed = MemberList({MEMBERS_FILE: str(file)})
    for half in ("", "ann@lab.example\n", "ann@lab.example\nben@lab.exam", "ann@lab.example\nben@lab.example\n"):
        file.write_text(half, encoding="utf-8")
        assert listed.current().admit("ben@lab.example")
        now[0] += 1
    file.write_text("ann@lab.example\nben@lab.example\neve@lab.example\n", encoding="utf-8")
    assert listed.current().admit("eve@lab.example")  # whom it adds is a member at once
    file.write_text("ann@lab.example\n", encoding="utf-8")
    assert listed.current().admit("ben@lab.example")
    now[0] += member_list.SHORTER_SECONDS
    assert not listed.current().admit("ben@lab.example") and listed.current().admit("ann@lab.example")
