from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import AccessError, InputError
from engine.runs.access.viewers import Members, Viewer, members, normalized_address

TEAM = Members(frozenset({"ann@lab.example"}), frozenset({"uni.example"}), frozenset({"boss@lab.example"}))


@pytest.mark.parametrize(("claims", "viewer"), [
    ({"email": "ann@lab.example", "name": "Ann", "email_verified": True}, Viewer("ann@lab.example", "Ann")),
    ({"email": " Ann@LAB.example ", "email_verified": True}, Viewer("ann@lab.example", "ann@lab.example")),
    ({"email": "anyone@uni.example", "name": "斉藤", "email_verified": "true"}, Viewer("anyone@uni.example", "斉藤")),
    ({"email": "boss@lab.example", "name": "", "email_verified": "True"},
     Viewer("boss@lab.example", "boss@lab.example", is_admin=True)),
])
def test_members_are_known_by_their_address_whatever_its_case(claims: dict[str, object], viewer: Viewer) -> None:
    assert TEAM.identify(claims) == viewer


@pytest.mark.parametrize(("claims", "message"), [
    ({"email": "ben@lab.example", "email_verified": True}, "ben@lab.example is not a member"),
    ({"email": "ann@lab.example.evil.example", "email_verified": True}, "not a member"),
    ({"email": "x@sub.uni.example", "email_verified": True}, "not a member"),  # not what lies below a domain
    ({"email": "ann@lab.example", "email_verified": False}, "not verified"),
    ({"email": "ann@lab.example", "email_verified": "false"}, "not verified"),
    ({"email": "ann@lab.example", "email_verified": "False"}, "has not verified the address ann@lab"),
    ({"email": "ann@lab.example", "email_verified": None}, "does not say whether it has verified the address ann@lab"),
    ({"email": "ann@lab.example"}, "does not say whether it has verified"),
    ({"email": "ann@lab.example", "email_verified": 1}, "not verified"),
    ({"email": "ann@lab.example", "email_verified": "yes"}, "not verified"),
    ({"email": ["ann@lab.example"], "email_verified": True}, "has no e-mail address"),
    ({"email": "ann\u200b@lab.example", "email_verified": True}, "has no e-mail address"),
    ({"email": "a\x07nn@lab.example", "email_verified": True}, "has no e-mail address"),
    ({"email": "\u212aen@lab.example", "email_verified": True}, r"can be taken for others \('\\u212aen@lab"),
    ({"email": "\uff41nn@lab.example", "email_verified": True}, "can be taken for others"),  # a full-width a
    ({"email": "ann@\uff4cab.example", "email_verified": True}, "can be taken for others"),
    ({"email": "a\u017fs@uni.example", "email_verified": True}, "can be taken for others"),  # a long s
    ({"email": "stra\u00dfe@uni.example", "email_verified": True}, "can be taken for others"),  # folds to strasse
    ({"email": "\u0430nn@uni.example", "email_verified": True}, "can be taken for others"),  # a Cyrillic a
    ({"email": "ann@l\u0430b.example", "email_verified": True}, "not a member"),
    ({"email": "a@b@uni.example"}, "has no e-mail address"),
    ({"email": "@uni.example"}, "has no e-mail address"),
    ({"name": "Ann"}, "has no e-mail address"),
])
def test_anybody_else_is_refused_and_told_why(claims: dict[str, object], message: str) -> None:
    with pytest.raises(AccessError, match=message):
        TEAM.identify(claims)


def test_who_is_taken_off_the_list_is_refused_with_the_same_token() -> None:
    claims = {"email": "ann@lab.example", "email_verified": True}
    TEAM.identify(claims)
    with pytest.raises(AccessError):
        Members(domains=frozenset({"uni.example"})).identify(claims)


def test_a_star_lets_in_everybody_the_provider_signs_in() -> None:
    everybody = members({"HAKARI_ALLOWED_DOMAINS": "*"})
    assert everybody is not None
    assert everybody.identify({"email": "x@y.example", "email_verified": True}).id == "x@y.example"
    with pytest.raises(AccessError, match="can be taken for others"):
        everybody.identify({"email": "斉藤@y.example", "email_verified": True})


def test_an_address_in_other_letters_is_a_member_where_it_is_listed() -> None:
    team = members({"HAKARI_ALLOWED_EMAILS": "斉藤@lab.example, Олег@lab.example",
                    "HAKARI_ALLOWED_DOMAINS": "bücher.example"})
    assert team is not None
    claims = {"email_verified": True}
    assert team.identify({"email": "斉藤@Lab.example", **claims}).id == "斉藤@lab.example"
    assert team.identify({"email": "олег@lab.example", **claims}).id == "олег@lab.example"
    assert team.identify({"email": "x@xn--bcher-kva.example", **claims}).id == "x@xn--bcher-kva.example"
    assert team.identify({"email": "x@Bücher.example", **claims}).id == "x@bücher.example"


def test_a_list_with_look_alikes_is_refused() -> None:
    for variable, value in (("HAKARI_ADMINS", "\u212aen@lab.example"), ("HAKARI_ALLOWED_DOMAINS", "\uff4cab.example")):
        with pytest.raises(InputError, match=r"look like others: '\\u"):
            members({variable: value})


@given(st.text(), st.text())
def test_two_addresses_that_are_not_refused_are_one_only_by_their_case(first: str, second: str) -> None:
    everybody = Members(frozenset({normalized_address(f"{text}@lab.example") for text in (first, second)}))
    viewers = []
    for text in (first, second):
        try:
            viewers.append(everybody.identify({"email": f"{text}@lab.example", "email_verified": True}).id)
        except AccessError:
            return
    assert (viewers[0] == viewers[1]) == (first.strip().lower() == second.strip().lower())


def test_a_provider_that_does_not_say_it_can_be_trusted_by_the_operator() -> None:
    team = members({"HAKARI_ALLOWED_EMAILS": "ann@lab.example", "HAKARI_UNVERIFIED_EMAILS": "yes"})
    assert team is not None and team.identify({"email": "ann@lab.example"}).id == "ann@lab.example"
    for verified in (False, "False", 0, ""):
        with pytest.raises(AccessError, match="has not verified"):
            team.identify({"email": "ann@lab.example", "email_verified": verified})
    with pytest.raises(InputError, match="HAKARI_UNVERIFIED_EMAILS is yes or no"):
        members({"HAKARI_ALLOWED_EMAILS": "ann@lab.example", "HAKARI_UNVERIFIED_EMAILS": "maybe"})


def test_members_come_from_the_environment() -> None:
    assert members({}) is None and members({"HAKARI_ALLOWED_EMAILS": " , "}) is None
    assert members({"HAKARI_ALLOWED_EMAILS": "Ann@lab.example", "HAKARI_ALLOWED_DOMAINS": "@uni.example",
                    "HAKARI_ADMINS": "boss@lab.example"}) == TEAM
    for variable, value in (("HAKARI_ADMINS", "boss"), ("HAKARI_ALLOWED_EMAILS", "a@b.c; d@e.f"),
                            ("HAKARI_ALLOWED_DOMAINS", "ann@lab.example")):
        with pytest.raises(InputError, match=variable):
            members({variable: value})
