from __future__ import annotations

import pytest

from engine.errors import AccessError, InputError
from engine.runs.access.viewers import Members, Viewer, members

TEAM = Members(frozenset({"ann@lab.example"}), frozenset({"uni.example"}), frozenset({"boss@lab.example"}))


@pytest.mark.parametrize(("claims", "viewer"), [
    ({"email": "ann@lab.example", "name": "Ann"}, Viewer("ann@lab.example", "Ann")),
    ({"email": " Ann@LAB.example ", "email_verified": True}, Viewer("ann@lab.example", "ann@lab.example")),
    ({"email": "anyone@uni.example", "name": "斉藤"}, Viewer("anyone@uni.example", "斉藤")),
    ({"email": "boss@lab.example", "name": ""}, Viewer("boss@lab.example", "boss@lab.example", is_admin=True)),
])
def test_members_are_known_by_their_address_whatever_its_case(claims: dict[str, object], viewer: Viewer) -> None:
    assert TEAM.identify(claims) == viewer


@pytest.mark.parametrize(("claims", "message"), [
    ({"email": "ben@lab.example"}, "ben@lab.example is not a member"),
    ({"email": "ann@lab.example.evil.example"}, "not a member"),
    ({"email": "x@sub.uni.example"}, "not a member"),  # a domain is that domain, not what lies below it
    ({"email": "ann@lab.example", "email_verified": False}, "not verified"),
    ({"email": "ann@lab.example", "email_verified": "false"}, "not verified"),
    ({"email": "a@b@uni.example"}, "has no e-mail address"),
    ({"email": "@uni.example"}, "has no e-mail address"),
    ({"name": "Ann"}, "has no e-mail address"),
])
def test_anybody_else_is_refused_and_told_why(claims: dict[str, object], message: str) -> None:
    with pytest.raises(AccessError, match=message):
        TEAM.identify(claims)


def test_who_is_taken_off_the_list_is_refused_with_the_same_token() -> None:
    claims = {"email": "ann@lab.example"}
    TEAM.identify(claims)
    with pytest.raises(AccessError):
        Members(domains=frozenset({"uni.example"})).identify(claims)


def test_a_star_lets_in_everybody_the_provider_signs_in() -> None:
    assert members({"HAKARI_ALLOWED_DOMAINS": "*"}).identify({"email": "x@y.example"}).id == "x@y.example"  # type: ignore[union-attr]


def test_members_come_from_the_environment() -> None:
    assert members({}) is None and members({"HAKARI_ALLOWED_EMAILS": " , "}) is None
    assert members({"HAKARI_ALLOWED_EMAILS": "Ann@lab.example", "HAKARI_ALLOWED_DOMAINS": "@uni.example",
                    "HAKARI_ADMINS": "boss@lab.example"}) == TEAM
    for variable, value in (("HAKARI_ADMINS", "boss"), ("HAKARI_ALLOWED_EMAILS", "a@b.c; d@e.f"),
                            ("HAKARI_ALLOWED_DOMAINS", "ann@lab.example")):
        with pytest.raises(InputError, match=variable):
            members({variable: value})
